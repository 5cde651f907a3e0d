package digest

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

// Percentiles are within 1 % of those of the sorted values, also of merged
// histograms.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64/1000), 1, 200).Draw(t, "values")
		if rapid.Bool().Draw(t, "usual") {
			for i := range values {
				values[i] %= int64(10 * time.Second)
			}
		}
		var a, b histogram
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		for i, v := range values {
			if i < cut {
				a.add(time.Duration(v))
			} else {
				b.add(time.Duration(v))
			}
		}
		a.merge(&b)
		got := a.times()
		slices.Sort(values)
		for _, c := range []struct {
			share float64
			got   time.Duration
		}{{0.5, got.P50}, {0.9, got.P90}, {0.95, got.P95}, {0.99, got.P99}} {
			want := values[max(int(math.Ceil(c.share*float64(len(values))))-1, 0)]
			if diff := math.Abs(float64(c.got) - float64(want)); diff > 0.01*float64(want)+1000 {
				t.Fatalf("p%g is %v, want %v", 100*c.share, c.got, time.Duration(want))
			}
		}
		if got.Max != time.Duration(values[len(values)-1]) || got.Count != int64(len(values)) {
			t.Fatalf("%+v", got)
		}
	})
}

// Counts above 16 bits are not lost.
func TestHistogramCarries(t *testing.T) {
	var a, b histogram
	for range 100_000 {
		a.add(time.Millisecond)
		b.add(time.Millisecond)
	}
	for range 150_000 {
		a.add(time.Second)
	}
	a.merge(&b)
	if got := a.times(); got.P50.Round(100*time.Microsecond) != time.Millisecond || got.P90 < 990*time.Millisecond || got.Count != 350_000 {
		t.Errorf("%+v", got)
	}
}
