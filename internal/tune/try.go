package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Proposal is a change that somebody else made.
type Proposal struct {
	Title string
	Set   []string // service.key=value
	Patch string   // file with a unified diff
	Dir   string
	// Host that Dir and the commands are on; "": that of the app whose root
	// holds Dir, or the only one that there is.
	Host        string
	Apply, Undo string // shell commands
	Restart     []string
	Reload      []string
	Keep        bool
}

// ProposalError says why a proposal is not tried at all.
type ProposalError struct{ Err error }

func (e *ProposalError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ProposalError) Unwrap() error { return e.Err }

// Try judges a proposal by the same rule as the loop's own plans. Unless Keep
// is set the target is put back even if it improved.
func (t *Tuner) Try(ctx context.Context, p Proposal) (*store.Step, error) {
	plan, err := t.plan(ctx, p)
	if err != nil {
		return nil, &ProposalError{err}
	}
	if why := remedy.Forbidden(t.Stack.Regulation, plan); why != "" {
		return nil, &ProposalError{fmt.Errorf("the regulation refuses it: %s", why)}
	}
	if err := change.Lacking(t.Stack, t.Rights, plan.Changes); err != nil {
		return nil, &ProposalError{err}
	}
	t.workload = t.Bench.Users()
	t.session = &store.Session{Command: "try", Stack: t.Stack.Name, Started: time.Now(), State: "running", AsFoundWorkload: t.workload, FinalWorkload: t.workload}
	if err := t.Store.SaveSession(t.session); err != nil {
		return nil, err
	}
	t.Bench.Session = t.session.ID
	t.putBack = !p.Keep
	step, err := t.try(ctx, plan, nil, "")
	t.session.Ended, t.session.State = time.Now(), "done"
	if err != nil {
		t.session.State, t.session.Stopped = "failed", err.Error()
	} else {
		t.session.AsFound, t.session.Final = step.Verdict.BaselineScore, step.Verdict.BaselineScore
		if step.Kept {
			t.session.Final = step.Verdict.CandidateScore
		}
	}
	return step, errors.Join(err, t.Store.SaveSession(t.session))
}

// plan turns a proposal into changes.
func (t *Tuner) plan(ctx context.Context, p Proposal) (remedy.Plan, error) {
	plan := remedy.Plan{Remedy: "proposal", Title: p.Title, Why: "proposed with kasoku try", Bound: 1}
	if len(p.Set) == 0 && p.Patch == "" && p.Apply == "" {
		return plan, fmt.Errorf("try: nothing is proposed; use --set, --patch or --apply with --undo")
	}
	if (p.Apply == "") != (p.Undo == "") {
		return plan, fmt.Errorf("try: --apply and --undo go together, so that it can be taken away again")
	}
	snap, err := evidence.Take(ctx, t.Stack, t.Bench.Hosts, evidence.TakeOptions{})
	if err != nil {
		return plan, fmt.Errorf("read the configuration: %w", err)
	}
	t.Bench.ConfigHash = snap.Hash()
	if len(p.Set) > 0 {
		sets, trades, err := remedy.Set(t.Stack, snap, p.Set)
		if err != nil {
			return plan, err
		}
		plan.Changes, plan.Trades = append(plan.Changes, sets...), trades
	}
	if p.Patch != "" {
		files, err := t.patched(ctx, p)
		if err != nil {
			return plan, err
		}
		plan.Changes = append(plan.Changes, files...)
	}
	if p.Apply != "" {
		hostName, dir, err := t.place(p)
		if err != nil {
			return plan, err
		}
		plan.Changes = append(plan.Changes, change.Change{Kind: change.KindExec, Host: hostName, Dir: dir, Why: plan.Why,
			Apply: []string{"sh", "-c", p.Apply}, Undo: []string{"sh", "-c", p.Undo}, Command: p.Apply})
	}
	acts, err := t.activations(p)
	if err != nil {
		return plan, err
	}
	plan.Changes = append(plan.Changes, acts...)
	if plan.Title == "" {
		plan.Title = strings.TrimSpace(strings.Join(append(append([]string{}, p.Set...), p.Patch, p.Apply), " "))
	}
	plan.ID = "try:" + plan.Title
	return plan, nil
}

