package accesslog

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

const (
	// detectLines that are looked at, from all over the text.
	detectLines = 400
	// detectShare of them that must fit: garbage of scanners may come first.
	detectShare = 0.5
	// exactShare of the lines that any format reads must be those of a
	// template, for it to be tried first.
	exactShare = 0.5
)

// Times are what the user said of a log's request times. The zero value leaves
// all to what the lines show.
type Times struct {
	// Unit of times whose text has none; 0: as their format, name or values tell.
	Unit time.Duration
	// Field is the label or variable of the time; or the place of the value in
	// the line, as a number: 1 is the first, -1 the last, where what stands in
	// quotes or brackets is one value; "none": the log has no times.
	Field string
}

// noTimes is a Field.
const noTimes = "none"

func (t Times) given() bool { return t.Unit != 0 || t.Field != "" }

// Detect tells the format from a log's lines, which may be its first or a
// sample of all. The error names the first line and what to do.
func Detect(lines []byte) (*Format, error) { return DetectTimes(lines, Times{}) }

// DetectTimes is Detect, with what is known of the times. The format reads each
// line by itself: such as differ from most are read value by value. If its
// Doubt is not nil, its times are not to be relied on.
//
// Labels that are nearly those of the tables are read as these where the lines have none,
// and a note says so.
func DetectTimes(head []byte, t Times) (*Format, error) {
	lines := linesOf(head)
	if len(lines) == 0 {
		return nil, fmt.Errorf("detect the log's format: there are no lines")
	}
	if f, err := headed(head, t); f != nil || err != nil {
		return f, err
	}
	if err := halves(lines); err != nil {
		return nil, err
	}
	f, err := detectIn(head, lines, t, nil)
	if err == nil && (f.isDialect() || f.ops != nil) {
		return f, nil
	}
	within := lines
	if inner := mostWithin(lines); inner != nil {
		within = inner
	}
	names, notes := aliases(within)
	if len(names) == 0 {
		return f, err
	}
	named, nerr := detectIn(head, lines, t, names)
	if nerr != nil || named.isDialect() || named.ops != nil {
		return f, err
	}
	named.Notes = append(named.Notes, notes...)
	return named, nil
}

// detectIn is DetectTimes for lines without headers, with the places of some labels.
func detectIn(head []byte, lines [][]byte, t Times, names map[string]place) (*Format, error) {
	candidates, err := candidatesFor(t)
	if err != nil {
		return nil, err
	}
	if names != nil {
		alias(candidates, names)
	}
	best := bestOf(candidates, lines)
	if inner := mostWithin(lines); inner != nil {
		within := bestOf(candidates, inner)
		if within.dated == 0 {
			within.dated = archived(lines)
		}
		if within.better(best) {
			best, lines = within, inner
			best.wrapped = true
		}
	}
	share := detectShare
	if best.format.isDialect() {
		share = dialectShare
	}
	if float64(best.read) < share*float64(len(lines)) {
		return nil, unread(head, lines)
	}
	f := *best.format
	if f.retimed != nil && t.given() {
		retimed, err := f.retimed(t)
		if err != nil {
			return nil, err
		}
		f = *retimed
	}
	f.wrapped = best.wrapped
	f.findOrder(lines)
	f.findSwapped(lines)
	f.aliases = names
	f.others = append(f.others, best.format.besides(t)...)
	if f.setTimes(t, lines); t.Field != "" && t.Field != noTimes && !f.fieldFound {
		return nil, &FieldError{Field: t.Field}
	}
	if f.Name == lineName {
		f.Name = lineNameOf(lines)
	}
	return &f, nil
}

// alias gives those of the formats that read labels the places of some.
func alias(formats []*Format, names map[string]place) {
	for i, f := range formats {
		if f.ops == nil && f.parse != nil && f.retimed == nil {
			one := *f
			one.aliases = names
			formats[i] = &one
		}
	}
}

// besides are the formats that read lines which differ from those of f.
func (f *Format) besides(t Times) (others []*Format) {
	for _, other := range []*Format{Line(), JSON(), LTSV(), HAProxy()} {
		if other.Name == f.Name || other.Name == "json" && f.isDialect() {
			continue
		}
		if other.retimed != nil && t.given() {
			var err error
			if other, err = other.retimed(t); err != nil {
				continue
			}
		}
		others = append(others, other)
	}
	return others
}

// FieldError says that the log has no such field.
type FieldError struct {
	Field string
	// Format is not empty if its lines can have no other times than it has.
	Format string
}

func (e *FieldError) Error() string {
	if e.Format != "" {
		return fmt.Sprintf("the format %q has no field %q that can be the request's time; leave --time-field out for the time that it has, or say none", e.Format, e.Field)
	}
	return fmt.Sprintf("no line has a number in the field %q that is to be the request's time", e.Field)
}

// linesOf takes lines that are not empty, spread evenly. A last line without
// its end may be cut.
func linesOf(head []byte) [][]byte {
	var all [][]byte
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			all = append(all, line)
		}
	}
	if n := len(all); n > 1 && head[len(head)-1] != '\n' {
		all = all[:n-1]
	}
	if len(all) <= detectLines {
		return all
	}
	out := make([][]byte, detectLines)
	for i := range out {
		out[i] = all[i*len(all)/detectLines]
	}
	return out
}

