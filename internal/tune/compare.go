package tune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Compared says what is compared.
type Compared struct {
	// Base and Head are branches, tags or commits of the checkout that
	// Service, an app, runs from ("": of the only one).
	Base, Head string
	Service    string
	// MaxRegression is what Head may be slower by at most, as a fraction:
	// 0.02 = 2 %. 0: the question is whether there is a difference.
	MaxRegression float64
}

// Version is one side of a comparison.
type Version struct {
	Ref     string `json:"ref"`
	Commit  string `json:"commit"`
	Subject string `json:"subject"` // first line of the commit's message
	// Build is how long it took to build; 0: nothing was built.
	Build time.Duration `json:"build,omitempty"`

	built host.Hash
}

// Name is the reference with the first digits of the commit.
func (v Version) Name() string {
	short := v.Commit[:min(10, len(v.Commit))]
	if len(v.Ref) >= 7 && len(v.Ref) <= len(v.Commit) && v.Commit[:len(v.Ref)] == v.Ref {
		return short
	}
	return v.Ref + " (" + short + ")"
}

// Comparison is what came of one.
type Comparison struct {
	Base    Version `json:"base"`
	Head    Version `json:"head"`
	Session int64   `json:"session"` // kasoku show and report know it
	Step    int64   `json:"step"`
	// Services that were restarted at every switch.
	Services      []string      `json:"services"`
	MaxRegression float64       `json:"max_regression,omitempty"`
	Budget        time.Duration `json:"budget,omitempty"`
	Took          time.Duration `json:"took"` // builds and putting back included
	// Verdict about Head against Base. With MaxRegression its outcome is
	// NotRegressed if that much is ruled out.
	Verdict experiment.Verdict `json:"verdict"`
	Metrics []Metric           `json:"metrics"`
}

// BuildError says that a side cannot be built, with what the build printed last.
type BuildError struct {
	Version Version
	Err     error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("%s cannot be built: %v", e.Version.Name(), e.Err)
}

// Unwrap gives the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// Compare judges two versions of an application by the loop's own rule: both
// are built, then Head is the candidate on top of Base. The checkout and its
// services are as they were afterwards, whatever happens. A side that cannot
// be built is a *BuildError, a wrong question a *ProposalError.
func (t *Tuner) Compare(ctx context.Context, o Compared) (*Comparison, error) {
	defer t.watch(ctx)()
	started := time.Now()
	if t.Budget > 0 {
		t.deadline = started.Add(t.Budget)
	}
	place, c, err := t.comparison(ctx, o)
	if err != nil {
		return nil, &ProposalError{err}
	}
	t.workload = t.Bench.Users()
	t.session = &store.Session{Command: "compare", Stack: t.Stack.Name, Started: started, Budget: t.Budget, State: "running",
		AsFoundWorkload: t.workload, FinalWorkload: t.workload}
	if err := t.Store.SaveSession(t.session); err != nil {
		return nil, err
	}
	t.Bench.Session, c.Session = t.session.ID, t.session.ID
	t.tellSession(nil)
	err = t.compare(ctx, place, c)
	c.Took = time.Since(started)
	t.session.Ended, t.session.State = time.Now(), "done"
	t.session.AsFound, t.session.Final = c.Verdict.BaselineScore, c.Verdict.BaselineScore
	if err != nil {
		t.session.State, t.session.Stopped = "failed", err.Error()
		if ctx.Err() != nil {
			t.session.State, t.session.Stopped = "interrupted", "interrupted; the checkout has been put back"
		}
	}
	return c, errors.Join(err, t.Store.SaveSession(t.session))
}

// comparison looks up what shall be compared and whether it may be.
func (t *Tuner) comparison(ctx context.Context, o Compared) (*checkout, *Comparison, error) {
	if o.MaxRegression < 0 || o.MaxRegression >= 1 {
		return nil, nil, fmt.Errorf("compare: the regression that is allowed must be between 0 and 100 %%, not %g %%", 100*o.MaxRegression)
	}
	place, err := t.checkoutOf(ctx, o.Service)
	if err != nil {
		return nil, nil, err
	}
	c := &Comparison{Base: Version{Ref: o.Base}, Head: Version{Ref: o.Head}, MaxRegression: o.MaxRegression, Budget: t.Budget}
	for _, v := range []*Version{&c.Base, &c.Head} {
		if v.Commit, err = place.commit(ctx, v.Ref); err != nil {
			return nil, nil, err
		}
		if v.Subject, err = place.git(ctx, "log", "-1", "--format=%s", v.Commit); err != nil {
			return nil, nil, err
		}
	}
	var touched, restarted []string
	for _, app := range place.apps {
		c.Services = append(c.Services, app.Name)
		touched, restarted = append(touched, app.Name), append(restarted, app.Name)
		if app.RunsIn != "" {
			restarted = append(restarted, app.RunsIn)
		}
	}
	if why := t.Stack.Regulation.Refuses(nil, touched, restarted); why != "" {
		return nil, nil, fmt.Errorf("the regulation refuses it: %s", why)
	}
	changes, err := place.at(c.Head.Commit, "", comparedWhy)
	if err == nil {
		err = change.Lacking(t.Stack, t.Rights, changes)
	}
	return place, c, err
}

