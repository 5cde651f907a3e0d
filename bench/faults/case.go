package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kasoku/internal/change"
)

// victimEnv makes the program the process that runs into the fault.
const victimEnv = "KASOKU_FAULTS_CASE"

// task is what a victim is told.
type task struct {
	Kind    string `json:"kind"`
	Fault   string `json:"fault"`
	Step    int    `json:"step"` // 0: none; the steps are counted
	Project string `json:"project"`
	Target  access `json:"target"`
}

// caseLimit of one victim: a service that does not come up is waited for.
const caseLimit = 3 * time.Minute

// outcome of one case.
type outcome struct {
	step    string // before which the fault struck
	ended   string // how the victim ended
	state   string // of the transaction after recovery
	problem string // "" if nothing was lost
}

// victim opens the project, applies the kind's change and keeps it. Before the
// step it was told, the fault strikes. It prints the steps.
func victim(ctx context.Context, text string) int {
	var v task
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := v.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (v task) run(ctx context.Context) error {
	k, f := kindNamed(v.Kind), faultNamed(v.Fault)
	n := 0
	var s *session
	s, err := v.Target.open(ctx, v.Project, func(step string) {
		n++
		fmt.Println(step)
		if n == v.Step {
			f.strike(ctx, s, v, k)
		}
	})
	if err != nil {
		return err
	}
	defer s.close()
	changes := k.changes()
	if k.pack != nil {
		built, err := k.pack(ctx, s.exec)
		if err != nil {
			return err
		}
		for _, c := range changes {
			c.Ready.Built = built
		}
	}
	tx, err := s.exec.Apply(ctx, change.Intent{Title: v.Kind, Changes: changes})
	if err != nil {
		return err
	}
	return s.exec.Keep(ctx, tx.ID)
}

// start runs a victim; steps are those it came to.
func (v task) start(ctx context.Context) (steps []string, how string, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), victimEnv+"="+string(text))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	var errout strings.Builder
	c.Stderr = &errout
	out, err := c.Output()
	steps = strings.Fields(string(out))
	var exit *exec.ExitError
	switch {
	case err == nil:
		return steps, "kept", nil
	case ctx.Err() != nil:
		return steps, "", fmt.Errorf("it did not end within %s: %s", caseLimit, errout.String())
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return steps, "killed", nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return steps, "failed: " + strings.TrimSpace(errout.String()), nil
	}
	return steps, "", fmt.Errorf("%w: %s", err, errout.String())
}

// one runs a case: strike, heal, recover, compare.
func (t *target) one(ctx context.Context, k *kind, f *fault, step int, before, after string) (outcome, error) {
	project, err := os.MkdirTemp(t.dir, "p")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(project)
	v := task{Kind: k.name, Fault: f.name, Step: step, Project: filepath.Join(project, ".kasoku"), Target: t.access}
	if f.prepare != nil {
		if err := f.prepare(ctx, t, &v); err != nil {
			return outcome{}, err
		}
		defer f.clear(t, &v)
	}
	steps, ended, err := v.start(ctx)
	o := outcome{ended: ended}
	if step <= len(steps) && step > 0 {
		o.step = steps[step-1]
	}
	if err != nil {
		o.problem = err.Error()
	}
	if err := f.heal(ctx, t, v); err != nil {
		return o, fmt.Errorf("heal %s: %w", f.name, err)
	}
	if err := t.wait(ctx); err != nil {
		return o, err
	}
	if o.problem == "" {
		o.state, o.problem = t.recover(ctx, v, k, f, before, after)
	}
	return o, t.asFound(ctx, k, before, v, &o)
}

// recover does what the next Kasoku would and judges the end state.
func (t *target) recover(ctx context.Context, v task, k *kind, f *fault, before, after string) (state, problem string) {
	s, err := t.open(ctx, v.Project)
	if err != nil {
		return "", "open: " + err.Error()
	}
	defer s.close()
	_, failed := s.exec.Recover(ctx)
	now, err := t.see(ctx, k)
	if err != nil {
		return "", err.Error()
	}
	state = "none"
	if h := s.exec.History(); len(h) > 0 {
		state = h[len(h)-1].State
	}
	if f.edits {
		return state, t.judgeEdited(ctx, s, k, now, failed, before, after)
	}
	switch {
	case failed != nil:
		return state, "recover: " + failed.Error()
	case len(s.exec.Pending()) > 0:
		return state, "still pending after recovery"
	case state == change.StateKept && now != after:
		return state, "kept, but the target is not as kept:\n" + diff(after, now)
	case state != change.StateKept && now != before:
		return state, "put back, but the target is not as before:\n" + diff(before, now)
	}
	if drift, err := s.exec.Verify(ctx); err != nil || len(drift) > 0 {
		return state, fmt.Sprintf("verify: %v %v", drift, err)
	}
	return state, ""
}

// judgeEdited: someone else's edit is never overwritten. Where it came too
// early or too late to matter, the change is not there or kept.
func (t *target) judgeEdited(ctx context.Context, s *session, k *kind, now string, failed error, before, after string) string {
	theirs := k.edited(now)
	switch {
	case !theirs:
		return "someone else's edit is gone:\n" + now
	case failed == nil:
		return ""
	}
	var conflict *change.ConflictError
	if !errors.As(failed, &conflict) && !errors.Is(failed, change.ErrChanged) {
		return "recover: " + failed.Error()
	}
	for _, tx := range s.exec.Pending() {
		if err := s.exec.Abandon(ctx, tx.ID); err != nil {
			return "abandon: " + err.Error()
		}
	}
	return ""
}

// asFound makes the target as it was before the case, by undoing what was kept;
// and where that does not do, because something was lost or edited, by setting
// it up anew.
func (t *target) asFound(ctx context.Context, k *kind, before string, v task, o *outcome) error {
	if o.state == change.StateKept && o.problem == "" {
		s, err := t.open(ctx, v.Project)
		if err != nil {
			return err
		}
		err = s.exec.UndoAll(ctx)
		s.close()
		now, e := t.see(ctx, k)
		if e != nil {
			return e
		}
		if now == before && err == nil {
			return nil
		}
		if !faultNamed(v.Fault).edits {
			o.problem = fmt.Sprintf("undo of what was kept: %v\n%s", err, diff(before, now))
		}
	}
	if now, err := t.see(ctx, k); err != nil || now != before {
		if err := t.setUp(ctx, k); err != nil {
			return err
		}
		if now, err = t.see(ctx, k); err != nil {
			return err
		}
		if now != before {
			return fmt.Errorf("the target cannot be made as found:\n%s", diff(before, now))
		}
	}
	return nil
}

// diff shows the lines that differ.
func diff(want, got string) string {
	have := map[string]int{}
	for line := range strings.Lines(want) {
		have[line]++
	}
	var out strings.Builder
	for line := range strings.Lines(got) {
		if have[line]--; have[line] < 0 {
			out.WriteString("+ " + line)
		}
	}
	for line, n := range have {
		if n > 0 {
			out.WriteString("- " + line)
		}
	}
	return out.String()
}
