package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// fake measures instantly: scores are drawn around the side's level.
type fake struct {
	base, cand float64
	sd         float64
	rng        *rand.Rand
	edit       func(*Sample, int) // n-th call, from 1
	calls      int
	sides      []Side
}

func (f *fake) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	f.calls++
	f.sides = append(f.sides, side)
	level := f.base
	if side == Candidate {
		level = f.cand
	}
	s := Sample{RunID: int64(f.calls), Side: side, Score: level * math.Exp(f.sd*f.rng.NormFloat64()),
		Requests: 1000, P99: 10 * time.Millisecond}
	if f.edit != nil {
		f.edit(&s, f.calls)
	}
	return s, nil
}

func newFake(base, cand, sd float64, seed uint64) *fake {
	return &fake{base: base, cand: cand, sd: sd, rng: rand.New(rand.NewPCG(seed, 7))}
}

func TestVerdicts(t *testing.T) {
	onCandidate := func(f func(*Sample)) func(*Sample, int) {
		return func(s *Sample, _ int) {
			if s.Side == Candidate {
				f(s)
			}
		}
	}
	memory := func(cand, base int64) func(*Sample, int) { // MiB of 100 that are left
		return func(s *Sample, _ int) {
			s.MemoryAvailable, s.MemoryTotal = base<<20, 100<<20
			if s.Side == Candidate {
				s.MemoryAvailable = cand << 20
			}
		}
	}
	// Shares of a small and of a large host, in percent, that are left.
	hosts := func(small, large, candSmall, candLarge int64) func(*Sample, int) {
		return func(s *Sample, _ int) {
			if s.Side == Candidate {
				small, large = candSmall, candLarge
			}
			s.Memory = map[string]Memory{"small": {small * 40 << 20, 4000 << 20}, "large": {large * 640 << 20, 64000 << 20}}
		}
	}
	ends := func(s *Sample) { s.Ended, s.Unfit = "db ended during the run", "db ended during the run" }
	ended := false
	for _, c := range []struct {
		name       string
		base, cand float64
		edit       func(*Sample, int)
		want       Outcome
		reason     string
		maxRuns    int
	}{
		{"a doubling ends after three pairs", 100, 200, nil, Improved, "after 3 pairs", 6},
		{"a halving too", 100, 50, nil, Regressed, "after 3 pairs", 6},
		{"one wrong answer ends it at once", 100, 200,
			onCandidate(func(s *Sample) { s.Mismatches, s.Broken = 1, "GET /: no form" }), Broke, "GET /: no form", 2},
		{"failures beyond the baseline's end it", 100, 200,
			onCandidate(func(s *Sample) { s.Failures = 5 }), Broke, "5 of 1000 requests failed", 2},
		{"failures that the baseline has too do not", 100, 200,
			func(s *Sample, _ int) { s.Failures = 5 }, Improved, "", 6},
		{"a long tail is not traded for score", 100, 120,
			onCandidate(func(s *Sample) { s.P99 = 40 * time.Millisecond }), Regressed, "99th percentile", 20},
		{"a long tail ends it, whatever the score", 100, 101,
			onCandidate(func(s *Sample) { s.P99 = 40 * time.Millisecond }), Regressed, "99th percentile", 6},
		{"a tail that grew by less does not", 100, 200,
			onCandidate(func(s *Sample) { s.P99 = 14 * time.Millisecond }), Improved, "", 6},
		{"unfit runs are not averaged in", 100, 200,
			func(s *Sample, _ int) { s.Unfit = "foreign load" }, Inconclusive, "foreign load", 3},
		{"nor with failures that the baseline has too", 100, 200,
			func(s *Sample, _ int) { s.Unfit, s.Failures, s.Broken = "foreign load", 5, "GET /: no answer" }, Inconclusive, "foreign load", 3},
		{"what is wrong is wrong whoever was at work", 100, 200,
			func(s *Sample, n int) {
				if s.Side == Candidate && n > 1 {
					s.Unfit, s.Mismatches, s.Broken = "foreign load", 1, "GET /: no form"
				}
			}, Broke, "GET /: no form", 4},
		{"memory that is not left", 100, 200, memory(10, 30), Regressed, "only 10 MiB of 100 MiB of memory were left (baseline: 30 MiB); the regulation keeps 20 % free", 2},
		{"memory that the baseline does not leave either", 100, 200, memory(10, 10), Improved, "", 6},
		{"less memory, and enough", 100, 200, memory(25, 60), Improved, "", 6},
		{"memory of the larger host", 100, 200, hosts(25, 50, 25, 10), Regressed, "only 6400 MiB of 64000 MiB of memory were left on large (baseline: 32000 MiB)", 2},
		{"another host is the scarcest now", 100, 200, hosts(16, 15, 16, 40), Improved, "", 6},
		{"a service that ends with the candidate", 100, 200, onCandidate(ends), Failed, "db ended during the run", 3},
		{"one that ends without it, too", 100, 200, func(s *Sample, _ int) { ends(s) }, Inconclusive, "no evidence: db ended", 5},
		{"one that ends once", 100, 200, onCandidate(func(s *Sample) {
			if !ended {
				ended = true
				ends(s)
			}
		}), Improved, "", 7},
		{"a baseline that scores nothing may be chance", 0, 100, nil, Improved, "after 8 pairs", 16},
		{"a candidate that scores nothing has regressed", 100, 0, nil, Regressed, "scored nothing", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(c.base, c.cand, 0.005, 1)
			f.edit = c.edit
			rule := DefaultRule()
			rule.MemoryHeadroom = 0.2
			v, err := Run(t.Context(), rule, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.want || !strings.Contains(v.Reason, c.reason) || v.Runs > c.maxRuns {
				t.Errorf("got %s after %d runs: %s", v.Outcome, v.Runs, v.Reason)
			}
		})
	}
}

