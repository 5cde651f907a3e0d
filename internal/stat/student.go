package stat

import (
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostQuantiles are kept: a session asks for some hundreds (degrees of freedom up to
// the most pairs, the levels of its looks).
const mostQuantiles = 1 << 14

type quantileOf struct {
	df int
	p  float64
}

var (
	quantilesMu sync.Mutex
	quantiles   = map[quantileOf]float64{}
)

// studentQuantile is the quantile p (0–1) of Student's distribution with df degrees of
// freedom. It is found by bisection, and the same few are asked for in each look of each
// experiment, so they are kept: a simulation of experiments takes half of the time.
func studentQuantile(df int, p float64) float64 {
	key := quantileOf{df, p}
	quantilesMu.Lock()
	q, known := quantiles[key]
	quantilesMu.Unlock()
	if known {
		return q
	}
	q = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(p)
	quantilesMu.Lock()
	if len(quantiles) >= mostQuantiles {
		clear(quantiles)
	}
	quantiles[key] = q
	quantilesMu.Unlock()
	return q
}
