package evidence

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/stack"
)

// parseRedisInfo reads INFO (Redis manual, INFO). Lines of several fields
// become several values: "cmdstat_get:calls=1,usec=4" is "cmdstat_get.calls"
// and "cmdstat_get.usec". Names of files and of other servers are left out.
func parseRedisInfo(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || strings.HasPrefix(name, "#") || redisLeftOut[name] {
			continue
		}
		if !strings.Contains(value, "=") {
			out[name] = value
			continue
		}
		for _, kv := range strings.Split(value, ",") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				out[name+"."+k] = v
			}
		}
	}
	return out
}

var redisLeftOut = map[string]bool{"executable": true, "config_file": true, "master_host": true, "master_user": true,
	"redis_git_sha1": true, "redis_build_id": true, "master_replid": true, "master_replid2": true}

// redisCounts are the values of INFO that only grow, besides those of commands
// and errors.
var redisCounts = map[string]bool{
	"total_connections_received": true, "total_commands_processed": true, "total_net_input_bytes": true, "total_net_output_bytes": true,
	"rejected_connections": true, "expired_keys": true, "expired_time_cap_reached_count": true, "expire_cycle_cpu_milliseconds": true,
	"evicted_keys": true, "evicted_clients": true, "total_eviction_exceeded_time": true, "keyspace_hits": true, "keyspace_misses": true,
	"total_forks": true, "total_error_replies": true, "total_reads_processed": true, "total_writes_processed": true,
	"used_cpu_sys": true, "used_cpu_user": true, "used_cpu_sys_children": true, "used_cpu_user_children": true, "lazyfreed_objects": true,
	"rdb_saves": true, "aof_rewrites": true, "aof_delayed_fsync": true, "sync_full": true, "unexpected_error_replies": true,
}

func isRedisCount(name string) bool {
	if command, ok := strings.CutPrefix(name, "cmdstat_"); ok {
		return !strings.HasSuffix(command, ".usec_per_call")
	}
	return redisCounts[name] || strings.HasPrefix(name, "errorstat_")
}

// redisSettings are asked by CONFIG GET. None of them can hold a secret.
var redisSettings = []string{"maxmemory", "maxmemory-policy", "maxmemory-samples", "save", "appendonly", "appendfsync",
	"no-appendfsync-on-rewrite", "io-threads", "tcp-backlog", "timeout", "maxclients", "slowlog-log-slower-than", "slowlog-max-len",
	"latency-tracking", "lazyfree-lazy-eviction", "activedefrag", "hz", "databases", "unixsocket"}

// redisSource is what one Redis is asked with.
type redisSource struct {
	conn *cacheConn
	// slowFrom is the number of the first slow log entry of the window.
	slowFrom int64
}

// findRedis returns the counters of every Redis.
func findRedis(_ context.Context, s setting) ([]source, []Health) {
	var out []source
	for _, svc := range s.st.OfKind(stack.Redis) {
		h := s.hosts[svc.HostName()]
		if h == nil {
			continue
		}
		r := &redisSource{conn: &cacheConn{h: h, svc: svc}, slowFrom: -1}
		src := &counterSource{service: svc.Name, source: "counters of " + svc.Name, counts: isRedisCount, shut: r.conn.close,
			identity: func(v map[string]string) string { return v["run_id"] }, read: r.info, more: r.more}
		out = append(out, src, newProbe(&cacheConn{h: h, svc: svc}, src))
	}
	return out, nil
}

// command asks for one answer.
func (s *redisSource) command(ctx context.Context, words ...string) (v any, err error) {
	var refused redisError
	err = s.conn.ask(ctx, stack.RedisCommand(words...), func(r *bufio.Reader) error {
		var err error
		v, err = readRESP(r)
		if errors.As(err, &refused) {
			return nil // the connection is good
		}
		return err
	})
	if err == nil && refused.Code != "" {
		err = fmt.Errorf("ask %s for %s: %w", s.conn.svc.Name, words[0], refused)
	}
	return v, err
}