func TestAnUnfitRunIsRepeated(t *testing.T) {
	f := newFake(100, 200, 0.005, 1)
	f.edit = func(s *Sample, n int) {
		if n == 2 {
			s.Score, s.Unfit = 1, "foreign load"
		}
	}
	v, err := Run(t.Context(), DefaultRule(), f, nil)
	if err != nil || v.Outcome != Improved || v.Runs != 7 || len(v.Warnings) != 1 {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestOrderIsRandom(t *testing.T) {
	first := map[Side]int{}
	for seed := range uint64(40) {
		f := newFake(100, 200, 0.02, seed)
		r := DefaultRule()
		r.Seed = seed
		if _, err := Run(t.Context(), r, f, nil); err != nil {
			t.Fatal(err)
		}
		first[f.sides[0]]++
	}
	if first[Baseline] < 10 || first[Candidate] < 10 {
		t.Errorf("first sides: %v", first)
	}
}

func TestAARarelyKeeps(t *testing.T) {
	kept, pairs := 0, 0
	const trials = 1500
	for seed := range uint64(trials) {
		r := DefaultRule()
		r.Seed = seed
		v, err := Run(t.Context(), r, newFake(100, 100, 0.03, seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome == Improved {
			kept++
		}
		pairs += v.Pairs
	}
	t.Logf("%d of %d kept, %.1f pairs each", kept, trials, float64(pairs)/trials)
	// 1 % plus three standard errors of the simulation.
	if float64(kept)/trials > 0.01+3*math.Sqrt(0.01*0.99/trials) {
		t.Errorf("%d of %d A/A experiments kept", kept, trials)
	}
}

type failing struct{}

func (failing) Measure(context.Context, Side, int) (Sample, error) {
	return Sample{}, errors.Join(ErrCandidate, errors.New("nginx did not start"))
}

func TestRunnerErrorEndsIt(t *testing.T) {
	if _, err := Run(t.Context(), DefaultRule(), failing{}, nil); !errors.Is(err, ErrCandidate) {
		t.Errorf("got %v", err)
	}
}
