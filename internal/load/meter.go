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
		t.hist = hdrhistogram.New(hdrLowest, int64(time.Hour), hdrDigits)
	}
	t.total += latency
	// Out of range is impossible: a request lasts at most maxTimeout.
	_ = t.hist.RecordValue(min(max(int64(latency), hdrLowest), int64(time.Hour)))
}

func (t *tally) merge(o *tally) {
	for i, n := range o.count {
		t.count[i] += n
	}
	t.bytes += o.bytes
	t.total += o.total
	if o.hist == nil {
		return
	}
	if t.hist == nil {
		t.hist = hdrhistogram.New(hdrLowest, int64(time.Hour), hdrDigits)
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

// shard is a part of the meter with its own lock. A few shards serve all
// users, because histograms are large; the lock is mostly free.
type shard struct {
	mu       sync.Mutex
	warm     tally // before the window
	window   tally
	routes   []tally // in the window
	late     int64   // wrong answers outside the window
	connects int64   // in the window
	series   map[int]*SeriesPoint
}

// meter counts a run. Times are since base.
type meter struct {
	base   time.Time
	window time.Duration
	begin  atomic.Int64 // of the window, in ns since base; notYet before
	plan   time.Duration
	shards []shard
}

const notYet = int64(-1)

func newMeter(shards, routes int, window, warmup time.Duration) *meter {
	m := &meter{base: time.Now(), window: window, plan: warmup, shards: make([]shard, shards)}
	m.begin.Store(notYet)
	for i := range m.shards {
		m.shards[i].routes = make([]tally, routes)
		m.shards[i].series = map[int]*SeriesPoint{}
	}
	return m
}

// now is the time since the meter's base.
func (m *meter) now() time.Duration { return time.Since(m.base) }

// record counts one request. A right answer counts if it ended in the window.
// An error or time-out counts if the request overlapped the window, so that a
// service that hangs at its end is not forgiven. A wrong answer counts
// whenever it comes. counted reports whether the request ended in the window.
func (m *meter) record(s *shard, route int, o outcome, sent, done time.Duration, bytes int64) (counted bool) {
	begin := time.Duration(m.begin.Load())
	started := begin >= 0
	end := begin + m.window
	inside := started && done >= begin && done < end
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case inside, started && (o == timedOut || o == failed) && sent < end && done >= begin:
		s.window.add(o, done-sent, bytes)
		s.routes[route].add(o, done-sent, bytes)
		if !inside {
			done = end - 1
		}
		s.point(int((done - begin) / time.Second)).add(o)
	case o == mismatched:
		s.late++
	}
	if !started || done < begin {
		s.warm.add(o, done-sent, bytes)
		if !started {
			begin = max(m.plan, done+1)
		}
		s.point(-1 - int((begin-done-1)/time.Second)).add(o)
	}
	return inside
}

// connected counts an opened connection.
func (m *meter) connected(s *shard, at time.Duration) {
	begin := time.Duration(m.begin.Load())
	if begin < 0 || at < begin || at >= begin+m.window {
		return
	}
	s.mu.Lock()
	s.connects++
	s.mu.Unlock()
}

func (s *shard) point(second int) *SeriesPoint {
	p := s.series[second]
	if p == nil {
		p = &SeriesPoint{Second: second}
		s.series[second] = p
	}
	return p
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
	t := m.sum(func(s *shard) *tally {
		if phase == PhaseWarmup {
			return &s.warm
		}
		return &s.window
	})
	span := p.Elapsed
	if phase == PhaseTeardown {
		span = m.window
	}
	p.Succeeded, p.Failed = t.count[succeeded], t.failures()
	if span > 0 {
		p.RequestsPerSecond = float64(p.Succeeded) / span.Seconds()
	}
	q := t.percentiles()
	p.P50, p.P99 = q.P50, q.P99
	return p
}

// result fills in everything that the meter knows.
func (m *meter) result(res *Result, s *Scenario) {
	all := m.sum(func(s *shard) *tally { return &s.window })
	res.Requests, res.Succeeded, res.Mismatches = all.answered(), all.count[succeeded], all.count[mismatched]
	res.Timeouts, res.Errors = all.count[timedOut], all.count[failed]
	res.BytesIn, res.Latency = all.bytes, all.percentiles()
	points := map[int]SeriesPoint{}
	for i := range m.shards {
		res.Unmeasured += m.shards[i].late
		res.Connects += m.shards[i].connects
		for second, p := range m.shards[i].series {
			sum := points[second]
			points[second] = SeriesPoint{second, sum.Succeeded + p.Succeeded, sum.Failed + p.Failed}
		}
	}
	res.Mismatches += res.Unmeasured
	for _, p := range points {
		res.Series = append(res.Series, p)
	}
	slices.SortFunc(res.Series, func(a, b SeriesPoint) int { return a.Second - b.Second })
	succeeded := make([]int64, len(s.routes))
	for i, label := range s.routes {
		t := m.sum(func(s *shard) *tally { return &s.routes[i] })
		n := t.count[0] + t.failures()
		if succeeded[i] = t.count[0]; n == 0 {
			continue
		}
		res.Routes = append(res.Routes, RouteResult{Route: label, Requests: n, Succeeded: t.count[0], Failed: t.failures(),
			Bytes: t.bytes, Total: t.total, Latency: t.percentiles()})
	}
	slices.SortFunc(res.Routes, func(a, b RouteResult) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Route, b.Route))
	})
	res.RequestsPerSecond = float64(res.Requests) / m.window.Seconds()
	res.Score = s.score.points(succeeded, res.Mismatches, res.Timeouts, res.Errors) / m.window.Seconds()
}

// points is Σ weight(route)·succeeded − Σ penalties.
func (s *scoring) points(succeeded []int64, mismatches, timeouts, errors int64) float64 {
	p := 0.0
	for i, n := range succeeded {
		p += s.weights[i] * float64(n)
	}
	return p - s.mismatch*float64(mismatches) - s.timeout*float64(timeouts) - s.error*float64(errors)
}
