package evidence

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/stack"
)

// maxStatLines of one answer: 64 slab classes have some 30 lines each.
const maxStatLines = 10000

// parseMemcachedStats reads "STAT name value" lines up to END (memcached,
// doc/protocol.txt) into to, each name after prefix.
func parseMemcachedStats(r *bufio.Reader, prefix string, to map[string]string) error {
	for range maxStatLines {
		line, err := readLine(r)
		if err != nil {
			return fmt.Errorf("read memcached stats: %w", err)
		}
		if line == "END" {
			return nil
		}
		if line == "ERROR Too many open connections" { // memcached.c, maxconns_fast
			return errors.New("read memcached stats: it refuses connections: all that its option -c allows are in use; raise -c, or have its clients keep fewer")
		}
		rest, ok := strings.CutPrefix(line, "STAT ")
		name, value, _ := strings.Cut(rest, " ")
		if !ok || name == "" {
			return fmt.Errorf("read memcached stats: unexpected answer %q; does it speak the text protocol, without a login?", shorten(line, 60))
		}
		to[prefix+name] = value
	}
	return fmt.Errorf("read memcached stats: more than %d lines", maxStatLines)
}

// readLine reads a line of at most the reader's buffer, without its end.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", errors.New("a line is too long")
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// memcachedGauges are stats that do not only grow, by their last part
// (memcached, doc/protocol.txt, "General-purpose statistics" and the following).
var memcachedGauges = map[string]bool{
	"pid": true, "uptime": true, "time": true, "version": true, "libevent": true, "pointer_size": true, "max_connections": true,
	"curr_connections": true, "connection_structures": true, "response_obj_bytes": true, "response_obj_count": true, "response_obj_free": true,
	"response_obj_total": true, "read_buf_count": true, "read_buf_bytes": true, "read_buf_bytes_free": true, "reserved_fds": true, "limit_maxbytes": true,
	"accepting_conns": true, "threads": true, "hash_power_level": true, "hash_bytes": true, "hash_is_expanding": true,
	"slab_reassign_running": true, "lru_crawler_running": true, "log_watchers": true, "bytes": true, "curr_items": true,
	"slab_global_page_pool": true, "number": true, "number_hot": true, "number_warm": true, "number_cold": true, "number_temp": true,
	"age": true, "age_hot": true, "age_warm": true, "mem_requested": true, "evicted_time": true, "chunk_size": true, "chunks_per_page": true,
	"total_pages": true, "total_chunks": true, "used_chunks": true, "free_chunks": true, "free_chunks_end": true, "active_slabs": true,
	"total_malloced": true,
}

// memcachedCounts: everything but gauges and settings.
func memcachedCounts(name string) bool {
	return !strings.HasPrefix(name, "settings:") && !memcachedGauges[name[strings.LastIndexByte(name, ':')+1:]]
}

// memcachedStats are the questions and what their answers' names begin with:
// "stats items" says "items:1:age" itself.
var memcachedStats = []struct{ ask, prefix string }{
	{"stats", ""}, {"stats items", ""}, {"stats slabs", "slabs:"}, {"stats settings", "settings:"},
}

// findMemcached returns the counters of every memcached.
func findMemcached(_ context.Context, s setting) ([]source, []Health) {
	var out []source
	for _, svc := range s.st.OfKind(stack.Memcached) {
		c := &cacheConn{h: s.hosts[svc.HostName()], svc: svc}
		if c.h == nil {
			continue
		}
		src := &counterSource{service: svc.Name, source: "counters of " + svc.Name, counts: memcachedCounts, shut: c.close,
			identity: func(v map[string]string) string { return v["pid"] },
			read: func(ctx context.Context) (map[string]string, error) {
				out := map[string]string{}
				for _, one := range memcachedStats {
					err := c.ask(ctx, one.ask+"\r\n", func(r *bufio.Reader) error { return parseMemcachedStats(r, one.prefix, out) })
					if err != nil {
						return nil, err
					}
				}
				return out, nil
			}}
		if s.opts.Diagnostic {
			src.more = func(ctx context.Context, values map[string]string) []string { return sampleExpiry(ctx, c, values) }
		}
		out = append(out, src, newProbe(&cacheConn{h: c.h, svc: svc}, src))
	}
	return out, nil
}

// expirySample items tell the share without expiry to ±3 % (95 %, normal
// approximation at one half).
const expirySample = 1000

// errEnough ends a listing; the connection is closed, which ends it for the
// server too.
var errEnough = errors.New("enough")

// A memcached whose crawler is at work, also by its own decision to look for what has
// expired, lists nothing meanwhile. Such a walk takes some ms, or some tens.
const (
	crawlTries = 20
	crawlPause = 25 * time.Millisecond
)

var errCrawls = errors.New("the list of items was refused (BUSY)")

// sampleExpiry counts items without an expiry (C07) among those that the
// server lists first. Only diagnostic runs do it, after the load: the server
// walks its lists with locks. Keys are not kept.
func sampleExpiry(ctx context.Context, c *cacheConn, values map[string]string) []string {
	if values["curr_items"] == "0" {
		return nil
	}
	var seen, without int
	var err error
	for tries := range crawlTries {
		busy := false // an answer like others: the connection stays, as there may be no other one left
		err = c.ask(ctx, "lru_crawler metadump all\r\n", func(r *bufio.Reader) error {
			var err error
			seen, without, err = parseMetadump(r, expirySample)
			if busy = errors.Is(err, errCrawls); busy && tries < crawlTries-1 {
				return nil
			}
			return err
		})
		if !busy || ctx.Err() != nil {
			break
		}
		time.Sleep(crawlPause)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return []string{"items without expiry: " + err.Error()}
	}
	values["sample_items"], values["sample_items_without_expiry"] = strconv.Itoa(seen), strconv.Itoa(without)
	return nil
}

// parseMetadump counts "key=… exp=… …" lines; exp is -1 without an expiry.
func parseMetadump(r *bufio.Reader, most int) (seen, without int, err error) {
	for {
		line, err := readLine(r)
		switch {
		case err != nil:
			return seen, without, err
		case line == "END":
			return seen, without, nil
		case !strings.HasPrefix(line, "key="):
			word, _, _ := strings.Cut(line, " ")
			if word == "BUSY" {
				return seen, without, errCrawls
			}
			return seen, without, fmt.Errorf("the list of items was refused (%s)", shorten(word, 20))
		}
		seen++
		if _, rest, ok := strings.Cut(line, " exp="); ok && strings.HasPrefix(rest, "-1 ") {
			without++
		}
		if seen >= most {
			return seen, without, errEnough
		}
	}
}

// isTimeout tells a server that did not answer in time.
func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
