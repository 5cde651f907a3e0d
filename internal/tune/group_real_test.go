package tune

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/store"
)

// Of three independent plans that the loop tries as one on the real service, the
// one that breaks answers is found and put back, the two others are kept
// together, and undo of everything brings back what was found. Indexes and
// OPcache are the product's own plans; the test adds the one that breaks.
func TestAGroupOnTheRealService(t *testing.T) {
	l := useLab(t)
	l.calm(t)
	asFound := l.hash(t)
	window, old := l.bench.Window, remedy.Table
	l.told(t, func() float64 { // the index is what pays
		if l.holdsIndex(t) {
			return 200
		}
		return 100
	})
	t.Cleanup(func() {
		remedy.Table = old
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	remedy.Table = []remedy.Remedy{tame(t, old, "mariadb.index"), tame(t, old, "php.opcache"), closedPage()}
	tu := l.tuner()
	tu.Rule.Alpha = 0.1 // the fewest pairs will do
	tu.schedule.tried, tu.schedule.proved, tu.schedule.loud, tu.course.workload = map[string]attempt{}, map[string]store.Step{}, map[string]bool{}, l.bench.Users()
	tu.session = &store.Session{Command: "tune", Stack: l.stack.Name, Started: time.Now(), State: "running", AsFoundWorkload: tu.course.workload}
	if err := l.bench.Store.SaveSession(tu.session); err != nil {
		t.Fatal(err)
	}
	tu.standIns.observes = func(context.Context, string) (*store.Run, *evidence.Snapshot, error) {
		// Other tests take this observation too: it has their window.
		short, told := l.bench.Window, l.bench.instead
		l.bench.Window, l.bench.instead = window, nil
		look := func() observation { return l.called(t, "mariadb.index", "php.opcache") }
		if l.holdsIndex(t) {
			look = func() observation { return l.observe(t) }
		}
		o := look()
		l.bench.Window, l.bench.instead = short, told
		run, d := *o.run, *o.run.Diagnosis
		d.Findings = slices.Clone(d.Findings)
		for i := range d.Findings { // or one of the two would be tried alone first
			d.Findings[i].Bound, d.Findings[i].Spares = 3, 0
		}
		d.Findings = append(d.Findings, diagnose.Finding{Rule: closedRule, Title: "a page", Text: "a page", Bound: 2})
		run.Diagnosis = &d
		return &run, o.snap, nil
	}
	if err := tu.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps, err := l.bench.Store.Steps(tu.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		got = append(got, fmt.Sprintf("%d plans, %s, kept %v", max(1, len(s.Plan.Parts)), s.Verdict.Outcome, s.Kept))
		t.Logf("%s: %s after %d runs: %s", s.Plan.ID, s.Verdict.Outcome, s.Verdict.Runs, s.Verdict.Reason)
	}
	want := []string{"3 plans, broke answers, kept false", "2 plans, improved, kept true", "1 plans, broke answers, kept false"}
	if len(got) < 3 || !slices.Equal(got[:3], want) { // further indexes may follow
		t.Fatalf("steps %q; want %q", got, want)
	}
	if a := tu.schedule.tried[steps[2].Plan.ID]; steps[2].Plan.Remedy != closedRule || !a.final {
		t.Errorf("found guilty: %s, %+v", steps[2].Plan.ID, a)
	}
	l.holdsOnly(t, steps[1].Plan)
	if err := l.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.hash(t) != asFound {
		t.Error("after undo the target is not as found")
	}
}

// tame is an entry of the table of which no great gain is expected, so that the
// loop joins its plans with others.
func tame(t *testing.T, table []remedy.Remedy, id string) remedy.Remedy {
	t.Helper()
	i := slices.IndexFunc(table, func(r remedy.Remedy) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("no remedy %s", id)
	}
	r := table[i]
	r.Reach = 0.15
	r.Plan = func(in remedy.Input, f diagnose.Finding) ([]remedy.Plan, error) {
		plans, err := table[i].Plan(in, f)
		for k := range plans {
			plans[k].Reach = r.Reach
		}
		return plans, err
	}
	return r
}

const closedRule = "test.closed-page"

// closedPage plans a change of nginx's configuration that its own check accepts
// and that takes a page of the application away.
func closedPage() remedy.Remedy {
	return remedy.Remedy{ID: closedRule, Rules: []string{closedRule}, Reach: 0.1, Plan: func(in remedy.Input, _ diagnose.Finding) ([]remedy.Plan, error) {
		const from, to = "    location / {", "    location = /mypage { return 404; }\n    location / {"
		for path, f := range in.Snapshot.Files["local"] {
			if !bytes.Contains(f.Content, []byte(from)) || bytes.Contains(f.Content, []byte(to)) {
				continue
			}
			c, err := planning.FileChange(in.Snapshot, in.Stack.Service("web"), path, bytes.Replace(f.Content, []byte(from), []byte(to), 1), change.Reload, "a page")
			return []remedy.Plan{{ID: closedRule + ":web", Title: "Close a page", Why: "a page", Changes: []change.Change{c}}}, err
		}
		return nil, nil
	}}
}

// holdsOnly checks that every change of a plan is in force and nothing of what
// was put back is: files hold the plan's bytes or the original's, answers are right.
func (l *lab) holdsOnly(t *testing.T, p remedy.Plan) {
	t.Helper()
	snap, err := evidence.Take(t.Context(), l.stack, l.hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[change.Kind]int{}
	for _, c := range p.Changes {
		kinds[c.Kind]++
		if c.Kind == change.KindFile && host.HashOf(snap.Files["local"][c.Path].Content) != c.After.Hash {
			t.Errorf("%s does not hold what was kept", c.Path)
		}
	}
	if kinds[change.KindIndex] == 0 || kinds[change.KindFile] == 0 {
		t.Errorf("the kept group changes %v; want an index and a file", kinds)
	}
	for path, f := range snap.Files["local"] {
		if bytes.Contains(f.Content, []byte("location = /mypage")) {
			t.Errorf("%s still holds what broke answers", path)
		}
	}
	o := l.observe(t)
	if ev := o.run.Evidence.Load; ev.Mismatches+ev.Errors+ev.Timeouts > 0 || ev.Succeeded == 0 {
		t.Errorf("%d right, %d wrong, %d errors, %d time-outs: %s", ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts, sample(o.run).Broken)
	}
	for _, plan := range remedy.PlanAll(remedy.Input{Stack: l.stack, Evidence: o.run.Evidence, Snapshot: o.snap, Diagnosis: o.run.Diagnosis}).Plans {
		for _, part := range p.Parts {
			if plan.ID == part.ID {
				t.Errorf("%s is planned again although it is in force", plan.ID)
			}
		}
	}
}
