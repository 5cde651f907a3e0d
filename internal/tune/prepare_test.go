package tune

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// needing is a target with one plan whose switch needs two files beside.
func needing(t *testing.T, k knob) (v *virtual, beside []string) {
	v = newVirtual(t, k)
	beside = []string{filepath.Join(v.dir, "first"), filepath.Join(v.dir, "second")}
	plan := remedy.Table[0].Plan
	remedy.Table[0].Plan = func(in remedy.Input, f diagnose.Finding) ([]remedy.Plan, error) {
		plans, err := plan(in, f)
		for i := range plans {
			for _, path := range beside {
				plans[i].Prepare = append(plans[i].Prepare, []change.Change{{Kind: change.KindFile, Path: path, Before: &change.FileState{},
					After: &change.FileState{Hash: host.HashOf([]byte("x")), Content: []byte("x"), Mode: 0o644, UID: -1, GID: -1}}})
			}
		}
		return plans, err
	}
	return v, beside
}

func there(t *testing.T, paths []string) int {
	t.Helper()
	n := 0
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			n++
		}
	}
	return n
}

// What a switch needs is put in place once, is there in every run of the
// experiment, and is kept or taken away with the switch.
func TestPrepared(t *testing.T) {
	for _, c := range []struct {
		name string
		knob knob
		kept bool
	}{
		{"better", good("fast", 20), true},
		{"worse", knob{name: "slow", factor: 0.8, bound: 1.4, reach: 0.5}, false},
		{"wrong", knob{name: "wrong", factor: 1.2, bound: 1.4, reach: 0.5, breaks: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, beside := needing(t, c.knob)
			tuner := v.tuner()
			run := tuner.Bench.instead
			tuner.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
				if n := there(t, beside); o.Step != 0 && n != 2 {
					t.Errorf("%s: %d of the files are there", o.Label, n)
				}
				return run(ctx, o)
			}
			before := v.text()
			s, err := tuner.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v.tell(s.ID)
			steps := v.steps(s.ID)
			if len(steps) != 1 || steps[0].Kept != c.kept {
				t.Fatalf("%d steps", len(steps))
			}
			times := map[string]int{}
			for _, tx := range v.exec.History() {
				times[tx.Plan]++
				if tx.Pending() {
					t.Errorf("tx %d (%s) is %s", tx.ID, tx.Title, tx.State)
				}
			}
			if n := times[change.Prepares(steps[0].Plan.ID)]; n != 2 {
				t.Errorf("it was prepared by %d transactions, want 2: %v", n, times)
			}
			want, text := 0, before
			if c.kept {
				want, text = 2, strings.Replace(before, "off", "on", 1)
			}
			if n := there(t, beside); n != want || v.text() != text {
				t.Errorf("%d files are left, want %d; the switch is %q", n, want, v.text())
			}
			if !c.kept {
				return
			}
			// Undone all together, nothing of it is left.
			if err := v.exec.UndoAll(t.Context()); err != nil || there(t, beside) != 0 || v.text() != before {
				t.Errorf("undone: %v, %d files, %q", err, there(t, beside), v.text())
			}
		})
	}
}

// Preparing that fails ends the step, and the session goes on.
func TestPrepareFails(t *testing.T) {
	v, beside := needing(t, good("fast", 20))
	if err := os.WriteFile(beside[1], []byte("somebody's"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := v.text()
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps := v.steps(s.ID)
	if len(steps) != 1 || steps[0].Kept || steps[0].Verdict.Outcome != experiment.Failed || !strings.Contains(steps[0].Verdict.Reason, beside[1]) {
		t.Errorf("%+v", steps)
	}
	if there(t, beside[:1]) != 0 || v.text() != before || len(v.exec.Pending()) > 0 {
		t.Error("something is left")
	}
}

// strideOfKills: of some 150 steps of the journal in such a session, a prime
// apart, so that every kind of step comes up.
const strideOfKills = 13

// A session that is killed anywhere recovers to nothing prepared and nothing
// switched, or to both kept; taken up again it ends with both.
func TestPreparedAndKilled(t *testing.T) {
	await.SkipShort(t)
	for at := 1; ; at += strideOfKills {
		v, beside := needing(t, good("fast", 20))
		before := v.text()
		killed := killedAt(t, v, at)
		v.close()
		v.open()
		if _, err := v.exec.Recover(t.Context()); err != nil {
			t.Fatalf("killed before step %d: %v", at, err)
		}
		// Between keeping what prepares and the switch, only that is there.
		n, on := there(t, beside), v.text() != before
		if on && n != 2 || !killed && !on {
			t.Fatalf("killed before step %d: %d files, switched %v", at, n, on)
		}
		if s, err := v.store.LastSession(); err == nil && s.State == "running" {
			s.State = "interrupted"
			if err := v.store.SaveSession(s); err != nil {
				t.Fatal(err)
			}
		}
		if !on {
			if _, err := v.tuner().Run(t.Context()); err != nil {
				t.Fatalf("killed before step %d, taken up again: %v", at, err)
			}
			if n := there(t, beside); n != 2 || v.text() == before {
				t.Fatalf("killed before step %d, taken up again: %d files, switched %v", at, n, v.text() != before)
			}
		}
		if err := v.exec.UndoAll(t.Context()); err != nil || there(t, beside) != 0 || v.text() != before {
			t.Fatalf("killed before step %d, undone: %v", at, err)
		}
		if !killed {
			return
		}
	}
}

// killedAt runs a session that ends before a step of the journal, without any
// last words; false if it came to its own end before.
func killedAt(t *testing.T, v *virtual, at int) (killed bool) {
	t.Helper()
	n := 0
	v.trace = func(step string) {
		if n++; n >= at {
			panic(killedHere{step})
		}
	}
	defer func() {
		v.trace = nil
		if r := recover(); r != nil {
			if _, ok := r.(killedHere); !ok {
				panic(r)
			}
			killed = true
		}
	}()
	if _, err := v.tuner().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return false
}
