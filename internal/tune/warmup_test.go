package tune

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/prove"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// shortOf is a check of a reboot after which the score was a share of before.
func shortOf(share float64) prove.Result {
	r := prove.Result{Check: prove.Restart, Outcome: prove.Held, Before: 100, After: 100 * share, Took: time.Second}
	if share < prove.KeptScore {
		r.Outcome, r.Failures, r.Problems = prove.Failed, 1, []prove.Problem{{What: "the score is less"}}
	}
	return r
}

// boots is a target whose score right after a reboot depends on what is on.
type boots struct {
	*virtual
	tu      *Tuner
	reboots []string // what was on at each
	cold    []string // knobs that are planned against cold caches
}

// newBoots has a reboot leave share[what is on] of the score.
func newBoots(t *testing.T, share map[string]float64, cold ...string) *boots {
	var knobs []knob
	for _, name := range cold {
		// In pairs of runs it brings nothing, so it is not tried there.
		knobs = append(knobs, knob{name: name, factor: 1, bound: 1})
	}
	b := &boots{virtual: newVirtual(t, knobs...), cold: cold}
	b.tu = b.tuner()
	b.tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
		b.reboots = append(b.reboots, b.on())
		return []prove.Result{shortOf(share[b.on()])}, ctx.Err()
	}
	b.tu.standIns.colds = func(*diagnose.Reboot) []remedy.Plan {
		snap, err := evidence.Take(t.Context(), b.stack, map[string]host.Host{"local": host.NewLocal()}, evidence.TakeOptions{Brief: true})
		if err != nil {
			t.Fatal(err)
		}
		var out []remedy.Plan
		for _, k := range b.knobs {
			plans, err := b.planOf(k)(remedy.Input{Stack: b.stack, Snapshot: snap}, diagnose.Finding{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range plans {
				plans[i].Rule = "boot.cold"
			}
			out = append(out, plans...)
		}
		return out
	}
	return b
}

// What fills caches at boot is kept if the check of a reboot holds with it, and
// nothing of what was tried before it is left.
func TestWarmUpIsKeptIfTheRebootHolds(t *testing.T) {
	b := newBoots(t, map[string]float64{"": 0.8, "a": 0.82, "b": 0.97}, "a", "b")
	s, err := b.tu.Run(t.Context())
	if err != nil || s.State != "done" {
		t.Fatalf("%+v, %v", s, err)
	}
	b.tell(s.ID)
	if b.on() != "b" || strings.Join(b.reboots, ",") != ",a,b" {
		t.Errorf("%q is on; at the reboots %q was", b.on(), b.reboots)
	}
	if c := s.Checks[0]; c.Outcome != prove.Held || c.After != 97 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "Turn on b") {
		t.Errorf("the check that is stored: %+v", c)
	}
	steps := b.steps(s.ID)
	if len(steps) != 2 || steps[0].Kept || steps[0].Tx != 0 || steps[0].Verdict.Outcome != experiment.Inconclusive || !steps[1].Kept ||
		steps[1].Verdict.Outcome != experiment.Improved || steps[1].Verdict.BaselineScore != 80 || steps[1].Verdict.CandidateScore != 97 || steps[1].Ended.IsZero() {
		t.Errorf("%+v", steps)
	}
	if kept := b.exec.Kept(); len(kept) != 1 || kept[0].ID != steps[1].Tx {
		t.Errorf("in the journal: %+v", kept)
	}
}

// If none helps, all is as it was, and the check stays failed.
func TestWarmUpIsTakenBack(t *testing.T) {
	b := newBoots(t, map[string]float64{"": 0.8, "a": 0.9}, "a")
	before := b.text()
	s, err := b.tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Checks[0]; c.Outcome != prove.Failed || c.After != 80 || len(c.Notes) != 1 || b.text() != before || len(b.exec.Kept()) != 0 {
		t.Errorf("%+v; %q is on, kept %+v", c, b.on(), b.exec.Kept())
	}
}

