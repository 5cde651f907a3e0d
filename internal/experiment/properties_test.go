package experiment

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/stat"

	"pgregory.net/rapid"
)

// table measures scores that depend on the side and the pair alone.
type table struct {
	base, cand []float64
	edit       func(*Sample)
}

func (f table) Measure(_ context.Context, side Side, pair int) (Sample, error) {
	s := Sample{Score: f.base[(pair-1)%len(f.base)], Requests: 1000, P99: 10 * time.Millisecond}
	if side == Candidate {
		s.Score = f.cand[(pair-1)%len(f.cand)]
		if f.edit != nil {
			f.edit(&s)
		}
	}
	return s, nil
}

func drawTable(t *rapid.T) (table, Rule) {
	scores := func(name string, level float64) []float64 {
		out := rapid.SliceOfN(rapid.Float64Range(0.9, 1.1), 40, 40).Draw(t, name)
		for i := range out {
			out[i] *= level
		}
		return out
	}
	r := DefaultRule()
	r.Seed = rapid.Uint64().Draw(t, "seed")
	r.MaxPairs = rapid.IntRange(3, 40).Draw(t, "max pairs")
	r.Alpha = rapid.Float64Range(0.0005, 0.1).Draw(t, "alpha")
	return table{base: scores("baseline", 100), cand: scores("candidate", 100*rapid.Float64Range(0.5, 2).Draw(t, "effect"))}, r
}

func mustRun(t *rapid.T, r Rule, f Runner) Verdict {
	v, err := Run(context.Background(), r, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Whatever it scores.
func TestABrokenCandidateIsNeverKept(t *testing.T) {
	faults := map[string]func(*Sample){
		"a wrong answer":  func(s *Sample) { s.Mismatches = 1 },
		"failures":        func(s *Sample) { s.Failures = 2 },
		"a long tail":     func(s *Sample) { s.P99 = 16 * time.Millisecond },
		"too little left": func(s *Sample) { s.MemoryAvailable, s.MemoryTotal = 1<<20, 100<<20 },
		"unfit":           func(s *Sample) { s.Unfit = "foreign load" },
		"no score":        func(s *Sample) { s.Score = 0 },
	}
	for name, fault := range faults {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			f, r := drawTable(t)
			f.edit, r.MemoryHeadroom = fault, 0.2
			if v := mustRun(t, r, f); v.Outcome == Improved {
				t.Fatalf("kept: %+v", v)
			}
		}))
	}
}

func TestTheUnitOfTheScoreDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, r := drawTable(t)
		v := mustRun(t, r, f)
		by := rapid.Float64Range(1e-3, 1e6).Draw(t, "by")
		for i := range f.base {
			f.base[i], f.cand[i] = f.base[i]*by, f.cand[i]*by
		}
		w := mustRun(t, r, f)
		if w.Outcome != v.Outcome || w.Pairs != v.Pairs || math.Abs(w.Effect-v.Effect) > 1e-6 {
			t.Fatalf("%s after %d pairs, %+.4f; times %g: %s after %d pairs, %+.4f", v.Outcome, v.Pairs, v.Effect, by, w.Outcome, w.Pairs, w.Effect)
		}
	})
}

// Of two sides at most one is better. The mirrored experiment may end sooner,
// because nobody waits to see by how much a candidate is slower.
func TestSwappedSidesMirrorTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, r := drawTable(t)
		v := mustRun(t, r, f)
		w := mustRun(t, r, table{base: f.cand, cand: f.base})
		if v.Outcome == Improved && w.Outcome == Improved {
			t.Fatal("both sides are better than the other")
		}
		if v.Outcome == Improved && v.Pairs == 3 && w.Outcome != Regressed {
			t.Fatalf("improved at the first look, but mirrored %s: %s", w.Outcome, w.Reason)
		}
		if v.Pairs == w.Pairs && math.Abs((1+v.Effect)*(1+w.Effect)-1) > 1e-9 {
			t.Fatalf("effects %+.4f and %+.4f", v.Effect, w.Effect)
		}
	})
}

func TestNeverMoreRunsThanAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, r := drawTable(t)
		r.MaxRepeats = rapid.IntRange(1, 4).Draw(t, "repeats")
		unfit, n := rapid.SliceOfN(rapid.Bool(), 20, 20).Draw(t, "unfit"), 0
		f.edit = func(s *Sample) {
			if n++; unfit[n%len(unfit)] {
				s.Unfit = "foreign load"
			}
		}
		v := mustRun(t, r, f)
		if v.Pairs > r.MaxPairs || v.Runs > 2*r.MaxPairs*r.MaxRepeats || v.Runs != len(v.Samples) {
			t.Fatalf("%d pairs and %d runs with at most %d pairs, %d repeats", v.Pairs, v.Runs, r.MaxPairs, r.MaxRepeats)
		}
		if v.Outcome == "" || v.Reason == "" || v.Level != r.Alpha {
			t.Fatalf("no verdict: %+v", v)
		}
	})
}

