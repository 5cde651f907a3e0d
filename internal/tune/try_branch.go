package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// checkout is a git checkout with the applications that are in it.
type checkout struct {
	host host.Host
	name string // of the host
	top  string
	apps []*stack.Service
}

// gitLimit of one reading git command: they take milliseconds, on a huge
// repository seconds.
const gitLimit = time.Minute

// moved adds the change that moves the application's checkout to a commit,
// builds it and restarts its services.
func (t *Tuner) moved(ctx context.Context, p Proposal, plan *proposed) error {
	c, err := t.checkout(ctx, p)
	if err != nil {
		return err
	}
	if p.Confined && len(c.apps) == 0 {
		return fmt.Errorf("try: no application of %s lies in %s; name its folder as root or build.dir there", t.Stack.Path, c.top)
	}
	if strings.HasPrefix(p.Rev, "-") {
		return fmt.Errorf("try: %q is no branch, tag or commit", p.Rev)
	}
	after, err := c.git(ctx, "rev-parse", "--verify", "--quiet", p.Rev+"^{commit}")
	if err != nil {
		return fmt.Errorf("try: %s has no branch, tag or commit %s (Kasoku does not fetch: run git fetch there first)", c.top, p.Rev)
	}
	before, err := c.git(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return fmt.Errorf("try: %s has no commit yet: %w", c.top, err)
	}
	if after == before {
		return fmt.Errorf("try: %s is what %s has checked out already; there is nothing to compare it with", p.Rev, c.top)
	}
	names, err := c.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		if name != "" && onThisMachine(c.name) {
			plan.writes = append(plan.writes, filepath.Join(c.top, name))
		}
	}
	diff, err := c.git(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-color", before, after)
	if err != nil {
		return err
	}
	plan.diff = &store.Diff{Kind: "file", Title: fmt.Sprintf("%s (%.12s)", p.Rev, after), Text: change.Redact(shortened(diff))}
	plan.Changes = append(plan.Changes, c.change(after, plan.Why)...)
	if plan.Title == "" {
		plan.Title = fmt.Sprintf("%s (%.12s)", p.Rev, after)
	}
	return nil
}

// mostDiff of a commit is stored and printed, in bytes; the commit itself tells
// the rest.
const mostDiff = 64 << 10

func shortened(diff string) string {
	if len(diff) <= mostDiff {
		return diff
	}
	return strings.ToValidUTF8(diff[:mostDiff], "") + "\n… the rest is left out: git diff shows it\n"
}

// checkout finds the one that a proposal is about: that which holds Dir, or
// the folder of the only application that has one.
func (t *Tuner) checkout(ctx context.Context, p Proposal) (*checkout, error) {
	if p.Dir == "" {
		var dirs []string
		for _, app := range t.Stack.OfKind(stack.App) {
			if dir := sourceOf(app); dir != "" {
				dirs, p.Dir, p.Host = append(dirs, dir), dir, app.HostName()
			}
		}
		if len(dirs) != 1 {
			return nil, fmt.Errorf("try: which checkout is to be moved? %s has %d applications with a root or build.dir; name the folder with --dir", t.Stack.Path, len(dirs))
		}
	}
	hostName, dir, err := t.place(p)
	if err != nil {
		return nil, err
	}
	c := &checkout{host: t.Bench.Hosts[hostName], name: hostName, top: dir}
	top, err := c.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("try: %s is in no git checkout: %w", dir, err)
	}
	c.top = top
	for _, app := range t.Stack.OfKind(stack.App) {
		if dir := sourceOf(app); dir != "" && app.HostName() == hostName && c.holds(dir) {
			c.apps = append(c.apps, app)
		}
	}
	return c, nil
}

// holds reports whether a folder is in the checkout. git tells its top without
// symbolic links.
func (c *checkout) holds(dir string) bool {
	return within(dir, c.top) || onThisMachine(c.name) && within(resolved(dir), resolved(c.top))
}

// sourceOf an application is the folder that it is built in, or runs from.
func sourceOf(app *stack.Service) string {
	if app.Build != nil && app.Build.Dir != "" {
		return app.Build.Dir
	}
	return app.Root
}

// change is the commit with every build, taken on by the first application, and
// the restarts of the others.
func (c *checkout) change(commit, why string) []change.Change {
	g := &change.Git{Dir: c.top, Rev: commit}
	var script strings.Builder
	for _, app := range c.apps {
		if app.Build == nil || len(app.Build.Command) == 0 {
			continue
		}
		sub := c.relative(app.Build.Dir)
		fmt.Fprintf(&script, "(cd %s && %s)\n", quoted(sub), quoted(app.Build.Command...))
		for _, p := range app.Build.Products {
			g.Products = append(g.Products, filepath.Join(sub, p))
		}
	}
	if script.Len() > 0 {
		g.Build = []string{"sh", "-ec", script.String()}
	}
	out := []change.Change{{Kind: change.KindGit, Host: c.name, Why: why, Git: g}}
	for i, app := range c.apps {
		// The runner of an application without processes of its own is told, too:
		// PHP keeps compiled files until it is restarted, if it does not look.
		act := change.Change{Kind: change.KindRestart, Host: c.name, Service: app.Name, Activate: change.Restart}
		if app.RunsIn != "" {
			act.Activate = change.Reload
		}
		if i == 0 {
			out[0].Service, out[0].Activate = act.Service, act.Activate
			continue
		}
		out = append(out, act)
	}
	return out
}

func (c *checkout) relative(dir string) string {
	for _, d := range []string{dir, resolved(dir)} {
		if rel, err := filepath.Rel(c.top, d); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return dir
}

// quoted is a command as the shell reads it.
func quoted(argv ...string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// git reads from the checkout, whoever owns it: nothing that its configuration
// names is run.
func (c *checkout) git(ctx context.Context, args ...string) (string, error) {
	argv := append([]string{"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C",
		"git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", c.top}, args...)
	r, err := c.host.Run(ctx, host.Command{Argv: argv, Timeout: gitLimit})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(append(r.Stderr, r.Stdout...)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], c.top, err)
	}
	return strings.TrimRight(string(r.Stdout), "\n"), nil
}
