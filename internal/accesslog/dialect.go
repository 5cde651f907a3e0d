package accesslog

import (
	"bytes"
	"slices"
	"strings"
)

// dialect is what the keys of one program's JSON lines mean, where that is
// more, or other, than what the keys alone tell (jsonPlaces): echo's latency is
// nanoseconds, pino-http's responseTime milliseconds.
type dialect struct {
	name string
	// marks are keys that tell a line of it; all must be there. A key is
	// written as in places; "key=" and a text wants that value.
	marks  []string
	places map[string]place
	// start says that the time is that of the request's begin.
	start bool
	// connections says that lines may be of connections, which have no request.
	connections bool
}

// format of the program's lines.
func (d *dialect) format() *Format {
	return &Format{Name: "json (" + d.name + ")", ended: !d.start, parse: func(f *Format, line []byte, e *Entry, c *clock) string {
		e.Ended = f.ended
		c.units = f.units
		s := scanner{b: line, e: e, c: c, dialect: d}
		if why := s.line(); why != "" {
			return why
		}
		return e.checkRequest(d.connections)
	}}
}

// refineJSON finds whose the JSON lines of a log's begin are: the first
// dialect that half of those have which are entries of any. JSON itself, if
// there is none.
func refineJSON(generic *Format, lines [][]byte) *Format {
	entries := 0
	found := make([]int, len(dialects))
	var e Entry
	var c clock
	for _, line := range lines {
		s := scanner{b: bytes.Clone(line), e: &e, c: &c, marks: map[string]string{}}
		e.reset()
		c.key = c.key[:0]
		if s.spaces(); s.peek() != '{' || !s.value(0) {
			continue
		}
		known := false
		for i := range dialects {
			if dialects[i].marked(s.marks) {
				known = true
				found[i]++
			}
		}
		if known || generic.parse(generic, bytes.Clone(line), &e, &c) == "" {
			entries++
		}
	}
	for i := range dialects {
		if found[i] > 0 && float64(found[i]) >= detectShare*float64(entries) {
			return dialects[i].format()
		}
	}
	return generic
}

// marked reports whether a line with these keys is of the dialect.
func (d *dialect) marked(keys map[string]string) bool {
	for _, m := range d.marks {
		key, want, exact := bytes.Cut([]byte(m), []byte("="))
		value, ok := keys[string(key)]
		if !ok || exact && !slices.Contains(strings.Split(string(want), "|"), value) {
			return false
		}
	}
	return true
}
