package history

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	_ "kasoku/internal/rapidseed"
)

// of makes a series of scores, one an hour.
func of(scores []float64) *Series {
	s := &Series{}
	for i, x := range scores {
		s.Points = append(s.Points, Point{Time: time.Unix(int64(3600*i), 0), Score: x, Runs: 1, First: int64(i + 1), Last: int64(i + 1)})
	}
	s.Find(0.01)
	return s
}

// noisy draws n scores around 100, of which those in the steps are multiplied.
func noisy(rng *rand.Rand, n int, sd float64, steps map[int]float64) []float64 {
	level, out := 100.0, make([]float64, n)
	for i := range out {
		if f, ok := steps[i]; ok {
			level *= f
		}
		out[i] = level * math.Exp(sd*rng.NormFloat64())
	}
	return out
}

func at(s *Series) []int {
	out := []int{}
	for _, c := range s.Changes {
		out = append(out, c.At)
	}
	return out
}

// TestNoiseIsNoChange: at most 1 % of series of 100 runs without a change show
// one, with normal noise, with heavy tails, and with a single bad run.
func TestNoiseIsNoChange(t *testing.T) {
	await.SkipShort(t)
	const series = 2000
	for name, draw := range map[string]func(*rand.Rand) []float64{
		"normal": func(r *rand.Rand) []float64 { return noisy(r, 100, 0.02, nil) },
		"heavy tails": func(r *rand.Rand) []float64 { // Laplace
			out := noisy(r, 100, 0, nil)
			for i := range out {
				out[i] *= math.Exp(0.015 * r.ExpFloat64() * float64(2*r.IntN(2)-1))
			}
			return out
		},
		"a bad run": func(r *rand.Rand) []float64 {
			out := noisy(r, 100, 0.02, nil)
			out[r.IntN(100)] *= 0.4
			return out
		},
		"two bad runs at the end": func(r *rand.Rand) []float64 {
			out := noisy(r, 100, 0.02, nil)
			out[98] *= 0.6
			out[99] *= 0.6
			return out
		},
		"few runs": func(r *rand.Rand) []float64 { return noisy(r, 8, 0.02, nil) },
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		shown := 0
		for range series {
			if len(of(draw(rng)).Changes) > 0 {
				shown++
			}
		}
		t.Logf("%s: %d of %d series show a change", name, shown, series)
		if shown > series/100 {
			t.Errorf("%s: %d of %d series without a change show one, want at most %d", name, shown, series, series/100)
		}
	}
}

// TestStepIsFound: 5 % in noise of 2 %, anywhere but at the ends, is found
// alone and within three runs.
func TestStepIsFound(t *testing.T) {
	const series = 2000
	rng := rand.New(rand.NewPCG(2, 2))
	missed, off, more := 0, 0, 0
	for range series {
		step := 10 + rng.IntN(81)
		factor := 1.05
		if rng.IntN(2) == 1 {
			factor = 1 / factor
		}
		s := of(noisy(rng, 100, 0.02, map[int]float64{step: factor}))
		near := slices.ContainsFunc(s.Changes, func(c Change) bool { return c.At >= step-3 && c.At <= step+3 })
		switch {
		case len(s.Changes) == 0:
			missed++
		case !near:
			off++
		case len(s.Changes) > 1:
			more++
		}
	}
	t.Logf("of %d: %d missed, %d off by more than 3 runs, %d with a further change", series, missed, off, more)
	if missed+off+more > series/100 {
		t.Errorf("of %d steps %d were missed, %d found more than 3 runs off, %d with a further one", series, missed, off, more)
	}
}

// TestShortLevelIsFound: a level of 12 between two equal ones, which one cut of
// the whole would not show.
func TestShortLevelIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := of(noisy(rng, 400, 0.02, map[int]float64{200: 0.9, 212: 1 / 0.9}))
	got := at(s)
	if len(got) != 2 || got[0] < 198 || got[0] > 202 || got[1] < 210 || got[1] > 214 {
		t.Errorf("changes at %v, want 200 and 212", got)
	}
}

