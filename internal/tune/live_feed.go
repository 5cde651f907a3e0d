package tune

import (
	"maps"
	"slices"
	"sync"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

const (
	// stateEvery is the shortest time between two states without a message:
	// five a second are more than a person can follow.
	stateEvery = 200 * time.Millisecond
	// curveEvery is the time between two points of a curve, longestCurve how
	// many there are: two minutes, wider than any terminal.
	curveEvery   = time.Second
	longestCurve = 120
	// mostWaiting messages are held for a slow watcher; then the oldest go.
	mostWaiting = 256
	// lastWords is how long the end of a session waits for a slow watcher.
	lastWords = time.Second
)

// feed gathers what is to be seen of a session and tells it to one watcher from
// a goroutine of its own, so that a slow one holds nothing up: it gets every
// message, and of the states between them the latest. Texts are masked as they
// come in, once for all watchers. A nil feed does nothing.
type feed struct {
	to func(Live)

	mu   sync.Mutex
	live Live
	said []Live // messages not told yet, each with what was to be seen then
	news bool   // since the last state that was told
	gone bool   // the watcher is not told any more
	// mirrored: the sides of the experiment under way are swapped.
	mirrored bool
	// looks of the experiment under way, in pairs.
	looks []int
	// last progress, and right answers and time since the last point of Rates.
	last  load.Progress
	right int64
	span  time.Duration

	wake chan struct{} // holds one
	end  chan struct{}
	done chan struct{} // closed when the watcher has heard the last
}

func newFeed(to func(Live)) *feed {
	f := &feed{to: to, wake: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	f.live.Started = time.Now()
	go f.loop()
	return f
}

// close tells the last state and ends the feed. A watcher that does not return
// is left behind.
func (f *feed) close() {
	f.set(func(l *Live) { l.Load, l.Trying, l.Label, l.Ended = nil, nil, "", true })
	close(f.end)
	select {
	case <-f.done:
	case <-time.After(lastWords):
		f.mu.Lock()
		f.gone = true
		f.mu.Unlock()
	}
}

// loop tells messages at once and states not too often.
func (f *feed) loop() {
	defer close(f.done)
	var told time.Time
	var due <-chan time.Time
	for {
		select {
		case <-f.wake:
		case <-due:
			due = nil
		case <-f.end:
			f.tellMessages()
			f.tellState()
			return
		}
		f.tellMessages()
		if due != nil {
			continue
		}
		if wait := stateEvery - time.Since(told); wait > 0 {
			due = time.After(wait)
		} else if f.tellState() {
			told = time.Now()
		}
	}
}

func (f *feed) tellMessages() {
	for {
		f.mu.Lock()
		if len(f.said) == 0 || f.gone {
			f.mu.Unlock()
			return
		}
		l := f.said[0]
		f.said = f.said[1:]
		f.mu.Unlock()
		f.to(l)
	}
}

// tellState reports whether there was anything new.
func (f *feed) tellState() bool {
	f.mu.Lock()
	if !f.news || f.gone {
		f.mu.Unlock()
		return false
	}
	f.news = false
	l := f.now()
	f.mu.Unlock()
	f.to(l)
	return true
}

// now is a copy of what is to be seen; f.mu is held.
func (f *feed) now() Live {
	l := f.live
	l.At = time.Now()
	l.Rates = slices.Clone(l.Rates)
	l.CPU = maps.Clone(l.CPU)
	for name, shares := range l.CPU {
		l.CPU[name] = slices.Clone(shares)
	}
	if l.Load != nil {
		p := *l.Load
		l.Load = &p
	}
	if l.Trying != nil {
		t := *l.Trying
		l.Trying = &t
	}
	return l
}

// set changes what is to be seen.
func (f *feed) set(change func(*Live)) {
	if f == nil {
		return
	}
	f.mu.Lock()
	change(&f.live)
	f.news = true
	f.mu.Unlock()
	f.nudge()
}

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default: // it is awake
	}
}

// say tells a message.
func (f *feed) say(level, text, hint string) {
	if f == nil {
		return
	}
	text, hint = change.Redact(text), change.Redact(hint)
	f.mu.Lock()
	if level == "step" {
		f.live.Doing, f.news = text, true
	}
	l := f.now()
	l.Said = &Said{Level: level, Text: text, Hint: hint}
	f.said = append(f.said[max(0, len(f.said)-mostWaiting+1):], l)
	f.mu.Unlock()
	f.nudge()
}