// Where the score stays low, a setting is lost and no cache cold; where more
// than the score failed, or too little time is left, nothing is tried either.
func TestWarmUpIsNotCalledFor(t *testing.T) {
	for _, c := range []struct {
		about string
		with  func(b *boots)
	}{
		{"the score stays low", func(b *boots) {
			b.tu.standIns.proves = func(context.Context) ([]prove.Result, error) {
				r := shortOf(0.8)
				r.Before, r.After = 1000, 800 // runs bring 100 now
				b.reboots = append(b.reboots, b.on())
				return []prove.Result{r}, nil
			}
		}},
		{"a service did not come back", func(b *boots) {
			proves := b.tu.standIns.proves
			b.tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
				all, err := proves(ctx)
				all[0].Failures++
				return all, err
			}
		}},
		{"the check holds", func(b *boots) {
			b.tu.standIns.proves = func(context.Context) ([]prove.Result, error) {
				b.reboots = append(b.reboots, b.on())
				return []prove.Result{shortOf(0.96)}, nil
			}
		}},
		{"no time is left", func(b *boots) {
			proves := b.tu.standIns.proves
			b.tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
				b.tu.course.deadline = time.Now().Add(time.Second / 2)
				return proves(ctx)
			}
		}},
	} {
		t.Run(c.about, func(t *testing.T) {
			b := newBoots(t, map[string]float64{"": 0.8, "a": 0.99}, "a")
			c.with(b)
			s, err := b.tu.Run(t.Context())
			if err != nil || len(b.reboots) != 1 || b.on() != "" || len(b.steps(s.ID)) != 0 {
				t.Errorf("%v: reboots with %q, %q is on, steps %+v", err, b.reboots, b.on(), b.steps(s.ID))
			}
		})
	}
}

// A session that is ended amid the reboot leaves nothing behind.
func TestWarmUpInterrupted(t *testing.T) {
	b := newBoots(t, map[string]float64{"": 0.8, "a": 0.99}, "a")
	before := b.text()
	ctx, cancel := context.WithCancel(t.Context())
	proves := b.tu.standIns.proves
	b.tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
		if b.on() == "a" {
			cancel()
		}
		return proves(ctx)
	}
	s, err := b.tu.Run(ctx)
	if !errors.Is(err, context.Canceled) || s.StopReason != store.StopInterrupted || b.text() != before || len(b.exec.Kept()) != 0 {
		t.Errorf("%v, %s; %q is on", err, s.StopReason, b.on())
	}
	if st := b.steps(s.ID); len(st) != 1 || st[0].Kept || st[0].Verdict.Outcome != experiment.Inconclusive {
		t.Errorf("%+v", st)
	}
}

// What a killed session had in place for a reboot that nobody saw the end of is
// taken back before the service is judged.
func TestWarmUpAfterAKill(t *testing.T) {
	b := newBoots(t, map[string]float64{"": 0.8, "a": 0.97}, "a")
	ctx, cancel := context.WithCancel(t.Context())
	proves := b.tu.standIns.proves
	b.tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
		cancel()
		return nil, ctx.Err()
	}
	s, err := b.tu.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p := b.tu.standIns.colds(nil)[0]
	tx, err := b.exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Session: s.ID, Changes: p.Changes})
	if err == nil {
		err = b.exec.Keep(t.Context(), tx.ID)
	}
	if err == nil {
		err = b.store.SaveStep(&store.Step{Session: s.ID, Seq: 1, Started: time.Now(), Plan: p, Kept: true, Tx: tx.ID})
	}
	if err != nil || b.on() != "a" {
		t.Fatalf("%v; %q is on", err, b.on())
	}
	tu := b.tuner()
	tu.standIns.proves, tu.standIns.colds = proves, b.tu.standIns.colds
	if s, err = tu.Run(t.Context()); err != nil || s.State != "done" {
		t.Fatalf("%+v, %v", s, err)
	}
	steps := b.steps(s.ID)
	if strings.Join(b.reboots, ",") != ",a" || len(steps) != 2 || steps[0].Kept || steps[0].Verdict.Outcome != experiment.Inconclusive || !steps[1].Kept || len(b.exec.Kept()) != 1 {
		t.Errorf("reboots with %q, kept %+v, steps %+v", b.reboots, b.exec.Kept(), steps)
	}
}