// TestChangeIsTold: what stands in a change.
func TestChangeIsTold(t *testing.T) {
	scores := []float64{100, 101, 99, 100, 101, 50, 99, 100, 80, 81, 79, 80, 81, 79, 80}
	s := of(scores)
	if got := at(s); !reflect.DeepEqual(got, []int{8}) || len(s.Levels) != 2 {
		t.Fatalf("changes at %v, levels %+v", got, s.Levels)
	}
	c := s.Changes[0]
	if math.Abs(c.Before-100) > 1 || math.Abs(c.After-80) > 1 || math.Abs(c.Effect+0.2) > 0.01 || c.Low >= c.Effect || c.High <= c.Effect || c.High > -0.17 {
		t.Errorf("%+v", c)
	}
	if !c.Time.Equal(time.Unix(8*3600, 0)) || !c.Since.Equal(time.Unix(7*3600, 0)) {
		t.Errorf("between %s and %s", c.Since, c.Time)
	}
	if !s.Points[5].Outlier || s.Points[4].Outlier {
		t.Error("the run of half the score is not told from the others")
	}
	if got := s.Spark(40); got != "▇█▇▇█▁▇▇|▅▅▄▅▅▄▅" {
		t.Errorf("drawn as %s", got)
	}
	if got := []rune(s.Spark(7)); len(got) != 8 {
		t.Errorf("drawn in 7 as %s", string(got))
	}
}

// TestIntervalHoldsTheEffect: 95 % of them, as far as choosing the place by the
// data allows.
func TestIntervalHoldsTheEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	held, all := 0, 0
	for range 1000 {
		for _, c := range of(noisy(rng, 60, 0.02, map[int]float64{30: 1.1})).Changes {
			all++
			if c.Low <= 0.1 && c.High >= 0.1 {
				held++
			}
		}
	}
	if share := float64(held) / float64(all); all < 1000 || share < 0.92 || share > 0.98 {
		t.Errorf("%d of %d intervals hold the effect", held, all)
	}
}

func TestEmptyAndShort(t *testing.T) {
	for n := range 6 {
		s := of(noisy(rand.New(rand.NewPCG(5, 5)), n, 0.02, nil))
		if len(s.Changes) > 0 || n > 0 && len(s.Levels) != 1 {
			t.Errorf("%d points: %+v", n, s)
		}
	}
	if len((&Series{}).Spark(10)) != 0 {
		t.Error("something is drawn of nothing")
	}
}

// TestProperties: changes ascend, each level has points enough, and a unit does
// not matter.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(6, 150).Draw(t, "n")
		steps := map[int]float64{}
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			steps[rapid.IntRange(0, n-1).Draw(t, "at")] = rapid.Float64Range(0.5, 2).Draw(t, "factor")
		}
		scores := noisy(rng, n, rapid.Float64Range(0, 0.1).Draw(t, "noise"), steps)
		s := of(scores)
		from := 0
		for i, c := range s.Changes {
			if c.At-from < leastPoints || n-c.At < leastPoints {
				t.Fatalf("changes at %v of %d points", at(s), n)
			}
			if math.Abs(c.Effect) < 0.01-1e-9 || !(c.Low <= c.Effect && c.Effect <= c.High) || c.Before != s.Levels[i].Score || c.After != s.Levels[i+1].Score {
				t.Fatalf("%+v", c)
			}
			from = c.At
		}
		scaled := slices.Clone(scores)
		for i := range scaled {
			scaled[i] *= 1000
		}
		if got := at(of(scaled)); !slices.Equal(got, at(s)) {
			t.Fatalf("of scores ×1000 changes are at %v, not %v", got, at(s))
		}
	})
}

func BenchmarkFind10000(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 6))
	steps := map[int]float64{}
	for i := range 20 {
		steps[500*(i+1)-rng.IntN(300)] = []float64{0.9, 1.15}[i%2]
	}
	scores := noisy(rng, 10_000, 0.02, steps)
	for b.Loop() {
		if s := of(scores); len(s.Changes) < 18 {
			b.Fatalf("%d changes", len(s.Changes))
		}
	}
}
