package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// apdexFrustrated: F = 4 T (Apdex Technical Specification 1.1).
const apdexFrustrated = 4

// apdexOf is (satisfied + tolerated/2) ÷ all, from 0 to 1 (Apdex Technical
// Specification 1.1); nil without requests. A wrong answer and a request
// without an answer are frustrated, so they are only among all.
func apdexOf(satisfied, tolerated, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	v := (float64(satisfied) + float64(tolerated)/2) / float64(all)
	return &v
}

// account is a run in the numbers that scores are made of.
type account struct {
	window           time.Duration
	routes           []measured
	all              measured
	planned, dropped int64
	odd              []string // what had no value in an expression
}

// measured is one route of a run, or all of them.
type measured struct {
	ok, good                           int64
	mismatches, timeouts, errors, data int64
	latency                            Percentiles
	answered                           bool     // latency has a value
	apdex                              *float64 // nil: nothing was asked
}

func newAccount(in scoreInput) *account {
	a := &account{window: in.window, routes: make([]measured, len(in.routes)), planned: in.planned, dropped: in.dropped}
	all := in.all
	if all == nil {
		all = &tally{}
		for _, t := range in.routes {
			if t != nil {
				all.merge(t)
			}
		}
	}
	// A sum over routes with different limits has no limits of its own, so
	// what depends on them is added up here.
	var satisfied, tolerated int64
	a.all = measuredOf(all)
	a.all.good = 0
	for i, t := range in.routes {
		if t == nil {
			continue
		}
		a.routes[i] = measuredOf(t)
		a.all.good += t.good
		satisfied, tolerated = satisfied+t.satisfied, tolerated+t.tolerated
	}
	a.all.mismatches += in.unmeasured
	// Who was turned away is as frustrated as who got an error.
	a.all.apdex = apdexOf(satisfied, tolerated, all.count[succeeded]+all.failures()+in.dropped)
	return a
}

func measuredOf(t *tally) measured {
	return measured{ok: t.count[succeeded], good: t.good, mismatches: t.count[mismatched], timeouts: t.count[timedOut], errors: t.count[failed],
		data: t.bytes, latency: t.percentiles(), answered: t.hist != nil && t.hist.TotalCount() > 0,
		apdex: apdexOf(t.satisfied, t.tolerated, t.count[succeeded]+t.failures())}
}

func (m *measured) failed() int64 { return m.mismatches + m.timeouts + m.errors }

// perSecond of the window; 0 if there was none.
func (a *account) perSecond(v float64) float64 {
	if a.window <= 0 {
		return 0
	}
	return v / a.window.Seconds()
}

// noValue notes what had no value and was taken as 0.
func (a *account) noValue(format string, args ...any) float64 {
	if text := fmt.Sprintf(format, args...); len(a.odd) < 5 && !slices.Contains(a.odd, text) {
		a.odd = append(a.odd, text)
	}
	return 0
}

// oddities to add to the score's text.
func (a *account) oddities() string {
	if len(a.odd) == 0 {
		return ""
	}
	return " (without a value, taken as 0: " + strings.Join(a.odd, ", ") + ")"
}

// figure is a name of expressions.
type figure struct {
	name string
	unit unit
	// whole: of the run only, not of a route.
	whole bool
	// value is NaN if the run has none.
	value func(*account, *measured) float64
}

// figures that expressions know; docs/reference/scenario.md explains them.
var figures = []figure{
	{name: "ok", value: countOf(func(m *measured) int64 { return m.ok })},
	{name: "good", value: countOf(func(m *measured) int64 { return m.good })},
	{name: "failed", value: countOf((*measured).failed)},
	{name: "requests", value: countOf(func(m *measured) int64 { return m.ok + m.failed() })},
	{name: "mismatches", value: countOf(func(m *measured) int64 { return m.mismatches })},
	{name: "timeouts", value: countOf(func(m *measured) int64 { return m.timeouts })},
	{name: "errors", value: countOf(func(m *measured) int64 { return m.errors })},
	{name: "bytes", unit: unit{data: 1}, value: countOf(func(m *measured) int64 { return m.data })},
	{name: "mean", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.Mean })},
	{name: "p50", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.P50 })},
	{name: "p90", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.P90 })},
	{name: "p95", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.P95 })},
	{name: "p99", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.P99 })},
	{name: "max", unit: seconds, value: latencyFigure(func(p *Percentiles) time.Duration { return p.Max })},
	{name: "apdex", value: func(_ *account, m *measured) float64 {
		if m.apdex == nil {
			return math.NaN()
		}
		return *m.apdex
	}},
	{name: "rate", unit: perSecond, value: func(a *account, m *measured) float64 { return a.perSecond(float64(m.ok)) }},
	{name: "goodput", unit: perSecond, value: func(a *account, m *measured) float64 { return a.perSecond(float64(m.good)) }},
	{name: "window", unit: seconds, whole: true, value: func(a *account, _ *measured) float64 { return a.window.Seconds() }},
	{name: "planned", whole: true, value: func(a *account, _ *measured) float64 { return float64(a.planned) }},
	{name: "dropped", whole: true, value: func(a *account, _ *measured) float64 { return float64(a.dropped) }},
}

func countOf(pick func(*measured) int64) func(*account, *measured) float64 {
	return func(_ *account, m *measured) float64 { return float64(pick(m)) }
}

func latencyFigure(pick func(*Percentiles) time.Duration) func(*account, *measured) float64 {
	return func(_ *account, m *measured) float64 {
		if !m.answered {
			return math.NaN()
		}
		return pick(&m.latency).Seconds()
	}
}
