package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/load"
	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// CapacityCmd says how many hosts carry a load.
type CapacityCmd struct {
	From string `arg:"" optional:"" help:"Measured levels: a table (.csv, .json; '-': on standard input). With --measure a URL or a scenario (.yaml). Default: the runs that kasoku.yaml's folder holds, or its scenario."`
	URL  string `arg:"" optional:"" help:"Base URL for a scenario file; default: load.url in kasoku.yaml." name:"url"`

	Rate       float64       `help:"Right answers per second that have to be carried." placeholder:"PER-SECOND"`
	Users      int           `help:"Instead: users like those of the load, with their pauses." placeholder:"N"`
	Objective  string        `help:"What must be kept, for example 'p95<300ms'." placeholder:"OBJECTIVE"`
	Headroom   string        `default:"30%" help:"Part of what hosts can do that is left free." placeholder:"PERCENT"`
	Confidence string        `default:"95%" help:"Of the intervals." placeholder:"PERCENT"`
	RunIDs     []int64       `name:"run" help:"A stored run to go by; repeat it for more. Default: those since the last kept change." placeholder:"RUN"`
	Output     string        `short:"o" help:"Also write a page with the curve to this file (.html)." placeholder:"FILE"`
	Measure    bool          `help:"Measure now: 1, 2, 4, … users, each twice if there is time."`
	Budget     time.Duration `default:"60s" help:"With --measure: how long it may take."`
	Duration   time.Duration `short:"d" default:"2s" help:"With --measure: measured window of each number of users."`
	MostUsers  int           `default:"256" help:"With --measure: at most so many users." placeholder:"N"`
	Allow      []string      `help:"With --measure: address or network (CIDR) besides this machine that load may go to; repeat it for more." placeholder:"CIDR"`
}

// Help is shown below the flags.
func (CapacityCmd) Help() string {
	return "How many hosts carry a load, with an interval. Levels are what so many hosts, workers or users carried; the Universal Scalability Law is fitted to them and followed to the load. A table has a header line and the columns hosts (or workers, users), rate (right answers per second) and, if wanted, users, latencies with their unit (p95: 180ms), errors and apdex. Where only users were varied, hosts like these are counted, as if each brought as much. What each host spends per request (CPU, disk, network) gives its number by the utilization law; stored runs and --measure with kasoku.yaml know it.\n\n" +
		"Nothing on the target is changed. Load goes only to this machine unless --allow or load.allow names the address. Ends with 1 if no number carries the load. docs/how-to/count-hosts.md has the formulas.\n\n" +
		"Examples:\n  kasoku capacity levels.csv --rate 500\n  kasoku capacity levels.csv --rate 500 --objective 'p95<300ms' --headroom 0%\n  kasoku capacity --rate 500 -o capacity.html\n  kasoku capacity --run 12 --run 15 --users 2000 --json\n  kasoku capacity --measure --rate 500 --budget 2m\n  kasoku capacity --measure http://127.0.0.1:8080/ --rate 500\n  printf 'hosts,rate\\n1,480\\n2,900\\n4,1540\\n' | kasoku capacity - --rate 2000"
}

// Run implements the command.
func (c *CapacityCmd) Run(ctx context.Context, a *App) error {
	q, err := c.question()
	if err != nil {
		return err
	}
	m, err := c.measured(ctx, a, q.Goal)
	a.UI.Clear()
	if err != nil {
		return err
	}
	plan, err := capacity.Make(m, q)
	if errors.Is(err, capacity.ErrNotKept) {
		return ui.Coded(ui.Failure, err, "choose a weaker objective, or measure with less load")
	}
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/how-to/count-hosts.md tells what is needed; kasoku capacity --help has examples")
	}
	if err := a.print(plan, func(w io.Writer) error { return report.CapacityText(w, plan) }); err != nil {
		return err
	}
	if err := c.page(plan); err != nil {
		return err
	}
	if plan.Need != nil && plan.Need.N == 0 {
		return ui.Coded(ui.Failure, fmt.Errorf("no number of %s carries %s/s", plan.Axis, ui.Count(plan.Rate)), "find what they share: kasoku diagnose")
	}
	return nil
}

// page writes the file of --output.
func (c *CapacityCmd) page(plan *capacity.Plan) error {
	if c.Output == "" {
		return nil
	}
	var b bytes.Buffer
	if err := report.CapacityHTML(&b, plan); err != nil {
		return err
	}
	if err := putFile(c.Output, b.Bytes(), true); err != nil {
		return ui.Coded(ui.Failure, err, "name another file with -o")
	}
	return nil
}

