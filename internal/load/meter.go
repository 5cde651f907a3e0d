package load

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// outcome of one request.
type outcome uint8

const (
	succeeded outcome = iota
	mismatched
	timedOut
	failed // no answer: refused, reset, broken
)

// String is the Kind of samples.
func (o outcome) String() string {
	return [...]string{"right", "mismatch", "timeout", "error"}[o]
}

// tally counts outcomes.
type tally struct {
	count [4]int64 // by outcome
	bytes int64
	total time.Duration // Σ latency of answers and time-outs
	hist  *hdrhistogram.Histogram

	limits    limits // of the route; good, satisfied and tolerated need them
	good      int64  // right within the objective
	satisfied int64  // right within Apdex's T
	tolerated int64  // right within 4 T, but not within T
}

// Latencies are recorded in nanoseconds from 64 ns to an hour, three
// significant digits: about 260 KiB for one histogram.
const (
	hdrLowest = 64
	hdrDigits = 3
)

func (t *tally) add(o outcome, latency time.Duration, bytes int64) {
	t.count[o]++
	t.bytes += bytes
	if o == failed {
		return // a refused connection is fast, but no answer
	}
	if t.hist == nil {
		t.hist = newHistogram()
	}
	t.total += latency
	recordLatency(t.hist, latency)
	if o == succeeded {
		t.classify(latency)
	}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(hdrLowest, int64(time.Hour), hdrDigits)
}

// recordLatency cannot be out of range: a request lasts at most maxTimeout.
func recordLatency(h *hdrhistogram.Histogram, latency time.Duration) {
	_ = h.RecordValue(min(max(int64(latency), hdrLowest), int64(time.Hour)))
}

// percentilesOf a histogram alone; the mean is the histogram's, within its
// three digits.
func percentilesOf(h *hdrhistogram.Histogram) Percentiles {
	if h.TotalCount() == 0 {
		return Percentiles{}
	}
	at := func(p float64) time.Duration { return time.Duration(h.ValueAtPercentile(p)) }
	return Percentiles{Mean: time.Duration(h.Mean()), P50: at(50), P90: at(90), P95: at(95), P99: at(99), Max: time.Duration(h.Max())}
}

func (t *tally) merge(o *tally) {
	for i, n := range o.count {
		t.count[i] += n
	}
	t.bytes += o.bytes
	t.total += o.total
	t.good += o.good
	t.satisfied += o.satisfied
	t.tolerated += o.tolerated
	if o.hist == nil {
		return
	}
	if t.hist == nil {
		t.hist = newHistogram()
	}
	t.hist.Merge(o.hist)
}

func (t *tally) failures() int64 { return t.count[mismatched] + t.count[timedOut] + t.count[failed] }

// answered counts answers, right or wrong.
func (t *tally) answered() int64 { return t.count[succeeded] + t.count[mismatched] }

// percentiles of the recorded latencies.
func (t *tally) percentiles() Percentiles {
	if t.hist == nil || t.hist.TotalCount() == 0 {
		return Percentiles{}
	}
	at := func(p float64) time.Duration { return time.Duration(t.hist.ValueAtPercentile(p)) }
	return Percentiles{
		Mean: t.total / time.Duration(t.hist.TotalCount()),
		P50:  at(50), P90: at(90), P95: at(95), P99: at(99), Max: time.Duration(t.hist.Max()),
	}
}

// shard is a part of the meter. A few shards serve all users, because
// histograms are large. Who records must hold mu; an event loop holds it for
// all that one wake-up brought.
type shard struct {
	meter    *meter
	mu       sync.Mutex
	held     bool    // by a loop: its users need not lock
	routes   []tally // in the window
	late     int64   // wrong answers outside the window
	connects int64   // in the window

	// The same answers in less detail, for progress.
	warm, recent glance

	before []SeriesPoint // warm-up, one for each meter.slot
	series []SeriesPoint // the window, one a second
	ticks  []int64       // the window: right answers by tickEvery

	// Open model.
	uncorrected, lateness *hdrhistogram.Histogram
	begun                 int64
}

