package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// A session whose Kasoku was killed is shown as interrupted at once, and is
// stored so by the next command that has the lease.
func TestKilledSessionIsTold(t *testing.T) {
	dir := undoProject(t)
	file := filepath.Join(dir, "kasoku.yaml")
	st, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Hour)
	if err := st.SaveSession(&store.Session{Command: "try", Stack: "x", State: "running", Started: began}); err != nil {
		t.Fatal(err)
	}
	if err := st.SaveStep(&store.Step{Session: 1, Seq: 1, Started: began, Ended: began.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		t.Helper()
		s, err := st.Session(1)
		if err != nil {
			t.Fatal(err)
		}
		return s.State + ": " + s.Stopped
	}
	said := func(code int, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if got := run(append([]string{"-f", file}, args...), &out, &errs); got != code {
			t.Errorf("%v ended with %d, want %d: %s", args, got, code, &errs)
		}
		return out.String() + errs.String()
	}
	if text := said(ui.OK, "history"); !strings.Contains(text, "try  interrupted") {
		t.Errorf("history shows:\n%s", text)
	}
	said(ui.OK, "verify")
	said(ui.OK, "undo", "--all")
	if got := state(); got != "interrupted: Kasoku was killed" {
		t.Errorf("it is stored as %q", got)
	}
	if s, err := st.Session(1); err != nil || s.Worked != time.Minute {
		t.Errorf("it worked for %s, %v", s.Worked, err)
	}
	// One that runs has the lease.
	if err := st.SaveSession(&store.Session{ID: 1, Command: "try", Stack: "x", State: "running"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := host.NewLocal().Lock(t.Context(), filepath.Join(dir, ".kasoku", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if text := said(ui.OK, "history"); !strings.Contains(text, "try  running") {
		t.Errorf("while it runs history shows:\n%s", text)
	}
	said(ui.Busy, "undo", "--all")
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestErrorsOfUse: each wrong input has the code of the guide's table and a
// hint of its own.
func TestErrorsOfUse(t *testing.T) {
	for _, row := range []struct {
		err  error
		code int
		hint string
	}{
		{fmt.Errorf("load: %w", load.ErrNotAllowed), ui.BadInput, "load.allow"},
		{fmt.Errorf("run: %w", &tune.ResetError{Err: errors.New("load.reset (x) ended with 1")}), ui.Target, "by hand"},
		{verdictError(experiment.Verdict{Outcome: experiment.Failed, Refused: true}), ui.BadInput, "own check"},
		{verdictError(experiment.Verdict{Outcome: experiment.Failed}), ui.Target, ""},
		{(&TryCmd{}).complete(), ui.Usage, "kasoku try --help"},
		{(&TryCmd{Set: []string{"a.b=c"}, Apply: "x"}).complete(), ui.Usage, "kasoku try --help"},
	} {
		if err := targetError(row.err); ui.Code(err) != row.code || !strings.Contains(ui.Hint(err), row.hint) {
			t.Errorf("%v: code %d, hint %q; want %d, %q", row.err, ui.Code(err), ui.Hint(err), row.code, row.hint)
		}
	}
	left := errors.Join(context.Canceled, errors.New("put back the baseline: a.conf was changed by someone else"))
	if err := leftOr(targetError, left, true); ui.Code(err) != ui.NeedsRecovery || errors.Is(err, context.Canceled) || ui.Hint(err) != "kasoku recover" || !strings.Contains(err.Error(), "a.conf") {
		t.Errorf("interrupted, with something left: %v, code %d, hint %q", err, ui.Code(err), ui.Hint(err))
	}
	if err := leftOr(targetError, left, false); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted, with nothing left: %v", err)
	}
	// The result above a failed try's error has its reason, unless it is JSON.
	failed := experiment.Verdict{Outcome: experiment.Failed, Reason: "no such key"}
	for _, row := range []struct {
		json bool
		says string
	}{{false, "failed"}, {true, "failed: no such key"}} {
		err := (&App{cli: &CLI{JSON: row.json}}).told(failed)
		if err == nil || err.Error() != row.says || ui.Code(err) != ui.Target || ui.Hint(err) == "" {
			t.Errorf("JSON %t: %v, code %d, hint %q", row.json, err, ui.Code(err), ui.Hint(err))
		}
	}
	if err := (&App{cli: &CLI{}}).told(experiment.Verdict{Outcome: experiment.Improved}); err != nil {
		t.Errorf("what improved ends with %v", err)
	}
	dir := undoProject(t)
	for _, row := range []struct {
		args, says string
		code       int
	}{
		{"try", "nothing is proposed", ui.Usage},
		{"init --print --host h1 --host h1", "given twice", ui.Usage},
		{"digest --format bogus " + filepath.Join(dir, "a"), "is not known", ui.Usage},
		{"show #4", "edit b", ui.OK},
		{"show tx/4", "edit b", ui.OK},
		{"verify", "4 kept changes in force", ui.OK},
	} {
		var out, errs strings.Builder
		if code := run(append([]string{"-f", filepath.Join(dir, "kasoku.yaml")}, strings.Fields(row.args)...), &out, &errs); code != row.code || !strings.Contains(out.String()+errs.String(), row.says) {
			t.Errorf("kasoku %s ended with %d, want %d and %q\n%s%s", row.args, code, row.code, row.says, &out, &errs)
		}
	}
}

// TestCheckLooksAtTheScenario: that it cannot be read, and that nothing takes
// back what it does.
func TestCheckLooksAtTheScenario(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("app.ini", "x = 1\n")
	stack := "version: 1\nname: x\nservices: [{name: app, kind: app, settings: [app.ini], control: {method: command, start: [\"true\"], stop: [\"true\"], reload: [\"true\"]}}]\nload: {scenario: s.yaml, url: \"http://127.0.0.1:1\"%s}\n"
	scenario := "version: 1\nname: x\nsessions: [{name: a, steps: [{request: GET /}, {request: POST /login, route: POST /login (wrong)}]}]\n"
	for _, row := range []struct {
		reset, scenario, says string
		code                  int
	}{
		{"", scenario, "may change data (POST /login (wrong))", ui.OK},
		{", reset: [\"true\"]", scenario, "", ui.OK},
		{"", "version: 1\n", "s.yaml:1:1", ui.BadInput},
	} {
		write("kasoku.yaml", fmt.Sprintf(stack, row.reset))
		write("s.yaml", row.scenario)
		var out, errs strings.Builder
		code := run([]string{"-f", filepath.Join(dir, "kasoku.yaml"), "check"}, &out, &errs)
		text := out.String() + errs.String()
		if code != row.code || !strings.Contains(text, row.says) || row.says == "" && strings.Contains(text, "load.reset") {
			t.Errorf("reset %q: ended with %d\n%s", row.reset, code, text)
		}
	}
}