// drifting scores more with every run, whichever side it is.
type drifting struct{ score, by float64 }

func (d *drifting) Measure(context.Context, Side, int) (Sample, error) {
	d.score *= d.by
	return Sample{Score: d.score, Requests: 1000}, nil
}

// A cache that fills makes every run 2 % faster than the one before. Tossing a
// coin for each pair would keep one candidate in eight: three heads in a row.
func TestASteadyDriftIsNoImprovement(t *testing.T) {
	for seed := range uint64(200) {
		r := DefaultRule()
		r.Seed = seed
		v, err := Run(t.Context(), r, &drifting{100, 1.02}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome == Improved {
			t.Fatalf("seed %d: kept after %d pairs, %+.2f %%", seed, v.Pairs, 100*v.Effect)
		}
	}
}

// The test leaves the worst pairs out; the candidate that makes them does not
// gain by that.
func TestACandidateThatStallsNowAndThenIsNotKept(t *testing.T) {
	seq, err := stat.NewSequential(0.01, 10)
	if err != nil {
		t.Fatal(err)
	}
	e := &running{rule: DefaultRule(), seq: seq, logs: []float64{0.021, 0.018, 0.02, -0.6, 0.019, 0.022, 0.02, 0.018, 0.021},
		base: []Sample{{Score: 100}}, cand: []Sample{{Score: 102}}}
	if done, err := e.look(); !done || err != nil || e.verdict.Outcome != NoDifference || e.verdict.Effect < 0.015 {
		t.Errorf("got %s, %+.3f: %s, %v", e.verdict.Outcome, e.verdict.Effect, e.verdict.Reason, err)
	}
	e.logs = append(e.logs[:3], 0.02, 0.019, 0.022, 0.02, 0.018, 0.021)
	if done, err := e.look(); !done || err != nil || e.verdict.Outcome != Improved {
		t.Errorf("without the stall: got %s: %s, %v", e.verdict.Outcome, e.verdict.Reason, err)
	}
}

// Only an experiment that went all its way says that it did.
func TestWhyNothingMoreIsExpected(t *testing.T) {
	seq, err := stat.NewSequential(0.01, 10)
	if err != nil {
		t.Fatal(err)
	}
	e := &running{rule: DefaultRule(), seq: seq}
	for n, says := range map[int]string{9: "an effect above ", 10: "nothing was shown in 10 pairs; an effect above "} {
		var logs []float64
		for i := range n {
			logs = append(logs, 0.01*float64(i%3-1))
		}
		test, err := stat.OneSample(logs)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.unlikely(test); !strings.HasPrefix(got, says) {
			t.Errorf("after %d of 10 pairs: %q", n, got)
		}
	}
}

// Pairs that are used up and leave a great effect open have not shown that there is none.
func TestPairsThatDifferTooMuchRuleNothingOut(t *testing.T) {
	for name, pairs := range map[string]struct {
		logs []float64
		want Outcome
	}{
		"all faster, by 3 to 16 times":       {[]float64{1.09, 2.49, 2.77}, Inconclusive},
		"about equal, each a fifth off":      {[]float64{-0.2, 0.2, 0.1}, Inconclusive},
		"equal to a few parts in a thousand": {[]float64{-0.002, 0.003, 0.001}, NoDifference},
		"equal to a few parts in a hundred":  {[]float64{-0.02, 0.01, 0.01}, NoDifference},
	} {
		seq, err := stat.NewSequential(0.01, 3)
		if err != nil {
			t.Fatal(err)
		}
		e := &running{rule: DefaultRule(), seq: seq, logs: pairs.logs[:2:2], base: []Sample{{Score: 100}}, cand: []Sample{{Score: 100 * math.Exp(pairs.logs[2])}}}
		if done, err := e.look(); !done || err != nil || e.verdict.Outcome != pairs.want || e.verdict.TooFew != (pairs.want == Inconclusive) {
			t.Errorf("%s: got %s (too few: %t): %s, %v", name, e.verdict.Outcome, e.verdict.TooFew, e.verdict.Reason, err)
		}
	}
}

func TestTheDeadlineEndsIt(t *testing.T) {
	r := DefaultRule()
	r.Deadline = time.Now().Add(-time.Second)
	v, err := Run(t.Context(), r, newFake(100, 200, 0.02, 1), nil)
	if err != nil || v.Outcome != Inconclusive || v.Pairs != 1 || !v.OutOfTime {
		t.Errorf("got %s after %d pairs, %v", v.Outcome, v.Pairs, err)
	}
}
