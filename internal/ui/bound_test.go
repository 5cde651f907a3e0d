package ui

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestBound(t *testing.T) {
	for f, want := range map[float64]string{1: "at most ×1.00", 1.234: "at most ×1.23", 9.99: "at most ×9.99", 9.996: "at most 10 times", 12.4: "at most 12 times",
		50: "at most 50 times", 50.4: "no bound below ×50", 100: "no bound below ×50", 625: "no bound below ×50", math.Inf(1): "no bound below ×50", math.NaN(): Unknown} {
		if got := Bound(f); got != want {
			t.Errorf("%g: %q, want %q", f, got, want)
		}
	}
}

// No bound is told with more than three digits.
func TestBoundIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(1, 1e9).Draw(t, "f")
		got := Bound(f)
		digits := 0
		for _, r := range got {
			if r >= '0' && r <= '9' {
				digits++
			}
		}
		if digits > 3 || strings.Contains(got, "e+") {
			t.Fatalf("%g: %q", f, got)
		}
	})
}
