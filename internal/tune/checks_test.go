package tune

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/prove"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// warned remembers warnings.
type warned struct {
	quiet
	all []string
}

func (w *warned) Warn(problem, hint string) { w.all = append(w.all, problem+": "+hint) }

// The checks are the last thing that a session does, are stored with it, and a
// failed one is told; it does not make the session fail.
func TestChecksAtTheEnd(t *testing.T) {
	v := newVirtual(t, good("a", 20))
	tu, said := v.tuner(), &warned{}
	tu.UI = said
	results := []prove.Result{{Check: prove.Staleness, Outcome: prove.Held, Text: "fresh"},
		{Check: prove.Durability, Outcome: prove.Failed, Text: "lost", Problems: []prove.Problem{{What: "a write is lost", By: "db"}}, Failures: 1}}
	final := 0.0
	tu.standIns.proves = func(context.Context) ([]prove.Result, error) {
		final = tu.session.Final
		return results, nil
	}
	s, err := tu.Run(t.Context())
	if err != nil || s.State != "done" {
		t.Fatalf("%+v, %v", s, err)
	}
	if final == 0 || v.on() != "a" {
		t.Errorf("checked before the end: final score %v, on %q", final, v.on())
	}
	stored, err := v.store.Session(s.ID)
	if err != nil || len(stored.Checks) != 2 || stored.Checks[1].Problems[0].By != "db" {
		t.Errorf("%+v, %v", stored.Checks, err)
	}
	if len(said.all) != 1 || !strings.Contains(said.all[0], "the regulation does not hold: durability failed") || !strings.Contains(said.all[0], "kasoku undo") {
		t.Errorf("%q", said.all)
	}
}

// Checks that are cut off leave a session that can be taken up again.
func TestChecksInterrupted(t *testing.T) {
	v := newVirtual(t, good("a", 20))
	tu := v.tuner()
	ctx, cancel := context.WithCancel(t.Context())
	tu.standIns.proves = func(ctx context.Context) ([]prove.Result, error) {
		cancel()
		return nil, ctx.Err()
	}
	s, err := tu.Run(ctx)
	if !errors.Is(err, context.Canceled) || s.State != "interrupted" || s.StopReason != store.StopInterrupted {
		t.Errorf("%s, %s, %v", s.State, s.StopReason, err)
	}
}

// The walks as found and at the end take at most a twentieth of the budget.
func TestTakeTime(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{0: 20 * time.Second, time.Hour: 20 * time.Second, 10 * time.Minute: 6 * time.Second, time.Minute: 600 * time.Millisecond} {
		tu := &Tuner{Options: Options{Budget: budget}}
		got := tu.takeTime()
		if got != want || budget > 0 && 5*got > budget/20 {
			t.Errorf("budget %s: %s, want %s", budget, got, want)
		}
	}
}

// What a proposal is checked by is not its to change.
func TestChecksAreGuarded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"checks.yaml": "version: 1\nname: c\npools: {a: {file: a.csv}}\nsetup: [{request: POST /, draw: {x: a}}]\nsessions: [{steps: [{request: \"GET /${x.n}\"}]}]\n",
		"a.csv": "n\n1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range guardedFiles(&Bench{Stack: &stack.Stack{Dir: dir, Checks: stack.Checks{Scenario: filepath.Join(dir, "checks.yaml")}}}) {
		if filepath.Dir(f.path) == dir {
			got = append(got, filepath.Base(f.path))
		}
	}
	if strings.Join(got, " ") != "checks.yaml a.csv" {
		t.Errorf("guarded: %v", got)
	}
}
