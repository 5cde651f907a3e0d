package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestGeoMean(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []float64
		want float64
	}{
		{"nothing", nil, 0},
		{"one", []float64{5}, 5},
		{"a factor and its inverse cancel", []float64{2, 0.5}, 1},
		{"a score of zero has no geometric mean", []float64{2, 0}, 0},
		{"nor has a negative one", []float64{2, -1}, 0},
	} {
		if got := GeoMean(c.in); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %g, want %g", c.name, got, c.want)
		}
	}
}

// With two degrees of freedom the distribution has a closed form:
// P(T > t) = 1/2 − t / (2·sqrt(2 + t²)).
func TestOneSampleAgreesWithClosedForm(t *testing.T) {
	got, err := OneSample([]float64{0.1, 0.2, 0.15})
	if err != nil {
		t.Fatal(err)
	}
	v := got.Mean / got.SE
	want := 0.5 - v/(2*math.Sqrt(2+v*v))
	if math.Abs(got.PGreater-want) > 1e-9 || math.Abs(got.Mean-0.15) > 1e-12 {
		t.Errorf("got p=%.5f mean=%g", got.PGreater, got.Mean)
	}
	if math.Abs(got.PGreater+got.PLess-1) > 1e-12 {
		t.Errorf("p-values do not add up to 1: %g %g", got.PGreater, got.PLess)
	}
}

func TestOneSampleNeedsTwo(t *testing.T) {
	if _, err := OneSample([]float64{1}); err == nil {
		t.Error("one number gave no error")
	}
}

// A pair that a burst fell into does not hide an effect that the others show; it
// would with Student's test.
func TestTrimmedWithstandsABurst(t *testing.T) {
	xs := []float64{0.021, 0.018, 0.02, 0.023, 0.019, 0.022, 0.02, 0.018, 0.021, -0.6}
	got, err := Trimmed(xs)
	if err != nil || got.PGreater > 1e-6 || math.Abs(got.Mean-0.02) > 0.001 {
		t.Errorf("got %+v, %v", got, err)
	}
	if plain, err := OneSample(xs); err != nil || plain.PGreater < 0.5 {
		t.Errorf("plain: got %+v, %v", plain, err)
	}
}

// Yuen's test leaves nothing out below ten numbers, mirrors with the sign of the
// numbers, and does not care for their order.
func TestTrimmedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 60).Draw(t, "xs")
		got, err := Trimmed(xs)
		if err != nil {
			t.Fatal(err)
		}
		if plain, _ := OneSample(xs); len(xs) < 10 && math.Abs(plain.PGreater-got.PGreater) > 1e-9 {
			t.Fatalf("%d numbers: %g, by Student %g", len(xs), got.PGreater, plain.PGreater)
		}
		mirrored := make([]float64, len(xs))
		for i, x := range xs {
			mirrored[len(xs)-1-i] = -x
		}
		if back, _ := Trimmed(mirrored); math.Abs(back.PLess-got.PGreater) > 1e-9 {
			t.Fatalf("mirrored: %g, want %g", back.PLess, got.PGreater)
		}
	})
}

func TestBoundsHoldTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 30).Draw(t, "xs")
		got, err := OneSample(xs)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Lower(0.9) <= got.Mean && got.Mean <= got.Upper(0.9)) {
			t.Fatalf("mean %g outside [%g, %g]", got.Mean, got.Lower(0.9), got.Upper(0.9))
		}
	})
}

// The total error of every row of the table stays within alpha (plus what
// the simulation itself is unsure of: three standard errors).
func TestSequentialError(t *testing.T) {
	const trials = 1500
	rng := rand.New(rand.NewPCG(1, 2))
	// 0.004 and 0.03 lie between simulated ones.
	for _, alpha := range []float64{0.004, 0.01, 0.05} {
		for _, max := range []int{6, 10, 40} {
			s, err := NewSequential(alpha, max)
			if err != nil {
				t.Fatal(err)
			}
			rate := falseKeeps(s, rng, trials)
			limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/trials)
			if rate > limit {
				t.Errorf("alpha %g, max %d: %.4f false keeps, limit %.4f", alpha, max, rate, limit)
			}
		}
	}
}

// falseKeeps runs the test without futility on differences without an effect.
func falseKeeps(s Sequential, rng *rand.Rand, trials int) float64 {
	keeps := 0
	xs := make([]float64, 0, s.Max())
	for range trials {
		xs = xs[:0]
		for len(xs) < s.Max() {
			xs = append(xs, 0.03*rng.NormFloat64())
			if !slices.Contains(s.Looks, len(xs)) {
				continue
			}
			d, _, _ := s.Look(xs, -1)
			if d == Greater {
				keeps++
			}
			if d == Greater || d == Less {
				break
			}
		}
	}
	return float64(keeps) / float64(trials)
}

func TestSequentialPower(t *testing.T) {
	s, err := NewSequential(0.01, 10)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name     string
		effect   float64
		sd       float64
		atLeast  float64 // share kept
		maxPairs float64 // mean pairs used
	}{
		{"a doubling ends after the first look", math.Log(2), 0.05, 0.99, 3.6},
		{"+10 % under 3 % noise is found", math.Log(1.10), 0.03, 0.90, 6},
		{"no effect ends early by futility", 0, 0.03, 0, 5.5},
	} {
		kept, pairs := 0, 0
		const trials = 1000
		for range trials {
			var xs []float64
			for len(xs) < s.Max() {
				xs = append(xs, c.effect+c.sd*rng.NormFloat64())
				d, _, _ := s.Look(xs, math.Log(1.01))
				if d == Greater {
					kept++
				}
				if d != Continue {
					break
				}
			}
			pairs += len(xs)
		}
		share, mean := float64(kept)/trials, float64(pairs)/trials
		t.Logf("%s: kept %.3f after %.1f pairs", c.name, share, mean)
		if share < c.atLeast || mean > c.maxPairs {
			t.Errorf("%s: kept %.3f (want ≥ %g) after %.1f pairs (want ≤ %g)", c.name, share, c.atLeast, mean, c.maxPairs)
		}
	}
}

// A stricter total error makes every look stricter, more pairs the first one, and
// no level exceeds the total error.
func TestLevelsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.Float64Range(0.0002, MaxAlpha/2).Draw(t, "alpha")
		pairs := rapid.IntRange(FirstLook, 100).Draw(t, "pairs")
		at := func(alpha float64, pairs int) Sequential {
			s, err := NewSequential(alpha, pairs)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := at(alpha, pairs)
		if s.Max() > pairs || s.Last > alpha {
			t.Fatalf("got %+v", s)
		}
		if more := at(2*alpha, pairs); more.Last <= s.Last {
			t.Fatalf("twice the error has level %g, not above %g", more.Last, s.Last)
		}
		if longer := at(alpha, 2*pairs); longer.Level(FirstLook) > s.Level(FirstLook) {
			t.Fatalf("twice the pairs have a first level of %g, above %g", longer.Level(FirstLook), s.Level(FirstLook))
		}
	})
}

func TestNewSequentialRefuses(t *testing.T) {
	for _, alpha := range []float64{0, -1, 0.000001, 0.5, math.NaN()} {
		if _, err := NewSequential(alpha, 10); err == nil {
			t.Errorf("alpha %g gave no error", alpha)
		}
	}
	if _, err := NewSequential(0.01, 2); err == nil {
		t.Error("too few pairs gave no error")
	}
}
