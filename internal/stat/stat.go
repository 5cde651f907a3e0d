// Package stat is the pure statistics that verdicts rest on: means of ratios,
// Student's t, and the boundaries of a group-sequential test.
//
// In: numbers. Out: numbers. It imports nothing of Kasoku.
package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// GeoMean returns the geometric mean of positive numbers; 0 if xs is empty or
// holds a number that is not positive.
func GeoMean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range xs {
		if x <= 0 {
			return 0
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// MeanSD returns the mean and the sample standard deviation (n−1).
// The deviation of fewer than two numbers is 0.
func MeanSD(xs []float64) (mean, sd float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	if len(xs) == 1 {
		return xs[0], 0
	}
	return stat.MeanStdDev(xs, nil)
}

// minSD keeps a test from dividing by nothing when all differences happen to
// be equal: no benchmark repeats to better than 0.1 % (log-ratio units).
const minSD = 0.001

// TTest is a one-sample t-test of numbers against zero.
type TTest struct {
	N int
	// DF are the degrees of freedom.
	DF       int
	Mean, SE float64
	// PGreater is the one-sided p-value of "the true mean is ≤ 0", PLess that
	// of "the true mean is ≥ 0".
	PGreater, PLess float64
}

// OneSample tests xs (n ≥ 2) against zero.
func OneSample(xs []float64) (TTest, error) {
	if len(xs) < 2 {
		return TTest{}, fmt.Errorf("t-test: need at least 2 numbers, got %d", len(xs))
	}
	mean, sd := MeanSD(xs)
	sd = math.Max(sd, minSD)
	return newTTest(len(xs), len(xs)-1, mean, sd/math.Sqrt(float64(len(xs)))), nil
}

func newTTest(n, df int, mean, se float64) TTest {
	t := TTest{N: n, DF: df, Mean: mean, SE: se}
	dist := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}
	t.PLess, t.PGreater = dist.CDF(mean/se), dist.CDF(-mean/se)
	return t
}

// Upper returns the one-sided upper confidence bound of the mean at the level
// (0.90 = 90 %), Lower the lower one.
func (t TTest) Upper(level float64) float64 { return t.Mean + t.quantile(level)*t.SE }

// Lower is the one-sided lower confidence bound; see Upper.
func (t TTest) Lower(level float64) float64 { return t.Mean - t.quantile(level)*t.SE }

// Detectable is the smallest mean that n such numbers could show at the
// one-sided level p, if their deviation stays what it was.
func (t TTest) Detectable(n int, p float64) float64 {
	sd := t.SE * math.Sqrt(float64(t.N))
	q := studentQuantile(n-2*cut(n)-1, 1-p)
	return q * sd / math.Sqrt(float64(n))
}

func (t TTest) quantile(level float64) float64 {
	return studentQuantile(t.DF, level)
}
