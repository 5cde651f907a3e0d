package tune

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// watcher remembers what it is told, and takes its time.
type watcher struct {
	mu    sync.Mutex
	lives []Live
	takes time.Duration
}

func (h *watcher) watch(l Live) {
	h.mu.Lock()
	h.lives = append(h.lives, l)
	h.mu.Unlock()
	time.Sleep(h.takes)
}

// heard splits what was heard into states and messages.
func (h *watcher) heard() (states []Live, said []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lives {
		if l.Said != nil {
			said = append(said, l.Said.Text)
		} else {
			states = append(states, l)
		}
	}
	return states, said
}

// TestFeedIsCalm: ten seconds of news every 10 ms and a message a second.
func TestFeedIsCalm(t *testing.T) {
	for name, c := range map[string]struct {
		takes       time.Duration
		most, least int // states
	}{
		"quick watcher":                    {0, 52, 48},
		"watcher that takes half a second": {500 * time.Millisecond, 21, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &watcher{takes: c.takes}
				f := newFeed(h.watch)
				began := time.Now()
				var longest time.Duration
				for i := range 1000 {
					at := time.Now()
					f.progress(load.Progress{Phase: load.PhaseMeasure, Elapsed: time.Duration(i+1) * 10 * time.Millisecond, Succeeded: int64(i)})
					if i%100 == 0 {
						f.say("info", fmt.Sprint(i), "")
					}
					longest = max(longest, time.Since(at))
					time.Sleep(10 * time.Millisecond)
				}
				if took := time.Since(began); took != 10*time.Second || longest > 0 {
					t.Errorf("telling took %s beside the run's 10 s, %s at once", took-10*time.Second, longest)
				}
				time.Sleep(10 * time.Second)
				f.close()
				states, said := h.heard()
				if len(states) > c.most || len(states) < c.least {
					t.Errorf("%d states, want %d to %d", len(states), c.least, c.most)
				}
				if len(said) != 10 {
					t.Errorf("%d messages, want all 10: %v", len(said), said)
				}
				if last := states[len(states)-2]; last.Load.Succeeded != 999 { // the one after it is the end's
					t.Errorf("the latest state is not the last one told: %d", last.Load.Succeeded)
				}
			})
		})
	}
}

func TestFeedLeavesADeadWatcherBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		told := 0
		f := newFeed(func(Live) { told++; <-stuck })
		began := time.Now()
		for i := range 3 * mostWaiting {
			f.say("info", fmt.Sprint(i), "")
		}
		f.close()
		if took := time.Since(began); took > lastWords {
			t.Errorf("the end waited %s", took)
		}
		if len(f.said) > mostWaiting {
			t.Errorf("%d messages are held", len(f.said))
		}
		close(stuck)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times, also after the end", told)
		}
	})
}

func TestFeedRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &watcher{}
		f := newFeed(h.watch)
		f.tick() // before the load
		at := func(phase load.Phase, ms int, right int64) {
			f.progress(load.Progress{Phase: phase, Elapsed: time.Duration(ms) * time.Millisecond, Succeeded: right})
		}
		at(load.PhaseWarmup, 0, 0)
		at(load.PhaseWarmup, 500, 50)
		f.tick()
		at(load.PhaseWarmup, 1000, 150)
		at(load.PhaseMeasure, 0, 0) // a new count
		at(load.PhaseMeasure, 500, 300)
		f.tick()
		at(load.PhaseTeardown, 100, 300)
		at(load.PhaseTeardown, 900, 300)
		f.tick()
		f.close()
		states, _ := h.heard()
		if got, want := states[len(states)-1].Rates, []float64{0, 100, 400, 0}; !slices.Equal(got, want) {
			t.Errorf("rates %v, want %v", got, want)
		}
		for range 2 * longestCurve {
			f.tick()
		}
		if len(f.live.Rates) != longestCurve {
			t.Errorf("%d points are kept", len(f.live.Rates))
		}
	})
}

// TestLiveIsAValue: what was told does not change afterwards.
func TestLiveIsAValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &watcher{}
		f := newFeed(h.watch)
		step := &store.Step{Seq: 1, Plan: remedy.Plan{Title: "first", Bound: 2}}
		f.trying(step, []int{3, 4, 6}, 40)
		f.cpu("web", 0.5)
		f.tick()
		f.progress(load.Progress{Phase: load.PhaseMeasure, Succeeded: 1})
		f.begins(RunOptions{Side: experiment.Candidate, Label: "a run"})
		f.sofar(experiment.Verdict{Pairs: 4, Effect: 0.1, Samples: make([]experiment.Sample, 8)})
		time.Sleep(time.Second)
		states, _ := h.heard()
		first := states[len(states)-1]
		if tr := first.Trying; tr == nil || tr.Looks != 2 || tr.NextLook != 6 || tr.MostPairs != 40 || tr.Side != experiment.Candidate || tr.Verdict.Samples != nil || tr.Bound != 2 {
			t.Fatalf("trying %+v", tr)
		}
		f.sofar(experiment.Verdict{Pairs: 5, Effect: 0.2})
		f.cpu("web", 0.9)
		f.progress(load.Progress{Phase: load.PhaseMeasure, Succeeded: 2})
		f.ends(true)
		f.tried(&store.Step{Kept: true, Verdict: experiment.Verdict{CandidateScore: 150}})
		f.close()
		if first.Trying.Verdict.Pairs != 4 || first.Trying.Side != experiment.Candidate || first.Load.Succeeded != 1 || len(first.CPU["web"]) != 1 || first.Runs != 0 {
			t.Errorf("it has changed: %+v", first)
		}
		states, _ = h.heard()
		last := states[len(states)-1]
		if last.Trying != nil || last.Load != nil || last.Runs != 1 || last.Score != 150 || !slices.Equal(last.CPU["web"], []float64{0.5, 0.9}) {
			t.Errorf("last: %+v", last)
		}
	})
}

