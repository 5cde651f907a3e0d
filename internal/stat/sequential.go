package stat

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

//go:generate go run ./gen -o boundaries.go

// Sequential is a group-sequential test: it may look at the data after given
// numbers of pairs and still keeps its total error, because every look uses a
// stricter level than a single test would (Pocock 1977, Biometrika 64:191), here
// with the trimmed t-test (Trimmed) instead of normal statistics. The levels come
// from a simulation of that very test (gen).
type Sequential struct {
	// Looks are the numbers of pairs after which a verdict may be given.
	Looks []int
	// Last is the one-sided p-value below which the last look decides; earlier
	// ones are stricter, see Level.
	Last float64
	// Futility is the confidence, one-sided, with which the largest plausible
	// effect is taken when asking whether going on could still show it. Lower
	// ends null experiments sooner and loses more small true effects.
	Futility float64
}

// The total errors that NewSequential takes. The levels are simulated from
// 0.0001 on; below that the slope of the last two goes on.
const (
	MinAlpha = 0.00001
	MaxAlpha = 0.1
)

// A verdict needs at least FirstLook pairs, and counts at most LastLook: for so many
// its levels were simulated.
const (
	FirstLook = 3
	LastLook  = 400
)

// NewSequential returns the test with at most maxPairs pairs and a total
// one-sided error of at most alpha, from MinAlpha to MaxAlpha. maxPairs is at
// least FirstLook; a number that is no look is rounded down to one, and more
// than LastLook to that. Levels between those simulated are interpolated on
// logarithmic scales.
func NewSequential(alpha float64, maxPairs int) (Sequential, error) {
	if !(alpha >= MinAlpha && alpha <= MaxAlpha) {
		return Sequential{}, fmt.Errorf("alpha %g: use a number from %g to %g", alpha, MinAlpha, MaxAlpha)
	}
	n := sort.SearchInts(looks, maxPairs+1)
	if n == 0 {
		return Sequential{}, fmt.Errorf("max pairs %d: need at least %d", maxPairs, FirstLook)
	}
	return Sequential{Looks: looks[:n], Last: interpolate(alphas, levels[n-1], safety*alpha), Futility: futilityLevel}, nil
}

// safety: the noise of real runs is not normal, as in the simulation that the
// levels come from, so the test is made for a total error that is a fifth smaller
// than asked for.
const safety = 0.8

// interpolate y at x, both on logarithmic scales; xs ascend. Outside, the line
// of the two nearest points goes on.
func interpolate(xs, ys []float64, x float64) float64 {
	i := min(max(sort.SearchFloat64s(xs, x), 1), len(xs)-1)
	share := math.Log(x/xs[i-1]) / math.Log(xs[i]/xs[i-1])
	return ys[i-1] * math.Pow(ys[i]/ys[i-1], share)
}

// shape says how much stricter early looks are: the level grows with this power
// of the number of pairs. With 0 (Pocock 1977) all looks are alike, and an
// experiment that goes on pays for every look before; with 1 it takes a very
// large effect to end it after three pairs. Between them (as Wang & Tsiatis 1987,
// Biometrics 43:193) large effects end after 3 or 4 pairs, and more of the small
// ones are found.
const shape = 0.5

// Share of the last look's level that a look after n of at most max pairs has.
func Share(n, max int) float64 { return math.Pow(float64(n)/float64(max), shape) }

// Level is the one-sided p-value below which the look after n pairs decides.
func (s Sequential) Level(n int) float64 { return s.Last * Share(n, s.Max()) }

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

// futilityLevel is the default of Sequential.Futility. At each of up to 22 looks
// one in twenty of the true effects that are just worth having may seem not to
// be; with 0.90 that lost a third of +2 % on the quiet recordings, with 0.975
// those without an effect took half as many runs again (bench/verdict explore).
const futilityLevel = 0.95

// Look decides on log-ratios of pairs. smallest is the least effect worth
// having, as a log-ratio. It continues between looks.
func (s Sequential) Look(logRatios []float64, smallest float64) (Decision, TTest, error) {
	t, err := Trimmed(logRatios)
	if err != nil || !slices.Contains(s.Looks, len(logRatios)) {
		return Continue, t, nil
	}
	p := s.Level(len(logRatios))
	switch {
	case t.PGreater < p:
		return Greater, t, nil
	case t.PLess < p:
		return Less, t, nil
	case len(logRatios) >= s.Max():
		return Futile, t, nil
	}
	worth := math.Max(smallest, t.Detectable(s.Max(), s.Last))
	if t.Upper(s.Futility) < worth {
		return Futile, t, nil
	}
	return Continue, t, nil
}
