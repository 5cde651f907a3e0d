package evidence

import (
	"fmt"

	"github.com/google/pprof/profile"
)

// profileBuilder collects stacks into a pprof profile.
type profileBuilder struct {
	p         *profile.Profile
	functions map[[2]string]*profile.Function
	locations map[stackFrame]*profile.Location
	samples   map[string]*profile.Sample
	key       []byte
}

// newProfileBuilder makes a profile of samples and of time in nanoseconds.
// kind is "cpu" or "wall".
func newProfileBuilder(kind string, period int64) *profileBuilder {
	unit := &profile.ValueType{Type: kind, Unit: "nanoseconds"}
	return &profileBuilder{functions: map[[2]string]*profile.Function{}, locations: map[stackFrame]*profile.Location{}, samples: map[string]*profile.Sample{},
		p: &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, unit}, PeriodType: unit, Period: period, DefaultSampleType: kind}}
}

// withCPU adds CPU time as the third value of each sample, to go with wall time.
func (b *profileBuilder) withCPU() *profileBuilder {
	b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	return b
}

// add counts a stack, innermost frame first. values are nanoseconds, as many
// as the profile has times.
func (b *profileBuilder) add(stack []stackFrame, count int64, values ...int64) {
	if len(stack) == 0 || count < 0 || count == 0 && len(values) < 2 {
		return
	}
	locs := make([]*profile.Location, len(stack))
	b.key = b.key[:0]
	for i, f := range stack {
		locs[i] = b.location(f)
		b.key = fmt.Appendf(b.key, "%d ", locs[i].ID)
	}
	s := b.samples[string(b.key)]
	if s == nil {
		s = &profile.Sample{Location: locs, Value: make([]int64, len(b.p.SampleType))}
		b.samples[string(b.key)] = s
		b.p.Sample = append(b.p.Sample, s)
	}
	s.Value[0] += count
	for i, v := range values {
		s.Value[1+i] += v
	}
}

func (b *profileBuilder) location(f stackFrame) *profile.Location {
	if loc := b.locations[f]; loc != nil {
		return loc
	}
	fn := b.functions[[2]string{f.name, f.file}]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.name, SystemName: f.name, Filename: f.file}
		b.functions[[2]string{f.name, f.file}] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	loc := &profile.Location{ID: uint64(len(b.p.Location) + 1), Line: []profile.Line{{Function: fn, Line: f.line}}}
	b.locations[f] = loc
	b.p.Location = append(b.p.Location, loc)
	return loc
}