// compare builds both sides, puts Base in place, measures, and puts back what
// was there.
func (t *Tuner) compare(ctx context.Context, place *checkout, c *Comparison) error {
	if err := t.build(ctx, place, c); err != nil {
		return err
	}
	same := c.Head.Commit == c.Base.Commit
	head, err := place.told(), error(nil)
	if !same {
		head, err = place.at(c.Head.Commit, c.Head.built, comparedWhy)
	}
	if err != nil {
		return err
	}
	title := c.Head.Name() + " against " + c.Base.Name()
	step := &store.Step{Session: t.session.ID, Seq: 1, Started: time.Now(),
		Plan: remedy.Plan{ID: "compare:" + c.Base.Commit + ".." + c.Head.Commit, Remedy: compareRemedy, Title: title,
			Why: comparedWhy, Changes: head, Bound: 1}, Diffs: diffs(head)}
	if err := t.Store.SaveStep(step); err != nil {
		return err
	}
	c.Step = step.ID
	t.opens(step)
	if same {
		t.UI.Info("both are the same commit: the two sides differ by a restart only")
	}
	sw := &switcher{exec: t.Exec, bench: t.Bench, step: step.ID, baseWorkload: t.workload, candWorkload: t.workload,
		intent: change.Intent{Title: title, Plan: step.Plan.ID, Session: t.session.ID, Changes: head}}
	base, err := t.placeBase(ctx, place, c)
	if err == nil {
		step.Verdict, err = t.judgeComparison(ctx, c, sw, base)
	}
	// Also when ctx has ended.
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	berr := sw.to(back, experiment.Baseline)
	if berr == nil && base != 0 {
		berr = t.Exec.Revert(back, base)
	}
	if berr != nil {
		err = errors.Join(err, fmt.Errorf("put back the checkout: %w", berr))
	}
	step.Ended = time.Now()
	if err != nil && step.Verdict.Outcome == "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Inconclusive, "interrupted: "+err.Error()
	}
	t.closes(step, err)
	c.Verdict, c.Metrics = step.Verdict, metrics(step.Verdict.Samples)
	return errors.Join(err, t.Store.SaveStep(step))
}

const (
	comparedWhy   = "compared with kasoku compare"
	compareRemedy = "compare"
)

// build makes the products of both sides, once each.
func (t *Tuner) build(ctx context.Context, place *checkout, c *Comparison) error {
	command, products, err := place.build()
	if err != nil || len(command) == 0 {
		return err
	}
	for _, v := range []*Version{&c.Base, &c.Head} {
		if v == &c.Head && c.Head.Commit == c.Base.Commit {
			c.Head.built = c.Base.built
			return nil
		}
		t.UI.Step("Build " + v.Name())
		began := time.Now()
		v.built, err = t.Exec.Build(ctx, "build "+v.Name(), change.Change{Kind: change.KindGit, Host: place.name,
			Git: &change.Git{Dir: place.top, Rev: v.Commit, Build: command, Products: products}})
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

// placeBase puts Base in place and returns the transaction to put back; 0: it
// is what was found there.
func (t *Tuner) placeBase(ctx context.Context, place *checkout, c *Comparison) (int64, error) {
	if c.Base.Commit == place.head && c.Base.built == "" {
		return 0, nil
	}
	changes, err := place.at(c.Base.Commit, c.Base.built, comparedWhy)
	if err != nil {
		return 0, err
	}
	tx, err := t.Exec.Apply(ctx, change.Intent{Title: "put " + c.Base.Name() + " in place", Session: t.session.ID, Changes: changes})
	if err != nil {
		return 0, err
	}
	return tx.ID, nil
}
