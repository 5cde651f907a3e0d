package stat

import (
	"fmt"
	"math"
)

// Variance is a sum of squared deviations with its degrees of freedom, so that
// those of several samples can be pooled.
type Variance struct {
	Sum     float64 `json:"sum"`
	Freedom int     `json:"freedom"`
}

// Add pools the deviations of xs from their mean; fewer than two numbers have
// none.
func (v *Variance) Add(xs []float64) {
	if len(xs) < 2 {
		return
	}
	_, sd := MeanSD(xs)
	v.Sum += float64(len(xs)-1) * sd * sd
	v.Freedom += len(xs) - 1
}

// Pooled tests whether b has another mean than a (Student's two-sample test): the
// variance is that of both samples, pooled with what is known of others that
// differ in their means only. With known's degrees of freedom two numbers on each
// side are enough to see a large difference, which a test of two pairs' ratios
// alone, with one degree of freedom, never is. Mean is mean(b) − mean(a).
func Pooled(a, b []float64, known Variance) (TTest, error) {
	v := known
	v.Add(a)
	v.Add(b)
	if len(a) == 0 || len(b) == 0 || v.Freedom < 1 {
		return TTest{}, fmt.Errorf("a pooled test needs numbers on both sides and a variance: %d and %d numbers, %d degrees of freedom", len(a), len(b), v.Freedom)
	}
	ma, _ := MeanSD(a)
	mb, _ := MeanSD(b)
	sd := math.Max(math.Sqrt(v.Sum/float64(v.Freedom)), minSD)
	return newTTest(len(a)+len(b), v.Freedom, mb-ma, sd*math.Sqrt(1/float64(len(a))+1/float64(len(b)))), nil
}
