package tune

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// experiments of a session without second looks.
func experimentsOf(steps []store.Step) (n, runs int) {
	for _, s := range steps {
		if len(s.LeavesOut) == 0 {
			n++
			runs += s.Verdict.Runs
		}
	}
	return n, runs
}

// Among plans that are tried together, one that harms or breaks answers is
// found and put back, all others are kept, with fewer experiments and runs than
// one by one. What breaks is final only when it was alone.
func TestOneBadPlanOfAGroup(t *testing.T) {
	await.SkipShort(t)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, c := range []struct {
		name        string
		bad         string // the one that does harm
		knob        knob
		most        int // experiments
		wantAll     bool
		wantOutcome string
	}{
		{name: "none", most: 1, wantAll: true},
		{name: "the first is slow", bad: "a", knob: knob{factor: 0.3}, most: 7, wantOutcome: "regressed"},
		{name: "one in the middle breaks answers", bad: "d", knob: knob{factor: 1.2, breaks: true}, most: 7, wantOutcome: "broke answers"},
		{name: "the last breaks answers", bad: "h", knob: knob{factor: 1.2, breaks: true}, most: 5, wantOutcome: "broke answers"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			var knobs []knob
			var want []string
			for i, n := range names {
				k := good(n, 9-float64(i)/2)
				if n == c.bad {
					k.factor, k.breaks = c.knob.factor, c.knob.breaks
				} else {
					want = append(want, n)
				}
				knobs = append(knobs, k)
			}
			v := newVirtual(t, knobs...)
			tu := v.tuner()
			if err := tu.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := tu.loop(t.Context()); err != nil { // without second looks
				t.Fatal(err)
			}
			s := tu.session
			v.tell(s.ID)
			if got := v.on(); got != strings.Join(want, " ") {
				t.Errorf("on at the end: %s; want %v", got, want)
			}
			steps := v.steps(s.ID)
			n, runs := experimentsOf(steps)
			if n > c.most {
				t.Errorf("%d experiments, at most %d are needed", n, c.most)
			}
			if len(steps[0].Plan.Parts) != len(names) {
				t.Errorf("the first step joins %d plans", len(steps[0].Plan.Parts))
			}
			for plan, a := range tu.schedule.tried {
				if a.final && plan != "v."+c.bad+":on" {
					t.Errorf("%s is not tried again", plan)
				}
			}
			if c.bad != "" {
				a := tu.schedule.tried["v."+c.bad+":on"]
				if a.final != c.knob.breaks || a.binding == "" && !a.final {
					t.Errorf("the bad one: %+v", a)
				}
				alone := false
				for _, st := range steps {
					alone = alone || st.Plan.ID == "v."+c.bad+":on" && string(st.Verdict.Outcome) == c.wantOutcome
				}
				if !alone {
					t.Errorf("the bad one was not judged %q alone", c.wantOutcome)
				}
			}
			if c.knob.breaks {
				return // those take less than the one that is slow
			}
			other := newVirtual(t, knobs...)
			oneN, oneRuns := other.oneByOne()
			t.Logf("%d experiments, %d runs; one by one %d, %d", n, runs, oneN, oneRuns)
			if n >= oneN || runs >= oneRuns {
				t.Errorf("%d experiments and %d runs; one by one it takes %d and %d", n, runs, oneN, oneRuns)
			}
		})
	}
}

// A plan that harms a little behind the others' gain is kept with them, and
// taken out at the end, when each part is looked at; what each of the others
// brings is noted.
func TestHiddenHarmIsTakenOut(t *testing.T) {
	bad := good("c", 8)
	bad.factor = 0.94
	v := newVirtual(t, good("a", 10), good("b", 9), bad, good("d", 7))
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(s.ID)
	if got := v.on(); got != "a b d" {
		t.Errorf("on at the end: %s", got)
	}
	parts := v.steps(s.ID)[0].Plan.Parts
	if len(parts) != 4 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, p := range parts {
		isBad := p.ID == "v.c:on"
		if p.LookedAgain == 0 || p.LeftOut != isBad || (p.Gain < 0) != isBad {
			t.Errorf("%s: looked again in step %d, gain %+.3f, left out %v", p.ID, p.LookedAgain, p.Gain, p.LeftOut)
		}
	}
	if err := v.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.on() != "" {
		t.Errorf("after undo of everything: %s", v.on())
	}
}

