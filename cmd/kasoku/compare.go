package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// CompareCmd judges two versions of an application.
type CompareCmd struct {
	Base          string        `arg:"" optional:"" help:"Branch, tag or commit that is the measure."`
	Head          string        `arg:"" optional:"" help:"Branch, tag or commit that is judged."`
	BaseDir       string        `placeholder:"DIR" help:"Instead of BASE: folder on the app's host that holds a ready build, that is its services[].build.products."`
	HeadDir       string        `placeholder:"DIR" help:"Instead of HEAD: the same of the build that is judged."`
	Service       string        `placeholder:"NAME" help:"The app whose checkout it is; default: the only one."`
	Budget        time.Duration `default:"5m" help:"Wall-clock time for builds and runs; 0 = until the verdict is sure."`
	Duration      time.Duration `short:"d" help:"Measured window of each run; default: the scenario's."`
	MaxRegression string        `placeholder:"PERCENT" help:"Pass only if it is proved that HEAD is not slower by more than this (2%)."`
	FailOn        string        `enum:",regressed,not-improved" default:"" placeholder:"WHEN" help:"regressed: end with 0 also if there is no difference or it cannot be told; not-improved: only if it improved (the default)."`
	Web           webFlag       `placeholder:"HOST:PORT" help:"Show it in a browser meanwhile; default address: 127.0.0.1:7399."`
	Summary       string        `env:"GITHUB_STEP_SUMMARY" placeholder:"FILE" help:"Append the result to FILE as Markdown."`
}

// Help is shown below the flags.
func (CompareCmd) Help() string {
	return "Builds both versions of the app's git checkout, then runs them in turns as try does, and puts the checkout back as it was. With --base-dir and --head-dir nothing is built and no git is needed: two ready builds take turns in the place of the app's build products. The verdict is the exit code: 0 improved (with --max-regression: that much is ruled out), 10 no difference, 11 regressed, 12 inconclusive, 13 wrong answers, 14 refused because a version touches scenario, regulation or what else judges it; 3 if a version cannot be built; 4 if HEAD does not come up.\n\n" +
		"Within GitHub Actions the result also becomes the step's summary and an annotation: docs/how-to/compare-in-ci.md has a workflow to copy.\n\n" +
		"Examples:\n  kasoku compare main HEAD\n  kasoku compare origin/main HEAD --max-regression 2% --budget 10m\n  kasoku compare v1.2 v1.3 --fail-on regressed -d 2s --json\n  kasoku compare --base-dir artifacts/main --head-dir artifacts/head"
}

// Validate refuses what cannot be meant.
func (c *CompareCmd) Validate() error { return budgetError(c.Budget) }

// Run implements the command.
func (c *CompareCmd) Run(ctx context.Context, a *App) error {
	limit, err := c.complete()
	if err != nil {
		return err
	}
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	// Only those that a comparison needs are asked for: see change.Lacking.
	rights, err := stack.CheckRights(ctx, p.Hosts, p.Stack)
	if err != nil {
		return targetError(err)
	}
	a.measureFor(bench, c.Duration)
	publish, endWeb, err := a.startWeb(ctx, p, c.Web)
	if err != nil {
		return err
	}
	defer endWeb()
	t := &tune.Tuner{Stack: p.Stack, Store: p.Store, Exec: p.Exec, Bench: bench, Rule: p.rule(), UI: a.UI, Rights: rights, Options: tune.Options{Budget: c.Budget}, Watch: both(a.watch(bench), publish)}
	result, err := t.Compare(ctx, tune.Compared{Base: c.Base, Head: c.Head, BaseDir: c.BaseDir, HeadDir: c.HeadDir, Service: c.Service, MaxRegression: limit})
	a.UI.Clear()
	if err != nil {
		err = leftOr(compareFailed, err, len(p.Exec.Pending()) > 0)
		a.annotate(err, err.Error())
		return errors.Join(err, c.summarize(func(w io.Writer) error { return report.FailedMarkdown(w, err) }))
	}
	if err := a.print(result, func(w io.Writer) error { return report.ComparisonText(w, result) }); err != nil {
		return err
	}
	if err := c.summarize(func(w io.Writer) error { return report.ComparisonMarkdown(w, result) }); err != nil {
		return err
	}
	err = comparedError(result.Verdict, c.FailOn)
	if err != nil || result.Verdict.Outcome == experiment.Inconclusive {
		a.annotate(err, report.Comparing(result))
	}
	return err
}

// complete checks the command line and returns --max-regression as a fraction.
func (c *CompareCmd) complete() (limit float64, err error) {
	wrong := ""
	switch {
	case (c.BaseDir == "") != (c.HeadDir == ""):
		wrong = "--base-dir and --head-dir go together"
	case c.BaseDir != "" && c.Base != "":
		wrong = "either two revisions or two folders are compared, not both"
	case c.BaseDir == "" && c.Head == "":
		wrong = "name two revisions, BASE and HEAD, or two ready builds with --base-dir and --head-dir"
	}
	if wrong != "" {
		return 0, ui.Coded(ui.Usage, errors.New("compare: "+wrong), "kasoku compare --help")
	}
	if c.MaxRegression == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(strings.ReplaceAll(c.MaxRegression, " ", ""), "%")
	limit, err = strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !percent || limit <= 0 || limit >= 100:
		return 0, ui.Coded(ui.Usage, fmt.Errorf("compare: --max-regression %q: it is a percentage above 0 and below 100, such as 2%%", c.MaxRegression), "kasoku compare --help")
	case c.FailOn == "not-improved":
		return 0, ui.Coded(ui.Usage, errors.New("compare: --max-regression asks whether anything is lost, --fail-on not-improved whether something is won; use one"), "kasoku compare --help")
	}
	return limit / 100, nil
}

// comparedError turns a verdict into an exit code.
func comparedError(v experiment.Verdict, failOn string) error {
	passes := v.Outcome == tune.NotRegressed ||
		failOn == "regressed" && (v.Outcome == experiment.NoDifference || v.Outcome == experiment.Inconclusive)
	if passes {
		return nil
	}
	return verdictError(v)
}

// compareFailed gives an error its code and hint.
func compareFailed(err error) error {
	var build *tune.BuildError
	if errors.As(err, &build) && !errors.Is(err, context.Canceled) {
		return ui.Coded(ui.BadInput, err, "check that version out elsewhere and run services[].build.command by hand; the checkout is as it was")
	}
	return targetError(err)
}

// summarize appends Markdown to the file that was asked for.
func (c *CompareCmd) summarize(write func(io.Writer) error) error {
	if c.Summary == "" {
		return nil
	}
	f, err := os.OpenFile(c.Summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return ui.Coded(ui.Failure, fmt.Errorf("write the summary: %w", err), "name another file with --summary")
	}
	return nil
}

// annotate tells GitHub Actions: an error if the step fails by it, else a
// warning. Its runner reads standard error as it reads standard output, which
// may be JSON here.
func (a *App) annotate(failure error, text string) {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	kind := "warning"
	if failure != nil {
		kind = "error"
	}
	fmt.Fprintln(a.Err, report.Annotation(kind, "Kasoku", change.Redact(text)))
}
