package load

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// tickEvery is how finely right answers are counted over time.
	tickEvery = 100 * time.Millisecond
	// mostTicks kept with a result: a window of a minute.
	mostTicks = 600
	// leastWarmup is the shortest that is worth a judgement: three ticks, of
	// which a spread can be told at all.
	leastWarmup = 3 * tickEvery
	// leastBatch answers make one value, as in MSER-5, whose batches of five
	// take most of the noise and of the autocorrelation out of single
	// observations (Spratt, Heuristics for the startup problem, 1998; White,
	// Cobb, Spratt, A comparison of five steady-state truncation heuristics,
	// WSC 2000).
	leastBatch = 5
	// leastRounds of all virtual users make one value, too: they start together,
	// so at first their answers come in waves, and ticks with one wave each look
	// alike at any speed.
	leastRounds = 2
	// leastSpread values after the truncation: fewer have no spread.
	leastSpread = 3
	// steadyWithin is the drift between the halves of what is kept that counts
	// as none. What is left of a transient then decays within ticks: 10 % over
	// half a second is 1 % of a window of 5 s, the same on both sides.
	steadyWithin = 0.10
	// steadySure is how sure the judgement is, one-sided.
	steadySure = 0.95
)

// settling tells, tick after tick, whether a service has warmed up.
//
// The transient is cut off where MSER says: at the d that makes the squared
// standard error of the rest's mean least,
//
//	MSER(d) = Σ_{i>d} (y_i − ȳ_d)² / (n−d)²,  0 ≤ d ≤ n/2
//
// (White, An effective truncation heuristic for bias reduction in simulation
// output, Simulation 69:6, 1997). What is kept must be steady: the means of
// its halves (Geweke 1992 compares its ends) may differ by at most
// steadyWithin, and that must be sure in the sense of an equivalence test
// (Schuirmann 1987): the bound of the difference, not the difference itself,
// is below it. So a loud service is watched for longer, and a silent one for
// three ticks.
type settling struct {
	rates, middles []float64 // right answers per second; p50 in seconds
	// latency is judged, too: of planned arrivals, whose rate says nothing.
	latency bool
	// users at once; 0 with planned arrivals, whose answers come in no rounds.
	users int

	answers int64 // of the batch under way
	span    time.Duration
	middle  float64 // Σ p50 · answers
}

// note takes in one tick: right answers within span, and their p50.
func (s *settling) note(answers int64, span, p50 time.Duration) {
	s.answers += answers
	s.span += span
	s.middle += p50.Seconds() * float64(answers)
	if s.answers < int64(max(leastBatch, leastRounds*s.users)) || s.span <= 0 {
		return
	}
	s.rates = append(s.rates, float64(s.answers)/s.span.Seconds())
	s.middles = append(s.middles, s.middle/float64(s.answers))
	s.answers, s.span, s.middle = 0, 0, 0
}

// judge the ticks so far.
func (s *settling) judge() drift {
	d := settled(s.rates)
	d.what = "throughput"
	if !s.latency {
		return d
	}
	l := settled(s.middles)
	l.what = "p50"
	if !l.steady && (d.steady || l.by.abs() > d.by.abs()) {
		return l
	}
	return d
}

// ratio is a change, as a fraction.
type ratio float64

func (r ratio) abs() float64 { return math.Abs(float64(r)) }

// drift between the halves of a series.
type drift struct {
	what string
	// by is the later half's mean / the earlier one's, minus 1, about; ± sure.
	by   ratio
	sure float64
	// steady: it is below steadyWithin for sure. moved: it is above for sure.
	steady, moved bool
}

// text says how it changed.
func (d drift) text() string {
	word := "rising"
	if d.by < 0 {
		word = "falling"
	}
	return fmt.Sprintf("%s was still %s by %.0f %%", d.what, word, 100*d.by.abs())
}

// settled judges a series without its transient.
func settled(ys []float64) drift {
	if len(ys) < leastSpread {
		return drift{}
	}
	return compareHalves(ys[truncation(ys):])
}

// truncation is MSER's: how many of the first values to leave out.
func truncation(ys []float64) int {
	n, at, best := len(ys), 0, math.Inf(1)
	sum, squares := 0.0, 0.0
	for d := n - 1; d >= 0; d-- {
		sum += ys[d]
		squares += ys[d] * ys[d]
		k := float64(n - d)
		if d > n/2 || n-d < leastSpread {
			continue
		}
		if mser := (squares - sum*sum/k) / (k * k); mser <= best {
			at, best = d, mser
		}
	}
	return at
}

// compareHalves compares the halves of a series; the one in the middle of an odd
// number belongs to neither. The spread is that of successive differences (von
// Neumann 1941), which a drift hardly enlarges.
func compareHalves(ys []float64) drift {
	k := len(ys)
	if k < leastSpread {
		return drift{}
	}
	m := k / 2
	early, late, all, differences := 0.0, 0.0, 0.0, 0.0
	for i, y := range ys {
		all += y
		if i < m {
			early += y
		}
		if i >= k-m {
			late += y
		}
		if i > 0 {
			differences += (y - ys[i-1]) * (y - ys[i-1])
		}
	}
	mean := all / float64(k)
	if mean <= 0 {
		return drift{}
	}
	sd := math.Sqrt(differences/(2*float64(k-1))) / mean
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(k - 1)}.Quantile(steadySure)
	d := drift{by: ratio((late - early) / float64(m) / mean), sure: t * sd * math.Sqrt(2/float64(m))}
	d.steady = d.by.abs()+d.sure <= steadyWithin
	d.moved = d.by.abs()-d.sure > steadyWithin
	return d
}

// windowDrift judges the measured window by its ticks: what sped up after the
// warm-up (a compiler's second tier, a cache that fills late) is seen here.
func windowDrift(ticks []int64) drift {
	var s settling
	for _, n := range ticks {
		s.note(n, tickEvery, 0)
	}
	d := compareHalves(s.rates)
	d.what = "throughput"
	return d
}