// Plans that were of a group without effect are tried again when something else
// binds, and not before.
func TestPartsAreTriedAgainWhenTheBindingMoves(t *testing.T) {
	useless := func(name string) knob { return knob{name: name, factor: 1, bound: 1.2, reach: 0.5} }
	big := knob{name: "big", factor: 3, bound: 4, reach: 0.9}
	v := newVirtual(t, useless("a"), useless("b"), useless("c"))
	tu := v.tuner()
	if _, err := tu.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"v.a:on", "v.b:on", "v.c:on"} {
		if tu.schedule.due(id, "cpu: app") || !tu.schedule.due(id, "disk: db") {
			t.Errorf("%s: %+v", id, tu.schedule.tried[id])
		}
	}
	if tu.session.StopReason != store.StopNothingLeft {
		t.Errorf("stopped: %s, %s", tu.session.StopReason, tu.session.Stopped)
	}
	// What is tried together with one that brings much goes when it brings
	// nothing itself.
	late := newVirtual(t, useless("a"), useless("b"), big)
	late.binds = func(on map[string]bool) string {
		return map[bool]string{true: "disk: db", false: "cpu: app"}[on["big"]]
	}
	s, err := late.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late.tell(s.ID)
	if late.on() != "big" || len(late.steps(s.ID)[0].Plan.Parts) != 3 {
		t.Errorf("on: %s; first %s", late.on(), late.steps(s.ID)[0].Plan.ID)
	}
}

// A plan that harms much behind one that brings much more is kept with it, and
// taken out at the end; what helps a little stays.
func TestHarmBehindALead(t *testing.T) {
	bad := good("b", 9)
	bad.factor = 0.7
	v := newVirtual(t, knob{name: "a", factor: 20, bound: 50, reach: 0.9}, bad, good("c", 8))
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(s.ID)
	steps := v.steps(s.ID)
	if got := v.on(); got != "a c" || len(steps[0].Plan.Parts) != 3 || !steps[0].Kept {
		t.Errorf("on at the end: %s; the first step has %d parts, kept %v", got, len(steps[0].Plan.Parts), steps[0].Kept)
	}
}

// Small plans come in as one part behind one that brings much, and are looked
// at as one: they stay if they pay, and none of them comes again if they do not.
func TestSmallBehindALead(t *testing.T) {
	for _, c := range []struct {
		name   string
		factor float64 // of one of them
		want   string
	}{{"pays", 1.05, "p a q"}, {"harms", 0.85, "a"}} {
		t.Run(c.name, func(t *testing.T) {
			p := little("p", 5)
			p.factor = c.factor
			v := newVirtual(t, p, knob{name: "a", factor: 20, bound: 50, reach: 0.9}, little("q", 4))
			tu := v.tuner()
			s, err := tu.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v.tell(s.ID)
			if got := v.on(); got != c.want {
				t.Errorf("on at the end: %s", got)
			}
			first := v.steps(s.ID)[0]
			if len(first.Plan.Parts) != 2 || strings.Join(first.Plan.Parts[1].Of, " ") != "v.p:on v.q:on" || !first.Kept {
				t.Fatalf("the first step: kept %v, %+v", first.Kept, first.Plan.Parts)
			}
			if x := first.Plan.Parts[1]; x.LookedAgain == 0 || x.LeftOut != (c.factor < 1) {
				t.Errorf("of the small ones: looked again in step %d, left out %v", x.LookedAgain, x.LeftOut)
			}
			tu.schedule.remember(&first) // as a session does that is taken up
			for _, id := range []string{"v.p:on", "v.q:on"} {
				if tu.schedule.tried[id].final != (c.factor < 1) {
					t.Errorf("%s: %+v", id, tu.schedule.tried[id])
				}
			}
			for _, st := range v.steps(s.ID)[1:] {
				if len(st.LeavesOut) == 0 {
					t.Errorf("%s is tried, too", st.Plan.ID)
				}
			}
		})
	}
}

