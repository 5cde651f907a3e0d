package tune

import (
	"context"
	"fmt"

	"kasoku/internal/experiment"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// Watch tells to what is to be seen of b's runs, until stop is called, which
// tells the last. to is called from one goroutine, at most about five times a
// second and once more for each message; while it has not returned, the run goes
// on and only the latest state waits for it. When ctx ends that is told, too.
func (b *Bench) Watch(ctx context.Context, to func(Live)) (stop func()) {
	f := newFeed(to)
	note, was := b.Listeners.Note, b.Listeners.feed
	b.Listeners.feed = f
	if note != nil {
		b.Listeners.Note = func(text string) {
			f.say("warning", text, "")
			note(text)
		}
	}
	sampling, end := context.WithCancel(context.WithoutCancel(ctx)) // putting back is watched, too
	f.sample(sampling, b.Hosts)
	quiet := context.AfterFunc(ctx, func() {
		f.set(func(l *Live) { l.Ending = true })
	})
	return func() {
		quiet()
		end()
		b.Listeners.feed, b.Listeners.Note = was, note
		f.close()
	}
}

// Drawer is a Reporter that may draw Live besides: what an experiment under way
// shows is then told to those who watch only, and its result with its title
// when it has ended.
type Drawer interface {
	Draws() bool
}

// overheard is a Reporter whose messages those who watch get, too.
type overheard struct {
	Reporter
	feed  *feed
	drawn bool // Live is, where the messages go
}

func (r *overheard) Step(title string) {
	r.feed.say("step", title, "")
	r.Reporter.Step(title)
}

func (r *overheard) Info(text string) {
	r.feed.say("info", text, "")
	r.Reporter.Info(text)
}

func (r *overheard) Warn(problem, hint string) {
	r.feed.say("warning", problem, hint)
	r.Reporter.Warn(problem, hint)
}

// watch begins to tell t.Watch, if there is one; the function it returns ends that.
func (t *Tuner) watch(ctx context.Context) (stop func()) {
	if t.Watch == nil {
		return func() {}
	}
	end := t.Bench.Watch(ctx, t.Watch)
	ui := t.UI
	d, ok := ui.(Drawer)
	t.UI = &overheard{ui, t.Bench.Listeners.feed, ok && d.Draws()}
	return func() {
		t.UI = ui
		end()
	}
}

// tellSession tells those who watch which session it is, and what is known of it.
func (t *Tuner) tellSession(steps []store.Step) {
	f := t.Bench.Listeners.feed
	if f == nil {
		return
	}
	score, runs := t.session.AsFound, 0
	for i := range steps {
		score = scoreAfter(&steps[i], score)
	}
	judged := store.Judged(steps)
	if rs, err := t.Store.Runs(store.RunFilter{Session: t.session.ID}); err == nil { // else they are counted from here on
		runs = len(rs)
	}
	f.set(func(l *Live) {
		l.Session, l.Started, l.Deadline = t.session.ID, t.session.Started, t.course.deadline
		l.AsFound, l.Score, l.PerRun, l.Runs, l.Steps, l.Judged = t.session.AsFound, score, t.session.PerRun, runs, len(steps), judged
	})
}

// tellScore tells the score as found.
func (t *Tuner) tellScore() {
	t.Bench.Listeners.feed.set(func(l *Live) { l.AsFound, l.Score, l.PerRun = t.session.AsFound, t.session.AsFound, t.session.PerRun })
}

func (t *Tuner) drawn() bool {
	r, ok := t.UI.(*overheard)
	return ok && r.drawn
}

// opens tells that an experiment begins.
func (t *Tuner) opens(step *store.Step, facts ...string) {
	title := heading(step)
	most, looks := t.Rule.MaxPairs, []int(nil)
	if seq, err := stat.NewSequential(t.Rule.Alpha, most); err == nil { // the experiment tells the error
		most, looks = seq.Max(), seq.Looks
	}
	t.Bench.Listeners.feed.trying(step, looks, most)
	if t.drawn() {
		t.Bench.Listeners.feed.say("step", title, "")
		for _, fact := range facts {
			t.Bench.Listeners.feed.say("info", fact, "")
		}
		return
	}
	t.UI.Step(title)
	for _, fact := range facts {
		t.UI.Info(fact)
	}
}

func heading(step *store.Step) string {
	if step.Plan.Remedy == compareRemedy { // the only one
		return step.Plan.Title
	}
	return fmt.Sprintf("%d. %s", step.Seq, step.Plan.Title)
}

// sofar tells what an experiment shows after each pair.
func (t *Tuner) sofar(v experiment.Verdict) {
	if v.Pairs == 0 {
		return
	}
	t.Bench.Listeners.feed.sofar(v)
	text := fmt.Sprintf("after pair %d: %s (%s against %s)", v.Pairs, ui.Percent(v.Effect), score(v.CandidateScore), score(v.BaselineScore))
	if t.drawn() {
		t.Bench.Listeners.feed.say("info", text, "")
		return
	}
	t.UI.Info(text)
}

// closes tells that an experiment has ended, with err before it was done. The
// step is in the store by then: who is told reads it there.
func (t *Tuner) closes(step *store.Step, err error) {
	t.Bench.Listeners.feed.tried(step)
	if r, ok := t.UI.(*overheard); ok && r.drawn {
		r.Reporter.Step(heading(step)) // those who watch have had it
		if err != nil {
			r.Info("not finished")
		}
	}
}
