package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// The method is binary segmentation of log scores, searched in seeded intervals
// (Kovács, Bühlmann, Li & Munk 2023, Biometrika 110:249), with Student's t as
// the measure of a split.
//
// Plain binary segmentation looks for one step in the whole series and misses a
// short level between two others; intervals of every length from the whole to
// a few points, half overlapping, find that too. They are given, not drawn, and
// the test is a formula, not a permutation: the same store always tells the
// same story. That randomness is why Hunter (Fleming et al. 2023, ICPE) put a
// t-test into MongoDB's E-divisive means, too. Time is O(n log n) for each
// change that is found.
//
// A split counts if its t is beyond what chance gives in any of all splits of
// all intervals with probability falseSeries (Bonferroni). That bound holds for
// independent normal noise; noise with a memory (a machine that is slow for a
// day) is seen as the change of level that it is.

const (
	// falseSeries is how often a series without a change may show one. The
	// aim is below 1 %; half of it is left for noise that is not normal.
	falseSeries = 0.005
	// leastPoints of a level.
	leastPoints = witnesses + 1
)

// detector finds steps in logs. sum and squares have the sums before each
// point, of numbers around the mean, so that any stretch costs nothing.
type detector struct {
	sum, squares []float64
	center       float64
	smallest     float64 // log ratio
	perSplit     float64 // two-sided level of one split
	limits       map[int]float64
}

func newDetector(logs []float64, smallest float64) *detector {
	d := &detector{sum: make([]float64, len(logs)+1), squares: make([]float64, len(logs)+1),
		smallest: math.Log1p(max(smallest, 0)), limits: map[int]float64{}}
	for _, x := range logs {
		d.center += x / float64(len(logs))
	}
	for i, x := range logs {
		x -= d.center
		d.sum[i+1], d.squares[i+1] = d.sum[i]+x, d.squares[i]+x*x
	}
	splits := 0
	seeded(0, len(logs), func(from, to int) { splits += to - from - 2*leastPoints + 1 })
	d.perSplit = falseSeries / float64(max(splits, 1))
	return d
}

// seeded calls f with intervals of [from, to): the whole, then of half the
// length, half overlapping, and so on down to the shortest with a split.
func seeded(from, to int, f func(from, to int)) {
	n := to - from
	for parts := 1; n/parts >= 2*leastPoints; parts *= 2 {
		length := (n + parts - 1) / parts
		shifts := 2*parts - 1
		for i := range shifts {
			at := from
			if shifts > 1 {
				at += (n - length) * i / (shifts - 1)
			}
			f(at, at+length)
		}
	}
}

// split is the best place to cut a stretch, and how sure a step is there.
type split struct {
	at   int
	t    float64 // |difference of means| / its standard error
	gain float64 // log of the likelihood ratio of two levels against one
	diff float64 // of the means, after − before
}

// best cut of [from, to).
func (d *detector) best(from, to int) split {
	var out split
	n := float64(to - from)
	total, all := d.sum[to]-d.sum[from], d.squares[to]-d.squares[from]
	for at := from + leastPoints; at <= to-leastPoints; at++ {
		n1 := float64(at - from)
		n2 := n - n1
		s1 := d.sum[at] - d.sum[from]
		m1, m2 := s1/n1, (total-s1)/n2
		within := math.Max((all-n1*m1*m1-n2*m2*m2)/(n-2), leastNoise*leastNoise)
		if t := math.Abs(m2-m1) / math.Sqrt(within*(1/n1+1/n2)); t > out.t {
			out = split{at: at, t: t, diff: m2 - m1}
		}
	}
	out.gain = n / 2 * math.Log1p(out.t*out.t/(n-2))
	return out
}

// counts: the split of a stretch of so many points is no chance, and worth
// telling.
func (d *detector) counts(s split, points int) bool {
	return s.at > 0 && math.Abs(s.diff) >= d.smallest && s.t > d.limit(points)
}

// limit of t for stretches of so many points.
func (d *detector) limit(points int) float64 {
	l, ok := d.limits[points]
	if !ok {
		l = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(points - 2)}.Quantile(1 - d.perSplit/2)
		d.limits[points] = l
	}
	return l
}

// changes are the indices at which a new level begins, ascending.
func (d *detector) changes() []int {
	var out []int
	var search func(from, to int)
	search = func(from, to int) {
		var found split
		seeded(from, to, func(a, b int) {
			if s := d.best(a, b); s.gain > found.gain && d.counts(s, b-a) {
				found = s
			}
		})
		if found.at > 0 {
			out = append(out, found.at)
			search(from, found.at)
			search(found.at, to)
		}
	}
	search(0, len(d.sum)-1)
	slices.Sort(out)
	return d.settled(out)
}

// settled moves each change to the best place between its neighbours, and drops
// those that do not count there: the first cuts were made when others were not
// known yet. The weakest goes first, because that may strengthen the others.
func (d *detector) settled(at []int) []int {
	const rounds = 3 // one moves the neighbours, the others follow
	for {
		weakest, least := -1, math.Inf(1)
		for range rounds {
			for i := range at {
				from, to := d.around(at, i)
				if s := d.best(from, to); s.at > 0 {
					at[i] = s.at
				}
			}
		}
		for i := range at {
			from, to := d.around(at, i)
			if s := d.best(from, to); !d.counts(s, to-from) && s.gain < least {
				weakest, least = i, s.gain
			}
		}
		if weakest < 0 {
			return at
		}
		at = slices.Delete(at, weakest, weakest+1)
	}
}

// around is the stretch between the neighbours of a change.
func (d *detector) around(at []int, i int) (from, to int) {
	to = len(d.sum) - 1
	if i > 0 {
		from = at[i-1]
	}
	if i < len(at)-1 {
		to = at[i+1]
	}
	return from, to
}

// moments of [from, to): mean around the center, and sum of squared deviations.
func (d *detector) moments(from, to int) (n, mean, ss float64) {
	n = float64(to - from)
	mean = (d.sum[to] - d.sum[from]) / n
	return n, mean, math.Max(0, d.squares[to]-d.squares[from]-n*mean*mean)
}

func (d *detector) level(from, to int) Level {
	n, mean, ss := d.moments(from, to)
	l := Level{From: from, To: to, Score: math.Exp(d.center + mean)}
	if n > 1 {
		l.Noise = math.Sqrt(ss / (n - 1))
	}
	return l
}

// change between two levels. Its interval is Student's, of the difference of
// means with a common variance.
func (d *detector) change(points []Point, a, b Level) Change {
	n1, m1, s1 := d.moments(a.From, a.To)
	n2, m2, s2 := d.moments(b.From, b.To)
	df := n1 + n2 - 2
	se := math.Max(math.Sqrt((s1+s2)/df), leastNoise) * math.Sqrt(1/n1+1/n2)
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.975)
	return Change{At: b.From, Time: points[b.From].Time, Since: points[b.From-1].Time, Before: a.Score, After: b.Score,
		Effect: math.Expm1(m2 - m1), Low: math.Expm1(m2 - m1 - q*se), High: math.Expm1(m2 - m1 + q*se), Between: []string{}}
}
