package load

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// arrival is one planned session. Times are since the meter's base.
type arrival struct {
	at      time.Duration
	number  uint64 // since the plan began
	session int    // index in the scenario; -1: by weight
	warm    bool   // of the warm-up's schedule
}

// plan says when sessions begin. It has two parts: the first stage's rate in
// the warm-up, and from the begin of the window the arrivals themselves.
type plan struct {
	mu      sync.Mutex
	meter   *meter
	warm    schedule
	main    schedule
	moved   bool // main is in use
	begin   time.Duration
	head    []arrival // the next ones, sorted
	next    int       // in head
	number  uint64
	passed  int64 // arrivals in the window that were taken or given up
	dropped int64 // of these, given up
}

// schedule gives arrivals one after the other.
type schedule struct {
	stages   []Stage
	recorded []Recorded
	rng      *rand.Rand // nil: evenly spaced
	target   float64    // Σ rate·dt up to the next arrival, since the stage's begin
	stage    int
	offset   time.Duration // where the stage begins
	row      int
	ended    bool
}

// ahead is how many arrivals are looked at, to begin several with one wake-up.
const ahead = 64

// warmNumbers is where the numbers of the warm-up's sessions begin: behind all
// that a window can have.
const warmNumbers = 1 << 40

func newPlan(m *meter, a *Arrivals, seed uint64) *plan {
	// The window's sessions are numbered from 0, however many the warm-up had.
	p := &plan{meter: m, number: warmNumbers}
	random := func(stream uint64) *rand.Rand {
		if !a.Random {
			return nil
		}
		return rand.New(rand.NewPCG(seed, stream))
	}
	// Any two streams do; the users have those from 0 on.
	p.main = schedule{stages: a.Stages, recorded: a.Recorded, rng: random(1 << 62)}
	p.main.first()
	if len(a.Stages) > 0 {
		first := a.Stages[0].From
		p.warm = schedule{stages: []Stage{{From: first, To: first}}, rng: random(1<<62 + 1)}
		p.warm.first()
	}
	return p
}

// draw adds the next gap, in units of expected arrivals. Evenly spaced
// arrivals come one unit apart. By the time change of a Poisson process
// (Cinlar, Introduction to Stochastic Processes, 1975, 4.7) exponential gaps
// in that unit give Poisson arrivals at any changing rate.
func (s *schedule) draw() {
	if s.rng == nil {
		s.target++
	} else {
		s.target += s.rng.ExpFloat64()
	}
}

// first is half a gap after the begin for evenly spaced arrivals, so that as
// many fall into any whole number of gaps as are planned for it.
func (s *schedule) first() {
	s.draw()
	if s.rng == nil {
		s.target = 0.5
	}
}

// next arrival since the schedule's begin; ok is false when there is none.
func (s *schedule) next() (at time.Duration, session int, ok bool) {
	if len(s.stages) == 0 {
		if s.row >= len(s.recorded) {
			return 0, 0, false
		}
		r := s.recorded[s.row]
		s.row++
		return r.At, r.Session, true
	}
	for !s.ended {
		st := s.stages[s.stage]
		last := s.stage == len(s.stages)-1
		if t, ok := st.reach(s.target); ok {
			s.draw()
			return s.offset + t, -1, true
		}
		s.target -= st.expected()
		s.offset += st.For
		if last {
			// The last stage's final rate holds: a stage of its own.
			if st.To <= 0 || st.For == 0 {
				s.ended = true
				break
			}
			s.stages = append(s.stages[:len(s.stages):len(s.stages)], Stage{From: st.To, To: st.To})
		}
		s.stage++
	}
	return 0, 0, false
}

// expected arrivals of the whole stage.
func (s Stage) expected() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// reach is when the expected number of arrivals since the stage's begin is n:
//
//	n = from·t + (to−from)/(2·for)·t²
//
// solved in the form that loses no digits when the rate hardly changes. ok is
// false if the stage ends before. A stage without a length is endless.
func (s Stage) reach(n float64) (time.Duration, bool) {
	a, b := 0.0, s.From
	if s.For > 0 {
		a = (s.To - s.From) / (2 * s.For.Seconds())
	}
	under := b*b + 4*a*n
	if under < 0 {
		return 0, false
	}
	t := 2 * n / (b + math.Sqrt(under))
	if math.IsNaN(t) || math.IsInf(t, 0) || s.For > 0 && t > s.For.Seconds() || t > maxWindow.Seconds()*2 {
		return 0, false
	}
	return time.Duration(t * float64(time.Second)), true
}

// fill looks ahead. When the window has begun, what was planned for the
// warm-up and not taken is forgotten.
func (p *plan) fill() {
	if begin, _, started := p.meter.bounds(); started && !p.moved {
		p.moved, p.begin, p.number = true, begin, 0
		p.head, p.next = p.head[:0], 0
	}
	if p.next < len(p.head) {
		return
	}
	p.head, p.next = p.head[:0], 0
	for len(p.head) < ahead {
		from, offset := &p.warm, time.Duration(0)
		if p.moved {
			from, offset = &p.main, p.begin
		} else if len(p.warm.stages) == 0 {
			return
		}
		at, session, ok := from.next()
		if !ok {
			return
		}
		p.head = append(p.head, arrival{at: offset + at, number: p.number, session: session, warm: !p.moved})
		p.number++
	}
}

// take the next arrival; ok is false if there is none at present.
func (p *plan) take() (a arrival, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fill()
	if p.next == len(p.head) {
		return a, false
	}
	a = p.head[p.next]
	p.next++
	p.pass(a)
	return a, true
}

// due takes the next arrival if its time has come.
func (p *plan) due(now time.Duration) (a arrival, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fill()
	if p.next == len(p.head) || p.head[p.next].at > now {
		return a, false
	}
	a = p.head[p.next]
	p.next++
	p.pass(a)
	return a, true
}

// pass counts an arrival of the window.
func (p *plan) pass(a arrival) {
	if begin, end, started := p.meter.bounds(); started && !a.warm && a.at >= begin && a.at < end {
		p.passed++
	}
}

// wake is when to wake up for the next arrivals: at the last one that is
// planned within slack after the first, so that one wake-up begins them all
// and none is later than slack. Where sessions are further apart than slack,
// each begins at its own time.
func (p *plan) wake(slack time.Duration) (at time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fill()
	if p.next == len(p.head) {
		return 0, false
	}
	at = p.head[p.next].at
	for _, a := range p.head[p.next:] {
		if a.at > p.head[p.next].at+slack {
			break
		}
		at = a.at
	}
	return at, true
}

// sofar is how many sessions of the window have been taken or given up, and
// how many of those were given up.
func (p *plan) sofar() (planned, dropped int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed, p.dropped
}

// drop counts a session that waited too long for a user.
func (p *plan) drop(a arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begin, end, started := p.meter.bounds(); started && !a.warm && a.at >= begin && a.at < end {
		p.dropped++
	}
}

// planned counts the arrivals of the window: those taken, and those that were
// left when it ended, but for those that had slack left.
func (p *plan) planned(slack time.Duration) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, end, _ := p.meter.bounds()
	for {
		p.fill()
		if p.next == len(p.head) || p.head[p.next].at >= end-slack {
			return p.passed
		}
		p.pass(p.head[p.next])
		p.next++
	}
}