// candidatesFor are the formats that are tried: those that are exact first.
func candidatesFor(t Times) (out []*Format, err error) {
	out = []*Format{JSON()}
	if !t.given() {
		out = append(out, dialectFormat)
	}
	out = append(out, LTSV(), HAProxy())
	if t.Field == "" || t.Field == noTimes {
		early, late := productFormats()
		out = append(append(out, t.without(early)...), usualColumns()...)
		for _, k := range known {
			if k.name == "combined_micros" { // a number alone may be anything
				continue
			}
			f, err := namedFormat(k.name, k.text)
			if err != nil {
				return nil, err
			}
			f.byForm()
			out = append(out, f)
		}
		out = append(out, t.without(late)...)
	}
	return append(out, Line()), nil
}

// dialectShare of the lines must be requests where their keys tell the program:
// the rest may be what else it logs.
const dialectShare = 0.02

func (f *Format) isDialect() bool { return strings.HasPrefix(f.Name, "json (") }

// without leaves out formats whose unit or program is assumed, if the user gave one.
func (t Times) without(formats []*Format) []*Format {
	var out []*Format
	for _, f := range formats {
		if t.Unit == 0 || len(f.Notes) == 0 && !f.guessed {
			out = append(out, f)
		}
	}
	return out
}

// dialectFormat stands for the format of the program whose JSON lines they are.
var dialectFormat = &Format{Name: "json (…)"}

// found is how well a format fits lines.
type found struct {
	format  *Format
	read    int // lines that it or the lenient format reads
	dated   int // that have a point in time
	timed   int // that have a request's time
	whole   int // that have a method and a status
	wrapped bool
}

// better: more lines are read, or as many with their times of day; labels stay
// as they are, unless requests are told by what they hold, and not by them.
func (a found) better(b found) bool {
	if a.read != b.read {
		return a.read > b.read
	}
	if strings.HasPrefix(b.format.Name, "json") || b.format.Name == "haproxy" {
		return a.whole > 0 && b.whole == 0
	}
	return a.dated >= b.dated
}

// bestOf the candidates; the last of them is the one that reads what others do
// not. It counts for itself where the others miss most of the times.
func bestOf(candidates []*Format, lines [][]byte) found {
	last := candidates[len(candidates)-1]
	lenient := last.count(lines)
	best := lenient
	most := 0
	for _, f := range candidates[:len(candidates)-1] {
		if f == dialectFormat {
			generic := candidates[0]
			if f = refineJSON(generic, lines); f == generic {
				continue
			}
			if best.format == generic { // the program's own, even if some lines are another's
				most = 0
			}
		}
		n := f.count(lines)
		if n.read <= most || float64(n.read) < exactShare*float64(lenient.read) || f.outdone(n, lenient) || f.denies != nil && f.denies(lines) {
			continue
		}
		most = n.read
		best = found{format: f, read: max(n.read, lenient.read), dated: max(n.dated, lenient.dated), timed: n.timed, whole: n.whole}
	}
	return best
}

// outdone: the lenient format sees times where the format has none; or a template
// takes 45.29 for a time, which is none by its form.
func (f *Format) outdone(n, lenient found) bool {
	if f.ops != nil {
		return n.timed > lenient.timed || lenient.timed > 2*n.timed
	}
	return n.read <= lenient.read && lenient.timed > 2*n.timed
}

// lineNameOf says what most lines look like.
func lineNameOf(lines [][]byte) string {
	agents, times := 0, 0
	r := NewRows(Line(), false)
	for _, line := range lines {
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			continue
		}
		if !e.Time.IsZero() {
			times++
		}
		if e.Agent != nil || e.Referer != nil || bytes.Count(line, []byte(`"`)) >= 6 {
			agents++
		}
	}
	switch {
	case agents*2 > len(lines):
		return "combined and more"
	case times*2 > len(lines) && bytes.IndexByte(lines[0], '[') >= 0 && bytes.IndexByte(lines[0], '=') < 0:
		return "common and more"
	}
	return "named values"
}

// Fit counts the lines of a log's begin that are entries of the format, and
// those that are not; unfit is the first of these.
func (f *Format) Fit(head []byte) (good, bad int, unfit []byte) {
	r := NewRows(f, false)
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if _, why := r.Entry(bytes.Clone(line)); why == "" {
			good++
			continue
		}
		if r.Empty(line) {
			continue
		}
		if bad++; unfit == nil {
			unfit = line
		}
	}
	return good, bad, unfit
}

// count tells how many of the lines the format reads by itself.
func (f *Format) count(lines [][]byte) found {
	n := found{format: f}
	var e Entry
	var c clock
	for _, line := range lines {
		e.reset()
		c.key = c.key[:0]
		if f.parse(f, bytes.Clone(line), &e, &c) != "" {
			continue
		}
		n.read++
		if !e.Time.IsZero() {
			n.dated++
		}
		if e.Request >= 0 {
			n.timed++
		}
		if e.Method != nil && e.Status != 0 {
			n.whole++
		}
	}
	return n
}

// detect reads ahead and chooses the format. false: there is no line, or an
// error.
func (r *Reader) detect() bool {
	for !r.eof && r.end-r.begin < bufferSize/4 {
		if !r.fill() {
			return false
		}
	}
	if r.begin == 0 {
		if rest, ok := bytes.CutPrefix(r.buf[:r.end], []byte("\xef\xbb\xbf")); ok {
			r.begin = r.end - len(rest)
		}
	}
	head := r.buf[r.begin:r.end]
	if len(bytes.TrimSpace(head)) == 0 && r.eof {
		return false
	}
	if last := bytes.LastIndexByte(head, '\n'); last >= 0 && !r.eof {
		head = head[:last+1]
	}
	if r.format, r.err = Detect(head); r.err == nil && r.format.Doubt != nil {
		r.doubt = r.format.Doubt
		r.format, r.err = DetectTimes(head, Times{Field: noTimes})
	}
	return r.err == nil
}
