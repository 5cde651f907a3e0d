package tune

import (
	"fmt"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// loadTick is what load.Result.Ticks count by.
const loadTick = 100 * time.Millisecond

// window of a run of an experiment or a search: what the user says, else what
// was chosen by measurement, else the scenario's.
func (b *Bench) window() time.Duration {
	switch {
	case b.Window > 0:
		return b.Window
	case b.pace != nil && b.pace.Window > 0:
		return b.whole(min(b.pace.Window, b.Scenario.Duration))
	}
	return b.whole(b.Scenario.Duration)
}

// longestWindow that is made of short ones because sessions are long.
const longestWindow = 30 * time.Second

// whole makes a window as long as the sessions of the scenario ask for; one that the
// user says stays.
func (b *Bench) whole(w time.Duration) time.Duration {
	if b.pace == nil || b.Window > 0 {
		return w
	}
	return max(w, b.pace.Least)
}

// noteVisits takes in how long windows must be for the sessions of a run of what is in
// place.
func (b *Bench) noteVisits(run *store.Run) {
	l := run.Evidence.Load
	if b.Foreign() || b.Scenario == nil || run.Kind != store.Scored || l.Succeeded == 0 {
		return
	}
	if b.pace == nil {
		b.pace = &experiment.Pace{}
	}
	least := l.LeastWindow()
	if l.Unreached > 0 && least > 2*longestWindow { // no run reaches the end of such a session: windows stay as they are
		least = b.pace.Least
	}
	b.pace.Least = min(least, longestWindow)
}

// briefPairs are the most pairs with short windows: what has not been decided by
// then is not as large as it was thought to be.
const briefPairs = 4

// brief is the window of the first pairs of an experiment that is expected to
// bring so much, as log of a factor; 0: as any other.
func (b *Bench) brief(gain float64) time.Duration {
	if b.Foreign() || b.Scenario == nil || b.Window > 0 || b.pace == nil || gain <= leadGain {
		return 0
	}
	if w := b.pace.Brief(b.window()); w > 0 {
		return b.whole(w)
	}
	return 0
}

// notePace takes a run's spread and cost in, for the choice of the next windows.
func (b *Bench) notePace(run *store.Run, cost time.Duration) {
	if b.Foreign() || run.Kind != store.Scored || run.Unfit != "" || run.Score <= 0 {
		return
	}
	if b.pace == nil {
		b.pace = &experiment.Pace{}
	}
	l := run.Evidence.Load
	b.pace.NoteRun(l.Ticks, loadTick, l.Window, cost, run.Side == experiment.Candidate)
	if was := b.scored.before; was != nil && run.Step == 0 && was.Step == 0 && was.Session == run.Session && was.ConfigHash == run.ConfigHash &&
		was.Evidence.Load.Workload == l.Workload && was.Evidence.Load.Window == l.Window {
		b.pace.NoteNeighbours(was.Score, run.Score, l.Window)
	}
	b.scored.before = run
}

// setPace chooses the windows of the next experiment's runs and says so. The
// choice is stored with the session.
func (t *Tuner) setPace() error {
	b := t.Bench
	if b.Foreign() || b.Scenario == nil || b.Window > 0 {
		return nil
	}
	if p := &t.session.Pace; b.pace != p {
		if *p == (experiment.Pace{}) && b.pace != nil {
			*p = *b.pace // runs as found
		}
		b.pace = p
	}
	score := t.session.AsFound
	if b.scored.reference != nil {
		score = b.scored.reference.Score
	}
	if !b.pace.Begin(score, t.course.workload, b.Scenario.Duration) {
		return nil
	}
	if b.pace.Window == 0 {
		t.UI.Info(fmt.Sprintf("runs of %s again, until it is known how much they vary now", b.Scenario.Duration))
	} else {
		t.UI.Info(fmt.Sprintf("runs of %s from now on (the scenario's duration is %s): %s", b.pace.Window, b.Scenario.Duration, b.pace.Why))
	}
	return t.Store.SaveSession(t.session)
}
