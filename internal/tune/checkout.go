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
	h    host.Host
	host string
	dir  string // its top
	head string // the commit that is checked out
	apps []*stack.Service
}

// checkoutOf finds the checkout of an app ("": of the only one there is), and
// all apps that run from it.
func (t *Tuner) checkoutOf(ctx context.Context, service string) (*checkout, error) {
	var all []*checkout
	var named *checkout
	var not []string
	for _, app := range t.Stack.OfKind(stack.App) {
		folder := app.Root
		if app.Build != nil {
			folder = app.Build.Dir
		}
		c := &checkout{h: t.Bench.Hosts[app.HostName()], host: app.HostName(), dir: folder}
		if folder == "" || c.h == nil {
			not = append(not, app.Name+" has no root")
			continue
		}
		top, err := c.git(ctx, "rev-parse", "--show-toplevel")
		if err != nil {
			not = append(not, fmt.Sprintf("%s: %v", app.Name, err))
			continue
		}
		c.dir = top
		if i := slices.IndexFunc(all, func(o *checkout) bool { return o.host == c.host && o.dir == top }); i >= 0 {
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
		return nil, fmt.Errorf("compare: no app of %s runs from a git checkout%s; name its folder with services[].root", t.Stack.Path, because(not))
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

// git asks the checkout; it changes nothing there.
func (c *checkout) git(ctx context.Context, args ...string) (string, error) {
	// The checkout may belong to someone else than the user who runs Kasoku.
	argv := append([]string{"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "git", "-c", "safe.directory=*"}, args...)
	r, err := c.h.Run(ctx, host.Command{Argv: argv, Dir: c.dir, Env: []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, Timeout: gitTime})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(append(r.Stderr, r.Stdout...)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], c.dir, err)
	}
	return strings.TrimRight(string(r.Stdout), "\n"), nil
}

// gitTime bounds a question to git, which answers from its own files.
const gitTime = 30 * time.Second

// commit is the full name of what a reference points at.
func (c *checkout) commit(ctx context.Context, ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("compare: %q is no branch, tag or commit", ref)
	}
	name, err := c.git(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil || name == "" {
		return "", fmt.Errorf("compare: %s does not have %s; fetch it first (a shallow clone lacks old commits: git fetch --unshallow)", c.dir, ref)
	}
	return name, nil
}

// build is one command that builds all apps of the checkout from its top, with
// what it makes; nil if there is nothing to build.
func (c *checkout) build() (command, products []string, err error) {
	var script []string
	for _, app := range c.apps {
		if app.Build == nil {
			continue
		}
		sub, err := filepath.Rel(c.dir, app.Build.Dir)
		if err != nil || !filepath.IsLocal(sub) {
			return nil, nil, fmt.Errorf("compare: build.dir of %s, %s, is not inside its checkout %s", app.Name, app.Build.Dir, c.dir)
		}
		words := make([]string, len(app.Build.Command))
		for i, w := range app.Build.Command {
			words[i] = quoted(w)
		}
		script = append(script, "(cd "+quoted(sub)+" && "+strings.Join(words, " ")+")")
		for _, p := range app.Build.Products {
			products = append(products, filepath.Join(sub, p))
		}
	}
	if len(script) == 0 {
		return nil, nil, nil
	}
	slices.Sort(products)
	return []string{"sh", "-c", strings.Join(script, " && ")}, slices.Compact(products), nil
}

// quoted is one word of a shell's command line.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// at are the changes that put a commit in place: its files, its build made
// before (built; "" if there is nothing to build), and a restart of every app.
// With again nothing is checked out, only restarted.
func (c *checkout) at(commit string, built host.Hash, again bool) ([]change.Change, error) {
	var out []change.Change
	if !again {
		command, products, err := c.build()
		if err != nil {
			return nil, err
		}
		out = append(out, change.Change{Kind: change.KindGit, Host: c.host, Why: "compared with kasoku compare",
			Git: &change.Git{Dir: c.dir, Rev: commit, Build: command, Products: products, Built: built}})
	}
	for _, app := range c.apps {
		out = append(out, change.Change{Kind: change.KindRestart, Host: c.host, Service: app.Name, Activate: change.Restart})
	}
	return out, nil
}
