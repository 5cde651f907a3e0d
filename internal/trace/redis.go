package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// redisGap parts commands of a pipeline from single ones. Measured with Redis
// 7.0 on loopback: 2 µs inside a pipeline (99th percentile), at least 13 µs
// between single commands of the fastest client.
const redisGap = 6 * time.Microsecond

// Monitored is what a Redis MONITOR stream held.
type Monitored struct {
	Events []Event
	Bad    int64
}

// RedisEvents reads what MONITOR prints. Values are not kept, only their hash.
// Commands that scripts call, and those of the connection that sent a mark,
// are left out. Source: Redis command reference, "MONITOR".
func RedisEvents(r io.Reader, service string) (*Monitored, error) {
	out := &Monitored{}
	own := map[string]bool{} // addresses that marks came from
	var events []Event
	var addresses []string
	conns := map[string]uint64{}
	err := eachLine(r, func(text string) {
		text = strings.TrimPrefix(text, "+")
		if text == "OK" || text == "" {
			return
		}
		at, addr, args, ok := parseMonitorLine(text)
		if !ok {
			out.Bad++
			return
		}
		e := Event{At: at}
		if strings.EqualFold(args[0], "ECHO") && len(args) == 2 {
			if n, marked := markOf(args[1]); marked {
				own[addr] = true
				events, addresses = append(events, Event{At: at, Mark: n, Marked: true}), append(addresses, "")
				return
			}
		}
		if addr == "lua" {
			return
		}
		if conns[addr] == 0 {
			conns[addr] = uint64(len(conns) + 1)
		}
		e.Call = redisCall(service, args)
		e.Call.Conn = conns[addr]
		events, addresses = append(events, e), append(addresses, addr)
	})
	if err != nil {
		return nil, fmt.Errorf("read the MONITOR stream of %s: %w", service, err)
	}
	for i, e := range events {
		// All clients of a Unix socket have the same address.
		shared := strings.HasPrefix(addresses[i], "unix:") && e.Call.Text != "INFO"
		if !own[addresses[i]] || shared {
			out.Events = append(out.Events, e)
		}
	}
	batches(out.Events, redisGap, 1)
	return out, nil
}

// redisCall keeps the command's name and keys, and a hash of the rest.
func redisCall(service string, args []string) Call {
	c := Call{Service: service, System: Redis, Text: strings.ToUpper(args[0])}
	var rest []string
	c.Keys, rest = redisKeys(strings.ToLower(args[0]), args[1:])
	// SET … NX is an attempt, as for a lock, so a second one is not the same.
	attempt := c.Text == "SET" && slices.ContainsFunc(rest, func(a string) bool { return strings.EqualFold(a, "NX") })
	if len(c.Keys) > 0 && len(rest) > 0 && !attempt {
		c.Value = hashOf(rest)
	}
	for _, k := range c.Keys {
		c.Text += " " + k
	}
	return c
}

var (
	// Commands without a key (Redis command reference).
	redisKeyless = wordSet("auth hello select ping echo info multi exec discard unwatch command config client script function cluster acl quit reset publish subscribe psubscribe unsubscribe punsubscribe dbsize flushdb flushall keys scan randomkey time wait role slowlog latency module monitor debug save bgsave bgrewriteaof lastsave shutdown swapdb readonly readwrite migrate memory object xread xreadgroup xgroup xinfo")
	// All arguments are keys.
	redisAllKeys = wordSet("mget del unlink exists touch sinter sunion sdiff sinterstore sunionstore sdiffstore pfcount pfmerge watch rename renamenx")
)

// redisKeys parts a command's arguments into keys and the rest.
func redisKeys(verb string, args []string) (keys, rest []string) {
	switch {
	case len(args) == 0 || redisKeyless[verb]:
		return nil, args
	case redisAllKeys[verb]:
		return args, nil
	case verb == "mset" || verb == "msetnx":
		for i, a := range args {
			if i%2 == 0 {
				keys = append(keys, a)
			} else {
				rest = append(rest, a)
			}
		}
		return keys, rest
	case verb == "eval" || verb == "evalsha" || verb == "fcall" || verb == "eval_ro" || verb == "evalsha_ro" || verb == "fcall_ro":
		if len(args) < 2 {
			return nil, args
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 0 || n > len(args)-2 {
			return nil, args
		}
		return args[2 : 2+n], append([]string{args[0]}, args[2+n:]...)
	}
	return args[:1], args[1:]
}

// parseMonitorLine: 1700000000.123456 [0 127.0.0.1:1234] "GET" "k"
func parseMonitorLine(text string) (at time.Time, addr string, args []string, ok bool) {
	stamp, rest, found := strings.Cut(text, " [")
	if !found {
		return
	}
	sec, micro, _ := strings.Cut(stamp, ".")
	s, err1 := strconv.ParseInt(sec, 10, 64)
	u, err2 := strconv.ParseInt(micro, 10, 64)
	if err1 != nil || err2 != nil || len(micro) != 6 || u < 0 {
		return
	}
	client, rest, found := strings.Cut(rest, "] \"")
	if !found {
		return
	}
	_, addr, _ = strings.Cut(client, " ")
	if args, ok = monitorArgs("\"" + rest); len(args) == 0 || args[0] == "" {
		ok = false
	}
	return time.Unix(s, u*1000), addr, args, ok
}

// monitorArgs reads quoted texts as sdscatrepr writes them.
func monitorArgs(s string) ([]string, bool) {
	var out []string
	for len(s) > 0 {
		s = strings.TrimPrefix(s, " ")
		if len(s) == 0 || s[0] != '"' {
			return out, false
		}
		var b strings.Builder
		i := 1
		for i < len(s) && s[i] != '"' {
			if s[i] != '\\' || i+1 >= len(s) {
				b.WriteByte(s[i])
				i++
				continue
			}
			switch c := s[i+1]; c {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case 'a':
				b.WriteByte('\a')
			case 'b':
				b.WriteByte('\b')
			case 'x':
				if i+4 <= len(s) {
					if n, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
						b.WriteByte(byte(n))
						i += 2
					}
				}
			default:
				b.WriteByte(c)
			}
			i += 2
		}
		if i >= len(s) {
			return out, false
		}
		out = append(out, b.String())
		s = s[i+1:]
	}
	return out, true
}
