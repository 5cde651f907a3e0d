package accesslog

import (
	"bytes"
	"slices"
	"strings"
	"time"
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
	// guess is not empty if the keys leave open who wrote the line: it says
	// whose way of writing durations is assumed, and the values must fit it.
	guess string
	// decimals that a duration has at most; 0: any number.
	decimals int
	// except is the begin of a text value, behind its key and "=", of lines that
	// tell a request again which has its own line.
	except string
	// fractions says that a duration is only known by its fraction.
	fractions bool
	// start says that the time is that of the request's begin.
	start bool
	// connections says that lines may be of connections, which have no request.
	connections bool
}

// format of the program's lines.
func (d *dialect) format() *Format {
	out := &Format{Name: "json (" + d.name + ")", ended: !d.start}
	if d.guess != "" {
		out.Notes = []string{"request times are read as " + d.guess + "; --time-unit says otherwise"}
	}
	out.parse = func(f *Format, line []byte, e *Entry, c *clock) string {
		e.Ended = f.ended
		c.follow(f)
		s := scanner{b: line, e: e, c: c, dialect: d}
		if why := s.line(); why != "" {
			return why
		}
		if key, begin, ok := strings.Cut(d.except, "="); ok && bytes.HasPrefix(e.Get(key), []byte(begin)) {
			return whyAgain
		}
		allowed := without(0)
		if d.connections {
			allowed = connections
		}
		return e.checkRequest(allowed)
	}
	return out
}

const whyAgain = "it tells of a request that has a line of its own"

// refineJSON finds whose the JSON lines of a log's begin are: the first
// dialect that half of those have which are requests; what else goes to the same
// stream tells nothing. JSON itself, if there is none.
func refineJSON(generic *Format, lines [][]byte) *Format {
	entries := 0
	found := make([]int, len(dialects))
	var e Entry
	var c clock
	for _, line := range lines {
		s := scanner{b: bytes.Clone(line), e: &e, c: &c, marks: map[string]string{}}
		e.reset()
		c.key = c.key[:0]
		if s.opens(); s.peek() != '{' || !s.value(0) {
			continue
		}
		known := false
		for i := range dialects {
			if dialects[i].marked(s.marks) && dialects[i].tells(line) {
				known = true
				found[i]++
			}
		}
		if known || generic.parse(generic, bytes.Clone(line), &e, &c) == "" {
			entries++
		}
	}
	for i := range dialects {
		d := &dialects[i]
		if found[i] > 0 && float64(found[i]) >= detectShare*float64(entries) && (d.guess == "" || d.plausible(lines)) {
			return d.format()
		}
	}
	return generic
}

// tells reports whether the line is a request of the dialect's, or one again.
func (d *dialect) tells(line []byte) bool {
	var e Entry
	var c clock
	e.reset()
	f := d.format()
	why := f.parse(f, bytes.Clone(line), &e, &c)
	return why == "" || why == whyAgain
}

// Half of what a server answers is answered within slowMedian; and if no
// answer takes fastMost, the unit is another one.
const (
	slowMedian = 5 * time.Second
	fastMost   = time.Millisecond
)

// plausible reports whether the lines' durations can be what requests take, if
// they are written as the dialect does.
func (d *dialect) plausible(lines [][]byte) bool {
	var all []time.Duration
	fraction := false
	f := d.format()
	var e Entry
	var c clock
	for _, line := range lines {
		e.reset()
		c.key = c.key[:0]
		s := scanner{b: bytes.Clone(line), e: &e, c: &c, marks: map[string]string{}}
		if s.line() != "" || !d.marked(s.marks) {
			continue
		}
		for _, key := range durationKeys {
			v := s.marks[key]
			fraction = fraction || strings.ContainsAny(v, ".smhn") // or a unit of its own
			if _, after, ok := strings.Cut(v, "."); ok && d.decimals > 0 && len(after) > d.decimals && isDigits([]byte(after)) {
				return false
			}
		}
		e.reset()
		c.key = c.key[:0]
		if f.parse(f, bytes.Clone(line), &e, &c) == "" && e.Request >= 0 {
			all = append(all, e.Request)
		}
	}
	if len(all) == 0 {
		return true
	}
	slices.Sort(all)
	return all[len(all)/2] <= slowMedian && all[len(all)-1] >= fastMost && (fraction || !d.fractions)
}

// marked reports whether a line with these keys is of the dialect.
func (d *dialect) marked(keys map[string]string) bool {
	for _, m := range d.marks {
		if key, not := strings.CutPrefix(m, "!"); not {
			if _, ok := keys[key]; ok {
				return false
			}
			continue
		}
		key, want, exact := bytes.Cut([]byte(m), []byte("="))
		value, ok := keys[string(key)]
		if !ok || exact && !slices.Contains(strings.Split(string(want), "|"), value) {
			return false
		}
	}
	return true
}
