package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// units of times by their labels.
type units map[string]time.Duration

// omitted is the unit of a time that is not to be read.
const omitted = -1

// sample is what the first lines have in one field whose unit nothing names.
type sample struct {
	place    place
	values   []float64
	human    []float64 // seconds, of the field beside it that is for people (latency_human)
	decimals int       // most of a value
	thirds   int       // values with exactly three decimals
	whole    int       // values without any
	zeros    int       // of them, 0
	lines    int       // that have the field
	used     int       // of them, where it is the request's time
}

// maxSamples of a field; more do not change what they say.
const maxSamples = 1000

// decide gives a time's place its unit, and takes samples.
func (c *clock) decide(p place, label, value []byte) place {
	if c.samples != nil {
		c.sampleOf(p, label, value)
	}
	if c.only != "" && p.kind.isTime() && string(label) != c.only {
		return place{kind: kindOther}
	}
	if u, ok := c.units[string(label)]; ok {
		if u == omitted {
			return place{kind: kindOther}
		}
		if p.kind == kindOther {
			p = place{kind: kindRequestTime, unsure: byValues}
		}
		p.unit = u
	}
	return p
}

// follow takes what a format knows of the times that have labels.
func (c *clock) follow(f *Format) {
	c.units, c.only, c.order, c.long, c.aliases = f.units, f.field, f.order, true, f.aliases
	if f.column.at != 0 { // it names a place
		c.only = ""
	}
}

func (c *clock) sampleOf(p place, label, value []byte) {
	if p.kind == kindOther && isDecimal(value) && namesTime(label) && len(c.unknown) < maxLabels {
		c.unknown[string(label)]++
	}
	if base, ok := bytes.CutSuffix(label, []byte("_human")); ok {
		if s := c.samples[string(base)]; s != nil && len(s.human) < len(s.values) {
			if d, ok := duration(value, seconds); ok {
				s.human = append(s.human, d.Seconds())
			}
		}
		return
	}
	if p.unsure == sure && string(label) != c.field {
		return
	}
	if _, ok := clockDuration(value); ok { // hours, minutes and seconds need no unit
		return
	}
	s := c.samples[string(label)]
	if s == nil {
		s = &sample{place: p}
		c.samples[string(label)] = s
	}
	s.lines++
	if p.kind != kindUpstreamTime {
		value = tidy(kindRequestTime, value)
	}
	for _, one := range bytes.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == ':' }) {
		s.add(one)
	}
}

// namesTime: a label that nobody knows, and that may be a time's by its words.
func namesTime(label []byte) bool {
	name := snake(label)
	for _, word := range []string{"stamp", "zone", "timeout", "uptime", "date"} {
		if strings.Contains(name, word) {
			return false
		}
	}
	for _, word := range []string{"time", "durat", "elaps", "latenc", "took", "taken", "cost", "spent", "millis", "micros", "nanos", "msec", "usec"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// noteUnknown tells of fields that may be times, where the log has no other.
func (f *Format) noteUnknown(unknown map[string]int, lines int) {
	var labels []string
	for label, n := range unknown {
		if n*2 > lines {
			labels = append(labels, fmt.Sprintf("%q", label))
		}
	}
	if slices.Sort(labels); len(labels) > 0 {
		f.Notes = append(f.Notes, "the request's time may be in "+strings.Join(labels[:min(len(labels), 3)], ", ")+", by the name, but its unit and meaning are not known: --time-field NAME takes it, --time-unit says its unit")
	}
}

// add takes a number; what has a unit of its own needs none.
func (s *sample) add(v []byte) {
	whole, fraction, dotted := bytes.Cut(v, []byte("."))
	n, ok := number(whole)
	if !ok || dotted && !isDigits(fraction) || len(s.values) >= maxSamples {
		return
	}
	f, scale := float64(n), 1.0
	for _, c := range fraction {
		scale /= 10
		f += float64(c-'0') * scale
	}
	s.values = append(s.values, f)
	s.decimals = max(s.decimals, len(fraction))
	switch len(fraction) {
	case 0:
		if s.whole++; n == 0 {
			s.zeros++
		}
	case 3:
		s.thirds++
	}
}

// The bounds of what a server's requests take: half of them are answered within
// five seconds, but not within 20 µs (a static file's open and send take as
// long); one of a hundred within two minutes, but not within 1 ms.
const (
	slowestMedian, fastestMedian = 5.0, 20e-6
	slowestTail, fastestTail     = 120.0, 1e-3
)

// mixedShare of whole numbers beside others with three decimals are not one
// program's: nginx writes 2.000. Fewer than mixedLeast are what is left of lines
// that were cut, or that two programs wrote into each other.
const (
	mixedShare = 0.1
	mixedLeast = 5
)

// mixed: two ways of writing are in the field.
func (s *sample) mixed() bool {
	n := s.whole - s.zeros
	return s.thirds > 0 && s.thirds == len(s.values)-s.whole && n >= mixedLeast && float64(n) > mixedShare*float64(len(s.values))
}

// quantile of the values that are not 0.
func (s *sample) quantile(q float64) float64 {
	v := slices.DeleteFunc(slices.Clone(s.values), func(f float64) bool { return f == 0 })
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(int(q*float64(len(v))), len(v)-1)]
}

var allUnits = []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}

