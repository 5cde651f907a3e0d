package evidence

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// mostFrames of a profile are listed by their own share. What is below the
// thirtieth function has hardly ever more than one sample in a hundred; the
// artifact has them all. mostCallers more are listed because they and what
// they call have at least callerShare: an application's functions seldom have
// much time of their own.
const (
	mostFrames  = 30
	mostCallers = 20
	callerShare = 0.05
)

// fewSamples: with 100 samples a share of 50 % is known to ±10 points
// (two standard deviations of a binomial, 2·√(0.25/n)); with less it says
// little.
const fewSamples = 100

// findProfiles finds everything that profiles the stack's services.
func findProfiles(ctx context.Context, s setting) ([]source, []Health) {
	if !s.opts.Diagnostic || !s.opts.Profile {
		return nil, nil
	}
	var sources []source
	var health []Health
	for _, find := range []func(context.Context, setting) ([]source, []Health){findPerf, findGoPprof, findPHPProfiles} {
		found, told := find(ctx, s)
		sources, health = append(sources, found...), append(health, told...)
	}
	return sources, health
}

// Busy are the functions of Top that do not wait for others. In a profile of
// CPU time it is all of them.
func (p Profile) Busy() []ProfileFrame {
	var out []ProfileFrame
	for _, f := range p.Top {
		if !f.Waiting {
			out = append(out, f)
		}
	}
	return out
}

// fill takes Samples, Top and Data from a pprof profile: counts is the index
// of the value that counts samples, weights of the one that is shared out.
// Labels and comments are dropped, because programs put what they like there.
func (p *Profile) fill(pp *profile.Profile, counts, weights int) error {
	if err := pp.CheckValid(); err != nil {
		return fmt.Errorf("profile of %s by %s: %w", p.Service, p.Tool, err)
	}
	if counts >= len(pp.SampleType) || weights >= len(pp.SampleType) {
		return fmt.Errorf("profile of %s by %s: it has %d values per sample, which are too few", p.Service, p.Tool, len(pp.SampleType))
	}
	pp.Comments = nil
	for _, s := range pp.Sample {
		s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
		p.Samples += max(s.Value[counts], 0)
	}
	p.Top = topFrames(pp, weights, p.Wall)
	var b bytes.Buffer
	if err := pp.Write(&b); err != nil {
		return fmt.Errorf("write the profile of %s: %w", p.Service, err)
	}
	p.Data = b.Bytes()
	return nil
}

// functionWeight is what one function has in a profile.
type functionWeight struct {
	name, file  string
	self, total int64
	lines       map[int64]float64 // weight by line, self counting most
}

// place is the function's file and its line with most weight; for a program
// without line numbers the file that holds its code.
func (f *functionWeight) place() string {
	best := int64(0)
	for line, w := range f.lines {
		if line > 0 && (best == 0 || w > f.lines[best] || w == f.lines[best] && line < best) {
			best = line
		}
	}
	if best > 0 && f.file != "" {
		return fmt.Sprintf("%s:%d", f.file, best)
	}
	return f.file
}

// topFrames sums the profile up by function, largest self share first.
func topFrames(pp *profile.Profile, value int, wall bool) []ProfileFrame {
	byName := map[string]*functionWeight{}
	var all int64
	for _, s := range pp.Sample {
		w := max(s.Value[value], 0)
		all += w
		seen := map[*functionWeight]bool{}
		for i, frame := range sampleFrames(s) {
			key := frame.name + "\x00" + frame.file
			f := byName[key]
			if f == nil {
				f = &functionWeight{name: frame.name, file: frame.file, lines: map[int64]float64{}}
				byName[key] = f
			}
			if i == 0 {
				f.self += w
				f.lines[frame.line] += 1000 * float64(w) // own time says more than a call
			}
			if !seen[f] {
				seen[f] = true
				f.total += w
				f.lines[frame.line] += float64(w)
			}
		}
	}
	if all <= 0 {
		return nil
	}
	list := make([]*functionWeight, 0, len(byName))
	for _, f := range byName {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *functionWeight) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file))
	})
	var out []ProfileFrame
	for _, f := range withCallers(list, all) {
		out = append(out, ProfileFrame{Function: f.name, File: f.place(), Self: float64(f.self) / float64(all),
			Total: float64(f.total) / float64(all), Waiting: wall && waits(f.name)})
	}
	return out
}

// withCallers cuts a list that is sorted by self.
func withCallers(list []*functionWeight, all int64) []*functionWeight {
	if len(list) <= mostFrames {
		return list
	}
	callers := slices.Clone(list[mostFrames:])
	slices.SortStableFunc(callers, func(a, b *functionWeight) int { return cmp.Compare(b.total, a.total) })
	callers = callers[:min(len(callers), mostCallers)]
	kept := map[*functionWeight]bool{}
	for _, f := range callers {
		kept[f] = float64(f.total) >= callerShare*float64(all)
	}
	out := slices.Clone(list[:mostFrames])
	for _, f := range list[mostFrames:] {
		if kept[f] {
			out = append(out, f)
		}
	}
	return out
}

// stackFrame is one function of a sample. file is the source file, or the
// program that holds the code when no source is known (line 0).
type stackFrame struct {
	name, file string
	line       int64
}

// sampleFrames are the frames of a sample, innermost first, inlined functions
// spread out.
func sampleFrames(s *profile.Sample) []stackFrame {
	var out []stackFrame
	for _, loc := range s.Location {
		if len(loc.Line) == 0 {
			f := stackFrame{name: "[unknown]"}
			if loc.Mapping != nil {
				f.file = loc.Mapping.File
			}
			out = append(out, f)
		}
		for _, l := range loc.Line {
			if l.Function == nil {
				continue
			}
			f := stackFrame{name: l.Function.Name, file: l.Function.Filename, line: l.Line}
			if f.file == "" && loc.Mapping != nil {
				f.file = loc.Mapping.File
			}
			out = append(out, f)
		}
	}
	return out
}

// samplesText tells how much a profile rests on, for Health.
func (p *Profile) samplesText() string {
	text := fmt.Sprintf("%d samples", p.Samples)
	if p.Period > 0 {
		text += fmt.Sprintf(" of %s", p.Period)
	}
	for _, f := range p.Top {
		if !strings.HasPrefix(f.Function, "[unknown]") && f.Self > 0 {
			text += fmt.Sprintf("; most in %s (%.0f %%)", shorten(path.Base(f.Function), 80), 100*f.Self)
			break
		}
	}
	if p.Of == "" && p.Samples < fewSamples {
		text += fmt.Sprintf("; these are few: shares are known to ±%.0f points at best, a longer window tells more", 200*math.Sqrt(0.25/float64(max(p.Samples, 1))))
	}
	return text
}
