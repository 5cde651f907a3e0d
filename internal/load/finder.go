package load

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// finder is one FindMax under way.
type finder struct {
	ctx      context.Context
	opts     Options
	goal     Objective
	cfg      FindMaxOptions
	progress func(Probe)
	run      func(context.Context, Options) (*Result, error)

	low, high rung    // highest rate that passed, lowest that failed; 0: none
	most      float64 // sessions per second that the target handled at most, when it had too much
	why       Probe   // at high
	spent     time.Duration
	ranOut    string
	found     MaxRate
}

func (f *finder) search() error {
	rate := f.cfg.Start
	if rate == 0 {
		estimate, err := f.estimate()
		if err != nil {
			return err
		}
		f.most, rate = estimate, max(estimate/2, leastRate)
	}
	if err := f.bracket(roundRate(rate)); err != nil {
		return err
	}
	if err := f.narrow(); err != nil {
		return err
	}
	if err := f.confirm(); err != nil {
		return err
	}
	f.conclude()
	return nil
}

// estimate is about the highest rate that the target can handle at all.
func (f *finder) estimate() (float64, error) {
	o := f.opts
	closed := *o.Scenario // without its own arrivals
	closed.Arrivals, o.Arrivals, o.Scenario = nil, nil, &closed
	if o.Workload == 0 {
		o.Workload = leastUsers
	}
	o.Window, o.Warmup, o.FixedWarmup = f.cfg.Probe/2, f.cfg.Warmup, true
	res, err := f.measure(o)
	if err != nil {
		return 0, err
	}
	p := probeOf(ProbeEstimate, 0, o.Window, res)
	f.note(p)
	mean, _ := f.opts.Scenario.requestsPerSession()
	if res.Succeeded == 0 {
		return 0, fmt.Errorf("a run with %d users brought no right answer%s", o.Workload, firstReason(res))
	}
	return max(p.RequestsPerSecond/mean, leastRate), nil
}

// bracket goes up or down until one rate passed and one failed.
func (f *finder) bracket(rate float64) error {
	for step := growth; rate >= leastRate && rate <= maxRate; {
		if !f.affordable(f.cfg.Probe, 1) {
			return nil
		}
		p, err := f.probe(ProbeBracket, rate, f.cfg.Probe)
		if err != nil {
			return err
		}
		f.settle(p)
		if f.low.rate > 0 && f.high.rate > 0 {
			return nil
		}
		rate, step = f.onward(step)
	}
	if rate > maxRate {
		f.ranOut = fmt.Sprintf("no rate above %g per second is tried", maxRate)
	}
	return nil
}

// onward is the next rate outside of what was tried, and the growth after it.
func (f *finder) onward(step float64) (float64, float64) {
	if f.high.rate > 0 {
		// What an overloaded service still handled is near what it can.
		if near := 0.9 * f.most; near > 0 && near < f.high.rate/growth {
			return roundRate(near), step
		}
		if f.high.rate/step < leastSessions/f.cfg.Probe.Seconds() {
			return 0, step // there is nothing to measure in a window
		}
		return roundRate(f.high.rate / step), min(2*step, maxGrowth)
	}
	if f.most > f.low.rate*(1+f.cfg.Precision) {
		guess := meeting(f.low, rung{f.most, math.Inf(1)})
		return roundRate(min(max(guess, f.low.rate*(1+f.cfg.Precision)), f.low.rate*maxGrowth)), 1 + 2*f.cfg.Precision
	}
	return roundRate(f.low.rate * step), min(step*step, maxGrowth)
}

// narrow probes within the bracket until it is narrow enough.
func (f *finder) narrow() error {
	guided := true
	for f.low.rate > 0 && f.high.rate > f.low.rate*(1+f.precision()) {
		width := f.high.rate / f.low.rate
		rate := f.between(guided)
		if rate <= f.low.rate || rate >= f.high.rate || !f.affordable(f.cfg.Probe, 1) {
			return nil
		}
		p, err := f.probe(ProbeNarrow, rate, f.cfg.Probe)
		if err != nil {
			return err
		}
		// Halves still needed if it stays failed, and the confirmation.
		need := 1 + halves(f.low.rate, rate, f.cfg.Precision)
		if !p.Met && p.Saturated == "" && p.Excess <= nearMiss && f.affordable(f.cfg.Probe, 1+need) {
			if p, err = f.probe(ProbeRepeat, rate, f.cfg.Probe); err != nil {
				return err
			}
		}
		f.settle(p)
		// A guess that did not even halve the bracket is followed by a half.
		guided = !guided || f.low.rate > 0 && f.high.rate/f.low.rate <= math.Sqrt(width)
	}
	return nil
}

