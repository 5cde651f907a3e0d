package change

import (
	"context"
	"strings"
	"testing"
)

// Plans of further kinds that victim carries out, by the first word of its job,
// and what they need of the options.
var (
	plans  = map[string]func(l lab) []Change{}
	setups = map[string]func(l lab, o *Options){}
	// jobs of several transactions.
	jobs = map[string]func(ctx context.Context, x *Executor, l lab, fail func(error), count func()){}
)

// victimOf does the second word of a job: apply (and keep), or revert. It is
// killed at a step of that.
func victimOf(ctx context.Context, x *Executor, job string, plan []Change, fail func(error), count func()) {
	act := strings.SplitN(job, "-", 2)[1]
	if act == "apply" {
		count()
	}
	tx, err := x.Apply(ctx, Intent{Title: job, Changes: plan})
	fail(err)
	if act == "apply" {
		fail(x.Keep(ctx, tx.ID))
		return
	}
	count()
	fail(x.Revert(ctx, tx.ID))
}

// killedEverywhere kills a job before every step, recovers, and compares what
// seen tells. It returns how many steps there are.
func killedEverywhere(t *testing.T, l lab, job string, seen func() string) int {
	t.Helper()
	before := seen()
	options := func(dir string) Options {
		o := l.options(dir)
		if setup := setups[strings.Split(job, "-")[0]]; setup != nil {
			setup(l, &o)
		}
		return o
	}
	for step := 1; ; step++ {
		dir := l.project(t)
		name := l.kill(t, dir, job, step)
		x, err := Open(t.Context(), options(dir))
		must(t, err)
		if _, err := x.Recover(t.Context()); err != nil {
			t.Fatalf("killed before step %d (%s): recover: %v", step, name, err)
		}
		if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
			t.Fatalf("killed before step %d (%s): drift %v, %v", step, name, drift, err)
		}
		history := x.History()
		kept := len(history) > 0 && history[0].State == StateKept
		if now := seen(); (now == before) == kept {
			t.Fatalf("killed before step %d (%s), then recovered (%s):\n%s\nbefore:\n%s", step, name, states(history), now, before)
		}
		if kept {
			must(t, x.UndoAll(t.Context()))
			wantEqual(t, "undone", seen(), before)
		}
		must(t, x.Close())
		if name == "" {
			return step - 1
		}
	}
}
