package accesslog

import (
	"bytes"
	"fmt"
	"strings"
)

// UnitOfField tells the unit of a variable that the user named as the time, if
// he named none and the variable's definition does not: by the values in the
// log's begin. The format is one that WithTimes returned for t, and f the one
// before; it is returned as it is, if there is nothing to tell.
func (f *Format) UnitOfField(with *Format, t Times, head []byte) *Format {
	if f.ops == nil || t.Unit != 0 || t.Field == "" || t.Field == noTimes {
		return with
	}
	at := -1
	for i := range f.ops {
		if f.ops[i].kind == kindOther && strings.EqualFold(strings.TrimPrefix(t.Field, "$"), f.ops[i].name) {
			at = i
		}
	}
	if at < 0 {
		return with
	}
	s := sample{place: requestUnsure}
	r := NewRows(f, false)
	for _, line := range linesOf(head) {
		if e, why := r.Entry(bytes.Clone(line)); why == "" {
			s.add(e.Get(f.ops[at].name))
		}
	}
	if len(s.values) == 0 {
		return with
	}
	out := *with
	out.ops = append([]op{}, with.ops...)
	field := fmt.Sprintf("the field %q", f.ops[at].name)
	readings, _ := s.decide()
	if out.ops[at].unit = readings[0]; len(readings) > 1 {
		out.Doubt = s.doubt(field, readings)
	} else {
		out.Notes = append(out.Notes[:len(out.Notes):len(out.Notes)], s.note(field, readings[0]))
	}
	return &out
}

// UnitsIn is the format with the units of such labels as name none, told by the
// values in the log's begin; as it is, if it has no labels or what the user said
// of the times is in it already.
func (f *Format) UnitsIn(head []byte) *Format {
	if f.ops != nil || f.unit != 0 || f.field != "" || f.units != nil {
		return f
	}
	out := *f
	samples := map[string]*sample{}
	out.sampleTimes(linesOf(head), samples)
	out.resolve(samples)
	return &out
}
