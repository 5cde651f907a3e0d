package experiment

import (
	"fmt"
	"math"
	"time"
)

const (
	// leastWindow of a run: shorter ones begin and end in the middle of too
	// many sessions, and counters of /proc tell hundredths of a second.
	leastWindow = time.Second
	// leastRequests in a window, so that the 99th percentile is not the
	// largest value alone.
	leastRequests = 200
	// briefRequests in a brief window: a score of 40 differs by 16 % from
	// chance alone (Poisson), which is little beside a gain of half or more.
	briefRequests = 40
	// leastFreedom: degrees of freedom of the variance between runs before a
	// window is chosen. With three, its root is right within about a factor of
	// two, and the cost is flat around its least.
	leastFreedom = 3
	// paceStep that windows are rounded up to.
	paceStep = 100 * time.Millisecond
	// paceMoved is the gain after which what was known of the noise says
	// nothing any more: less work for each request is another noise.
	paceMoved = 1.5
)

// Mean is a sum with its weight.
type Mean struct {
	Sum    float64 `json:"sum"`
	Weight float64 `json:"weight"`
}

func (m *Mean) add(x, weight float64) { m.Sum, m.Weight = m.Sum+x, m.Weight+weight }

// Value is 0 without a weight.
func (m Mean) Value() float64 {
	if m.Weight <= 0 {
		return 0
	}
	return m.Sum / m.Weight
}

// Noise is what runs told about their spread. Variances are of logarithms: of
// parts of the whole.
type Noise struct {
	// Within is the variance of one second of a run, by degrees of freedom.
	Within Mean `json:"within"`
	// Runs is the variance from run to run, by degrees of freedom, and Inverse
	// the mean of 1/window (per second) that belongs to it.
	Runs    Mean `json:"runs"`
	Inverse Mean `json:"inverse"`
	// Cost of a run beside its window, seconds: reset, switch, warm-up.
	Cost Mean `json:"cost"`
	// Rate of right answers per second.
	Rate Mean `json:"rate"`
}

// Pace is how long the windows of a session's runs are, and what that was
// chosen by. A run costs s + w seconds (w its window, s all else) and its mean
// varies by
//
//	b + a/w
//
// where a is the variance of one second within a run and b what differs
// between runs however long they are. A precision costs (s + w)·(b + a/w)
// seconds, which is least at
//
//	w* = √(s·a/b)
//
// (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013,
// section 6: repetitions of each level by √(cost · variance) ratios.) The zero
// Pace knows nothing. It is stored with the session, so that one that is taken
// up again has the same windows.
type Pace struct {
	Window time.Duration `json:"window"` // 0: none chosen yet
	Why    string        `json:"why,omitempty"`
	// Score and Workload that Known is of; Freedom of Known.Runs when Window
	// was chosen.
	Score    float64 `json:"score"`
	Workload int     `json:"workload"`
	Freedom  float64 `json:"freedom"`
	Known    Noise   `json:"known"`
	// Last is the last experiment's alone, with its candidate: all that is
	// known of the service if that one is kept and much faster.
	Last Noise `json:"last"`
	// Least is what every window must last for the sessions that it cuts off to be a small
	// part of its score (load.Result.LeastWindow of what is in place); 0: any will do.
	Least time.Duration `json:"least,omitempty"`
}

// NoteRun takes in a fit run: its right answers tick by tick, and what it cost
// beside its window. It is of what is in place, or of a candidate.
func (p *Pace) NoteRun(ticks []int64, tick, window, cost time.Duration, candidate bool) {
	for _, n := range []*Noise{&p.Known, &p.Last} {
		if candidate != (n == &p.Last) {
			continue
		}
		a, freedom, rate := withinRun(ticks, tick)
		n.Within.add(a*freedom, freedom)
		if rate > 0 {
			n.Rate.add(rate*window.Seconds(), window.Seconds())
		}
	}
	p.Known.Cost.add(cost.Seconds(), 1)
	p.Last.Cost.add(cost.Seconds(), 1)
}

// NoteSwitching adds what switching between sides took in an experiment.
func (p *Pace) NoteSwitching(d time.Duration) {
	p.Known.Cost.add(d.Seconds(), 0)
	p.Last.Cost.add(d.Seconds(), 0)
}

// NoteNeighbours takes in two runs of the same, one after the other.
func (p *Pace) NoteNeighbours(one, other float64, window time.Duration) {
	if one > 0 && other > 0 && window > 0 {
		d := math.Log(one / other)
		p.Known.runs(d*d/2, 1, window)
	}
}

