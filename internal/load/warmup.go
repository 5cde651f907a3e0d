package load

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// AutoWarmup is the most that a warm-up takes where the scenario does not say:
// as long as a loud service (right answers in 100 ms vary by 16 %) needs to be
// judged.
const AutoWarmup = 3 * time.Second

// coldStart is the most that a warm-up takes where virtual users still wait for their
// first answer when its own time is over: the application is being started (Passenger
// starts one on its first request; Redmine's took 6 s here), and the window would begin
// with that.
const coldStart = 20 * time.Second

// warmth is what came of a warm-up.
type warmth struct {
	took   time.Duration
	steady bool
	// why not, if it is for sure; "" also if nothing was judged.
	unsteady string
}

// judged: the warm-up ends when the service is steady. Recorded arrivals have
// no load before the window.
func (r *run) judged() bool {
	o := &r.opts
	return !o.FixedWarmup && o.Warmup > leastWarmup && (o.Arrivals == nil || len(o.Arrivals.Recorded) == 0)
}

// warmUp puts the load on until the service is steady, at most for o.Warmup, or until
// each user has had an answer (coldStart).
// ok is false if ctx or Options.Enough ended it.
func (r *run) warmUp(first generator) (w warmth, ok bool) {
	o, m := &r.opts, r.meter
	since := m.now()
	if !r.judged() {
		ok = r.wait(PhaseWarmup, o.Warmup, first)
		return warmth{took: m.now() - since}, ok
	}
	o.Progress(r.progress(PhaseWarmup, since, o.Warmup, first))
	end := time.NewTimer(o.Warmup)
	defer end.Stop()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	s := settling{latency: o.Arrivals != nil}
	if o.Arrivals == nil {
		s.users = o.Workload
	}
	var seen glance
	at, told := since, since
	for over := false; !over; {
		select {
		case <-r.ctx.Done():
			return w, false
		case <-o.Enough:
			return w, false
		case <-end.C:
			over = true
		case <-tick.C:
		}
		now, all := m.now(), m.warmth()
		if over && all.succeeded+all.failed < int64(s.users) && now-since < max(coldStart, o.Warmup) {
			over = false
			end.Reset(tickEvery)
		}
		fresh := all.less(&seen)
		s.note(fresh.succeeded, now-at, fresh.median())
		seen, at = all, now
		if d := s.judge(); d.steady && now-since >= max(leastWarmup, o.LeastWarmup) {
			return warmth{took: now - since, steady: true}, true
		} else if over && d.moved {
			w.unsteady = fmt.Sprintf("%s when the warm-up ended after %s: the service may not have been warm; write a longer warmup into the scenario", d.text(), (now - since).Round(tickEvery))
		}
		if now-told >= progressEvery {
			told = now
			o.Progress(r.progress(PhaseWarmup, since, o.Warmup, first))
		}
	}
	w.took = m.now() - since
	return w, true
}

// warmth is all that the warm-up brought so far.
func (m *meter) warmth() glance {
	var g glance
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		g.merge(&s.warm)
		s.mu.Unlock()
	}
	return g
}

// told fills in what is known of the warm-up, with what the window shows. A
// planned rate that changes within the window is no drift of the service.
func (w warmth) told(res *Result, plan *Arrivals) {
	res.WarmupTook, res.Steady, res.Unsteady = w.took, w.steady, w.unsteady
	if plan != nil && (len(plan.Recorded) > 0 || len(plan.Stages) > 1 || len(plan.Stages) == 1 && plan.Stages[0].From != plan.Stages[0].To) {
		return
	}
	if d := windowDrift(res.Ticks); d.moved {
		res.Steady = false
		if res.Unsteady == "" {
			why := "the service was not warm yet; write a longer warmup into the scenario"
			if w := res.LeastWindow(); w > res.Window {
				why = fmt.Sprintf("%s, so the window holds too little of them; write duration: %s into the scenario", res.Cut(), w)
			} else if d.by < 0 {
				why = "the load itself slows it down (data that grows), or something else used the machine; only runs of one length compare"
			}
			res.Unsteady = fmt.Sprintf("%s from the first half of the window to the second: %s", d.text(), why)
		}
	}
}

// readWarmup reads a duration, or auto.
func (c *compiler) readWarmup(n ast.Node) {
	if n == nil {
		return
	}
	if text, ok := c.resolve(n).(*ast.StringNode); ok && text.Value == "auto" {
		return
	}
	c.duration(n, "warmup (the most of it, or auto)", 0, maxWindow, &c.out.Warmup)
}
