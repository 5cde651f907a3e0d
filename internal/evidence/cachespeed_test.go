package evidence

import (
	"context"
	"math"
	"slices"
	"testing"
)

func TestCacheSpeed(t *testing.T) {
	// A step takes from a tenth of a nanosecond to some memory accesses on a
	// slow, busy machine.
	if got := CacheSpeed(t.Context()); got < 1e5 || got > 1e10 {
		t.Errorf("%g steps per second", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := CacheSpeed(over); got != 0 {
		t.Errorf("%g after the end", got)
	}
}

func TestSpeedOfAnswers(t *testing.T) {
	steady := slices.Repeat([]float64{1e-4}, 19)
	want := cacheSpeedSteps / 1e-4
	if got := speedOf(append(steady, 1)); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%g with one that was interrupted, want %g", got, want)
	}
	if got := speedOf(steady[:leastCacheSpeed-1]); got != 0 {
		t.Errorf("%g from too few", got)
	}
	if got := speedOf(make([]float64, 20)); got != 0 {
		t.Errorf("%g from a clock that stands", got)
	}
}

func TestPowerOfTwo(t *testing.T) {
	for text, want := range map[string]int{"2048K\n": 2 << 20, "1280K": 1 << 20, "512K": 512 << 10, "": defaultTable, "2M": defaultTable, "1K": defaultTable, "99999999K": defaultTable} {
		if got := powerOfTwo(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// The answers walk through the whole table, not through a short cycle.
func TestTouchReachesTheTable(t *testing.T) {
	table, at := make([]uint64, 1<<12), uint64(0)
	at = touch(table, at)
	if slices.Contains(table, 0) {
		t.Error("some of the table was never touched")
	}
	_ = at
}
