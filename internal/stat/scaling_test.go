package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/await"
)

// noisy measures the law at each level so many times, with noise as a share.
func noisy(law Scaling, levels []float64, times int, noise float64, rng *rand.Rand) []Point {
	var out []Point
	for _, n := range levels {
		for range times {
			out = append(out, Point{n, law.At(n) * math.Exp(noise*rng.NormFloat64())})
		}
	}
	return out
}

// Without noise the fit is the law itself, also at the bounds.
func TestScalingRecovers(t *testing.T) {
	levels := []float64{1, 2, 3, 4, 8, 16}
	for _, law := range []Scaling{
		{Lambda: 100, Sigma: 0.05, Kappa: 0.002},
		{Lambda: 3.5, Sigma: 0, Kappa: 0},
		{Lambda: 1e5, Sigma: 0.3, Kappa: 0},
		{Lambda: 20, Sigma: 0, Kappa: 0.01},
		{Lambda: 20, Sigma: 1, Kappa: 0},
		{Lambda: 995, Sigma: 0.02, Kappa: 1e-5},
		{Lambda: 1, Sigma: 0.9, Kappa: 0.5},
	} {
		f, err := FitScaling(noisy(law, levels, 1, 0, rand.New(rand.NewPCG(1, 1))))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Lambda/law.Lambda-1) > 1e-4 || math.Abs(f.Sigma-law.Sigma) > 1e-4 || math.Abs(f.Kappa-law.Kappa) > 1e-5 {
			t.Errorf("%+v: got %+v, residual %g", law, f.Scaling, f.Residual)
		}
	}
}

// The fit is never worse than the law that made the points: it finds the least
// sum, whatever the law and the noise, and stays within its bounds.
func TestScalingFitIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := Scaling{Lambda: rapid.Float64Range(0.1, 1e5).Draw(t, "λ"), Sigma: rapid.Float64Range(0, 1).Draw(t, "σ"),
			Kappa: math.Pow(10, rapid.Float64Range(-7, 0).Draw(t, "log κ"))}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		points := noisy(law, []float64{1, 2, 4, 7, 12, 32}, 2, rapid.Float64Range(0, 0.3).Draw(t, "noise"), rng)
		f, err := FitScaling(points)
		if err != nil {
			t.Fatal(err)
		}
		if f.Sigma < 0 || f.Sigma > 1 || f.Kappa < 0 || f.Kappa > 1 || !(f.Lambda > 0) {
			t.Fatalf("out of bounds: %+v", f.Scaling)
		}
		if truth := f.slopeAt(nil, law.Sigma, law.Kappa).sum; f.sum > truth*(1+1e-6)+1e-12 {
			t.Fatalf("sum %g, that of the law %g; got %+v", f.sum, truth, f.Scaling)
		}
	})
}

// Intervals hold the truth as often as they say: 95 % of 300 samples, give or
// take three standard errors of the share. At a bound of the parameters (κ = 0)
// they hold it at least as often.
func TestScalingCoverage(t *testing.T) {
	await.SkipShort(t)
	const samples, level = 300, 0.95
	slack := 3 * math.Sqrt(level*(1-level)/samples)
	for _, c := range []struct {
		name   string
		law    Scaling
		levels []float64
		times  int
		bound  bool // the truth lies at a bound
	}{
		{"σ 0.05, κ 0.002, six levels twice", Scaling{100, 0.05, 0.002}, []float64{1, 2, 4, 8, 16, 32}, 2, false},
		{"four hosts, three runs each", Scaling{480, 0.15, 0.03}, []float64{1, 2, 3, 4}, 3, false},
		{"no coherence", Scaling{100, 0.1, 0}, []float64{1, 2, 4, 8, 16}, 2, true},
		{"no loss", Scaling{100, 0, 0}, []float64{1, 2, 3, 4, 6}, 2, true},
	} {
		rng := rand.New(rand.NewPCG(7, uint64(len(c.levels))))
		far := 2 * c.levels[len(c.levels)-1]
		var held [5]int
		for range samples {
			f, err := FitScaling(noisy(c.law, c.levels, c.times, 0.03, rng))
			if err != nil {
				t.Fatal(err)
			}
			fresh := c.law.At(far) * math.Exp(0.03*rng.NormFloat64())
			for i, ok := range []bool{f.SigmaRange(level).Holds(c.law.Sigma), f.KappaRange(level).Holds(c.law.Kappa),
				f.ThroughputRange(1, level).Holds(c.law.Lambda), f.ThroughputRange(far, level).Holds(c.law.At(far)), f.NewRange(far, level).Holds(fresh)} {
				if ok {
					held[i]++
				}
			}
		}
		for i, what := range []string{"σ", "κ", "λ", "throughput of twice the hosts", "a new measurement of twice the hosts"} {
			share := float64(held[i]) / samples
			t.Logf("%s: %s held in %.3f", c.name, what, share)
			if share < level-slack || !c.bound && i < 4 && share > level+slack {
				t.Errorf("%s: the interval of %s held the truth in %.3f, want %.2f ± %.3f", c.name, what, share, level, slack)
			}
		}
	}
}

