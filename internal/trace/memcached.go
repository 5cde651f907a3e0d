package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memcachedGap parts keys of one multi-get from single gets. Measured with
// memcached 1.6.18 on loopback: keys of one command are at most 1 µs apart
// (99th percentile), single gets of the fastest client at least 8 µs.
// Pipelined single gets are 1–10 µs apart, so some of them count as single.
const memcachedGap = 4 * time.Microsecond

// maxStreamLine: keys are at most 250 bytes, three times that when escaped.
const maxStreamLine = 1 << 20

// Watched is what a memcached watch stream held.
type Watched struct {
	Events []Event
	// Skipped lines that the server says it left out, and Bad ones.
	Skipped, Bad int64
	// Missing: lines whose number (gid) never came between the first and the
	// last mark.
	Missing int64
}

// watchLine is one line of "watch fetchers mutations connevents" (memcached's
// doc/protocol.txt, "Watchers"; logger.c).
type watchLine struct {
	at     time.Time
	gid    uint64
	kind   string
	key    string
	status string
	cmd    string
	cfd    uint64
	size   int64
}

// MemcachedEvents reads a watch stream of memcached ≥ 1.4.26. Lines of several
// worker threads come out of order and are sorted by their number. A store
// looks its key up first, which the stream shows as a get; these are left out.
// incr, touch and delete are shown as gets only (see Lookups). Lines of the
// connection that sent a mark are left out.
func MemcachedEvents(r io.Reader, service string) (*Watched, error) {
	out := &Watched{}
	var lines []watchLine
	err := eachLine(r, func(text string) {
		if n, ok := skipped(text); ok {
			out.Skipped += n
			return
		}
		if text == "OK" || text == "" || text == "END" {
			return
		}
		l, ok := parseWatchLine(text)
		if !ok {
			out.Bad++
			return
		}
		lines = append(lines, l)
	})
	if err != nil {
		return nil, fmt.Errorf("read the watch stream of %s: %w", service, err)
	}
	slices.SortStableFunc(lines, func(a, b watchLine) int { return cmp.Compare(a.gid, b.gid) })
	out.Missing = missing(lines)
	out.Events = watchEvents(lines, service)
	return out, nil
}

func missing(lines []watchLine) int64 {
	isMark := func(l watchLine) bool {
		_, ok := markOf(l.key)
		return ok && l.kind == "item_get"
	}
	first := slices.IndexFunc(lines, isMark)
	last := len(lines) - 1
	for last > first && !isMark(lines[last]) {
		last--
	}
	if first < 0 || last <= first {
		return 0
	}
	return max(int64(lines[last].gid-lines[first].gid)-int64(last-first), 0)
}

// skipped: "skipped=12", or "[skipped: 12]" of older versions.
func skipped(text string) (int64, bool) {
	text = strings.Trim(text, "[]")
	rest, ok := strings.CutPrefix(text, "skipped")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimLeft(rest, "=: "), 10, 64)
	return max(n, 0), err == nil
}

func parseWatchLine(text string) (watchLine, bool) {
	var l watchLine
	ok := false
	for f := range strings.FieldsSeq(text) {
		name, v, _ := strings.Cut(f, "=")
		switch name {
		case "ts":
			// Seconds and microseconds; the latter are not padded with zeros.
			sec, micro, _ := strings.Cut(v, ".")
			s, err1 := strconv.ParseInt(sec, 10, 64)
			u, err2 := strconv.ParseInt(micro, 10, 64)
			if err1 != nil || err2 != nil || u < 0 || u >= 1e6 {
				return l, false
			}
			l.at = time.Unix(s, u*1000)
		case "gid":
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return l, false
			}
			l.gid, ok = n, true
		case "type":
			l.kind = v
		case "key":
			l.key = v
			if k, err := url.PathUnescape(v); err == nil {
				l.key = k
			}
		case "status":
			l.status = v
		case "cmd":
			l.cmd = v
		case "cfd":
			l.cfd, _ = strconv.ParseUint(v, 10, 64)
		case "size":
			l.size, _ = strconv.ParseInt(v, 10, 64)
		}
	}
	return l, ok && l.kind != ""
}