// info reads the counters, and at the first reading where the slow log stands.
func (s *redisSource) info(ctx context.Context) (map[string]string, error) {
	if s.slowFrom < 0 {
		s.slowFrom = 0
		v, err := s.command(ctx, "SLOWLOG", "GET", "1")
		if entries, ok := v.([]any); ok && err == nil {
			for _, e := range parseSlowlog(entries) {
				s.slowFrom = max(s.slowFrom, e.ID+1)
			}
		}
	}
	v, err := s.command(ctx, "INFO", "all")
	if err != nil {
		return nil, err
	}
	text, ok := v.(string)
	values := parseRedisInfo(text)
	if !ok || values["redis_version"] == "" && values["valkey_version"] == "" {
		return nil, fmt.Errorf("ask %s for INFO: the answer names no version; is it Redis?", s.conn.svc.Name)
	}
	return values, nil
}

// more reads settings and the slow log after the load. Either may be forbidden
// (ACL, rename-command, a hosted Redis).
func (s *redisSource) more(ctx context.Context, values map[string]string) []string {
	var missing []string
	for _, name := range redisSettings {
		v, err := s.command(ctx, "CONFIG", "GET", name)
		if err != nil {
			missing = append(missing, "settings: "+err.Error())
			break
		}
		if pair, ok := v.([]any); ok && len(pair) == 2 {
			if text, ok := pair[1].(string); ok {
				values["config."+name] = text
			}
		}
	}
	v, err := s.command(ctx, "SLOWLOG", "GET", "128")
	if err != nil {
		return append(missing, "slow log: "+err.Error())
	}
	entries, _ := v.([]any)
	addSlowlog(values, parseSlowlog(entries), s.slowFrom)
	return missing
}

// slowEntry is one entry of the slow log: never its arguments.
type slowEntry struct {
	ID, Micros int64
	Command    string // upper case
	Arguments  int
}

// parseSlowlog reads SLOWLOG GET's answer: arrays of number, time,
// microseconds, arguments and since 4.0 the client (Redis manual, SLOWLOG GET).
func parseSlowlog(entries []any) []slowEntry {
	var out []slowEntry
	for _, e := range entries {
		f, ok := e.([]any)
		if !ok || len(f) < 4 {
			continue
		}
		id, ok1 := f[0].(int64)
		micros, ok2 := f[2].(int64)
		words, ok3 := f[3].([]any)
		if !ok1 || !ok2 || !ok3 || len(words) == 0 {
			continue
		}
		name, _ := words[0].(string)
		out = append(out, slowEntry{ID: id, Micros: micros, Command: commandName(name), Arguments: len(words) - 1})
	}
	return out
}

// commandName keeps what can be a command's name; a client that speaks another
// protocol may have put anything there.
func commandName(s string) string {
	if len(s) > 32 || s == "" || strings.Trim(strings.ToUpper(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-|") != "" {
		return "?"
	}
	return strings.ToUpper(s)
}

// addSlowlog sums up the entries from a number on: "slowlog.KEYS.count",
// ".max_usec" and ".max_arguments", and "slowlog.count" of all.
func addSlowlog(values map[string]string, entries []slowEntry, from int64) {
	type sum struct {
		count, micros int64
		arguments     int
	}
	by := map[string]sum{}
	var all int64
	for _, e := range entries {
		if e.ID < from {
			continue
		}
		all++
		s := by[e.Command]
		by[e.Command] = sum{s.count + 1, max(s.micros, e.Micros), max(s.arguments, e.Arguments)}
	}
	values["slowlog.count"] = strconv.FormatInt(all, 10)
	for name, s := range by {
		values["slowlog."+name+".count"] = strconv.FormatInt(s.count, 10)
		values["slowlog."+name+".max_usec"] = strconv.FormatInt(s.micros, 10)
		values["slowlog."+name+".max_arguments"] = strconv.Itoa(s.arguments)
	}
}
