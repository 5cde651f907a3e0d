package tune

import (
	"context"
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

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
	c.head = before
	writes, err := c.writes(ctx, after)
	if err != nil {
		return err
	}
	plan.writes = append(plan.writes, writes...)
	diff, err := c.git(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-color", before, after)
	if err != nil {
		return err
	}
	plan.diff = &store.Diff{Kind: "file", Title: fmt.Sprintf("%s (%.12s)", p.Rev, after), Text: change.Redact(shortened(diff))}
	changes, err := c.at(after, "", plan.Why)
	if err != nil {
		return fmt.Errorf("try: %w", err)
	}
	plan.Changes = append(plan.Changes, changes...)
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
