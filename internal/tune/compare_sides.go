package tune

import (
	"context"
	"errors"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// sides is where the two versions of a comparison come from and go to.
type sides interface {
	// prepare makes both versions ready to be put in place.
	prepare(ctx context.Context, t *Tuner, c *Comparison) error
	// at are the changes that put a version in place, and told those that only
	// restart what runs from there.
	at(v *Version) ([]change.Change, error)
	told() []change.Change
	// asFound reports whether a version is what stands there already.
	asFound(v *Version) bool
	services() []*stack.Service
	// writes are the files on this machine that putting a version in place
	// writes, as far as the judge may care.
	writes(ctx context.Context, t *Tuner, c *Comparison) ([]string, error)
}

// gitSides are two commits of a checkout.
type gitSides struct{ *checkout }

// gitSides completes c with the two commits of the checkout of a service.
func (t *Tuner) gitSides(ctx context.Context, o Compared, c *Comparison) (sides, error) {
	place, err := t.checkoutOf(ctx, o.Service)
	if err != nil {
		return nil, err
	}
	c.Base.Ref, c.Head.Ref = o.Base, o.Head
	for _, v := range []*Version{&c.Base, &c.Head} {
		if v.Commit, err = place.commit(ctx, v.Ref); err != nil {
			return nil, err
		}
		if v.Subject, err = place.git(ctx, "log", "-1", "--format=%s", v.Commit); err != nil {
			return nil, err
		}
	}
	return gitSides{place}, nil
}

// prepare makes the products of both commits, once each.
func (g gitSides) prepare(ctx context.Context, t *Tuner, c *Comparison) error {
	command, products, err := g.recipe()
	if err != nil || len(command) == 0 {
		return err
	}
	for _, v := range []*Version{&c.Base, &c.Head} {
		if v == &c.Head && c.Head.Commit == c.Base.Commit {
			c.Head.built = c.Base.built
			return nil
		}
		t.UI.Step("Build " + v.Name())
		if err := t.judging.judge.before(); err != nil {
			return err
		}
		began := time.Now()
		v.built, err = t.Exec.Build(ctx, "build "+v.Name(), change.Change{Kind: change.KindGit, Host: g.name,
			Git: &change.Git{Dir: g.top, Rev: v.Commit, Build: command, Products: products}})
		if told := t.judging.judge.after(v.Name() + " was built"); told != nil && len(t.Exec.Pending()) == 0 {
			return told
		}
		if err != nil {
			if ctx.Err() != nil || len(t.Exec.Pending()) > 0 || errors.Is(err, change.ErrChanged) {
				return err
			}
			return &BuildError{*v, err}
		}
		v.Build = time.Since(began)
	}
	return nil
}

func (g gitSides) at(v *Version) ([]change.Change, error) {
	return g.checkout.at(v.Commit, v.built, comparedWhy)
}

func (g gitSides) asFound(v *Version) bool { return v.Commit == g.head && v.built == "" }

func (g gitSides) services() []*stack.Service { return g.apps }

func (g gitSides) writes(ctx context.Context, _ *Tuner, c *Comparison) ([]string, error) {
	return g.checkout.writes(ctx, c.Base.Commit, c.Head.Commit)
}
