package accesslog

import (
	"bytes"
	"fmt"
	"strconv"
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
func DetectTimes(head []byte, t Times) (*Format, error) {
	lines := linesOf(head)
	if len(lines) == 0 {
		return nil, fmt.Errorf("detect the log's format: there are no lines")
	}
	if f := headed(head, t); f != nil {
		return f, nil
	}
	candidates, err := candidatesFor(t)
	if err != nil {
		return nil, err
	}
	best := bestOf(candidates, lines)
	if inner, opened := unwrapAll(lines); opened*2 >= len(lines) {
		if within := bestOf(candidates, inner); within.better(best) {
			best, lines = within, inner
			best.wrapped = true
		}
	}
	if float64(best.read) < detectShare*float64(len(lines)) {
		return nil, fmt.Errorf("detect the log's format: no known one fits the line %s; give the log_format or LogFormat text of the server's configuration", quoteText(lines[0], 200))
	}
	f := *best.format
	f.wrapped = best.wrapped
	for _, other := range []*Format{Line(), JSON(), LTSV(), HAProxy()} {
		if other.Name != best.format.Name {
			f.others = append(f.others, other)
		}
	}
	if f.setTimes(t, lines); t.Field != "" && t.Field != noTimes && !f.fieldFound {
		return nil, &FieldError{t.Field}
	}
	if f.Name == lineName {
		f.Name = lineNameOf(lines)
	}
	return &f, nil
}

// FieldError says that the log has no such field.
type FieldError struct{ Field string }

func (e *FieldError) Error() string {
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
			out = append(out, f)
		}
		out = append(out, late...)
	}
	return append(out, Line()), nil
}