// precision: where the generator is the limit, the exact rate tells nothing
// about the target.
func (f *finder) precision() float64 {
	if f.why.Saturated != "" {
		return max(f.cfg.Precision, coarse)
	}
	return f.cfg.Precision
}

// between is a rate within the bracket: where the limit should be met, but far
// enough from both ends that the bracket is narrow if the guess is right; or
// the middle of the logarithm.
func (f *finder) between(guided bool) float64 {
	low, high, near := f.low.rate, f.high.rate, 1+0.9*f.cfg.Precision
	if !guided || f.why.Saturated != "" || high/low <= near*near {
		return roundRate(math.Sqrt(low * high))
	}
	end := f.high
	if f.most > low*near && f.most < high/near {
		end = rung{f.most, math.Inf(1)} // far too much says nothing of the bend
	}
	return roundRate(min(max(meeting(f.low, end), low*near), high/near))
}

// rung is a rate that was tried: an end of the bracket.
type rung struct {
	rate   float64
	excess float64 // Judgement.Excess there
}

// meeting is the rate where the limit is just met if latency grows as in a
// queue: latency = a/(capacity − rate), so 1/excess falls linearly with the
// rate (M/M/1; real services bend at the same place).
func meeting(low, high rung) float64 {
	at := func(e rung) float64 { return 1 / max(e.excess, 0.01) }
	from, to := max(at(low), 1), min(at(high), 1)
	if from <= to {
		return math.Sqrt(low.rate * high.rate)
	}
	return low.rate + (high.rate-low.rate)*(from-1)/(from-to)
}

// halves is how often the bracket must be halved.
func halves(low, high, precision float64) int {
	n := math.Log2(math.Log(high/low) / math.Log1p(precision))
	return max(int(math.Ceil(n)), 0)
}

// confirm makes the longer probe at the best rate; if it fails, at lower ones.
func (f *finder) confirm() error {
	step := 1 + f.cfg.Precision
	for rate := f.low.rate; rate > 0; rate, step = roundRate(rate/step), step*step {
		if !f.affordable(f.cfg.Confirm, 0) {
			return nil
		}
		p, err := f.probe(ProbeConfirm, rate, f.cfg.Confirm)
		if err != nil {
			return err
		}
		if f.settle(p); p.good() {
			f.found.Confirmed = true
			return nil
		}
	}
	return nil
}

// settle moves the bracket.
func (f *finder) settle(p Probe) {
	if p.good() {
		if p.Rate > f.low.rate {
			f.low = rung{p.Rate, p.Excess}
		}
		return
	}
	if f.high.rate == 0 || p.Rate < f.high.rate {
		f.high, f.why = rung{p.Rate, p.Excess}, p
	}
	if f.low.rate < f.high.rate {
		return
	}
	// A confirmation failed where a short probe had passed.
	f.low = rung{}
	for _, q := range f.found.Probes {
		if q.good() && q.Rate < f.high.rate && q.Rate > f.low.rate {
			f.low = rung{q.Rate, q.Excess}
		}
	}
}

func (f *finder) conclude() {
	m := &f.found
	m.PerSecond, m.Above, m.Broke = f.low.rate, f.high.rate, f.why.Broke
	switch {
	case f.high.rate > 0 && f.why.Saturated != "":
		m.Limited, m.Broke = f.why.Saturated, ""
	case f.ranOut != "" && (f.high.rate == 0 || f.high.rate > f.low.rate*(1+f.cfg.Precision)):
		m.Limited = f.ranOut
	}
}

// affordable: one more probe of this window fits, and so many more short ones.
func (f *finder) affordable(window time.Duration, more int) bool {
	if len(f.found.Probes)+1+more > f.cfg.MaxProbes {
		f.ranOut = fmt.Sprintf("%d probes were made", len(f.found.Probes))
		return false
	}
	length := time.Duration(1+more)*f.cfg.Warmup + window + time.Duration(more)*f.cfg.Probe
	if more > 0 {
		length += f.cfg.Confirm - f.cfg.Probe // the last of them
	}
	if f.spent+length > f.cfg.MaxTime {
		f.ranOut = fmt.Sprintf("%s of %s load were used", f.spent.Round(time.Second), f.cfg.MaxTime)
		return false
	}
	return true
}