// Where none brings much, small plans stay among themselves; where one that was
// to do so harms, they come to turn when its group was tried in halves.
func TestSmallWithoutALead(t *testing.T) {
	v := newVirtual(t, good("a", 20), good("b", 10), little("p", 5), little("q", 4))
	tu, in := v.looked()
	for _, p := range choices(in, remedy.PlanAll(in).Plans, tu.schedule.learned.outlook(time.Second, tu.Rule)) {
		for _, part := range p.Parts {
			if len(part.Of) > 0 {
				t.Errorf("%s joins small ones", p.ID)
			}
		}
	}
	v = newVirtual(t, knob{name: "a", factor: 0.5, bound: 50, reach: 0.9}, good("b", 20), little("p", 5), little("q", 4))
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(s.ID)
	if got := v.on(); got != "b p q" {
		t.Errorf("on at the end: %s", got)
	}
}

// Where the time is enough for one experiment only, small plans are in it: they would
// not come to turn.
func TestSmallWithoutTime(t *testing.T) {
	v := newVirtual(t, good("a", 20), good("b", 10), little("p", 5), little("q", 4))
	tu, in := v.looked()
	plans := remedy.PlanAll(in).Plans
	o := tu.schedule.learned.outlook(time.Minute, tu.Rule)
	joined := func(left time.Duration) bool {
		o.left = left
		for _, p := range choices(in, plans, o) {
			for _, part := range p.Parts {
				if len(part.Of) > 0 {
					return true
				}
			}
		}
		return false
	}
	for _, c := range []struct {
		left time.Duration
		want bool
	}{{0, false}, {20 * time.Minute, true}, {10000 * time.Hour, false}} {
		if got := joined(c.left); got != c.want {
			t.Errorf("with %s left: the small ones are in the group: %v", c.left, got)
		}
	}
}

