package ui

import (
	"math"
	"strconv"
)

// believable is the largest bound that is told as a number. A bound says what
// is gone at most if one cause goes; other causes bind long before a service is
// this many times as fast, so that a larger number tells a person nothing more.
const believable = 50

// Bound formats the most that something could bring, as a factor of the
// throughput: "at most ×1.23", "at most 12 times", "no bound below ×50".
func Bound(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, -1):
		return Unknown
	case f > believable:
		return "no bound below ×" + strconv.Itoa(believable)
	case f >= 9.995: // Factor would round it to two digits and a third
		return "at most " + strconv.FormatFloat(f, 'f', 0, 64) + " times"
	}
	return "at most " + Factor(f)
}
