package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TomcatIn tells by the lines of a log's begin whether the %D of a LogFormat text is
// Apache's, microseconds, or that of Tomcat's AccessLogValve, which took the letters
// over: milliseconds before Tomcat 10 ("The Valve Component", Access Logging). Tomcat
// is known by a %T that has a fraction, and by an %I or %S that is no number; t is what
// the user said of the times. The format is returned as it is, if it has no %D.
func (f *Format) TomcatIn(head []byte, t Times) *Format {
	at := slices.IndexFunc(f.ops, func(o op) bool { return o.isMicros() })
	if t.given() || at < 0 {
		return f
	}
	out := *f
	out.ops = slices.Clone(f.ops)
	if unit := unitNames[out.ops[at].unitBehind()]; unit > 0 { // (%D ms), as Spring Boot's manual has it
		out.ops[at].unit = unit
		return &out
	}
	s, m := sample{place: requestUnsure}, tomcatMarks{}
	m.read(f, at, head, &s)
	if s.quantile(1) == 0 {
		return f
	}
	readings := slices.DeleteFunc(s.readings(), func(u time.Duration) bool { return u != time.Millisecond && u != time.Microsecond })
	both := []time.Duration{time.Microsecond, time.Millisecond}
	field := "%D"
	switch {
	case m.thousand > 0 && m.thousand*10 >= m.fractions*9:
		out.ops[at].unit = time.Millisecond
		out.Notes = append(out.Notes[:len(out.Notes):len(out.Notes)], "times in %D are read as milliseconds, as Tomcat's %T beside it says")
	case m.tomcat && len(readings) == 1:
		out.ops[at].unit = readings[0]
		out.Notes = append(out.Notes[:len(out.Notes):len(out.Notes)], s.note(field, readings[0]))
	case m.tomcat, s.quantile(0.5)*time.Microsecond.Seconds() < fastestMedian:
		out.Doubt = s.doubt(field, both)
	case s.quantile(0.99)*time.Microsecond.Seconds() < fastestTail:
		r := s.reading(time.Microsecond)
		out.Notes = append(out.Notes[:len(out.Notes):len(out.Notes)], fmt.Sprintf("times in %%D are read as microseconds, as Apache writes them (median %v, the most %v); Tomcat before 10 writes milliseconds: --time-unit ms", short(r.Median), short(r.Max)))
	default:
		return f
	}
	return &out
}

// isMicros: Apache's %D.
func (o *op) isMicros() bool {
	return o.kind == kindRequestTime && o.whole && o.unit == time.Microsecond && strings.HasPrefix(o.name, "%") && strings.HasSuffix(o.name, "D")
}

// tomcatMarks counts what tells whose %D it is.
type tomcatMarks struct {
	fractions int // lines whose %T has a fraction
	thousand  int // of these, such where %D is a thousand times as much
	tomcat    bool
}

// read the values of %D, which is f.ops[at], and those of %T, %I and %S beside it.
func (m *tomcatMarks) read(f *Format, at int, head []byte, s *sample) {
	raw := *f
	raw.ops = slices.Clone(f.ops)
	raw.ops[at].place = place{}
	for i := range raw.ops {
		if o := &raw.ops[i]; o.name == "%T" || o.name == "%I" || o.name == "%S" {
			o.place = place{}
		}
	}
	r := NewRows(&raw, false)
	for _, line := range linesOf(head) {
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			continue
		}
		d := e.Get(raw.ops[at].name)
		s.add(d)
		for _, name := range []string{"%I", "%S"} {
			v := e.Get(name)
			m.tomcat = m.tomcat || len(v) > 0 && !isDash(v) && !isDigits(v)
		}
		secs := e.Get("%T")
		if bytes.IndexByte(secs, '.') < 0 {
			continue
		}
		m.fractions++
		long, ok := duration(secs, seconds)
		short, fine := duration(d, time.Millisecond)
		if ok && fine && (long-short).Abs() <= time.Millisecond {
			m.thousand++
		}
	}
}