// The interval of how many are needed holds how many really are.
func TestNeededCoverage(t *testing.T) {
	const samples, level = 300, 0.95
	law := Scaling{100, 0.05, 0.002}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, x := range []float64{150, 450, 700} {
		want, held := math.Ceil(law.Needed(x)), 0
		for range samples {
			f, err := FitScaling(noisy(law, []float64{1, 2, 3, 4, 6, 8}, 2, 0.02, rng))
			if err != nil {
				t.Fatal(err)
			}
			if f.NeededRange(x, level, 1000).Holds(want) {
				held++
			}
		}
		share := float64(held) / samples
		t.Logf("%g/s: %g needed, held in %.3f", x, want, share)
		// Whole numbers round the interval outwards, so it may hold it more often.
		if share < level-4*math.Sqrt(level*(1-level)/samples) {
			t.Errorf("%g/s: the interval held %g in %.3f", x, want, share)
		}
	}
}

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		name string
		law  Scaling
		x    float64
		want float64
	}{
		{"one is enough", Scaling{100, 0.1, 0.01}, 80, 1},
		{"without loss it is a division", Scaling{100, 0, 0}, 250, 2.5},
		{"Amdahl: X(N) = 100N/(1 + 0.1(N−1)) = 500 at N = 9", Scaling{100, 0.1, 0}, 500, 9},
		{"Amdahl's limit is never reached", Scaling{100, 0.1, 0}, 1000, math.Inf(1)},
		{"above the peak", Scaling{100, 0.1, 0.01}, 400, math.Inf(1)},
	} {
		if got := c.law.Needed(c.x); got != c.want && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %g, want %g", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		law := Scaling{rapid.Float64Range(1, 1000).Draw(t, "λ"), rapid.Float64Range(0, 0.9).Draw(t, "σ"), rapid.Float64Range(0, 0.1).Draw(t, "κ")}
		top := math.Min(law.Peak(), 1000)
		n := 1 + rapid.Float64Range(0, 0.99).Draw(t, "share")*(top-1)
		if got := law.Needed(law.At(n)); math.Abs(got-n) > 1e-6*n {
			t.Fatalf("%+v at %g brings %g, which needs %g", law, n, law.At(n), got)
		}
	})
}

// Two levels tell contention only, without degrees of freedom there is no
// interval, and one level or nonsense is refused.
func TestScalingWithFewPoints(t *testing.T) {
	f, err := FitScaling([]Point{{1, 100}, {4, 300}})
	if err != nil || !f.WithoutKappa || f.Kappa != 0 || math.Abs(f.At(4)-300) > 1e-6 {
		t.Fatalf("got %+v, %v", f, err)
	}
	if r := f.ThroughputRange(8, 0.95); f.DF != 0 || r.Low != 0 || !math.IsInf(r.High, 1) {
		t.Errorf("two points have an interval: %+v", r)
	}
	if _, err := FitScaling([]Point{{1, 100}, {1, 101}}); !errors.Is(err, ErrTooFewLevels) {
		t.Errorf("one level: %v", err)
	}
	for _, p := range []Point{{0, 1}, {1, 0}, {1, -1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		if _, err := FitScaling([]Point{{1, 100}, {2, 150}, p}); err == nil {
			t.Errorf("%+v gave no error", p)
		}
	}
}

// Points that lie on a curve exactly still leave a doubt of 0.1 %.
func TestScalingNeverSure(t *testing.T) {
	f, err := FitScaling(noisy(Scaling{100, 0.05, 0.001}, []float64{1, 2, 4, 8, 16}, 1, 0, rand.New(rand.NewPCG(1, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if r := f.ThroughputRange(8, 0.95); r.High/r.Low < 1.0005 || r.High/r.Low > 1.02 {
		t.Errorf("got %+v", r)
	}
}

// A published measurement: Cisco's benchmark in Schwartz 2015, Practical
// Scalability Analysis with the Universal Scalability Law, whose fit of X itself
// is λ 995.6, σ 0.0267, κ 0.000769. That of the logarithm is near it, and
// nearer to what one alone brought.
func TestScalingOfAPublishedMeasurement(t *testing.T) {
	var points []Point
	for i, x := range []float64{955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.80, 7867.61, 8278.71, 8646.70,
		9047.84, 9426.55, 9645.37, 9897.24, 10097.60, 10240.50, 10532.39, 10798.52, 11151.43, 11518.63, 11806.00, 12089.37,
		12075.41, 12177.29, 12211.41, 12158.93, 12155.27, 12118.04, 12140.40, 12074.39} {
		points = append(points, Point{float64(i + 1), x})
	}
	f, err := FitScaling(points)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(f.Lambda/995.6-1) > 0.05 || math.Abs(f.Sigma-0.0267) > 0.01 || math.Abs(f.Kappa/0.000769-1) > 0.2 || math.Abs(f.Peak()/35.6-1) > 0.1 {
		t.Errorf("got %+v, peak at %g", f.Scaling, f.Peak())
	}
}

// Where the points rule out next to nothing, a range says so: from nothing to
// no bound, not from some thousandth of the best guess.
func TestScalingRangeWithoutBounds(t *testing.T) {
	points := []Point{{1, 40}, {1, 160}, {2, 300}, {2, 60}, {3, 90}, {3, 400}}
	f, err := FitScaling(points)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Range{"mean": f.ThroughputRange(1000, 0.99), "new": f.NewRange(1000, 0.99)} {
		if got.Low != 0 || !math.IsInf(got.High, 1) {
			t.Errorf("%s: %v to %v, want 0 to +Inf", name, got.Low, got.High)
		}
	}
}