// watchEvents turns sorted lines into events.
func watchEvents(lines []watchLine, service string) []Event {
	marks := map[uint64]bool{} // file descriptors that marks came from
	for _, l := range lines {
		if _, ok := markOf(l.key); ok && l.kind == "item_get" {
			marks[l.cfd] = true
		}
	}
	var out []Event
	turn := map[uint64]uint64{} // cfd → how often it was given to a new connection
	last := map[uint64]int{}    // cfd → its last get's place in out
	for _, l := range lines {
		if n, ok := markOf(l.key); ok && l.kind == "item_get" {
			out = append(out, Event{At: l.at, Mark: n, Marked: true})
			continue
		}
		if marks[l.cfd] {
			continue
		}
		c := Call{Service: service, System: Memcached, Failed: l.status == "oom" || l.status == "too_large"}
		switch l.kind {
		case "conn_new":
			turn[l.cfd]++
			delete(last, l.cfd)
			c.Kind = Connect
		case "item_get":
			c.Text, c.Keys = "get "+l.key, []string{l.key}
		case "item_store":
			if i, ok := last[l.cfd]; ok && !out[i].Marked && out[i].Call.Keys[0] == l.key {
				out = slices.Delete(out, i, i+1)
				for cfd, j := range last {
					if j > i {
						last[cfd] = j - 1
					}
				}
			}
			delete(last, l.cfd)
			verb := l.cmd
			if verb == "" {
				verb = "set"
			}
			c.Text, c.Keys, c.Size = verb+" "+l.key, []string{l.key}, l.size
		default:
			continue // conn_close, evictions, …
		}
		c.Conn = turn[l.cfd]<<32 | l.cfd
		out = append(out, Event{At: l.at, Call: c})
		if l.kind == "item_get" {
			last[l.cfd] = len(out) - 1
		}
	}
	batches(out, memcachedGap, 1)
	return multiGets(out)
}

// multiGets joins keys that one get asked for.
func multiGets(events []Event) []Event {
	var out []Event
	at := map[int]int{} // batch → its place in out
	for _, e := range events {
		b := e.Call.Batch
		if e.Marked || b == 0 || !strings.HasPrefix(e.Call.Text, "get ") {
			out = append(out, e)
			continue
		}
		if i, ok := at[b]; ok {
			c := &out[i].Call
			c.Keys = append(c.Keys, e.Call.Keys...)
			c.Text += " " + e.Call.Keys[0]
			continue
		}
		e.Call.Keys = slices.Clone(e.Call.Keys)
		at[b] = len(out)
		out = append(out, e)
	}
	for i := range out {
		out[i].Call.Batch *= 1 - isGet(out[i].Call)
	}
	return out
}

// isGet: 1 for a get, which is whole again and no part of a batch.
func isGet(c Call) int {
	if strings.HasPrefix(c.Text, "get ") {
		return 1
	}
	return 0
}

// Lookups renames n of one request's gets, which the server's counters say
// were incr, decr, touch or delete: the later ones of keys that were met
// before, then the last ones. The stream does not tell which they were.
func Lookups(calls []Call, service string, n int) {
	rename := func(again bool) {
		for i := len(calls) - 1; i >= 0 && n > 0; i-- {
			c := &calls[i]
			if c.Service != service || c.Kind != "" || len(c.Keys) != 1 || !strings.HasPrefix(c.Text, "get ") {
				continue
			}
			if again && !slices.ContainsFunc(calls[:i], func(o Call) bool { return o.Service == service && slices.Contains(o.Keys, c.Keys[0]) }) {
				continue
			}
			c.Text = "change " + c.Keys[0]
			n--
		}
	}
	rename(true)
	rename(false)
}

// eachLine calls f for each line without its end. A line over maxStreamLine is
// cut.
func eachLine(r io.Reader, f func(string)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) <= maxStreamLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > 0 {
			f(strings.TrimRight(string(line), "\r\n"))
			line = line[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