// doing tells a part of the work that is no step to report.
func (f *feed) doing(text string) {
	f.set(func(l *Live) { l.Doing = change.Redact(text) })
}

// begins notes that a run is made.
func (f *feed) begins(o RunOptions) {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.last, f.right, f.span = load.Progress{}, 0, 0
	side := o.Side
	if f.mirrored && side != "" {
		side = otherSide(side)
	}
	f.mu.Unlock()
	f.set(func(l *Live) {
		l.Label = change.Redact(o.Label)
		if l.Session == 0 {
			l.Doing = l.Label
		}
		f.side(side)
	})
}

// side is that of the run under way; f.mu is held.
func (f *feed) side(s experiment.Side) {
	if f.live.Trying != nil {
		t := *f.live.Trying
		t.Side = s
		f.live.Trying = &t
	}
}

// ends notes that a run has ended, and is in the store.
func (f *feed) ends(stored bool) {
	f.set(func(l *Live) {
		l.Load, l.Label = nil, ""
		f.side("")
		if stored {
			l.Runs++
		}
	})
}

// progress of the load under way.
func (f *feed) progress(p load.Progress) {
	f.set(func(l *Live) {
		loaded := p.Phase == load.PhaseWarmup || p.Phase == load.PhaseMeasure
		if span := p.Elapsed - f.last.Elapsed; loaded && p.Phase == f.last.Phase && span > 0 {
			f.right += p.Succeeded - f.last.Succeeded
			f.span += span
		}
		f.last = p
		l.Load = &p
	})
}

// tick adds a point to the curve of rates.
func (f *feed) tick() {
	f.set(func(l *Live) {
		rate := 0.0
		if f.span > 0 {
			rate = float64(f.right) / f.span.Seconds()
		}
		f.right, f.span = 0, 0
		l.Rates = curve(l.Rates, rate)
	})
}

// cpu adds a point to the curve of a host's CPU, a share from 0 to 1.
func (f *feed) cpu(host string, share float64) {
	f.set(func(l *Live) {
		if l.CPU == nil {
			l.CPU = map[string][]float64{}
		}
		l.CPU[host] = curve(l.CPU[host], share)
	})
}

func curve(points []float64, next float64) []float64 {
	return append(points[max(0, len(points)-longestCurve+1):], next)
}

// trying notes that an experiment is under way.
func (f *feed) trying(st *store.Step, looks []int, most int) {
	if f == nil {
		return
	}
	f.set(func(l *Live) {
		f.looks, f.mirrored = looks, len(st.LeavesOut) > 0
		l.Steps = max(l.Steps, st.Seq)
		l.Trying = &Trying{Seq: st.Seq, Plan: st.Plan.ID, Title: change.Redact(st.Plan.Title), Why: change.Redact(st.Plan.Why), Bound: st.Plan.Bound, MostPairs: most}
		if len(looks) > 0 {
			l.Trying.NextLook = looks[0]
		}
		if st.Plan.Bound <= 1 { // a proposal comes without one
			l.Trying.Bound = 0
		}
	})
}

// sofar is what the experiment under way shows.
func (f *feed) sofar(v experiment.Verdict) {
	if f == nil {
		return
	}
	v.Samples, v.Warnings, v.Shifts = nil, slices.Clone(v.Warnings), slices.Clone(v.Shifts)
	change.RedactAll(&v)
	f.set(func(l *Live) {
		if l.Trying == nil {
			return
		}
		t := *l.Trying
		t.Verdict, t.Looks, t.NextLook = v, 0, 0
		for _, at := range f.looks {
			if v.MaxPairs > 0 { // it may have been made for fewer
				if at > v.MaxPairs {
					break
				}
				t.MostPairs = at
			}
			if at <= v.Pairs {
				t.Looks++
			} else if t.NextLook == 0 {
				t.NextLook = at
			}
		}
		l.Trying = &t
	})
}

// tried notes that the experiment has ended and is in the store, and what it
// changed.
func (f *feed) tried(st *store.Step) {
	f.set(func(l *Live) {
		l.Trying, f.mirrored = nil, false
		l.Judged++
		l.Score = scoreAfter(st, l.Score)
	})
}