// The parts of a group are offered alone, too, after everything else: a short
// budget may have no time for the whole.
func TestPartsAreOfferedAlone(t *testing.T) {
	v := newVirtual(t, good("a", 20), good("b", 10))
	tu, in := v.looked()
	var got []string
	for _, p := range choices(in, remedy.PlanAll(in).Plans, tu.schedule.learned.outlook(time.Second, tu.Rule)) {
		got = append(got, p.ID)
	}
	if want := "group:v.a:on+v.b:on v.a:on v.b:on"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What made way for others goes on alone: in a group it would begin anew.
func TestWhatMadeWayIsNotJoined(t *testing.T) {
	v := newVirtual(t, good("a", 20), good("b", 10))
	tu, in := v.looked()
	o := tu.schedule.learned.outlook(time.Second, tu.Rule)
	o.opened = map[string]opened{"v.a:on": {effect: 0.008, pairs: 40}, "v.b:on": {effect: 0.008, pairs: 40}}
	for _, p := range choices(in, remedy.PlanAll(in).Plans, o) {
		if len(p.Parts) > 0 {
			t.Errorf("%s is tried", p.ID)
		}
	}
}

// A half of a group that could bring too little by itself does not end the
// session: what is not in the group comes to turn.
func TestHalfNotWorthATry(t *testing.T) {
	v := newVirtual(t, knob{name: "a", factor: 1, bound: 1.5, reach: 0.5}, knob{name: "b", factor: 1, bound: 1.4, reach: 0.5},
		knob{name: "c", factor: 1, bound: 1.004, reach: 0.5}, knob{name: "d", factor: 1.3, bound: 1.2, reach: 0.1})
	v.alone("d")
	session, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(session.ID)
	if v.on() != "d" || session.StopReason == store.StopBudget {
		t.Errorf("on: %q, stopped: %s", v.on(), session.Stopped)
	}
}

// What is left of a group that did harm: the halves of the half that must hold
// it, if the other is harmless.
func TestHalves(t *testing.T) {
	part := func(id string, bound float64) remedy.Part { return remedy.Part{ID: id, Bound: bound, Reach: 1} }
	group := step("regressed", part("a", 1.4), part("d", 1.1), part("b", 1.3), part("c", 1.2))
	var h halves
	h.after(group)
	if len(h) != 2 || strings.Join(h[0].ids, "") != "ab" || strings.Join(h[1].ids, "") != "cd" {
		t.Fatalf("%+v", h)
	}
	kept := step("improved", part("a", 1.4), part("b", 1.3))
	kept.Kept = true
	h.after(kept)
	if len(h) != 2 || strings.Join(h[0].ids, "") != "c" || strings.Join(h[1].ids, "") != "d" || h[0].bad {
		t.Fatalf("the other half is not divided at once: %+v", h)
	}
	h.after(step("regressed", part("c", 1.2)))
	if len(h) != 1 || h[0].bad || !h.holds("d") || h.holds("c") {
		t.Fatalf("%+v", h)
	}
	small := step("no difference", part("a", 1), part("b", 1))
	for i := range small.Plan.Parts {
		small.Plan.Parts[i].Small = true
	}
	h = nil
	if h.after(small); len(h) != 0 {
		t.Errorf("small ones without effect are split: %+v", h)
	}
	small.Verdict.Outcome = "broke answers"
	if h.after(small); len(h) != 2 {
		t.Errorf("small ones that broke answers are not split: %+v", h)
	}
}

// Of a group that made requests fail, what lets transactions deadlock is left out first.
func TestDeadlocksAreLeftOutFirst(t *testing.T) {
	part := func(id, of string, bound float64, deadlocks bool) remedy.Part {
		return remedy.Part{ID: id, Remedy: of, Bound: bound, Reach: 1, Deadlocks: deadlocks}
	}
	group := func(outcome experiment.Outcome) *store.Step {
		return step(outcome, part("w", "nginx.workers", 1.2, false), part("d", "mariadb.index", 2.9, true), part("i", "mariadb.index", 1.9, false), part("k", "nginx.keepalive", 1.3, false))
	}
	var h halves
	h.after(group(experiment.Broke))
	if len(h) != 2 || strings.Join(h[0].ids, "") != "wik" || strings.Join(h[1].ids, "") != "d" {
		t.Fatalf("it made requests fail: %+v", h)
	}
	h = nil
	h.after(group(experiment.Regressed)) // slower is not what a deadlock does
	if len(h) != 2 || strings.Join(h[0].ids, "") != "di" {
		t.Fatalf("it was slower: %+v", h)
	}
}

// When something beside an index hurts, the index is parted from all else first.
func TestTheLeadIsPartedFirst(t *testing.T) {
	part := func(id, of string, bound float64) remedy.Part {
		return remedy.Part{ID: id, Remedy: of, Bound: bound, Reach: 1}
	}
	var h halves
	h.after(step("regressed", part("w", "nginx.workers", 1.2), part("i", "mariadb.index", 2.9), part("k", "nginx.keepalive", 1.3),
		part("j", "mariadb.index", 1.1), part("c", "php.children", 1.25)))
	if len(h) != 2 || strings.Join(h[0].ids, "") != "ij" || strings.Join(h[1].ids, "") != "kcw" {
		t.Fatalf("%+v", h)
	}
	// What is harmless leaves the guilty in the other half, which is parted evenly.
	kept := step("improved", part("i", "mariadb.index", 2.9), part("j", "mariadb.index", 1.1))
	kept.Kept = true
	h.after(kept)
	if len(h) != 2 || strings.Join(h[0].ids, "") != "kc" || strings.Join(h[1].ids, "") != "w" {
		t.Fatalf("%+v", h)
	}
}

// Of a group that somebody undid in part only that part is not tried again: the
// others are tried without it, in one experiment and not in halves.
func TestUndonePartLeavesTheOthers(t *testing.T) {
	v := newVirtual(t, good("a", 40), good("b", 30), good("c", 20), good("d", 15))
	made := (*virtual).run
	tu := v.tuner()
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		for _, st := range v.steps(v.session()) {
			for _, p := range st.Plan.Parts {
				if o.Step == st.ID && v.isOn()["b"] && p.ID == "v.b:on" { // as if a reset had undone it
					return nil, errors.Join(experiment.ErrCandidate, &NotInForceError{When: "after load.reset", Drifts: []change.Drift{{Change: p.First, Object: "b"}}})
				}
			}
		}
		return made(v, ctx, o)
	}
	s, err := tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(s.ID)
	steps := v.steps(s.ID)
	if v.on() != "a c d" || len(steps) < 2 || len(steps[0].Plan.Parts) != 4 || len(steps[1].Plan.Parts) != 3 || !steps[1].Kept {
		t.Errorf("on: %q; %d steps", v.on(), len(steps))
	}
	for _, p := range steps[0].Plan.Parts {
		if p.Undone != (p.ID == "v.b:on") {
			t.Errorf("%s: undone %v", p.ID, p.Undone)
		}
	}
}

