package tune

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// compiledSuffixes are of sources that nothing runs as they are.
var compiledSuffixes = []string{".go", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".java", ".kt", ".scala", ".cs", ".fs", ".swift", ".zig", ".d", ".hs", ".cr", ".nim"}

// takesEffect turns the files of a patch into changes after which the applications run
// what the patch says: those of an application that is built become a commit in its
// checkout, built and restarted; of any other the process that holds the old files in
// its memory is told. It is an error where the old program would be judged instead.
// With its own commands a proposal says itself what is to be done.
func (t *Tuner) takesEffect(ctx context.Context, p Proposal, files []change.Change) ([]change.Change, error) {
	if p.Apply != "" {
		return files, nil
	}
	var out []change.Change
	built := map[string]*checkout{} // by host and top
	patches := map[string][]change.Change{}
	var order []string
	var tell []*stack.Service
	for _, f := range files {
		app := t.appOf(f)
		c, err := t.builtFrom(ctx, app, f)
		if err != nil {
			return nil, err
		}
		if c != nil {
			key := c.name + "\x00" + c.top
			if built[key] == nil {
				built[key] = c
				order = append(order, key)
			}
			patches[key] = append(patches[key], f)
			continue
		}
		if app != nil && !slices.Contains(tell, app) && !isTold(p, app) {
			tell = append(tell, app)
		}
		out = append(out, f)
	}
	for _, key := range order {
		c := built[key]
		diff, err := rerooted(ctx, c, patches[key])
		if err != nil {
			return nil, err
		}
		changes, err := c.patchedBy(diff, p.words())
		if err != nil {
			return nil, fmt.Errorf("try: %w", err)
		}
		out = append(out, changes...)
	}
	tell = slices.DeleteFunc(tell, func(app *stack.Service) bool { // with its build
		return slices.ContainsFunc(order, func(key string) bool { return slices.Contains(built[key].apps, app) })
	})
	return append(out, t.telling(tell)...), nil
}

// telling are the changes that have applications read their files again, as far as
// Kasoku may.
func (t *Tuner) telling(apps []*stack.Service) []change.Change {
	var out []change.Change
	for _, app := range apps {
		acts := told(app.HostName(), []*stack.Service{app})
		// PHP looks at its files again by itself, after opcache.revalidate_freq at most.
		if lacking := change.Lacking(t.Stack, t.Rights, acts); app.RunsIn != "" && lacking != nil {
			t.UI.Info(fmt.Sprintf("%s is not reloaded for the patch: %v", app.RunsIn, lacking))
			continue
		}
		out = append(out, acts...)
	}
	return out
}

// builtFrom is the checkout in which a file of the patch is built; nil if it is used as it
// is: a source that an interpreter reads, or a setting beside sources that git ignores.
func (t *Tuner) builtFrom(ctx context.Context, app *stack.Service, f change.Change) (*checkout, error) {
	hasBuild := app != nil && app.Build != nil && len(app.Build.Command) > 0
	if hasBuild {
		c, err := t.checkoutOf(ctx, app.Name)
		if err == nil && !c.holds(filepath.Dir(f.Path)) {
			err = fmt.Errorf("%s is not in %s", f.Path, c.top)
		}
		if err != nil {
			return nil, fmt.Errorf("try: %s is built (build: in %s), and %s lies in no git checkout of it, so the patch cannot be built and taken back; use --apply and --undo with the build: %w", app.Name, t.Stack.Path, f.Path, err)
		}
		if f.Before.Hash == "" || c.tracks(ctx, f.Path) {
			return c, nil
		}
	}
	switch {
	case !slices.Contains(compiledSuffixes, strings.ToLower(filepath.Ext(f.Path))):
		return nil, nil
	case hasBuild:
		return nil, fmt.Errorf("try: %s is compiled, and git does not track it, so it cannot be built and taken back; add it, or use --apply and --undo with the build", f.Path)
	case app != nil:
		return nil, fmt.Errorf(notBuilt, f.Path, app.Name, sourceOf(app), t.Stack.Path)
	}
	return nil, fmt.Errorf(notBuilt, f.Path, "the application", filepath.Dir(f.Path), t.Stack.Path)
}

// notBuilt is said of a file, its application, the application's folder and kasoku.yaml.
const notBuilt = "try: %s is compiled, and nothing says how %s is built: the program as it is now would be judged; write build: {dir: %s, command: […], products: […]} of it in %s, or use --apply and --undo with the build"

// tracks reports whether git has a file of the checkout.
func (c *checkout) tracks(ctx context.Context, file string) bool {
	_, err := c.git(ctx, "ls-files", "--error-unmatch", "--", c.relative(file))
	return err == nil
}

// isTold reports whether the proposal itself restarts or reloads an application, or
// what runs it.
func isTold(p Proposal, app *stack.Service) bool {
	for _, name := range slices.Concat(p.Restart, p.Reload) {
		if name == app.Name || app.RunsIn != "" && name == app.RunsIn {
			return true
		}
	}
	return false
}

// appOf is the application that a file is a source of: the innermost folder that holds
// it. nil if there is none.
func (t *Tuner) appOf(f change.Change) *stack.Service {
	var best *stack.Service
	for _, app := range t.Stack.OfKind(stack.App) {
		dir := sourceOf(app)
		if dir == "" || app.HostName() != hostNameOf(f.Host) || !within(f.Path, dir) && !(onThisMachine(f.Host) && within(resolved(f.Path), resolved(dir))) {
			continue
		}
		if best == nil || len(dir) > len(sourceOf(best)) {
			best = app
		}
	}
	return best
}

// hostNameOf a change: "" is this machine.
func hostNameOf(name string) string {
	if name == "" {
		return stack.LocalHost
	}
	return name
}

// rerooted is the patch as a diff from the top of a checkout.
func rerooted(ctx context.Context, c *checkout, files []change.Change) ([]byte, error) {
	work, err := os.MkdirTemp("", "kasoku-patch-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	for _, f := range files {
		rel := c.relative(f.Path)
		for side, st := range map[string]*change.FileState{"a": f.Before, "b": f.After} {
			if st == nil || st.Hash == "" {
				continue
			}
			to := filepath.Join(work, side, rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return nil, err
			}
			if err := os.WriteFile(to, st.Content, 0o600|st.Mode&0o100); err != nil {
				return nil, err
			}
		}
	}
	for _, side := range []string{"a", "b"} { // a side may have no file
		if err := os.MkdirAll(filepath.Join(work, side), 0o700); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-prefix", "--binary", "--no-color", "--no-ext-diff", "a", "b")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(work, ".none"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output() // 1: they differ
	if len(out) == 0 {
		return nil, fmt.Errorf("try: git diff of the patched files tells no difference (%w)", err)
	}
	return out, nil
}
