package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// patched applies the diff to copies of the files that it names and returns
// the results as file changes, so that undo is by bytes.
func (t *Tuner) patched(ctx context.Context, p Proposal) ([]change.Change, error) {
	diff, title := p.Diff, "the patch"
	if p.Patch != "" {
		var err error
		if diff, err = os.ReadFile(p.Patch); err != nil {
			return nil, fmt.Errorf("read the patch: %w", err)
		}
		title = p.Patch
	}
	names, err := patchedFiles(string(diff))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", title, err)
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
		if err := copied(ctx, h, st, filepath.Join(dir, n), filepath.Join(work, n)); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "git", "apply", "-p1", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin = work, bytes.NewReader(diff)
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

// copied makes a copy for git to patch. A file that is not there yet needs its folder.
func copied(ctx context.Context, h host.Host, st *change.FileState, path, to string) error {
	if st.Hash == "" {
		if _, err := h.Stat(ctx, filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the patch makes a file in %s, which does not exist; make the folder first, or commit it and use --branch", filepath.Dir(path))
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, st.Content, 0o600|st.Mode&0o100)
}

func patchedChange(hostName, path, result string, before *change.FileState) (change.Change, error) {
	c := change.Change{Kind: change.KindFile, Host: hostName, Path: path, Before: before, Why: "proposed with kasoku try"}
	info, err := os.Lstat(result)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return c, fmt.Errorf("the patch removes %s, which cannot be tried as a patch; commit it and use --branch, or use --apply with --undo", path)
	case err != nil:
		return c, err
	case !info.Mode().IsRegular():
		// What a link leads to is not what the patch says.
		return c, fmt.Errorf("the patch makes %s a link; only regular files can be tried", path)
	}
	content, err := os.ReadFile(result)
	if err != nil {
		return c, err
	}
	after := *before
	after.Content, after.Hash = content, host.HashOf(content)
	after.ModTime = time.Time{}
	if before.Hash == "" {
		after.Mode, after.UID, after.GID = 0o644, -1, -1
	}
	if runs := info.Mode()&0o100 != 0; runs != (after.Mode&0o100 != 0) {
		after.Mode &^= 0o111
		if runs {
			after.Mode |= (after.Mode & 0o444) >> 2 // for whoever may read it
		}
	}
	c.After = &after
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
