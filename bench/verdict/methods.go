package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"kasoku/internal/experiment"
	"kasoku/internal/stat"
	"kasoku/internal/tune"

	"gonum.org/v1/gonum/stat/distuv"
)

// level at which every method decides, so that they differ in nothing else.
const level = 0.01

// method of deciding whether a candidate is faster.
type method struct {
	name string
	keep func(p *replay, coin *rand.Rand) bool
}

// fixedPairs of the methods that do not look before the end: with Kasoku's first
// default of ten pairs a common choice.
const fixedPairs = 10

// Kasoku's own ways, of which each has to hold the bar of false keeps.
const (
	product      = "Kasoku"
	briefProduct = "Kasoku, brief at first"
	cutProduct   = "Kasoku, cut off once"
	fewProduct   = "Kasoku, 6 pairs fit"
)

// fittingPairs of runs that take minutes are all that a session has for a step or two.
const fittingPairs = 6

func methods(rule experiment.Rule) []method {
	return []method{
		{product, kasoku(rule)},
		{briefProduct, kasokuBrief(rule)},
		{cutProduct, kasokuCut(rule)},
		{fewProduct, kasokuFew(rule)},
		{"6 pairs of 400", stopped(rule)},
		{"10 pairs, t-test", fixedTest},
		{"one run each", singleRun},
		{"10 × A, 10 × B, t-test", aThenB},
		{"t-test after every pair", peeking(rule.MaxPairs)},
	}
}

// kasoku is the very experiment of the product.
func kasoku(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return kasokuSays(experiment.Improved, rule)
}

// kasokuSays reports whether that experiment ends with an outcome.
func kasokuSays(outcome experiment.Outcome, rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		rule.Seed = coin.Uint64()
		v, err := experiment.Run(context.Background(), rule, p, nil)
		return err == nil && v.Outcome == outcome
	}
}

// briefPairs as in package tune: the first pairs of a candidate that promises
// much have short windows.
const briefPairs = 4

// kasokuBrief is the same for a candidate that promises much.
func kasokuBrief(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	keep := kasoku(rule)
	return func(p *replay, coin *rand.Rand) bool {
		p.brief = briefPairs
		return keep(p, coin)
	}
}

// kasokuFew is an experiment of `kasoku tune` as knowing says.
func kasokuFew(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		return kasoku(knowing(rule, p, coin))(p, coin)
	}
}

// stopped is an experiment with levels for the most pairs whose time is used up after
// six.
func stopped(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		r := rule
		r.Seed = coin.Uint64()
		v, err := experiment.Run(context.Background(), r, &cut{replay: p, after: fittingPairs}, nil)
		return err == nil && v.Outcome == experiment.Improved
	}
}

// kasokuCut is an experiment whose time is used up after any number of pairs, or
// that makes way for others, and goes on with its pairs later, at its level.
func kasokuCut(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		r := rule
		r.Seed, r.Patience = coin.Uint64(), tune.FirstPatience
		v, err := experiment.Run(context.Background(), r, &cut{replay: p, after: 1 + coin.IntN(tune.FirstPatience-1)}, nil)
		if err == nil && v.Shared { // it goes on when all others have had their turn
			r.Seed, r.Earlier, r.Patience = coin.Uint64(), v.Samples, tune.Patience(v.Pairs)
			v, err = experiment.Run(context.Background(), r, p, nil)
		}
		if !errors.Is(err, errCut) && !v.Shared {
			return err == nil && v.Outcome == experiment.Improved
		}
		r.Seed, r.Earlier, r.Patience = coin.Uint64(), v.Samples, 0
		v, err = experiment.Run(context.Background(), r, p, nil)
		return err == nil && v.Outcome == experiment.Improved
	}
}

// cut measures so many pairs and no more.
type cut struct {
	*replay
	after int
}

var errCut = errors.New("its time is used up")

func (c *cut) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	if pair > c.after {
		return experiment.Sample{}, errCut
	}
	return c.replay.Measure(ctx, side, pair)
}

// ratio of one pair in random order, as a logarithm.
func ratio(p *replay, coin *rand.Rand) (float64, bool) {
	first, second := experiment.Baseline, experiment.Candidate
	sign := 1.0
	if coin.IntN(2) == 1 {
		first, second, sign = second, first, -1
	}
	a, ok1 := p.fit(first)
	b, ok2 := p.fit(second)
	return sign * math.Log(b/a), ok1 && ok2 && a > 0 && b > 0
}

func fixedTest(p *replay, coin *rand.Rand) bool {
	var logs []float64
	for range fixedPairs {
		x, ok := ratio(p, coin)
		if !ok {
			return false
		}
		logs = append(logs, x)
	}
	t, err := stat.OneSample(logs)
	return err == nil && t.PGreater < level
}

func singleRun(p *replay, coin *rand.Rand) bool {
	x, ok := ratio(p, coin)
	return ok && x > 0
}

func aThenB(p *replay, _ *rand.Rand) bool {
	sides := [2][]float64{}
	for i, side := range []experiment.Side{experiment.Baseline, experiment.Candidate} {
		for range fixedPairs {
			s, ok := p.fit(side)
			if !ok || s <= 0 {
				return false
			}
			sides[i] = append(sides[i], math.Log(s))
		}
	}
	return welch(sides[1], sides[0]).PGreater < level
}

func peeking(most int) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		var logs []float64
		for len(logs) < most {
			x, ok := ratio(p, coin)
			if !ok {
				return false
			}
			logs = append(logs, x)
			if t, err := stat.OneSample(logs); err == nil && len(logs) >= stat.FirstLook && t.PGreater < level {
				return true
			}
		}
		return false
	}
}

// welch tests whether the mean of xs is above that of ys, without taking their
// variances to be equal (Welch 1947, Biometrika 34:28). Each needs two numbers;
// with fewer both p-values are 1.
func welch(xs, ys []float64) stat.TTest {
	if len(xs) < 2 || len(ys) < 2 {
		return stat.TTest{PGreater: 1, PLess: 1}
	}
	mx, sx := stat.MeanSD(xs)
	my, sy := stat.MeanSD(ys)
	vx, vy := sx*sx/float64(len(xs)), sy*sy/float64(len(ys))
	nu := (vx + vy) * (vx + vy) / (vx*vx/float64(len(xs)-1) + vy*vy/float64(len(ys)-1))
	t := stat.TTest{N: len(xs) + len(ys), Mean: mx - my, SE: math.Sqrt(vx + vy)}
	dist := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
	t.PLess, t.PGreater = dist.CDF(t.Mean/t.SE), dist.CDF(-t.Mean/t.SE)
	return t
}
