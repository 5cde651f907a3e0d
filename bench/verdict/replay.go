package main

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/experiment"
)

// trace is a recording as experiments with a given window see it.
type trace struct {
	name string
	// loud: at the default share of foreign CPU most of its runs would be no
	// evidence; it is replayed as if the operator allowed any.
	loud   bool
	window time.Duration
	runs   []point
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
	t.loud = 2*over > len(r.Runs)
	for _, run := range r.Runs {
		all := run.at(float64(r.WindowMS)) / whole.Seconds()
		p := point{score: run.Score, p99: time.Duration(run.P99US) * time.Microsecond,
			took: float64(run.TookMS)/1000 - (whole - window).Seconds()}
		if all > 0 {
			p.score *= run.at(float64(window.Milliseconds())) / window.Seconds() / all
		}
		if run.Foreign > limit && !t.loud {
			p.unfit = fmt.Sprintf("processes outside the stack used %.0f %% of the CPU", 100*run.Foreign)
		}
		t.runs = append(t.runs, p)
	}
	return t
}

// replay is an experiment's Runner that measures by taking the next run of a
// trace. Which side it belongs to is up to who asks; the candidate's score is
// multiplied with what it is truly worth. After the last run comes the first.
type replay struct {
	trace  *trace
	next   int
	effect float64 // of the candidate: 0.02 = 2 % faster
	runs   int
	took   float64 // seconds
}

// Measure implements experiment.Runner.
func (p *replay) Measure(_ context.Context, side experiment.Side, _ int) (experiment.Sample, error) {
	run := p.trace.runs[p.next%len(p.trace.runs)]
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
		s, _ := p.Measure(context.Background(), side, 0)
		if s.Unfit == "" {
			return s.Score, true
		}
	}
	return 0, false
}
