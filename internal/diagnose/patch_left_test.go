package diagnose

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// A statement that is prepared once is still executed each time.
func TestPatchLeaves(t *testing.T) {
	for _, c := range []struct {
		patch evidence.SourcePatch
		left  float64
	}{
		{evidence.SourcePatch{Shape: "P1", File: "a.php", PerRequest: 20}, 0.05},
		{evidence.SourcePatch{Shape: "P5", File: "a.php", PerRequest: 20}, 0.525},
		{evidence.SourcePatch{Shape: "P5", File: "a.php", PerRequest: 1}, 1},
		{evidence.SourcePatch{Shape: "P9", File: "a.go", Count: 100, Staleness: time.Second}, 0.1},
	} {
		if left := leftOf(c.patch, 10); left != c.left {
			t.Errorf("%+v: %g, want %g", c.patch, left, c.left)
		}
	}
}
