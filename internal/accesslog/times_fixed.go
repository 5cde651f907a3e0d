package accesslog

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// isTime: a request's time, or a server's behind it.
func (k kind) isTime() bool {
	switch k {
	case kindRequestTime, kindUpstreamTime, kindFirstByte, kindTimePart, kindUpstreamPart, kindGoTime, kindGoUpstream, kindWholeTime:
		return true
	}
	return false
}

// isRequestTime: a request's time, or a part of it.
func (k kind) isRequestTime() bool {
	return k == kindRequestTime || k == kindTimePart || k == kindUpstreamPart || k == kindGoTime || k == kindWholeTime
}

// names says that the user named a field of the time.
func (t Times) names() bool { return t.Field != "" && t.Field != noTimes }

// place of a value that a program writes, with what the user said: named is
// whether the value is the field that he named.
func (t Times) place(p place, named bool) place {
	switch {
	case t.Field == noTimes && p.kind.isTime():
		return place{kind: kindSkip}
	case named && p.kind != kindGoTime && p.kind != kindWholeTime: // which require more than a number
		p = place{kind: kindRequestTime, unit: p.unit}
		if p.unit == 0 {
			p.unit = seconds
		}
	case t.names() && !named && p.kind.isRequestTime():
		return place{kind: kindSkip}
	}
	if t.Unit > 0 && p.kind.isTime() {
		p.unit, p.whole = t.Unit, false
		if p.kind == kindWholeTime {
			p.kind = kindGoTime
		}
	}
	return p
}

// hasUnit: a unit of time stands behind the value, as in "12.3 ms", "0.5s".
func (o *op) hasUnit() bool { return o.unitBehind() != "" }

// unitBehind is the unit that stands behind the value; "": none does.
func (o *op) unitBehind() string {
	text := strings.TrimLeft(string(o.until), " ")
	end := 0
	for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || text[end] >= 0x80) {
		end++
	}
	if _, ok := unitNames[text[:end]]; !ok || end < len(text) && strings.IndexByte(" \t\"'])},;|", text[end]) < 0 { // " s=$status" is a name
		return ""
	}
	return text[:end]
}

// retimedProducts is joinProducts with what the user said of the times.
func retimedProducts(name string, texts []product, t Times) (*Format, error) {
	out := make([]product, len(texts))
	has := false
	for i, p := range texts {
		has = has || p.inner.hasVariable(t.Field)
		p.inner = p.inner.withTimes(t)
		out[i] = p
	}
	if t.names() && !has {
		return nil, &FieldError{t.Field, name}
	}
	f := joinProducts(name, out)
	f.field, f.unit, f.fieldFound = t.Field, t.Unit, has
	if t.Unit > 0 || t.Field == noTimes {
		f.Notes, f.denies = nil, nil
	}
	return f, nil
}

// hasVariable: a template has a value of the name.
func (f *Format) hasVariable(name string) bool {
	for i := range f.ops {
		if strings.EqualFold(strings.TrimPrefix(name, "$"), f.ops[i].name) {
			return true
		}
	}
	return false
}

// column is the place in a W3C log of the field that the user named, by its name
// or its number; -1: there is none.
func (t Times) column(columns [][]byte) int {
	for i, c := range columns {
		if t.names() && bytes.EqualFold(c, []byte(t.Field)) {
			return i
		}
	}
	n, err := strconv.Atoi(t.Field)
	switch {
	case err != nil:
	case n > 0 && n <= len(columns):
		return n - 1
	case n < 0 && -n <= len(columns):
		return len(columns) + n
	}
	return -1
}

// retimedHAProxy is HAProxy's format with what the user said of its times:
// none, or the unit of its timers instead of milliseconds.
func retimedHAProxy(t Times) (*Format, error) {
	if t.names() {
		return nil, &FieldError{t.Field, "haproxy"}
	}
	out := HAProxy()
	out.field, out.unit = t.Field, t.Unit
	out.parse = func(f *Format, line []byte, e *Entry, c *clock) string {
		if why := parseHAProxy(f, line, e, c); why != "" {
			return why
		}
		for _, d := range []*time.Duration{&e.Request, &e.Upstream} {
			n := *d / time.Millisecond
			switch {
			case t.Field == noTimes:
				*d = -1
			case *d < 0 || t.Unit == 0:
			case n > maxDuration/t.Unit:
				return whyValue
			default:
				*d = n * t.Unit
			}
		}
		return ""
	}
	return out, nil
}
