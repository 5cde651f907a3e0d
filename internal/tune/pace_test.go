package tune

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// heard keeps what is told.
type heard struct {
	quiet
	infos []string
}

func (h *heard) Info(text string) { h.infos = append(h.infos, text) }

// pacedTuner has a bench whose runs are made up.
func pacedTuner(t *testing.T) (*Tuner, *heard) {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	ui := &heard{}
	b := &Bench{Stack: &stack.Stack{}, Scenario: &load.Scenario{Duration: 5 * time.Second, Warmup: time.Second}, Store: st}
	return &Tuner{Stack: b.Stack, Store: st, Bench: b, UI: ui, course: course{workload: 8},
		session: &store.Session{Command: "tune", Started: time.Now(), AsFound: 1000}}, ui
}

// pretend notes runs of three pairs whose ticks and scores wobble.
func pretend(b *Bench, step int64) {
	var v experiment.Verdict
	sw := &switcher{bench: b}
	for pair := 1; pair <= 4; pair++ {
		for i, side := range []experiment.Side{experiment.Baseline, experiment.Candidate} {
			wobble := 1 + 0.08*float64((pair+i)%2)
			run := &store.Run{Kind: store.Scored, Side: side, Step: step, Score: 1000 * wobble,
				Evidence: &evidence.Evidence{Load: &load.Result{Window: b.window(), Workload: 8}}}
			for n := range int(b.window() / loadTick) {
				run.Evidence.Load.Ticks = append(run.Evidence.Load.Ticks, int64(95+10*(n/3%2)))
			}
			b.notePace(run, 1500*time.Millisecond)
			sw.turns.note(run)
			s := sample(run)
			s.Side, s.Pair = side, pair
			v.Samples = append(v.Samples, s)
		}
	}
	sw.tell(&v)
}

// The scenario's duration holds until an experiment has told how much runs vary;
// then the window is chosen, said with its reason, and stored with the session.
func TestWindowIsChosenByMeasurement(t *testing.T) {
	tu, ui := pacedTuner(t)
	for range 2 {
		if err := tu.setPace(); err != nil || tu.Bench.window() != 5*time.Second || len(ui.infos) != 0 {
			t.Fatalf("%s %q %v", tu.Bench.window(), ui.infos, err)
		}
	}
	pretend(tu.Bench, 1)
	if err := tu.setPace(); err != nil {
		t.Fatal(err)
	}
	w := tu.Bench.window()
	if w < time.Second || w >= 5*time.Second || len(ui.infos) != 1 || !strings.Contains(ui.infos[0], "vary by") {
		t.Fatalf("window %s: %q", w, ui.infos)
	}
	stored, err := tu.Store.Session(tu.session.ID)
	if err != nil || stored.Pace != tu.session.Pace || stored.Pace.Window != w {
		t.Errorf("%+v %v", stored, err)
	}
	// Another process takes the session up.
	again, _ := pacedTuner(t)
	again.session = stored
	again.Store = tu.Store
	if err := again.setPace(); err != nil || again.Bench.window() != w {
		t.Errorf("taken up again: %s, want %s; %v", again.Bench.window(), w, err)
	}
	// What a person says comes first.
	again.Bench.Window = 3 * time.Second
	if err := again.setPace(); err != nil || again.Bench.window() != 3*time.Second {
		t.Errorf("-d 3s: %s %v", again.Bench.window(), err)
	}
	// Other users: what was known says nothing.
	tu.course.workload = 64
	if err := tu.setPace(); err != nil || tu.Bench.window() != 5*time.Second || !strings.Contains(ui.infos[len(ui.infos)-1], "again") {
		t.Errorf("other users: %s %q %v", tu.Bench.window(), ui.infos, err)
	}
}

// Where much is expected the first pairs are short, with some 40 requests; where
// the user says how long runs are, they are as long.
func TestBriefWindows(t *testing.T) {
	tu, _ := pacedTuner(t)
	b := tu.Bench
	if w := b.brief(3); w != 0 {
		t.Errorf("%s before anything is known", w)
	}
	b.pace = &experiment.Pace{}
	b.pace.NoteRun(slices.Repeat([]int64{2}, 50), loadTick, 5*time.Second, time.Second, false) // 20 per second
	if w := b.brief(3); w != 2*time.Second {
		t.Errorf("%s, want 40 requests", w)
	}
	if w := b.brief(0.2); w != 0 {
		t.Errorf("%s for a small gain", w)
	}
	b.Window = 4 * time.Second
	if w := b.brief(3); w != 0 {
		t.Errorf("%s, though the user said 4 s", w)
	}
	// A spread of runs of two lengths says nothing of either.
	b.Window = 0
	sw := &switcher{bench: b}
	for i, w := range []time.Duration{time.Second, time.Second, time.Second, 5 * time.Second} {
		sw.turns.note(&store.Run{Evidence: &evidence.Evidence{Load: &load.Result{Window: w}}})
		if mixed := i == 3; sw.turns.mixed != mixed {
			t.Errorf("run %d: mixed %v", i, sw.turns.mixed)
		}
	}
}

// Two runs as found, one after the other, are neighbours; a run of an
// experiment is not one of them.
func TestRunsAsFoundAreNeighbours(t *testing.T) {
	tu, _ := pacedTuner(t)
	for i, step := range []int64{0, 0, 7, 0} {
		tu.Bench.notePace(&store.Run{Kind: store.Scored, Step: step, Score: 1000 + float64(i), Evidence: &evidence.Evidence{
			Load: &load.Result{Window: 5 * time.Second, Workload: 8}}}, time.Second)
	}
	if got := tu.Bench.pace.Known.Runs.Weight; got != 1 {
		t.Errorf("%g degrees of freedom, want 1", got)
	}
	tu.Bench.notePace(&store.Run{Kind: store.Scored, Score: 1, Unfit: "noise", Evidence: &evidence.Evidence{Load: &load.Result{}}}, time.Second)
	if got := tu.Bench.pace.Known.Cost.Weight; got != 4 {
		t.Errorf("%g runs were noted, want 4", got)
	}
}