// meter counts a run. Times are since base.
type meter struct {
	base   time.Time
	window time.Duration
	begin  atomic.Int64  // of the window, in ns since base; notYet before
	first  time.Duration // begin of the warm-up
	slot   time.Duration // of shard.before
	shards []shard
	silent []bool // routes that score nothing, and are not in the ticks; nil: none
}

const notYet = int64(-1)

func newMeter(shards, routes int, window, warmup time.Duration, open bool) *meter {
	m := &meter{base: time.Now(), window: window, slot: max(tickEvery, warmup/mostSlots), shards: make([]shard, shards)}
	m.begin.Store(notYet)
	for i := range m.shards {
		s := &m.shards[i]
		s.meter, s.routes = m, make([]tally, routes)
		if window <= mostTicks*tickEvery {
			s.ticks = make([]int64, (window+tickEvery-1)/tickEvery)
		}
		if open {
			s.uncorrected, s.lateness = newHistogram(), newHistogram()
		}
	}
	return m
}

// now is the time since the meter's base.
func (m *meter) now() time.Duration { return time.Since(m.base) }

// mostSlots of a warm-up, so that a long one needs little memory.
const mostSlots = 6000

// bounds of the window; started is false before it.
func (m *meter) bounds() (begin, end time.Duration, started bool) {
	begin = time.Duration(m.begin.Load())
	return begin, begin + m.window, begin >= 0
}

// record counts one request. A right answer counts if it ended in the window.
// An error or time-out counts if the request overlapped the window, so that a
// service that hangs at its end is not forgiven. A wrong answer counts
// whenever it comes. Latency counts from planned, which is at.sent in the
// closed model. counted reports whether the request ended in the window.
func (s *shard) record(route int, o outcome, at span, planned time.Duration, bytes int64) (counted bool) {
	if !s.held {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	begin, end, started := s.meter.bounds()
	inside := started && at.done >= begin && at.done < end
	latency := at.done - planned
	switch {
	case inside, started && (o == timedOut || o == failed) && at.sent < end && at.done >= begin:
		s.routes[route].add(o, latency, bytes)
		s.recent.add(o, latency)
		if s.uncorrected != nil && o != failed {
			recordLatency(s.uncorrected, at.done-at.sent)
		}
		into := min(at.done, end-1) - begin
		point(&s.series, int(into/time.Second)).add(o)
		if i := int(into / tickEvery); o == succeeded && i < len(s.ticks) && !(s.meter.silent != nil && s.meter.silent[route]) {
			s.ticks[i]++
		}
	case o == mismatched:
		s.late++
	}
	if !started || at.done < begin {
		s.warm.add(o, latency)
		point(&s.before, int(max(at.done-s.meter.first, 0)/s.meter.slot)).add(o)
	}
	return inside
}

// started counts a planned session that begins now, late by lateness.
func (s *shard) started(planned, lateness time.Duration) {
	if !s.held {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if begin, end, started := s.meter.bounds(); started && planned >= begin && planned < end {
		s.begun++
		recordLatency(s.lateness, lateness)
	}
}

// point is the counts of one second.
func point(series *[]SeriesPoint, i int) *SeriesPoint {
	for len(*series) <= i {
		*series = append(*series, SeriesPoint{})
	}
	return &(*series)[i]
}

// connected counts an opened connection.
func (s *shard) connected(at time.Duration) {
	begin, end, started := s.meter.bounds()
	if !started || at < begin || at >= end {
		return
	}
	if !s.held {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	s.connects++
}

func (p *SeriesPoint) add(o outcome) {
	if o == succeeded {
		p.Succeeded++
	} else {
		p.Failed++
	}
}

// sum merges one tally of all shards.
func (m *meter) sum(pick func(*shard) *tally) tally {
	var t tally
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		t.merge(pick(s))
		s.mu.Unlock()
	}
	return t
}

// progress of a phase that began at since.
func (m *meter) progress(phase Phase, since, length time.Duration) Progress {
	p := Progress{Phase: phase, Elapsed: m.now() - since, Length: length}
	if phase == PhaseSetup {
		return p
	}
	var g glance
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		if phase == PhaseWarmup {
			g.merge(&s.warm)
		} else {
			g.merge(&s.recent)
		}
		s.mu.Unlock()
	}
	span := p.Elapsed
	if phase == PhaseTeardown {
		span = m.window
	}
	p.Succeeded, p.Failed = g.succeeded, g.failed
	if span > 0 {
		p.RequestsPerSecond = float64(p.Succeeded) / span.Seconds()
	}
	p.P50, p.P99 = g.percentile(0.50), g.percentile(0.99)
	return p
}

// result fills in everything that the meter knows.
func (m *meter) result(res *Result, s *Scenario) {
	var all tally
	routes := make([]tally, len(s.routes))
	for i := range routes {
		routes[i] = m.sum(func(s *shard) *tally { return &s.routes[i] })
		all.merge(&routes[i])
	}
	res.Requests, res.Succeeded, res.Mismatches = all.answered(), all.count[succeeded], all.count[mismatched]
	res.Timeouts, res.Errors = all.count[timedOut], all.count[failed]
	res.BytesIn, res.Latency = all.bytes, all.percentiles()
	for i := range m.shards {
		res.Unmeasured += m.shards[i].late
		res.Connects += m.shards[i].connects
	}
	res.Mismatches += res.Unmeasured
	res.Series, res.Ticks = m.series(), m.ticks()
	worth := s.score.evaluate(m.scoreInput(res, &all, routes))
	res.Score, res.ScoreText, res.Goodput, res.Apdex = worth.score, worth.text, worth.goodput, worth.apdex
	for i, label := range s.routes {
		t := &routes[i]
		n := t.count[0] + t.failures()
		if n == 0 {
			continue
		}
		w := &worth.routes[i]
		res.Routes = append(res.Routes, RouteResult{Route: label, Requests: n, Succeeded: t.count[0], Failed: t.failures(),
			Bytes: t.bytes, Total: t.total, Latency: t.percentiles(),
			Good: w.good, Objective: w.objective, Apdex: w.apdex, ApdexT: w.t})
	}
	slices.SortFunc(res.Routes, func(a, b RouteResult) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Route, b.Route))
	})
	res.RequestsPerSecond = float64(res.Requests) / m.window.Seconds()
}

