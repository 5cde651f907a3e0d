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
	// BaseDir and HeadDir are folders with ready builds of Service instead: they
	// hold its build.products. They are on its host.
	BaseDir, HeadDir string
	// MaxRegression is what Head may be slower by at most, as a fraction:
	// 0.02 = 2 %. 0: the question is whether there is a difference.
	MaxRegression float64
}

// Version is one side of a comparison.
type Version struct {
	Ref     string `json:"ref"`     // as it was asked for; of a ready build its folder
	Commit  string `json:"commit"`  // "" of a ready build
	Subject string `json:"subject"` // first line of the commit's message
	// Build is how long it took to build; 0: nothing was built.
	Build time.Duration `json:"build,omitempty"`

	built host.Hash // of the archive of its products; "": it is not known yet, or there are none
}

// Name is the reference with the first digits of the commit, or the folder of a
// ready build.
func (v Version) Name() string {
	if v.Commit == "" {
		return v.Ref
	}
	short := v.Commit[:min(10, len(v.Commit))]
	if len(v.Ref) >= 7 && len(v.Ref) <= len(v.Commit) && v.Commit[:len(v.Ref)] == v.Ref {
		return short
	}
	return v.Ref + " (" + short + ")"
}

// ComparisonFormat is the version of Comparison as JSON. It grows when a field
// changes its meaning or goes; new fields may come without. 1, which had no
// field format, named metrics otherwise, and of errors told the difference; in 2
// warnings were plain texts.
const ComparisonFormat = 3

// Comparison is what came of one.
type Comparison struct {
	Format  int     `json:"format"`
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
	// Metrics are the score and what else was measured on both sides; the
	// baseline is Base, the candidate Head.
	Metrics []experiment.Shift `json:"metrics"`

	// writes are the files on this machine that putting a side in place writes,
	// as far as it is known beforehand.
	writes []string
}

// id tells versions apart.
func (v *Version) id() string {
	if v.Commit == "" {
		return string(v.built)
	}
	return v.Commit
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
// be built is a *BuildError, a wrong question a *ProposalError. What touches
// the judge, by its files or by its build, is refused (experiment.Tampered).
func (t *Tuner) Compare(ctx context.Context, o Compared) (*Comparison, error) {
	defer t.watch(ctx)()
	started := time.Now()
	if t.Options.Budget > 0 {
		t.course.deadline = started.Add(t.Options.Budget)
	}
	place, c, err := t.comparison(ctx, o)
	if err != nil {
		return nil, &ProposalError{err}
	}
	if t.judging.judge, err = newJudge(t.Bench, t.Exec); err != nil {
		return nil, err
	}
	t.course.workload = t.Bench.Users()
	t.session = &store.Session{Command: "compare", Stack: t.Stack.Name, Started: started, Budget: t.Options.Budget, State: "running",
		AsFoundWorkload: t.course.workload, FinalWorkload: t.course.workload}
	if err := t.Store.SaveSession(t.session); err != nil {
		return nil, err
	}
	t.Bench.Stamp.Session, c.Session = t.session.ID, t.session.ID
	t.tellSession(nil)
	err = t.compare(ctx, place, c)
	c.Took = time.Since(started)
	t.session.Ended, t.session.State = time.Now(), "done"
	t.session.AsFound, t.session.Final = c.Verdict.BaselineScore, c.Verdict.BaselineScore
	if err != nil {
		t.session.State, t.session.Stopped = "failed", err.Error()
		if ctx.Err() != nil {
			t.session.State, t.session.Stopped = "interrupted", t.interrupted("the checkout has been put back")
		}
	}
	return c, errors.Join(err, t.Store.SaveSession(t.session))
}

// comparison looks up what shall be compared and whether it may be.
func (t *Tuner) comparison(ctx context.Context, o Compared) (sides, *Comparison, error) {
	if o.MaxRegression < 0 || o.MaxRegression >= 1 {
		return nil, nil, fmt.Errorf("compare: the regression that is allowed must be between 0 and 100 %%, not %g %%", 100*o.MaxRegression)
	}
	c := &Comparison{Format: ComparisonFormat, MaxRegression: o.MaxRegression, Budget: t.Options.Budget}
	var place sides
	var err error
	if o.BaseDir != "" || o.HeadDir != "" {
		place, err = t.folderSides(ctx, o, c)
	} else {
		place, err = t.gitSides(ctx, o, c)
	}
	if err != nil {
		return nil, nil, err
	}
	var touched, restarted []string
	for _, app := range place.services() {
		c.Services = append(c.Services, app.Name)
		touched, restarted = append(touched, app.Name), append(restarted, app.Name)
		if app.RunsIn != "" {
			restarted = append(restarted, app.RunsIn)
		}
	}
	if why := t.Stack.Regulation.Refuses(nil, touched, restarted); why != "" {
		return nil, nil, fmt.Errorf("the regulation refuses it: %s", why)
	}
	changes, err := place.at(&c.Head)
	if err == nil {
		err = change.Lacking(t.Stack, t.Rights, changes)
	}
	if err == nil {
		c.writes, err = place.writes(ctx, t, c)
	}
	return place, c, err
}

// compare judges the two sides, puts back what was there, and stores what came
// of it. What touches the judge is refused, before anything is built if git
// tells it beforehand.
func (t *Tuner) compare(ctx context.Context, place sides, c *Comparison) error {
	title := c.Head.Name() + " against " + c.Base.Name()
	step := &store.Step{Session: t.session.ID, Seq: 1, Started: time.Now(),
		Plan: remedy.Plan{ID: "compare:" + c.Base.id() + ".." + c.Head.id(), Remedy: compareRemedy, Title: title, Why: comparedWhy, Bound: 1}}
	err := t.Store.SaveStep(step)
	if err != nil {
		return err
	}
	c.Step = step.ID
	t.opens(step)
	if why := t.judging.judge.touches(c.writes); why != "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Tampered, why+"; nothing was built"
	} else if err = place.prepare(ctx, t, c); err == nil {
		err = t.turnsOf(ctx, place, c, step)
	}
	err = tampered(step, err)
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	t.handBack(back, step)
	step.Ended = time.Now()
	if err != nil && step.Verdict.Outcome == "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Inconclusive, "interrupted: "+err.Error()
	}
	err = errors.Join(err, t.Store.SaveStep(step))
	t.closes(step, err)
	c.Verdict, c.Metrics = step.Verdict, experiment.Metrics(step.Verdict.Samples)
	return err
}

