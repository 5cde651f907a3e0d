package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// ShareWithin is the part, 0–1, of a Go program's profile (pprof) in which one of the
// functions runs, with what it calls, that another one, or a function literal of it, has
// called, itself or by others. 0 where there are too few samples to tell.
func ShareWithin(data []byte, caller string, functions []string) (float64, error) {
	p, err := profile.ParseData(data)
	if err != nil {
		return 0, fmt.Errorf("read the profile: %w", err)
	}
	var all, within int64
	for _, s := range p.Sample {
		if len(s.Value) == 0 {
			continue
		}
		weight := max(s.Value[len(s.Value)-1], 0) // "samples" is the first one, "cpu" the last
		all += weight
		if stackHas(sampleFrames(s), caller, functions) {
			within += weight
		}
	}
	if len(p.Sample) == 0 || all == 0 || countsOf(p) < fewSamples {
		return 0, nil
	}
	return float64(within) / float64(all), nil
}

// countsOf a profile are its samples.
func countsOf(p *profile.Profile) (n int64) {
	for _, s := range p.Sample {
		if len(s.Value) > 0 {
			n += max(s.Value[0], 0)
		}
	}
	return n
}

// stackHas: one of the functions stands in a stack, innermost first, before the caller.
func stackHas(stack []stackFrame, caller string, functions []string) bool {
	i := slices.IndexFunc(stack, func(f stackFrame) bool { return slices.Contains(functions, f.name) })
	return i >= 0 && slices.ContainsFunc(stack[i:], func(f stackFrame) bool {
		return f.name == caller || strings.HasPrefix(f.name, caller+".func")
	})
}