// readings are the units in which the values can be what requests take.
func (s *sample) readings() []time.Duration {
	median, tail := s.quantile(0.5), s.quantile(0.99)
	var strict, loose []time.Duration
	for _, u := range allUnits {
		m, t := median*u.Seconds(), tail*u.Seconds()
		if m > slowestMedian || t > slowestTail || m < fastestMedian || u == time.Nanosecond && s.decimals > 0 {
			continue
		}
		loose = append(loose, u)
		if t >= fastestTail {
			strict = append(strict, u)
		}
	}
	if len(strict) == 0 {
		return loose
	}
	return strict
}

// byHuman finds the unit in which the values are those beside them.
func (s *sample) byHuman() (time.Duration, bool) {
	if len(s.human) == 0 || len(s.human) != len(s.values) {
		return 0, false
	}
	for _, u := range allUnits {
		fits := 0
		for i, h := range s.human {
			if v := s.values[i] * u.Seconds(); v >= h*0.9 && v <= h*1.1 || v == h {
				fits++
			}
		}
		if fits*10 >= len(s.human)*9 {
			return u, true
		}
	}
	return 0, false
}

// secondsDecimals: seconds with as many have a resolution of 0.1 µs; no other
// unit is written so fine.
const secondsDecimals = 7

// decide tells the unit. One reading: it is that. Several: it is open. inferred
// says that the values told, and not what the field is by its definition.
func (s *sample) decide() (readings []time.Duration, inferred bool) {
	if u, ok := s.byHuman(); ok {
		return []time.Duration{u}, false
	}
	if s.quantile(1) == 0 {
		return []time.Duration{seconds}, false
	}
	fractions := len(s.values) - s.whole
	if s.place.unsure == bySeconds && fractions > 0 && (s.thirds == fractions || s.quantile(0.5) <= slowestMedian) {
		return []time.Duration{seconds}, false
	}
	if s.decimals >= secondsDecimals && s.quantile(0.5) <= slowestMedian {
		return []time.Duration{seconds}, true
	}
	readings = s.readings()
	if len(readings) == 0 {
		return []time.Duration{seconds}, true
	}
	return readings, true
}

// resolve decides the units of a format's fields from its samples.
func (f *Format) resolve(samples map[string]*sample) {
	var labels []string
	for label := range samples {
		labels = append(labels, label)
	}
	slices.SortFunc(labels, func(a, b string) int { // what most lines have first
		return cmp.Or(cmp.Compare(len(samples[b].values), len(samples[a].values)), strings.Compare(a, b))
	})
	for _, label := range labels {
		s := samples[label]
		if len(s.values) == 0 {
			continue
		}
		unused := s.place.kind == kindRequestTime && s.used == 0 // a surer one is in each line
		if f.units == nil {
			f.units = units{}
		}
		if f.unit > 0 {
			f.units[label] = f.unit
			continue
		}
		if s.place.unsure == sure && s.place.unit > 0 { // its name tells
			f.units[label] = s.place.unit
			continue
		}
		readings, inferred := s.decide()
		f.units[label] = readings[0]
		field := fmt.Sprintf("the field %q", label)
		switch {
		case unused:
		case s.mixed() && len(readings) == 1:
			f.Notes = append(f.Notes, fmt.Sprintf("%s has %d whole numbers beside %d with three decimals: its unit may have changed within the log; all are read as %s, and --time-unit says otherwise", field, s.whole-s.zeros, s.thirds, longUnit(readings[0])))
		case len(readings) > 1 && f.Doubt == nil:
			f.Doubt = s.doubt(field, readings)
		case inferred && len(readings) == 1:
			f.Notes = append(f.Notes, s.note(field, readings[0]))
		}
	}
}

// noteAppTime says that an application's or upstream's time stands for the
// request's where some lines have no other.
func (f *Format) noteAppTime(samples map[string]*sample) {
	request, most := 0, 0
	label := ""
	for l, s := range samples {
		switch {
		case s.place.kind == kindRequestTime:
			request = max(request, s.lines)
		case s.lines > most || s.lines == most && l < label:
			most, label = s.lines, l
		}
	}
	if f.ops == nil && most > request && f.field == "" {
		f.Notes = append(f.Notes, fmt.Sprintf("where a line has no time of the request, that of the field %q is taken for it; --time-field says otherwise", label))
	}
}

func (s *sample) note(field string, u time.Duration) string {
	r := s.reading(u)
	return fmt.Sprintf("times in %s are read as %s, by their values (median %v, the most %v); --time-unit says otherwise", field, longUnit(u), short(r.Median), short(r.Max))
}