// without leaves out formats whose unit is assumed, if the user gave one.
func (t Times) without(formats []*Format) []*Format {
	var out []*Format
	for _, f := range formats {
		if t.Unit == 0 || len(f.Notes) == 0 {
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
	wrapped bool
}

// better: more lines are read, or as many with their times of day; labels stay
// as they are.
func (a found) better(b found) bool {
	if a.read != b.read {
		return a.read > b.read
	}
	if strings.HasPrefix(b.format.Name, "json") || b.format.Name == "haproxy" {
		return false
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
		if n.read <= most || float64(n.read) < exactShare*float64(lenient.read) || f.ops == nil && n.read <= lenient.read && lenient.timed > 2*n.timed {
			continue
		}
		most = n.read
		best = found{format: f, read: max(n.read, lenient.read), dated: max(n.dated, lenient.dated), timed: n.timed}
	}
	return best
}

func unwrapAll(lines [][]byte) (out [][]byte, opened int) {
	for _, line := range lines {
		inner, names := unwrap(bytes.Clone(line), make([]string, 0, maxEnvelopes))
		if len(names) > 0 {
			opened++
		}
		out = append(out, inner)
	}
	return out, opened
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

// setTimes tells the units of times and their place, from what the user said
// and from the lines.
func (f *Format) setTimes(t Times, lines [][]byte) {
	f.unit, f.field = t.Unit, t.Field
	if at, err := strconv.Atoi(t.Field); err == nil && at != 0 {
		f.column = column{at: at, unit: max(t.Unit, 0)}
		if t.Unit == 0 {
			f.column.unit = seconds
		}
	}
	if f.ops != nil && t.given() {
		*f = *f.withTimes(t)
	}
	samples := map[string]*sample{}
	f.sampleTimes(lines, samples)
	if t.Field != "" && f.column.at == 0 {
		f.onlyField(samples)
	}
	for _, s := range samples {
		f.fieldFound = f.fieldFound || len(s.values) > 0
	}
	f.resolve(samples)
	f.noteAppTime(samples)
	plain := f.Name == lineName || f.ops != nil // what a program writes by its manual is known
	if plain && t.Field == "" || f.column.at != 0 {
		f.findColumn(t, lines)
	}
	if plain && t.Field == "" {
		f.findPair(lines)
	}
	for i, other := range f.others {
		o := *other
		o.units, o.column, o.pair, o.field, o.unit = f.units, f.column, f.pair, f.field, f.unit
		f.others[i] = &o
	}
}

// sampleTimes collects values of times whose unit is not known.
func (f *Format) sampleTimes(lines [][]byte, samples map[string]*sample) {
	formats := []*Format{f}
	for _, o := range f.others {
		formats = append(formats, o)
	}
	var e Entry
	c := clock{samples: samples, field: f.field}
	for _, line := range lines {
		for _, one := range formats {
			e.reset()
			c.key = c.key[:0]
			if one.ops != nil {
				c.samples = nil
			}
			why := one.parse(one, bytes.Clone(line), &e, &c)
			c.samples = samples
			if why == "" {
				break
			}
		}
	}
}

// onlyField makes the field that the user named the request's time, and other
// times none.
func (f *Format) onlyField(samples map[string]*sample) {
	f.units = units{}
	for label := range samples {
		f.units[label] = omitted
	}
	for label := range timeNames {
		f.units[label] = omitted
	}
	s := samples[f.field]
	clear(samples)
	if f.field == noTimes {
		return
	}
	if s == nil {
		s = &sample{place: requestUnsure}
	}
	f.units[f.field] = max(f.unit, 0)
	if f.unit == 0 {
		f.units[f.field] = seconds
	}
	samples[f.field] = s
}

// findColumn looks for a time that has no name and no unit: whole numbers that
// stand alone behind the agent, as Apache's %D and %T write them.
func (f *Format) findColumn(t Times, lines [][]byte) {
	var s sample
	timed, read := 0, 0
	at, several := 0, 0
	r := NewRows(&Format{parse: parseLine, escapes: true, field: f.field, unit: f.unit, column: f.column, units: f.units}, false)
	for _, line := range lines {
		e, why := r.Entry(bytes.Clone(line))
		if why != "" || e.Time.IsZero() {
			continue
		}
		read++
		if f.column.at != 0 {
			if one := f.column.pick(r.clock.tokens); one != nil {
				s.add(one.value)
			}
			continue
		}
		if e.Request >= 0 || e.Upstream >= 0 {
			timed++
			continue
		}
		i, n := loneNumber(r.clock.tokens)
		if n > 1 {
			several++
		}
		if n == 1 && (at == 0 || i == at) {
			at = i
			if one := (column{at: i}).pick(r.clock.tokens); one != nil {
				s.add(one.value)
			}
		}
	}
	if f.column.at != 0 {
		f.fieldFound = len(s.values) > 0
		f.unitOfColumn(t, &s, fmt.Sprintf("value %d of the line", f.column.at), false)
		return
	}
	if timed == 0 && several*2 > read {
		f.Notes = append(f.Notes, "whole numbers stand behind the status that may be times, and nothing tells which: --time-field=-1 is the last value of the line, --time-unit its unit")
	}
	if timed > 0 || read == 0 || len(s.values)*2 < read || s.constant() {
		return
	}
	f.column = column{at: at, whole: true}
	place := "the last value of the line"
	if at != -1 {
		place = fmt.Sprintf("value %d from the end of the line", -at)
	}
	f.unitOfColumn(t, &s, place, true)
}

// unitOfColumn decides the unit of a value without a name. A whole number may
// be a size, a port or a count as well; only one as large as microseconds are
// is taken for a time without being asked.
func (f *Format) unitOfColumn(t Times, s *sample, place string, found bool) {
	switch {
	case t.Unit > 0:
		f.column.unit = t.Unit
		return
	case len(s.values) == 0:
		return
	}
	readings := s.readings()
	if !found {
		if s.thirds > 0 && s.thirds == len(s.values)-s.whole && s.quantile(0.5) <= slowestMedian {
			readings = []time.Duration{seconds}
		}
		if len(readings) == 0 {
			readings = []time.Duration{seconds}
		}
		f.column.unit = readings[0]
		if len(readings) > 1 {
			f.Doubt = s.doubt(place, readings)
		} else {
			f.Notes = append(f.Notes, s.note(place, readings[0]))
		}
		return
	}
	var possible []time.Duration
	for _, u := range readings {
		if u != time.Nanosecond {
			possible = append(possible, u)
		}
	}
	f.column.unit = time.Microsecond
	switch {
	case len(possible) == 0:
		f.column = column{}
	case len(possible) == 1 && possible[0] == time.Microsecond:
		f.Notes = append(f.Notes, s.note(place, time.Microsecond)+", --time-field none that it is no time")
	default:
		f.Doubt = s.doubt(place, possible)
		f.Doubt.Readings = append(f.Doubt.Readings, Reading{})
	}
}

// constant: all values are one, so they are no times.
func (s *sample) constant() bool {
	for _, v := range s.values {
		if v != s.values[0] {
			return false
		}
	}
	return len(s.values) > 1
}

// loneNumber is the place, from the end, of the last whole number behind the
// status and size of a line, and how many there are; 0/14529 and the like count
// as several.
func loneNumber(tokens []token) (at, n int) {
	seen := 0
	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.key != nil || t.form == '[':
		case seen == 0 && t.form == '"':
			seen = 1
		case seen == 1 && isStatus(t):
			seen = 2
		case seen == 2 && t.form == 0:
			seen = 3 // the size
		case seen == 3 && isDigits(t.value):
			n++
			at = i - len(tokens)
		case seen == 3 && t.form == 0 && bytes.IndexByte(t.value, '/') > 0 && isDigits(bytes.ReplaceAll(bytes.Trim(t.value, "*"), []byte("/"), nil)):
			n += 2
		}
	}
	return at, n
}

// withTimes applies what the user said to a template.
func (f *Format) withTimes(t Times) *Format {
	out := *f
	out.ops = append([]op{}, f.ops...)
	for i := range out.ops {
		o := &out.ops[i]
		isTime := o.kind == kindRequestTime || o.kind == kindUpstreamTime
		switch {
		case t.Field == noTimes && isTime:
			o.place = place{kind: kindSkip}
		case t.Field != "" && strings.EqualFold(strings.TrimPrefix(t.Field, "$"), o.name):
			o.place = place{kind: kindRequestTime, unit: max(o.unit, seconds)}
			isTime = true
		case t.Field != "" && o.kind == kindRequestTime:
			o.place = place{kind: kindSkip}
		}
		if isTime && t.Unit > 0 {
			o.unit, o.whole = t.Unit, false
		}
	}
	return &out
}

// WithTimes is the format with what the user said of its times; the error says
// that it has no such field.
func (f *Format) WithTimes(t Times) (*Format, error) {
	if !t.given() {
		return f, nil
	}
	if f.ops == nil {
		out := *f
		out.setTimes(t, nil)
		if t.Unit > 0 {
			out.units = units{}
			for name := range timeNames {
				out.units[name] = t.Unit
			}
			if t.Field != "" && t.Field != noTimes {
				for name := range timeNames {
					out.units[name] = omitted
				}
				out.units[t.Field] = t.Unit
			}
		}
		return &out, nil
	}
	if t.Field != "" && t.Field != noTimes {
		has := false
		for i := range f.ops {
			has = has || strings.EqualFold(strings.TrimPrefix(t.Field, "$"), f.ops[i].name)
		}
		if !has {
			return nil, fmt.Errorf("the format %q has no variable %s", f.Name, t.Field)
		}
	}
	return f.withTimes(t), nil
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
		} else if bad++; unfit == nil {
			unfit = line
		}
	}
	return good, bad, unfit
}

// fits counts the lines that the format can read.
func (f *Format) fits(lines [][]byte) int { return f.count(lines).read }

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
	r.format, r.err = Detect(head)
	return r.err == nil
}