// question reads the flags that ask.
func (c *CapacityCmd) question() (capacity.Question, error) {
	q := capacity.Question{Rate: c.Rate, Users: c.Users}
	var err error
	switch {
	case c.Rate < 0 || c.Users < 0 || c.Budget <= 0 || c.Duration <= 0 || c.MostUsers < 1:
		return q, usage("kasoku capacity --help", "a number below 0 makes no sense here")
	case c.Output != "" && filepath.Ext(c.Output) != ".html":
		return q, usage("-o "+c.Output+".html", "%s: the page is HTML, so its name ends in .html; --json prints the data", c.Output)
	case c.Rate > 0 && c.Users > 0:
		return q, usage("keep one", "--rate and --users both say the load")
	}
	if c.Objective != "" {
		if q.Goal, err = load.ParseObjective(c.Objective); err != nil {
			return q, usage("kasoku capacity --help", "--objective: %w", err)
		}
	}
	if q.Headroom, err = part("--headroom", c.Headroom, 0, 0.95); err != nil {
		return q, err
	}
	q.Confidence, err = part("--confidence", c.Confidence, 0.5, 0.999)
	return q, err
}

// part reads a percentage.
func part(flag, text string, low, high float64) (float64, error) {
	number, percent := strings.CutSuffix(strings.ReplaceAll(text, " ", ""), "%")
	v, err := strconv.ParseFloat(number, 64)
	if v /= 100; err != nil || !percent || !(v >= low && v <= high) {
		return 0, usage("kasoku capacity --help", "%s %q: it is a percentage from %g%% to %g%%", flag, text, 100*low, 100*high)
	}
	return v, nil
}

// measured finds the levels that the command line means.
func (c *CapacityCmd) measured(ctx context.Context, a *App, goal load.Objective) (*capacity.Measured, error) {
	ext := filepath.Ext(c.From)
	isTarget := strings.Contains(c.From, "://") || ext == ".yaml" || ext == ".yml"
	switch {
	case c.URL != "" && !isTarget:
		return nil, usage("kasoku capacity --measure SCENARIO.yaml "+c.URL, "a base URL goes with a scenario file")
	case len(c.RunIDs) > 0 && (c.Measure || c.From != ""):
		return nil, usage("leave out --run, or the other", "--run names stored runs, which is instead of a table or --measure")
	case c.Measure && isTarget:
		return c.measureURL(ctx, a, goal)
	case c.Measure && c.From != "":
		return nil, usage("kasoku capacity --measure http://127.0.0.1:8080/", "--measure loads a URL or a scenario (.yaml); %s is neither", c.From)
	case c.Measure:
		return c.measureStack(ctx, a, goal)
	case isTarget:
		return nil, usage("kasoku capacity --measure "+c.From, "%s can be measured, but --measure is not given", c.From)
	case c.From != "":
		return c.table(os.Stdin)
	}
	return c.stored(a)
}

// table reads the file, or in.
func (c *CapacityCmd) table(in io.Reader) (*capacity.Measured, error) {
	name := "standard input"
	if c.From != "-" {
		f, err := os.Open(c.From)
		if err != nil {
			return nil, ui.Coded(ui.BadInput, err, "name a table that can be read; kasoku capacity --help has an example")
		}
		defer f.Close()
		in, name = f, filepath.Base(c.From)
	}
	m, err := capacity.ReadTable(in, name)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "docs/how-to/count-hosts.md lists the columns")
	}
	return m, nil
}

// ladder measures with a runner, and says each rung.
func (c *CapacityCmd) ladder(ctx context.Context, a *App, goal load.Objective, run capacity.Runner) (*capacity.Measured, error) {
	m, err := capacity.Ladder(ctx, run, capacity.LadderOptions{Budget: c.Budget, Most: c.MostUsers, Goal: goal, Note: func(r capacity.Rung) {
		text := fmt.Sprintf("%4d users  %s/s  p50 %s  p95 %s  p99 %s", r.N, ui.Count(r.PerSecond), figureOf(r, "p50"), figureOf(r, "p95"), figureOf(r, "p99"))
		if r.Unfit != "" {
			text += "  left out: " + r.Unfit
		}
		a.UI.Info(text)
	}})
	var coded *ui.CodedError
	if err != nil && ctx.Err() == nil && !errors.As(err, &coded) {
		return nil, ui.Coded(ui.Target, err, "check that the service runs, and that its answers are right: kasoku load")
	}
	return m, err
}

func figureOf(r capacity.Rung, name string) string {
	return ui.Duration(time.Duration(r.Figures[name]))
}