// NoteExperiment takes in the pairs of an experiment: how much their ratios
// differ among each other. The candidate's own spread is that from one of its
// runs to the next; the ratios have the baseline's, too, which is another where
// the candidate is many times faster.
func (p *Pace) NoteExperiment(samples []Sample, window time.Duration) {
	var logs []float64
	mean, was := 0.0, 0.0
	if window <= 0 {
		return
	}
	for _, pair := range PairsOf(samples) {
		if pair.Baseline.Score > 0 && pair.Candidate.Score > 0 {
			logs = append(logs, math.Log(pair.Candidate.Score/pair.Baseline.Score))
			mean += logs[len(logs)-1]
			is := math.Log(pair.Candidate.Score)
			if d := is - was; len(logs) > 1 {
				p.Last.runs(d*d/2, 1, window)
			}
			was = is
		}
	}
	if len(logs) < 2 {
		return
	}
	mean /= float64(len(logs))
	squares := 0.0
	for _, l := range logs {
		squares += (l - mean) * (l - mean) / 2 // a ratio has the variance of two runs
	}
	p.Known.runs(squares, float64(len(logs)-1), window)
}

func (n *Noise) runs(squares, freedom float64, window time.Duration) {
	n.Runs.add(squares, freedom)
	n.Inverse.add(freedom/window.Seconds(), freedom)
}

// Begin is called before an experiment: it chooses the window of its runs, most
// at most, and reports whether it is another than before. What was known of a
// service that was much slower, or had other users, is forgotten.
func (p *Pace) Begin(score float64, workload int, most time.Duration) (changed bool) {
	before := p.Window
	if p.Workload != 0 && workload != p.Workload {
		p.Known, p.Window = Noise{}, 0
		p.Score, p.Workload = 0, 0
	} else if p.Score > 0 && score >= paceMoved*p.Score {
		p.Known, p.Window, p.Score = p.Last, 0, score
	}
	if p.Score == 0 {
		p.Score, p.Workload = score, workload
	}
	if p.Window == 0 || p.Known.Runs.Weight >= 2*p.Freedom {
		// Never shorter than before: in short runs what varies over some seconds
		// counts as what varies from run to run, and calls for shorter ones again.
		if w, why := p.Known.window(most); w > p.Window {
			p.Window, p.Why = w, why
		}
		p.Freedom = p.Known.Runs.Weight
	}
	p.Window = min(p.Window, most)
	p.Last = Noise{}
	return p.Window != before
}

// window is the best one with the reason; 0: not enough is known.
func (n Noise) window(most time.Duration) (time.Duration, string) {
	if n.Runs.Weight < leastFreedom || n.Within.Weight < leastFreedom || n.Cost.Weight == 0 {
		return 0, ""
	}
	a, s := n.Within.Value(), n.Cost.Value()
	b := n.Runs.Value() - a*n.Inverse.Value()
	reason := fmt.Sprintf("right answers vary by %.1f %% from second to second and runs by %.1f %% beyond that, and a run costs %.1f s beside its window",
		100*math.Sqrt(a), 100*math.Sqrt(max(b, 0)), s)
	w := most
	if b > 0 {
		if best := math.Sqrt(s * a / b); best < most.Seconds() {
			w = time.Duration(best * float64(time.Second))
		}
	}
	least := n.least(leastRequests, most)
	if w < least {
		w = least
		reason += fmt.Sprintf("; shorter ones would have fewer than %d requests or last less than %s", leastRequests, leastWindow)
	}
	return roundUp(w, most), reason
}

// least window that so many requests come in, at most most.
func (n Noise) least(requests float64, most time.Duration) time.Duration {
	least := leastWindow
	if rate := n.Rate.Value(); rate > 0 && requests/rate > least.Seconds() {
		least = time.Duration(min(requests/rate, most.Seconds()) * float64(time.Second))
	}
	return least
}

func roundUp(w, most time.Duration) time.Duration {
	return min((w + paceStep - 1).Truncate(paceStep), most)
}

// Brief is the window, at most most, for the first pairs of an experiment whose
// effect is expected to be far above any noise; 0: how many answers there are
// per second is not known.
func (p *Pace) Brief(most time.Duration) time.Duration {
	if p.Known.Rate.Value() <= 0 {
		return 0
	}
	return roundUp(p.Known.least(briefRequests, most), most)
}

// withinRun is the variance of one second's logarithm of right answers, by the
// means of batches of √n ticks, which take in what neighbours have in common
// (Flegal and Jones, Batch means and spectral variance estimators in Markov
// chain Monte Carlo, 2010), its degrees of freedom, and answers per second.
func withinRun(ticks []int64, tick time.Duration) (a, freedom, rate float64) {
	size := int(math.Sqrt(float64(len(ticks))))
	if size == 0 || len(ticks)/size < 2 {
		return 0, 0, 0
	}
	count := len(ticks) / size
	sums, mean := make([]float64, count), 0.0
	for i := range sums {
		for _, n := range ticks[i*size : (i+1)*size] {
			sums[i] += float64(n)
		}
		mean += sums[i] / float64(count)
	}
	if mean <= 0 {
		return 0, 0, 0
	}
	squares := 0.0
	for _, x := range sums {
		squares += (x/mean - 1) * (x/mean - 1)
	}
	length := float64(size) * tick.Seconds()
	return squares / float64(count-1) * length, float64(count - 1), mean / length
}
