package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	_ "kasoku/internal/rapidseed"
)

// drawn scores 100 on the baseline and effect more on the candidate, with 1 %
// of noise.
type drawn struct {
	rng      *rand.Rand
	effect   float64
	failures int64 // of 1000 requests, on the baseline only
	runs     int
}

func (v *drawn) Measure(_ context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	v.runs++
	s := experiment.Sample{RunID: int64(v.runs), Side: side, Pair: pair, Requests: 1000, P50: time.Millisecond, P99: 2 * time.Millisecond, CPUPerRequest: 0.001,
		Score: 100 * math.Exp(0.01*v.rng.NormFloat64())}
	if side == experiment.Candidate {
		s.Score *= 1 + v.effect
	} else {
		s.Failures = v.failures
	}
	return s, nil
}

// compareWith runs the experiment of a comparison on a drawn target.
func compareWith(t *testing.T, effect, allow float64, seed uint64) experiment.Verdict {
	t.Helper()
	rule := experiment.DefaultRule()
	rule.Seed = seed
	if allow > 0 {
		rule.SmallestEffect = 0
	}
	target := &drawn{rng: rand.New(rand.NewPCG(seed, 9)), effect: effect}
	v, err := bothWays(t.Context(), rule, lenient{target, allow}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if target.runs != v.Runs || v.Runs != 2*v.Pairs || len(v.Samples) != v.Runs {
		t.Fatalf("%d runs were made, the verdict tells of %d, %d pairs, %d samples", target.runs, v.Runs, v.Pairs, len(v.Samples))
	}
	return allowed(v, allow)
}

// TestAllowedRegression: what is lost is judged against what is allowed, and
// the verdict's numbers are the real ones.
func TestAllowedRegression(t *testing.T) {
	const trials = 300
	for _, row := range []struct {
		name          string
		effect, allow float64
		want          experiment.Outcome
		atLeast       float64
	}{
		{"nothing is lost", 0, 0.05, NotRegressed, 0.95},
		{"much is won", 0.30, 0.05, NotRegressed, 0.99},
		{"less is lost than allowed", -0.02, 0.08, NotRegressed, 0.95},
		{"more is lost than allowed", -0.10, 0.05, experiment.Regressed, 0.95},
		{"without a limit", -0.10, 0, experiment.Regressed, 0.99},
		{"without a limit, a little", -0.03, 0, experiment.Regressed, 0.90},
		{"without a limit, a gain", 0.10, 0, experiment.Improved, 0.99},
		{"without a limit, nothing", 0, 0, experiment.NoDifference, 0.97},
	} {
		n := 0
		for seed := range uint64(trials) {
			v := compareWith(t, row.effect, row.allow, seed)
			if v.Outcome == row.want {
				n++
			}
			if math.Abs(v.Effect-row.effect) > 0.05 || v.Low > v.Effect || v.High < v.Effect || math.Abs(v.CandidateScore/v.BaselineScore-1-row.effect) > 0.05 {
				t.Fatalf("%s: effect %g (%g … %g), scores %g and %g", row.name, v.Effect, v.Low, v.High, v.BaselineScore, v.CandidateScore)
			}
			if v.Outcome == NotRegressed && v.Low < -row.allow {
				t.Fatalf("%s: passed although its interval begins at %g", row.name, v.Low)
			}
			if m := experiment.Metrics(v.Samples); m[0].Metric != "score" || math.Abs(m[0].Effect-v.Effect) > 1e-9 {
				t.Fatalf("%s: metrics %+v of effect %g", row.name, m[0], v.Effect)
			}
		}
		if float64(n)/trials < row.atLeast {
			t.Errorf("%s: %d of %d are %s", row.name, n, trials, row.want)
		}
	}
}

// TestABaseThatFails: that requests fail no more on the candidate's side does not hide
// what else it is, a loss or nothing.
func TestABaseThatFails(t *testing.T) {
	for effect, want := range map[float64]experiment.Outcome{0: experiment.NoDifference, -0.1: experiment.Regressed} {
		n := 0
		for seed := range uint64(100) {
			rule := experiment.DefaultRule()
			rule.Seed = seed
			v, err := bothWays(t.Context(), rule, &drawn{rng: rand.New(rand.NewPCG(seed, 9)), effect: effect, failures: 10}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome == want {
				n++
			}
		}
		if n < 95 {
			t.Errorf("effect %g: %d of 100 are %s", effect, n, want)
		}
	}
}

// TestLossAtTheLimit: a version that loses exactly what is allowed passes as
// rarely as a candidate without effect is kept, and is called a loss as rarely; by
// the levels of the looks alone. So is one that loses nothing where nothing may be lost.
// Looks that each had the whole level (5 % wrong in all) would be found nearly always,
// three times the level still nine times in ten.
func TestLossAtTheLimit(t *testing.T) {
	await.SkipShort(t)
	const trials = 600
	for _, allow := range []float64{0, 0.02} {
		outcomes := map[experiment.Outcome]int{}
		for seed := range uint64(trials) {
			v := compareWith(t, -allow, allow, seed)
			outcomes[v.Outcome]++
			if v.Outcome == experiment.Regressed && !strings.Contains(v.Reason, ", below ") {
				t.Fatalf("with %g allowed, a loss by %q", allow, v.Reason)
			}
		}
		// 1 % plus three standard errors of the simulation.
		limit := 0.01 + 3*math.Sqrt(0.01*0.99/trials)
		for _, wrong := range []experiment.Outcome{experiment.Improved, NotRegressed, experiment.Regressed} {
			if n := outcomes[wrong]; float64(n)/trials > limit {
				t.Errorf("with %g allowed, %d of %d are %s", allow, n, trials, wrong)
			}
		}
	}
}

// TestBudgetEndsBetweenPairs: a pair is begun only if the longest one so far
// would still fit.
func TestBudgetEndsBetweenPairs(t *testing.T) {
	now := time.Unix(0, 0)
	v := &drawn{rng: rand.New(rand.NewPCG(1, 1))}
	b := &budgeted{runner: runnerFunc(func(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
		now = now.Add(5 * time.Second)
		return v.Measure(ctx, side, pair)
	}), deadline: time.Unix(25, 0), now: func() time.Time { return now }}
	got, err := experiment.Run(t.Context(), experiment.DefaultRule(), b, nil)
	if !errors.Is(err, errBudget) || got.Pairs != 2 || !now.Equal(time.Unix(20, 0)) {
		t.Errorf("%d pairs in %s, %v", got.Pairs, now, err)
	}
}

type runnerFunc func(context.Context, experiment.Side, int) (experiment.Sample, error)

func (f runnerFunc) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	return f(ctx, side, pair)
}

func TestRuledOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-0.9, 2).Draw(t, "low")
		loss, ok := RuledOut(experiment.Verdict{Pairs: 3, Low: low})
		if !ok || loss < 0 || low < 0 && loss != -low {
			t.Fatalf("%g, %v of %g", loss, ok, low)
		}
	})
	if _, ok := RuledOut(experiment.Verdict{Pairs: 1}); ok {
		t.Error("one pair rules something out")
	}
}

func TestVersionName(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	for ref, want := range map[string]string{"main": "main (0123456789)", commit: "0123456789", commit[:8]: "0123456789"} {
		if got := (Version{Ref: ref, Commit: commit}).Name(); got != want {
			t.Errorf("%s: %s", ref, got)
		}
	}
}