func TestScoreAfter(t *testing.T) {
	v := experiment.Verdict{BaselineScore: 80, CandidateScore: 120}
	for name, c := range map[string]struct {
		st   store.Step
		want float64
	}{
		"kept":                          {store.Step{Kept: true, Verdict: v}, 120},
		"put back":                      {store.Step{Verdict: v}, 100},
		"kept, but nothing measured":    {store.Step{Kept: true}, 100},
		"looked at again, and it stays": {store.Step{LeavesOut: []int{1}, Verdict: v}, 100},
		"taken out":                     {store.Step{LeavesOut: []int{1}, Tx: 7, Verdict: v}, 80},
	} {
		if got := scoreAfter(&c.st, 100); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// drawing is a Reporter that remembers what is printed, as on a terminal.
type drawing struct{ lines []string }

func (d *drawing) Step(title string)      { d.lines = append(d.lines, "== "+title) }
func (d *drawing) Info(text string)       { d.lines = append(d.lines, text) }
func (d *drawing) Warn(problem, _ string) { d.lines = append(d.lines, "warning: "+problem) }
func (d *drawing) Draws() bool            { return true }

// TestSessionIsWatched: a whole session on the virtual target.
func TestSessionIsWatched(t *testing.T) {
	v := newVirtual(t, good("better", 40), knob{name: "worse", factor: 0.8, bound: 1.3, reach: 0.5})
	h, lines := &watcher{}, &drawing{}
	tu := v.tuner()
	judged := 0
	tu.UI, tu.Options.Budget = lines, time.Hour
	tu.Watch = func(l Live) {
		h.watch(l)
		if l.Judged <= judged && !l.Ended {
			return
		}
		judged = l.Judged
		if stored, err := tu.Store.Steps(l.Session); err != nil || store.Judged(stored) < judged {
			t.Errorf("told of %d steps that have ended, the store has %d (%v)", judged, store.Judged(stored), err)
		}
		if x, err := tu.Store.Session(l.Session); l.Ended && (err != nil || x.State != "done" || x.Final == 0) {
			t.Errorf("told that the session has ended, the store has %+v (%v)", x, err)
		}
	}
	session, err := tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, said := h.heard()
	steps := v.steps(session.ID)
	if len(steps) < 2 {
		t.Fatalf("%d steps", len(steps))
	}
	var pairs, tried []string
	for _, text := range said {
		if strings.HasPrefix(text, "after pair ") {
			pairs = append(pairs, text)
		}
	}
	for _, l := range h.lives {
		if l.Trying == nil {
			continue
		}
		if !slices.Contains(tried, l.Trying.Title) {
			tried = append(tried, l.Trying.Title)
		}
		if l.Trying.Why == "" || l.Trying.MostPairs != experiment.DefaultRule().MaxPairs || l.Session != session.ID || l.Deadline.IsZero() || l.AsFound != session.AsFound {
			t.Fatalf("%+v %+v", l, l.Trying)
		}
	}
	for _, st := range steps {
		if !slices.Contains(tried, st.Plan.Title) {
			t.Errorf("nobody saw that %q was tried: %q", st.Plan.Title, tried)
		}
		if i := slices.Index(lines.lines, heading(&st)); i >= 0 || !slices.Contains(lines.lines, "== "+heading(&st)) {
			t.Errorf("step %d is not among the lines: %q", st.Seq, lines.lines)
		}
	}
	if len(pairs) < 6 {
		t.Errorf("pairs told: %q", pairs)
	}
	for _, line := range lines.lines {
		if strings.HasPrefix(line, "after pair ") || strings.HasPrefix(line, "why: ") {
			t.Errorf("it is drawn, and printed, too: %q", line)
		}
	}
	last := h.lives[len(h.lives)-1]
	if last.Judged != len(steps) || !last.Ended || h.lives[len(h.lives)/2].Ended {
		t.Errorf("the last of %d steps that ended: %+v", len(steps), last)
	}
	if last.Steps != len(steps) || last.Runs == 0 || last.Score <= last.AsFound || last.Trying != nil {
		t.Errorf("last: %+v", last)
	}
	if v.on() != "better" {
		t.Errorf("in place: %s", v.on())
	}
	if tu.UI != Reporter(lines) || tu.Bench.Listeners.feed != nil {
		t.Error("the session has ended, and is told still")
	}
}
