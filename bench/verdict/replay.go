package main

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/experiment"
)

// leastWarmup in milliseconds: the scenario of the case has 1 s, and without a word
// a run is warmed up until throughput is steady, for up to 3 s. After half a second
// throughput still rose by a tenth within the window (tuned-quiet).
const leastWarmup = 1000

// trace is a recording as experiments with a given window see it.
type trace struct {
	name string
	// loud: at the default share of foreign CPU most of its runs would be no
	// evidence; it is replayed as if the operator allowed any.
	loud bool
	// cold: its runs were warmed up for less time than those of the product are.
	cold   bool
	window time.Duration
	runs   []point
	brief  []point // the same with windows as the first pairs of a great promise have them
}

// point is one run of a trace.
type point struct {
	score float64
	unfit string
	p99   time.Duration
	took  float64 // seconds, with switch, reset and warm-up
}

// newTrace cuts the runs of a recording to a window, at most the recorded one
// (0: that one): the score changes as the right answers per second do. Runs
// with more foreign CPU than limit are no evidence.
func newTrace(r *Recording, window time.Duration, limit float64) *trace {
	whole := time.Duration(r.WindowMS) * time.Millisecond
	if window <= 0 || window > whole {
		window = whole
	}
	t := &trace{name: r.Name, window: window}
	over := 0
	for _, run := range r.Runs {
		if run.Foreign > limit {
			over++
		}
	}
	t.loud, t.cold = 2*over > len(r.Runs), r.WarmupMS < leastWarmup
	brief := briefWindow(r, window)
	for _, run := range r.Runs {
		unfit := ""
		if run.Foreign > limit && !t.loud {
			unfit = fmt.Sprintf("processes outside the stack used %.0f %% of the CPU", 100*run.Foreign)
		}
		t.runs = append(t.runs, run.point(whole, window, unfit))
		t.brief = append(t.brief, run.point(whole, brief, unfit))
	}
	return t
}

// point is the run cut from its whole window to a shorter one.
func (r Recorded) point(whole, window time.Duration, unfit string) point {
	all := r.at(float64(whole.Milliseconds())) / whole.Seconds()
	p := point{score: r.Score, unfit: unfit, p99: time.Duration(r.P99US) * time.Microsecond,
		took: float64(r.TookMS)/1000 - (whole - window).Seconds()}
	if all > 0 {
		p.score *= r.at(float64(window.Milliseconds())) / window.Seconds() / all
	}
	return p
}

// briefWindow is the product's own choice for the recorded service.
func briefWindow(r *Recording, window time.Duration) time.Duration {
	var p experiment.Pace
	for _, run := range r.Runs {
		p.Known.Rate.Sum += float64(run.Counts[len(run.Counts)-1])
		p.Known.Rate.Weight += float64(r.WindowMS) / 1000
	}
	return p.Brief(window)
}

// replay is an experiment's Runner that measures by taking the next run of a
// trace. Which side it belongs to is up to who asks; the candidate's score is
// multiplied with what it is truly worth. After the last run comes the first.
type replay struct {
	trace  *trace
	next   int
	effect float64 // of the candidate: 0.02 = 2 % faster
	brief  int     // so many pairs have brief windows
	runs   int
	took   float64 // seconds
}

// Measure implements experiment.Runner.
func (p *replay) Measure(_ context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	runs := p.trace.runs
	if pair <= p.brief {
		runs = p.trace.brief
	}
	run := runs[p.next%len(runs)]
	p.next++
	p.runs++
	p.took += run.took
	s := experiment.Sample{RunID: int64(p.next), Score: run.score, Requests: 1000, P99: run.p99, Unfit: run.unfit}
	if side == experiment.Candidate {
		s.Score *= 1 + p.effect
	}
	return s, nil
}

// fit is the score of the next run that is evidence, as methods without any
// rule of their own take it; ok is false after three that are none.
func (p *replay) fit(side experiment.Side) (score float64, ok bool) {
	for range experiment.DefaultRule().MaxRepeats {
		s, _ := p.Measure(context.Background(), side, p.brief+1)
		if s.Unfit == "" {
			return s.Score, true
		}
	}
	return 0, false
}