// turnsOf puts Base in place, lets the two take turns until the verdict is
// sure, and puts the checkout back, also when ctx has ended.
func (t *Tuner) turnsOf(ctx context.Context, place sides, c *Comparison, step *store.Step) error {
	same := c.Head.Commit == c.Base.Commit && c.Head.built == c.Base.built
	head, err := place.told(), error(nil)
	if !same {
		head, err = place.at(&c.Head)
	}
	if err != nil {
		return err
	}
	step.Plan.Changes, step.Diffs = head, diffs(head)
	if same {
		t.UI.Info("both are the same: the two sides differ by a restart only")
	}
	sw := &switcher{exec: t.Exec, bench: t.Bench, step: step.ID, judge: t.judging.judge, baseWorkload: t.course.workload, candWorkload: t.course.workload,
		intent: change.Intent{Title: step.Plan.Title, Plan: step.Plan.ID, Session: t.session.ID, Changes: head}}
	sw.beneath, err = t.placeBase(ctx, place, c)
	if err == nil {
		step.Verdict, err = t.judgeComparison(ctx, c, sw)
	}
	sw.tell(&step.Verdict)
	err = tampered(step, err)
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	berr := tampered(step, sw.to(back, experiment.Baseline))
	if berr == nil && sw.beneath != 0 {
		berr = t.Exec.Revert(back, sw.beneath)
	}
	if berr != nil {
		err = errors.Join(err, fmt.Errorf("put back the checkout: %w", berr))
	}
	return err
}

const (
	comparedWhy   = "compared with kasoku compare"
	compareRemedy = "compare"
)

// placeBase puts Base in place and returns the transaction to put back; 0: it
// is what was found there.
func (t *Tuner) placeBase(ctx context.Context, place sides, c *Comparison) (int64, error) {
	if place.asFound(&c.Base) {
		return 0, nil
	}
	changes, err := place.at(&c.Base)
	if err != nil {
		return 0, err
	}
	if err := t.judging.judge.before(); err != nil {
		return 0, err
	}
	tx, err := t.Exec.Apply(ctx, change.Intent{Title: "put " + c.Base.Name() + " in place", Session: t.session.ID, Changes: changes})
	told := t.judging.judge.after(c.Base.Name() + " was put in place")
	switch {
	case err == nil:
		return tx.ID, told
	case told != nil && len(t.Exec.Pending()) == 0:
		return 0, told
	}
	return 0, err
}