func (f *finder) probe(kind ProbeKind, rate float64, window time.Duration) (Probe, error) {
	o := f.opts
	o.Arrivals = ConstantRate(rate)
	o.Arrivals.Random = f.cfg.Random
	if f.opts.Arrivals != nil {
		o.Arrivals.Slack = f.opts.Arrivals.Slack
	}
	if o.Workload == 0 {
		o.Workload = UsersFor(rate)
	}
	o.Window, o.Warmup, o.FixedWarmup = window, f.cfg.Warmup, true
	res, err := f.measure(o)
	if err != nil {
		return Probe{}, fmt.Errorf("probe at %g per second: %w", rate, err)
	}
	if res.Open == nil {
		return Probe{}, fmt.Errorf("probe at %g per second: the engine %q planned no arrivals; choose another", rate, res.Engine)
	}
	p := probeOf(kind, rate, window, res)
	j := f.goal.Judge(res)
	if len(j.Unmeasured) > 0 {
		return p, fmt.Errorf("%w: %s; take it out (apdex needs a scenario whose score says its T)", ErrUnmeasured, strings.Join(j.Unmeasured, " and "))
	}
	p.Met, p.Broke, p.Excess = j.Met, j.Broke, j.Excess
	if why := f.behind(res, o); why != "" && p.Met {
		p.Met, p.Broke, p.Excess = false, why, math.Inf(1)
	}
	if !p.Met {
		handled := float64(min(res.Open.Begun, res.Open.Planned)) / window.Seconds()
		if mean, one := f.opts.Scenario.requestsPerSession(); one {
			handled = min(handled, p.RequestsPerSecond/mean)
		}
		f.most = max(f.most, handled)
	}
	f.note(p)
	return p, nil
}

// good: the rate is proven.
func (p Probe) good() bool { return p.Met && p.Saturated == "" }

func (f *finder) note(p Probe) {
	f.found.Probes = append(f.found.Probes, p)
	f.progress(p)
}

func (f *finder) measure(o Options) (*Result, error) {
	if o.Reset != nil {
		if err := o.Reset(f.ctx); err != nil {
			return nil, fmt.Errorf("reset before a probe: %w", err)
		}
	}
	f.spent += o.Window + o.Warmup
	return f.run(f.ctx, o)
}

func probeOf(kind ProbeKind, rate float64, window time.Duration, res *Result) Probe {
	p := Probe{Kind: kind, Rate: rate, Window: window, Saturated: res.Saturated, RequestsPerSecond: res.RequestsPerSecond,
		Latency: res.Latency, Failed: res.Mismatches + res.Timeouts + res.Errors}
	if res.Open != nil {
		p.Dropped = res.Open.Dropped
	}
	return p
}

// behind says that the service did not keep up with the planned rate; "" if
// it did. The part of the window that answers need beyond the warm-up to come
// at all is not counted against it.
func (f *finder) behind(res *Result, o Options) string {
	planned := float64(res.Open.Planned)
	if begun := float64(res.Open.Begun); begun < leastKept*planned-1 {
		return fmt.Sprintf("the service does not keep up: only %.0f of %.0f planned sessions could begin", begun, planned)
	}
	done := float64(res.Requests + res.Timeouts + res.Errors)
	empty := max(0, res.Latency.P50-o.Warmup).Seconds() / o.Window.Seconds() * planned
	if _, one := f.opts.Scenario.requestsPerSession(); one && done < leastKept*planned-empty-1 {
		return fmt.Sprintf("the service does not keep up: only %.0f of %.0f planned requests ended", done, planned)
	}
	return ""
}

// requestsPerSession is the mean number of requests that a session makes when
// all is right and no redirect is followed; one says that it is always one.
func (s *Scenario) requestsPerSession() (mean float64, one bool) {
	one = len(s.routes) == 1
	for i := range s.sessions {
		n := 0
		for j := range s.sessions[i].steps {
			st := &s.sessions[i].steps[j]
			n += st.repeat * (1 + len(st.assets))
			one = one && !st.follow
		}
		one = one && n == 1
		mean += float64(n*s.sessions[i].weight) / float64(max(s.weights, 1))
	}
	return max(mean, 1), one
}

// roundRate keeps three significant digits: finer differences cannot be
// measured in seconds.
func roundRate(rate float64) float64 {
	if rate <= 0 || math.IsInf(rate, 0) || math.IsNaN(rate) {
		return leastRate
	}
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	if unit < 1 {
		return math.Round(rate/unit) / math.Round(1/unit)
	}
	return math.Round(rate/unit) * unit
}
