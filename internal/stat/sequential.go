package stat

import (
	"fmt"
	"math"
	"slices"
)

// Sequential is a group-sequential test: it may look at the data after given
// numbers of pairs and still keeps its total error, because every look uses a
// stricter level than a single test would (Pocock 1977, Biometrika 64:191,
// with t instead of normal statistics).
type Sequential struct {
	// Looks are the numbers of pairs after which a verdict may be given.
	Looks []int
	// PerLook is the one-sided p-value below which a look decides.
	PerLook float64
}

// boundaries holds the constant per-look level for a total one-sided error, by
// simulation of t-tests on independent normal differences.
// TestSequentialError checks every row.
var boundaries = []struct {
	looks []int
	// alpha → per-look level for 0.01, 0.025, 0.05, 0.10.
	perLook [4]float64
}{
	{[]int{3, 4, 5, 6}, [4]float64{0.0034, 0.0094, 0.0201, 0.0459}},
	{[]int{3, 4, 5, 6, 8, 10}, [4]float64{0.0024, 0.0067, 0.0145, 0.0335}},
	{[]int{3, 4, 5, 6, 8, 10, 12, 16, 20}, [4]float64{0.0016, 0.0046, 0.0105, 0.0247}},
}

var boundaryAlphas = [4]float64{0.01, 0.025, 0.05, 0.10}

// Alphas are the total one-sided errors that NewSequential takes.
func Alphas() []float64 { return slices.Clone(boundaryAlphas[:]) }

// LeastPairs is the smallest maxPairs that NewSequential takes.
func LeastPairs() int { return slices.Max(boundaries[0].looks) }

// NewSequential returns the test with at most maxPairs pairs and a total
// one-sided error of at most alpha. Alpha is one of 0.01, 0.025, 0.05, 0.10;
// maxPairs at least 6 (6, 10 and 20 are used fully, others rounded down).
func NewSequential(alpha float64, maxPairs int) (Sequential, error) {
	i := slices.Index(boundaryAlphas[:], alpha)
	if i < 0 {
		return Sequential{}, fmt.Errorf("alpha %g: use one of %v", alpha, boundaryAlphas)
	}
	var best *Sequential
	for _, b := range boundaries {
		if b.looks[len(b.looks)-1] <= maxPairs {
			best = &Sequential{Looks: b.looks, PerLook: b.perLook[i]}
		}
	}
	if best == nil {
		return Sequential{}, fmt.Errorf("max pairs %d: need at least %d", maxPairs, LeastPairs())
	}
	return *best, nil
}

// Max is the number of pairs after which the test ends in any case.
func (s Sequential) Max() int { return s.Looks[len(s.Looks)-1] }

// Decision of one look.
type Decision int

const (
	Continue Decision = iota
	Greater           // the mean is above zero
	Less              // the mean is below zero
	Futile            // more pairs would not show an effect worth having
)

// futilityLevel is the confidence with which the largest plausible effect is
// taken when asking whether going on could still show it. Lower ends null
// experiments sooner and loses more small true effects.
const futilityLevel = 0.90

// Look decides on log-ratios of pairs. smallest is the least effect worth
// having, as a log-ratio. It continues between looks.
func (s Sequential) Look(logRatios []float64, smallest float64) (Decision, TTest, error) {
	t, err := OneSample(logRatios)
	if err != nil || !slices.Contains(s.Looks, len(logRatios)) {
		return Continue, t, nil
	}
	switch {
	case t.PGreater < s.PerLook:
		return Greater, t, nil
	case t.PLess < s.PerLook:
		return Less, t, nil
	case len(logRatios) >= s.Max():
		return Futile, t, nil
	}
	worth := math.Max(smallest, t.Detectable(s.Max(), s.PerLook))
	if t.Upper(futilityLevel) < worth {
		return Futile, t, nil
	}
	return Continue, t, nil
}
