package record

import (
	"math"
	"strconv"
)

// bounds of a number: low and high, which are within them unless open, and
// the step between values (0: any).
type bounds struct {
	low, high         float64 // infinite: no bound
	lowOpen, highOpen bool
	multiple          float64
	integer           bool
	// exactLow and exactHigh are whole bounds that a float64 does not hold.
	exactLow, exactHigh exact
}

func unbounded() bounds { return bounds{low: math.Inf(-1), high: math.Inf(1)} }

// read takes the bounds of a schema. exclusiveMinimum is a number in JSON
// Schema 2020-12 (OpenAPI 3.1) and a boolean beside minimum in draft 4
// (OpenAPI 3.0, Swagger 2).
func (b *bounds) read(at apiNode) {
	bound := func(name, exclusive string, tighter func(float64) bool, to *float64, open *bool) {
		if n, ok := at.get(name).number(); ok && tighter(n) {
			*to, *open = n, at.get(exclusive).truth()
		}
		if n, ok := at.get(exclusive).number(); ok && (tighter(n) || n == *to) {
			*to, *open = n, true
		}
	}
	bound("minimum", "exclusiveMinimum", func(n float64) bool { return n > b.low }, &b.low, &b.lowOpen)
	bound("maximum", "exclusiveMaximum", func(n float64) bool { return n < b.high }, &b.high, &b.highOpen)
	for name, to := range map[string]*exact{"minimum": &b.exactLow, "maximum": &b.exactHigh} {
		if v, ok := at.get(name).value().(exact); ok {
			*to = v
		}
	}
	if n, ok := at.get("multipleOf").number(); ok && n > 0 {
		b.multiple = n
	}
}

func (b *bounds) fits(n float64) bool {
	return (n > b.low || n == b.low && !b.lowOpen) && (n < b.high || n == b.high && !b.highOpen)
}

// step between two values that are made up.
func (b *bounds) step() float64 {
	if b.multiple > 0 {
		return b.multiple
	}
	return 1
}

// first value that fits: the lowest, else 1, else the highest; the middle
// where less than a step is between low and high. false: none fits.
func (b *bounds) first() (float64, bool) {
	grid := func(n float64, round func(float64) float64) float64 {
		if b.multiple > 0 {
			return round(n/b.multiple) * b.multiple
		}
		return n
	}
	n := grid(1, math.Ceil)
	switch {
	case !math.IsInf(b.low, 0):
		if n = grid(b.low, math.Ceil); !b.fits(n) && n <= b.low {
			n += b.step()
		}
	case !b.fits(n):
		if n = grid(b.high, math.Floor); !b.fits(n) && n >= b.high {
			n -= b.step()
		}
	}
	if middle := b.low + (b.high-b.low)/2; !b.fits(n) && b.multiple == 0 {
		n = middle
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		n = 1
	}
	n = tidy(n)
	return n, b.fits(n)
}

// tidy rounds to 12 digits: 3·0.1 is 0.3.
func tidy(n float64) float64 {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 12, 64), 64); err == nil && n != math.Trunc(n) {
		return short
	}
	return n
}

// exactly is the number as the document writes it, where it is a bound that a
// float64 does not hold.
func (b *bounds) exactly(n float64) any {
	switch {
	case b.exactLow != "" && n == b.low && !b.lowOpen && b.multiple <= 1:
		return b.exactLow
	case b.exactHigh != "" && n == b.high && !b.highOpen && b.multiple <= 1:
		return b.exactHigh
	}
	return n
}