// series of all shards, from the first second of the warm-up on.
func (m *meter) series() []SeriesPoint {
	var before, during []SeriesPoint
	for i := range m.shards {
		for j, p := range m.shards[i].before {
			if p == (SeriesPoint{}) {
				continue
			}
			// Its middle, counted back from the window's begin.
			back := time.Duration(m.begin.Load()) - m.first - time.Duration(j)*m.slot - m.slot/2
			point(&before, int(max(back, 0)/time.Second)).sum(p)
		}
		for j, p := range m.shards[i].series {
			point(&during, j).sum(p)
		}
	}
	var out []SeriesPoint
	for i := len(before) - 1; i >= 0; i-- {
		out = append(out, SeriesPoint{-1 - i, before[i].Succeeded, before[i].Failed})
	}
	for i, p := range during {
		out = append(out, SeriesPoint{i, p.Succeeded, p.Failed})
	}
	return out
}

// ticks of all shards; nil if the window is too long for them.
func (m *meter) ticks() []int64 {
	var out []int64
	for i := range m.shards {
		for j, n := range m.shards[i].ticks {
			if out == nil {
				out = make([]int64, len(m.shards[i].ticks))
			}
			out[j] += n
		}
	}
	return out
}

func (p *SeriesPoint) sum(o SeriesPoint) {
	p.Succeeded += o.Succeeded
	p.Failed += o.Failed
}

// open fills in what the open model adds.
func (m *meter) open(plannedInWindow int64) *Open {
	o := &Open{Planned: plannedInWindow, PlannedPerSecond: float64(plannedInWindow) / m.window.Seconds()}
	uncorrected, lateness := newHistogram(), newHistogram()
	for i := range m.shards {
		s := &m.shards[i]
		o.Begun += s.begun
		uncorrected.Merge(s.uncorrected)
		lateness.Merge(s.lateness)
	}
	o.Dropped = max(o.Planned-o.Begun, 0)
	o.Uncorrected, o.Lateness = percentilesOf(uncorrected), percentilesOf(lateness)
	return o
}
