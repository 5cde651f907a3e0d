package ratio

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

var none = math.NaN()

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		why    string
		values []float64
		want   Summary
	}{
		{"nothing", nil, Summary{}},
		{"only missing rounds", []float64{none, none}, Summary{}},
		{"one", []float64{2}, Summary{N: 1, Median: 2, Min: 2, Max: 2}},
		{"odd, not in order", []float64{9, 1, 2}, Summary{N: 3, Median: 2, Min: 1, Max: 9}},
		{"even: the middle of the two", []float64{4, 1, 2, 9}, Summary{N: 4, Median: 3, Min: 1, Max: 9}},
		{"a missing round is left out", []float64{1, none, 3}, Summary{N: 2, Median: 2, Min: 1, Max: 3}},
		{"a division by nothing is left out", []float64{math.Inf(1), 3}, Summary{N: 1, Median: 3, Min: 3, Max: 3}},
	} {
		if got := Of(tt.values); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.why, got, tt.want)
		}
	}
}

func TestPairs(t *testing.T) {
	// Round 2 lacks the divisor, round 4 the dividend, round 5 both.
	got := Pairs([]float64{1, 2, 3, none}, []float64{2, none, 4, 5, 6})
	if want := (Summary{N: 2, Median: 0.625, Min: 0.5, Max: 0.75}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Pairs([]float64{1}, []float64{0}); got.N != 0 {
		t.Errorf("a division by zero counts: %+v", got)
	}
	// The ratio of medians would be 1; rounds that drift alike give 0.5.
	if got := Pairs([]float64{1, 2, 4}, []float64{2, 4, 8}); got.Median != 0.5 {
		t.Errorf("drift does not cancel: %+v", got)
	}
}

func TestLowerHigher(t *testing.T) {
	steady, wild := []float64{5, 5, 5, none}, []float64{1, 9, 8}
	if got := Lower(steady, wild); got[0] != 5 {
		t.Errorf("lower is %v: one lucky round does not make a series lower", got)
	}
	if got := Higher(steady, wild); got[0] != 1 {
		t.Errorf("higher is %v", got)
	}
	if got := Lower(nil, wild); len(got) != 3 {
		t.Errorf("without the first, lower is %v", got)
	}
	if got := Higher(steady, []float64{none}); got[0] != 5 {
		t.Errorf("without the second, higher is %v", got)
	}
}

func TestOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 20).Draw(t, "values")
		s := Of(v)
		if s.N != len(v) || s.Min > s.Median || s.Median > s.Max {
			t.Fatalf("%v gives %+v", v, s)
		}
		below := 0
		for _, x := range v {
			if x < s.Median {
				below++
			}
		}
		if below > len(v)/2 {
			t.Fatalf("%d of %d lie below the median %v", below, len(v), s.Median)
		}
	})
}

func TestText(t *testing.T) {
	if got := (Summary{}).Text(2); got != "–" {
		t.Errorf("nothing is %q", got)
	}
	if got := (Summary{N: 3, Median: 0.8, Min: 0.7, Max: 1}).Text(2); got != "0.80 (0.70–1.00)" {
		t.Errorf("%q", got)
	}
	if got := Of([]float64{1, 2, 3, 4, 5, 6}).Text(1); got != "3.5 [1.0–6.0]" {
		t.Errorf("%q", got)
	}
}

// TestInterval compares with the sign test's limits as tables have them
// (Conover, table A3), and counts how often the interval misses.
func TestInterval(t *testing.T) {
	for n, want := range map[int][2]int{6: {0, 5}, 8: {0, 7}, 9: {1, 7}, 12: {2, 9}, 15: {3, 11}, 20: {5, 14}, 25: {7, 17}} {
		low, high, ok := interval(n)
		if !ok || low != want[0] || high != want[1] {
			t.Errorf("%d values: %d and %d (%v), want %v", n, low, high, ok, want)
		}
	}
	for n := range Least {
		if _, _, ok := interval(n); ok {
			t.Errorf("%d values are enough", n)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	missed := 0
	const times, rounds = 4000, 15
	for range times {
		v := make([]float64, rounds)
		for i := range v {
			v[i] = math.Exp(random.NormFloat64()) // its median is 1, and it is not symmetric
		}
		if s := Of(v); !s.Bounded || s.Low > 1 || s.High < 1 {
			missed++
		}
	}
	if share := float64(missed) / times; share > 1-Coverage {
		t.Errorf("the interval misses the median in %.3f of the cases", share)
	}
}
