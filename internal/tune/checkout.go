package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// checkout is the git checkout that applications run from.
type checkout struct {
	host host.Host
	name string // of the host
	top  string
	head string // the commit that is checked out; only checkoutOf tells
	apps []*stack.Service
}

func (t *Tuner) checkoutOf(ctx context.Context, service string) (*checkout, error) {
	return checkoutOf(ctx, t.Stack, t.Bench.Hosts, service)
}

// checkoutOf finds the checkout of an app ("": of the only one there is), and
// all apps that run from it.
func checkoutOf(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, service string) (*checkout, error) {
	var all []*checkout
	var named *checkout
	var not []string
	for _, app := range st.OfKind(stack.App) {
		folder := sourceOf(app)
		c := &checkout{host: hosts[app.HostName()], name: app.HostName(), top: folder}
		if folder == "" || c.host == nil {
			not = append(not, app.Name+" has no root")
			continue
		}
		top, err := c.git(ctx, "rev-parse", "--show-toplevel")
		if err != nil {
			not = append(not, fmt.Sprintf("%s: %v", app.Name, err))
			continue
		}
		c.top = top
		if i := slices.IndexFunc(all, func(o *checkout) bool { return o.name == c.name && o.top == top }); i >= 0 {
			c = all[i]
		} else {
			all = append(all, c)
		}
		c.apps = append(c.apps, app)
		if app.Name == service {
			named = c
		}
	}
	switch {
	case service != "" && named == nil:
		return nil, fmt.Errorf("compare: %s is no app that runs from a git checkout%s", service, because(not))
	case service == "" && len(all) == 0:
		return nil, fmt.Errorf("compare: no app of %s runs from a git checkout%s; name its folder with services[].root", st.Path, because(not))
	case service == "" && len(all) > 1:
		return nil, fmt.Errorf("compare: there are %d checkouts; say with --service whose", len(all))
	case named == nil:
		named = all[0]
	}
	var err error
	named.head, err = named.commit(ctx, "HEAD")
	return named, err
}

func because(why []string) string {
	if len(why) == 0 {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// commit is the full name of what a reference points at.
func (c *checkout) commit(ctx context.Context, ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("compare: %q is no branch, tag or commit", ref)
	}
	name, err := c.git(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil || name == "" {
		return "", fmt.Errorf("compare: %s does not have %s; fetch it first (a shallow clone lacks old commits: git fetch --unshallow)", c.top, ref)
	}
	return name, nil
}

// writes are the files that differ between what is checked out and any of
// commits: those that putting one in place writes. Only files on this machine
// are told: the judge is here.
func (c *checkout) writes(ctx context.Context, commits ...string) ([]string, error) {
	if !onThisMachine(c.name) {
		return nil, nil
	}
	var out []string
	for _, commit := range commits {
		names, err := c.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", c.head, commit)
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
			if name != "" {
				out = append(out, filepath.Join(c.top, name))
			}
		}
	}
	return out, nil
}

// sourceOf an application is the folder that it is built in, or runs from.
func sourceOf(app *stack.Service) string {
	if app.Build != nil && app.Build.Dir != "" {
		return app.Build.Dir
	}
	return app.Root
}

// holds reports whether a folder is in the checkout. git tells its top without
// symbolic links.
func (c *checkout) holds(dir string) bool {
	return within(dir, c.top) || onThisMachine(c.name) && within(resolved(dir), resolved(c.top))
}

// recipe is one command that builds all apps of the checkout from its top, with
// what it makes; nil if there is nothing to build.
func (c *checkout) recipe() (command, products []string, err error) {
	var script strings.Builder
	for _, app := range c.apps {
		if app.Build == nil || len(app.Build.Command) == 0 {
			continue
		}
		sub := c.relative(app.Build.Dir)
		if !filepath.IsLocal(sub) {
			return nil, nil, fmt.Errorf("build.dir of %s, %s, is not inside its checkout %s", app.Name, app.Build.Dir, c.top)
		}
		fmt.Fprintf(&script, "(cd %s && %s)\n", quoted(sub), quoted(app.Build.Command...))
		for _, p := range app.Build.Products {
			products = append(products, filepath.Join(sub, p))
		}
	}
	if script.Len() == 0 {
		return nil, nil, nil
	}
	slices.Sort(products)
	return []string{"sh", "-ec", script.String()}, slices.Compact(products), nil
}

// at are the changes that put a commit in place: its files, its build (made
// before: built; "" if it is yet to be made), and every app told.
func (c *checkout) at(commit string, built host.Hash, why string) ([]change.Change, error) {
	command, products, err := c.recipe()
	if err != nil {
		return nil, err
	}
	return telling(change.Change{Kind: change.KindGit, Host: c.name, Why: why,
		Git: &change.Git{Dir: c.top, Rev: commit, Build: command, Products: products, Built: built}}, c.told()), nil
}

// patchedBy commits a diff from the top of the checkout, builds and tells the apps.
func (c *checkout) patchedBy(diff []byte, why string) ([]change.Change, error) {
	command, products, err := c.recipe()
	if err != nil {
		return nil, err
	}
	return telling(change.Change{Kind: change.KindGit, Host: c.name, Why: why,
		Git: &change.Git{Dir: c.top, Patch: diff, Message: "Try " + why, Build: command, Products: products}}, c.told()), nil
}

func (c *checkout) told() []change.Change { return told(c.name, c.apps) }

// told are restarts of every app. The runner of an application without
// processes of its own is told, too: PHP keeps compiled files until then, if it
// does not look.
func told(hostName string, apps []*stack.Service) []change.Change {
	var out []change.Change
	for _, app := range apps {
		act := change.Change{Kind: change.KindRestart, Host: hostName, Service: app.Name, Activate: change.Restart}
		if app.RunsIn != "" {
			act.Activate = change.Reload
		}
		out = append(out, act)
	}
	return out
}

// telling makes the first of the apps' restarts part of a change.
func telling(c change.Change, acts []change.Change) []change.Change {
	if len(acts) == 0 {
		return []change.Change{c}
	}
	c.Service, c.Activate = acts[0].Service, acts[0].Activate
	return append([]change.Change{c}, acts[1:]...)
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

// gitLimit of one reading git command: they take milliseconds, on a huge
// repository seconds.
const gitLimit = time.Minute

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
