package accesslog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
	if t.Unit == 0 {
		f.knownWriter(lines, samples)
	}
	f.resolve(samples)
	f.noteAppTime(samples)
	plain := f.Name == lineName || f.ops != nil // what a program writes by its manual is known
	if plain && t.Field == "" || f.column.at != 0 {
		f.findColumn(t, lines)
		f.columnsRead(lines)
	}
	if plain && t.Field == "" {
		f.findPair(lines)
		f.noteTwo(lines)
	}
	for i, other := range f.others {
		o := *other
		o.units, o.column, o.pairs, o.field, o.unit, o.order, o.aliases = f.units, f.column, f.pairs, f.field, f.unit, f.order, f.aliases
		o.swapped = f.swapped
		f.others[i] = &o
	}
}

// sampleTimes collects values of times whose unit is not known.
func (f *Format) sampleTimes(lines [][]byte, samples map[string]*sample) {
	formats := append([]*Format{f}, f.others...)
	var e Entry
	c := clock{samples: samples, unknown: map[string]int{}, field: f.field}
	read, timed := 0, 0
	defer func() {
		if timed == 0 && f.field == "" {
			f.noteUnknown(c.unknown, read)
		}
	}()
	for _, line := range lines {
		for _, one := range formats {
			e.reset()
			c.key = c.key[:0]
			if one.ops != nil {
				c.samples = nil
			}
			why := one.parse(one, bytes.Clone(line), &e, &c)
			c.samples = samples
			if why != "" {
				continue
			}
			if s := samples[e.timeLabel]; s != nil {
				s.used++
			}
			read++
			if e.Request >= 0 || e.Upstream >= 0 {
				timed++
			}
			break
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
	var beside microsBeside
	r := NewRows(&Format{parse: parseLine, escapes: true, field: f.field, unit: f.unit, column: f.column, units: f.units, aliases: f.aliases}, false)
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
			beside.add(r.clock.tokens)
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
	if timed == 0 && f.severalNumbers(&beside, several, read) {
		return
	}
	if timed > 0 || read == 0 || len(s.values)*2 < read || s.constant() {
		return
	}
	f.column = column{at: at, whole: true}
	place := "the last value of the line"
	switch {
	case at > 0:
		place = fmt.Sprintf("value %d of the line", at)
	case at != -1:
		place = fmt.Sprintf("value %d from the end of the line", -at)
	}
	f.unitOfColumn(t, &s, place, true)
}

// columnsRead makes the format one that is read value by value, if the value that was
// found to be the time is something else to its text: in quotes it fits nginx's
// "$http_x_forwarded_for", before the client the host of vhost_common.
func (f *Format) columnsRead(lines [][]byte) {
	if f.ops == nil || !f.column.whole {
		return
	}
	var e Entry
	var c clock
	read := 0
	for _, line := range lines {
		if e.reset(); f.parse(f, bytes.Clone(line), &e, &c) == "" {
			read++
		}
	}
	if 2*read > len(lines) {
		line := Line()
		f.Name, f.parse, f.prefix, f.ops, f.escapes, f.ended = line.Name, line.parse, nil, nil, line.escapes, line.ended
	}
}

// severalNumbers takes the one that is Apache's %D by what stands beside it, or tells
// that nothing says which is a time; false: no line has several.
func (f *Format) severalNumbers(beside *microsBeside, several, read int) bool {
	if at := beside.found(); at != 0 && several == read {
		f.column = column{at: at, whole: true, unit: time.Microsecond}
		f.Notes = append(f.Notes, fmt.Sprintf("value %d from the end of the line is read as Apache's %%D, microseconds, as the one beside it is its whole seconds in every line; --time-field says otherwise", -at))
		return true
	}
	if several*2 > read {
		f.Notes = append(f.Notes, "whole numbers stand behind the status, or between the time and the request, that may be times, and nothing tells which: --time-field=-1 is the last value of the line, --time-field=1 its first, --time-unit its unit")
	}
	return false
}

// unitOfColumn decides the unit of a value without a name. A whole number may
// be a size, a port or a count as well; only one as large as microseconds are,
// or with a fraction, is taken for a time without being asked.
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
	case len(possible) == 1 && (possible[0] == time.Microsecond || s.whole == 0):
		f.column.unit = possible[0]
		f.Notes = append(f.Notes, s.note(place, possible[0])+", --time-field none that it is no time")
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

// loneNumber is the place of the number that stands alone in a line, and how many
// there are: behind the status and size, from the line's end; before the client,
// or between time and request, from its begin. 0/14529 and the like behind the
// request count as several.
func loneNumber(tokens []token) (at, n int) {
	at, n = numberBefore(tokens)
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
		case seen == 3 && isDecimal(t.value):
			n++
			at = i - len(tokens)
		case seen == 3 && t.form == 0 && bytes.IndexByte(t.value, '/') > 0 && isDigits(bytes.ReplaceAll(bytes.Trim(t.value, "*"), []byte("/"), nil)):
			n += 2
		}
	}
	return at, n
}