func (t *Tuner) activations(p Proposal) ([]change.Change, error) {
	var out []change.Change
	add := func(names []string, act change.Activation) error {
		for _, n := range names {
			svc := t.Stack.Service(n)
			if svc == nil {
				return fmt.Errorf("try: no service %q in %s", n, t.Stack.Path)
			}
			out = append(out, change.Change{Kind: change.KindRestart, Host: svc.HostName(), Service: n, Activate: act})
		}
		return nil
	}
	return out, errors.Join(add(p.Reload, change.Reload), add(p.Restart, change.Restart))
}

// patched applies the diff to copies of the files that it names and returns
// the results as file changes, so that undo is by bytes.
func (t *Tuner) patched(ctx context.Context, p Proposal) ([]change.Change, error) {
	diff, err := os.ReadFile(p.Patch)
	if err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	names, err := patchedFiles(string(diff))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Patch, err)
	}
	work, err := os.MkdirTemp("", "kasoku-patch-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	hostName, dir, err := t.place(p)
	if err != nil {
		return nil, err
	}
	h := t.Bench.Hosts[hostName]
	before := map[string]*change.FileState{}
	for _, n := range names {
		st, err := fileState(ctx, h, filepath.Join(dir, n))
		if err != nil {
			return nil, err
		}
		before[n] = st
		if st.Hash == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Join(work, filepath.Dir(n)), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(work, n), st.Content, 0o600); err != nil {
			return nil, err
		}
	}
	abs, err := filepath.Abs(p.Patch)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "git", "apply", "-p1", "--whitespace=nowarn", abs)
	cmd.Dir = work
	// Outside any checkout, whatever the folder lies in.
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(work, ".none"), "GIT_CEILING_DIRECTORIES="+filepath.Dir(work))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the patch does not apply to %s: %s", dir, tail(out))
	}
	var out []change.Change
	for _, n := range names {
		c, err := patchedChange(hostName, filepath.Join(dir, n), filepath.Join(work, n), before[n])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func patchedChange(hostName, path, result string, before *change.FileState) (change.Change, error) {
	c := change.Change{Kind: change.KindFile, Host: hostName, Path: path, Before: before, Why: "proposed with kasoku try"}
	content, err := os.ReadFile(result)
	switch {
	case errors.Is(err, os.ErrNotExist):
		c.After = &change.FileState{}
	case err != nil:
		return c, err
	default:
		after := *before
		after.Content, after.Hash = content, host.HashOf(content)
		after.ModTime = time.Time{}
		if before.Hash == "" {
			after.Mode, after.UID, after.GID = 0o644, -1, -1
		}
		c.After = &after
	}
	return c, nil
}

// patchedFiles lists the files a unified diff changes, relative to -p1.
func patchedFiles(diff string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, line := range strings.Split(diff, "\n") {
		for _, prefix := range []string{"--- a/", "+++ b/"} {
			name, ok := strings.CutPrefix(line, prefix)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "\r"), "\t")
			if !filepath.IsLocal(name) {
				return nil, fmt.Errorf("it names %q, which lies outside the folder", name)
			}
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no file is named (lines that begin with --- a/ and +++ b/)")
	}
	return out, nil
}

func fileState(ctx context.Context, h host.Host, path string) (*change.FileState, error) {
	content, err := h.ReadFile(ctx, path)
	if errors.Is(err, os.ErrNotExist) {
		return &change.FileState{}, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := h.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	return &change.FileState{Hash: host.HashOf(content), Content: content, Mode: info.Mode.Perm(), UID: info.UID, GID: info.GID, ModTime: info.ModTime}, nil
}