// step is a finished one about these parts.
func step(outcome experiment.Outcome, parts ...remedy.Part) *store.Step {
	p := remedy.Plan{ID: parts[0].ID, Parts: parts}
	if len(parts) == 1 {
		p.Parts = nil
	}
	return &store.Step{Plan: p, Started: time.Now(), Ended: time.Now(), Verdict: experiment.Verdict{Outcome: outcome}}
}

// A group that showed nothing is not tried again as it was while the same binds; its
// parts are.
func TestTheSameGroupIsTriedOnce(t *testing.T) {
	v := newVirtual(t)
	tu := v.tuner()
	tu.seen.diag, tu.schedule.tried = &diagnose.Diagnosis{Binds: "cpu: app"}, map[string]attempt{}
	a, b := remedy.Plan{ID: "v.a:on", Remedy: "v.a", Bound: 2, Reach: 0.5}, remedy.Plan{ID: "v.b:on", Remedy: "v.b", Bound: 2, Reach: 0.5}
	group := remedy.Plan{ID: "group:v.a:on+v.b:on", Remedy: remedy.GroupID, Bound: 4, Parts: []remedy.Part{{ID: a.ID, Remedy: a.Remedy, Bound: 2, Reach: 0.5}, {ID: b.ID, Remedy: b.Remedy, Bound: 2, Reach: 0.5}}}
	plans := []remedy.Plan{group, a, b}
	o := tu.outlook()
	pick := func() *remedy.Plan {
		p, _ := tu.schedule.pick(tu.moment(), tu.seen.diag.Binds, plans, o)
		return p
	}
	if first := pick(); first == nil || first.ID != group.ID {
		t.Fatalf("%+v", first)
	}
	tu.schedule.remember(&store.Step{Plan: group, Binding: "cpu: app", Ended: time.Now(), Verdict: experiment.Verdict{Outcome: experiment.NoDifference, Pairs: 6}})
	if then := pick(); then == nil || then.ID != a.ID {
		t.Errorf("%+v", then)
	}
	tu.seen.diag.Binds = "locks: db"
	if then := pick(); then == nil || then.ID != group.ID {
		t.Errorf("when something else binds: %+v", then)
	}
}

// What edits a kept change is tried by itself, also in what plan shows.
func TestWhatRetouchesIsNotJoined(t *testing.T) {
	v := newVirtual(t, good("a", 20))
	tu := v.tuner()
	if _, err := tu.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := tu.Exec.Kept()
	if len(kept) != 1 {
		t.Fatalf("%d changes are kept", len(kept))
	}
	tx, err := tu.Exec.Load(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	c := tx.Changes[0]
	c.Before, c.After = c.After, c.Before
	c.BeforeValue, c.AfterValue = c.AfterValue, c.BeforeValue
	other := c
	other.Path, other.Variable = "/etc/other.conf", "other"
	for i, p := range tu.retouching([]remedy.Plan{{Changes: []change.Change{c}}, {Changes: []change.Change{other}}}) {
		if p.Alone != (i == 0) || remedy.Joinable(p) != (i == 1) {
			t.Errorf("plan %d: alone %v, joinable %v", i, p.Alone, remedy.Joinable(p))
		}
	}
}