// noteTwo says that a value such as 0/14529 before the request was taken for its
// time.
func (f *Format) noteTwo(lines [][]byte) {
	if f.Name != lineName {
		return
	}
	for _, line := range lines {
		tokens, _ := split(line, nil)
		for i := range tokens {
			if tokens[i].form == '"' && isRequest(tokens[i].value) {
				break
			}
			l := lineReader{tokens: tokens, request: len(tokens)}
			if tokens[i].key == nil && bytes.IndexByte(tokens[i].value, '/') > 0 {
				if _, ok := l.timeOfTwo(i); ok {
					f.Notes = append(f.Notes, "a value such as "+string(tokens[i].value)+" before the request is read as Apache's %T/%D: whole seconds, and microseconds; --time-field says otherwise")
					return
				}
			}
		}
	}
}

// mostDigits of a time before the request; seconds since 1970 have more.
const mostDigits = 9

// numberBefore is loneNumber before the request.
func numberBefore(tokens []token) (at, n int) {
	stamped, further := false, 0
	for i := range tokens {
		t := &tokens[i]
		if t.form == '"' || knownMethod(t.value) {
			break
		}
		first := i == 0 && addressAt(tokens, 1) || i == 0 && len(tokens) > 1 && varnishStates[string(tokens[1].value)] && addressAt(tokens, 2)
		behind := i > 0 && tokens[i-1].form == '[' && tokens[i-1].key == nil
		stamped = stamped || behind
		whole, _, _ := bytes.Cut(t.value, []byte("."))
		if t.key != nil || t.form != 0 || !isDecimal(t.value) || len(whole) > mostDigits || isStatus(t) && usualStatus(t.value) {
			continue
		}
		switch {
		case first || behind:
			at = i + 1
			n++
		case stamped: // %t %h %v %D
			further++
		}
	}
	if n == 0 && further > 0 {
		n = 1 + further // it is told, but not taken
	}
	return at, n
}

// addressAt: a value is an address without a name.
func addressAt(tokens []token, i int) bool {
	return i < len(tokens) && tokens[i].form == 0 && tokens[i].key == nil && isAddress(tokens[i].value)
}

// withTimes applies what the user said to a template.
func (f *Format) withTimes(t Times) *Format {
	out := *f
	out.ops = append([]op{}, f.ops...)
	for i := range out.ops {
		o := &out.ops[i]
		said := t
		if o.hasUnit() {
			said.Unit = 0
		}
		o.place = said.place(o.place, strings.EqualFold(strings.TrimPrefix(t.Field, "$"), o.name))
	}
	return &out
}

// WithTimes is the format with what the user said of its times; the error says
// that it has no such field.
func (f *Format) WithTimes(t Times) (*Format, error) {
	if !t.given() {
		return f, nil
	}
	if f.retimed != nil {
		return f.retimed(t)
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
	if t.names() && !f.hasVariable(t.Field) {
		return nil, &FieldError{t.Field, f.Name}
	}
	return f.withTimes(t), nil
}
