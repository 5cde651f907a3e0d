package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
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
	const trials = 5000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range boundaryAlphas {
		for _, max := range []int{6, 10, 20} {
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
		const trials = 2000
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

func TestNewSequentialRefuses(t *testing.T) {
	if _, err := NewSequential(0.02, 10); err == nil {
		t.Error("an alpha without a boundary gave no error")
	}
	if _, err := NewSequential(0.01, 5); err == nil {
		t.Error("too few pairs gave no error")
	}
}
