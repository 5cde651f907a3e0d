package change

import (
	"context"
	"fmt"
	"strings"
)

// restore checks out what was there before, with its files' owners, modes and
// times and its build products, and removes Kasoku's branch.
func (a *gitAct) restore(ctx context.Context) error {
	g := a.c.Git
	if err := a.endLeftovers(ctx); err != nil {
		return err
	}
	if err := a.unlock(ctx); err != nil {
		return err
	}
	// Again, because look may have seen "after" while someone edits a file:
	// what is forced back must be Kasoku's.
	now, err := a.standing(ctx)
	if err != nil {
		return err
	}
	foreign, err := a.foreign(ctx, a.unexpected(now.dirty))
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%s: someone has edited %s; it was left alone: commit or remove that work, then recover again", a.subject(), some(foreign))
	}
	if err := a.removeAdded(ctx); err != nil {
		return err
	}
	// A forced checkout writes every file whose time is not the index's, such
	// as those that a later transaction gave their old time, and their modes go.
	if err := a.gitWrites(ctx, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	to := []string{"checkout", "--quiet", "--force", "--detach", g.Before}
	if g.Ref != "" {
		to = []string{"checkout", "--quiet", "--force", strings.TrimPrefix(g.Ref, "refs/heads/")}
	}
	if err := a.gitWrites(ctx, to...); err != nil {
		return err
	}
	if now.branch != "" {
		if err := a.gitWrites(ctx, "update-ref", "-d", g.Branch, g.After); err != nil {
			return err
		}
	}
	if err := a.keepAttributes(ctx, true); err != nil {
		return err
	}
	return a.untar(ctx)
}
