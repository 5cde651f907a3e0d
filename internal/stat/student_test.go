package stat

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// What is kept is what would be computed, also after more were asked for than are kept.
func TestStudentQuantile(t *testing.T) {
	for range 2 {
		for df := 1; df < 40; df++ {
			for _, p := range []float64{0.5, 0.9, 0.975, 0.9999} {
				if got, want := studentQuantile(df, p), (distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}).Quantile(p); got != want {
					t.Fatalf("%d, %g: %g, want %g", df, p, got, want)
				}
			}
		}
	}
	// Table of Student's t: 2.571 at 5 degrees of freedom, two-sided 95 %.
	if q := studentQuantile(5, 0.975); math.Abs(q-2.5706) > 1e-3 {
		t.Errorf("%g", q)
	}
	for i := range mostQuantiles + 10 {
		quantilesMu.Lock()
		quantiles[quantileOf{-i, 0}] = 1
		quantilesMu.Unlock()
	}
	if studentQuantile(77, 0.9); len(quantiles) != 1 {
		t.Errorf("%d are kept", len(quantiles))
	}
}
