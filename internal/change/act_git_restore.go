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
	if err := a.checkoutBefore(ctx); err != nil {
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

// checkoutBefore checks out what was there before. A forced checkout writes every file that
// is not as committed; where earlier changes hold some, only those go back that this commit
// changes.
func (a *gitAct) checkoutBefore(ctx context.Context) error {
	g := a.c.Git
	if len(g.Beside) == 0 {
		to := []string{"checkout", "--quiet", "--force", "--detach", g.Before}
		if g.Ref != "" {
			to = []string{"checkout", "--quiet", "--force", strings.TrimPrefix(g.Ref, "refs/heads/")}
		}
		return a.gitWrites(ctx, to...)
	}
	files := map[string][2]string{}
	if there, err := a.exists(ctx); err != nil {
		return err
	} else if there {
		if files, err = a.changed(ctx); err != nil {
			return err
		}
	}
	only := []string{"checkout", "--quiet", "--force", g.Before, "--"}
	for name, sides := range files {
		if strings.Trim(sides[0], "0") != "" { // the others are removed already
			only = append(only, ":(literal)"+name)
		}
	}
	steps := [][]string{only, {"read-tree", g.Before}, {"update-index", "-q", "--refresh"}, {"symbolic-ref", "HEAD", g.Ref}}
	if len(only) == 5 {
		steps = steps[1:]
	}
	if g.Ref == "" {
		steps[len(steps)-1] = []string{"update-ref", "--no-deref", "HEAD", g.Before}
	}
	for _, args := range steps {
		if err := a.gitWrites(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}
