package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// LoadCmd is the load generator alone: it needs no kasoku.yaml.
type LoadCmd struct {
	Target string `arg:"" help:"What to load: a URL, or a scenario file (.yaml)."`
	URL    string `arg:"" optional:"" help:"Base URL for a scenario file; default: load.url in kasoku.yaml." name:"url"`

	Connections   int            `short:"c" help:"Virtual users, one connection each; with --rate at most so many at once. Default: 32, the scenario's, or by the rate." placeholder:"N"`
	Duration      time.Duration  `short:"d" help:"Measured window; with --find-max of each probe. Default: 10s, the scenario's, or all stages; 2s for a probe."`
	Rate          float64        `help:"Open model: so many requests (of a scenario: sessions) per second, whatever the answers do; with --find-max where to begin." placeholder:"PER-SECOND"`
	Stages        string         `help:"Open model: '100:10s,100..1000:30s' is 100/s for 10 s, then up to 1000/s in 30 s." placeholder:"STAGES"`
	Poisson       bool           `help:"Open model: random arrivals instead of evenly spaced ones."`
	FindMax       string         `help:"Find the highest rate that keeps all conditions, for example 'p99<50ms,errors<0.1%'." placeholder:"OBJECTIVE"`
	Warmup        *time.Duration `help:"Load before the window at most: it ends when throughput is steady; default 3s or the scenario's."`
	Seed          uint64         `help:"Seed of everything random; default: the scenario's."`
	Engine        string         `enum:"auto,epoll,net,http2" default:"auto" help:"How bytes are moved: ${enum}."`
	Loops         int            `help:"Event loops of the epoll engine, one processor each; default: one for each four processors." placeholder:"N"`
	Allow         []string       `help:"Address or network (CIDR) besides this machine that load may go to; repeat it for more." placeholder:"CIDR"`
	SkipTLSVerify bool           `help:"Take any certificate of a target elsewhere, as a self-signed one; on this machine any is taken." name:"skip-tls-verify"`
	Out           string         `help:"Also write the result to this file, as JSON." placeholder:"FILE"`

	Method         string        `short:"X" group:"Of a URL:" help:"Method; default GET, or POST with a body."`
	Header         []string      `short:"H" group:"Of a URL:" sep:"none" help:"Header 'Name: value'; repeat it for more."`
	Body           string        `group:"Of a URL:" help:"Body, or @FILE that holds it." placeholder:"TEXT"`
	Type           string        `group:"Of a URL:" help:"Content-Type of the body; default application/json if it is JSON, else that of a form."`
	ExpectStatus   []int         `group:"Of a URL:" help:"Right status; repeat it for more. Default 200." placeholder:"200"`
	ExpectSize     int64         `group:"Of a URL:" default:"-1" help:"Right length of the body in bytes; default: that of the first answer." placeholder:"N"`
	ExpectContains []string      `group:"Of a URL:" sep:"none" help:"Text that each answer must hold; repeat it for more." placeholder:"TEXT"`
	AnySize        bool          `group:"Of a URL:" help:"Answers may have any length."`
	Timeout        time.Duration `group:"Of a URL:" help:"Of a request; default 5s."`
	Close          bool          `group:"Of a URL:" help:"A new connection for each request (Connection: close)."`
}

// Help is shown below the flags.
func (LoadCmd) Help() string {
	return "Puts load on a URL or runs a scenario, checks every answer, and prints a summary to paste. Of a URL it checks the status and that every answer is as long as the first one, which one request before the load tells (two for GET, so that pages that vary are known). Load goes only to this machine unless --allow names the address. Ends with 13 if an answer was wrong, with 4 if none came.\n\n" +
		"Examples:\n  kasoku load http://127.0.0.1:8080/ -c 32 -d 10s\n  kasoku load http://127.0.0.1:8080/ --rate 5000 -d 30s\n  kasoku load http+unix:///run/app.sock:/health\n  kasoku load http://127.0.0.1/login --body 'user=a&password=b' --expect-status 302\n  kasoku load scenario.yaml http://127.0.0.1:8080 --stages '100:10s,100..1000:30s'\n  kasoku load http://127.0.0.1:8080/ --find-max 'p99<50ms,errors<0.1%'"
}

// loading is a load that is ready to be sent.
type loading struct {
	opts    load.Options
	simple  *load.Simple // nil: a scenario file
	goal    load.Objective
	request string // for people
}

// Run implements the command.
func (c *LoadCmd) Run(ctx context.Context, a *App) error {
	l, err := c.prepare(a)
	if err != nil {
		return err
	}
	out, err := c.openOut()
	if err != nil {
		return err
	}
	defer out.Close()
	if err := c.probe(ctx, l); err != nil {
		return loadError(ctx, err)
	}
	screen := newLoadScreen(a.UI, l.request)
	l.opts.Progress = screen.show
	if c.FindMax != "" {
		return c.findMax(ctx, a, l, screen, out)
	}
	res, err := load.Run(ctx, l.opts)
	a.UI.Clear()
	if err != nil {
		return loadError(ctx, err)
	}
	if err := writeOut(out, res); err != nil {
		return err
	}
	if err := a.print(res, func(w io.Writer) error { return loadSummary(w, l, res) }); err != nil {
		return err
	}
	if res.Saturated != "" && a.cli.JSON { // else the summary says it
		a.UI.Warn("this run is no evidence: "+res.Saturated, "")
	}
	return loadVerdict(l, res)
}

func (c *LoadCmd) findMax(ctx context.Context, a *App, l *loading, screen *loadScreen, out *os.File) error {
	cfg := load.FindMaxOptions{Start: c.Rate, Probe: c.Duration, Random: c.Poisson}
	if c.Warmup != nil {
		cfg.Warmup = *c.Warmup
	}
	found, err := load.FindMax(ctx, l.opts, l.goal, cfg, func(p load.Probe) {
		screen.reset()
		a.UI.Info(probeLine(p))
	})
	a.UI.Clear()
	if err != nil {
		return loadError(ctx, err)
	}
	if err := writeOut(out, found); err != nil {
		return err
	}
	if err := a.print(found, func(w io.Writer) error { return maxRateSummary(w, l, found) }); err != nil {
		return err
	}
	if found.PerSecond == 0 && found.Limited != "" {
		return ui.Coded(ui.Failure, fmt.Errorf("no rate is proven: %s", found.Limited), "")
	}
	if found.PerSecond == 0 {
		return ui.Coded(ui.Failure, fmt.Errorf("no rate met %s: %s", found.Objective, found.Broke), "choose a weaker objective, or a lower --rate to begin with")
	}
	return nil
}

func usage(hint, format string, args ...any) error {
	return ui.Coded(ui.Usage, fmt.Errorf(format, args...), hint)
}

// prepare turns the flags into options; nothing is sent.
func (c *LoadCmd) prepare(a *App) (*loading, error) {
	l := &loading{opts: load.Options{Workload: c.Connections, Window: c.Duration, Seed: c.Seed, Loops: c.Loops, Allow: c.Allow, SkipTLSVerify: c.SkipTLSVerify}}
	if c.Engine != "auto" {
		l.opts.Engine = load.Engine(c.Engine)
	}
	if c.Warmup != nil {
		if l.opts.Warmup = *c.Warmup; l.opts.Warmup <= 0 {
			l.opts.Warmup = -1 // none
		}
	}
	if err := c.model(l); err != nil {
		return nil, err
	}
	if strings.Contains(c.Target, "://") {
		return l, c.fromURL(l)
	}
	if ext := filepath.Ext(c.Target); ext == ".yaml" || ext == ".yml" {
		return l, c.fromFile(a, l)
	}
	return nil, usage("kasoku load http://"+c.Target, "%s is neither a URL nor a scenario file (.yaml)", c.Target)
}

// model reads the flags that say when requests are sent.
func (c *LoadCmd) model(l *loading) error {
	var err error
	switch {
	case c.Rate < 0 || c.Connections < 0 || c.Duration < 0 || c.Loops < 0 || c.Timeout < 0:
		return usage("", "a number below 0 makes no sense here")
	case c.FindMax != "":
		if c.Stages != "" {
			return usage("leave out --stages", "--find-max chooses the rates itself")
		}
		if l.goal, err = load.ParseObjective(c.FindMax); err != nil {
			return usage("kasoku load --help", "--find-max: %w", err)
		}
		return nil
	case c.Stages != "" && c.Rate > 0:
		return usage("keep one", "--rate and --stages both say the rate")
	case c.Stages != "":
		stages, err := load.ParseStages(c.Stages)
		if err != nil {
			return usage("kasoku load --help", "--stages: %w", err)
		}
		l.opts.Arrivals = &load.Arrivals{Stages: stages}
		if l.opts.Window == 0 {
			l.opts.Window = load.StagesLength(stages)
		}
	case c.Rate > 0:
		l.opts.Arrivals = load.ConstantRate(c.Rate)
	case c.Poisson:
		return usage("add --rate", "--poisson is for the open model")
	default:
		return nil
	}
	l.opts.Arrivals.Random = c.Poisson
	if l.opts.Workload == 0 {
		l.opts.Workload = load.UsersFor(load.HighestRate(l.opts.Arrivals.Stages))
	}
	return nil
}

func (c *LoadCmd) fromURL(l *loading) error {
	if c.URL != "" {
		return usage("keep one", "two URLs are given")
	}
	s := &load.Simple{URL: c.Target, Method: c.Method, Headers: c.Header, Type: c.Type, Statuses: c.ExpectStatus,
		Contains: c.ExpectContains, AnySize: c.AnySize, Size: c.ExpectSize, Timeout: c.Timeout, Close: c.Close}
	if c.AnySize && c.ExpectSize >= 0 {
		return usage("keep one", "--any-size and --expect-size contradict each other")
	}
	if name, isFile := strings.CutPrefix(c.Body, "@"); isFile {
		body, err := os.ReadFile(name)
		if err != nil {
			return ui.Coded(ui.BadInput, fmt.Errorf("--body: %w", err), "name a file that can be read")
		}
		s.Body = body
	} else if c.Body != "" {
		s.Body = []byte(c.Body)
	}
	var err error
	if l.opts.URL, err = s.Base(); err != nil {
		return usage("kasoku load --help", "%w", err)
	}
	if l.opts.Scenario, err = s.Scenario(); err != nil {
		return usage("kasoku load --help", "%w", err)
	}
	l.simple, l.request = s, l.opts.Scenario.Routes()[0]+" on "+l.opts.URL
	return nil
}

func (c *LoadCmd) fromFile(a *App, l *loading) error {
	if c.Method != "" || len(c.Header)+len(c.ExpectStatus)+len(c.ExpectContains) > 0 || c.Body != "" || c.Type != "" ||
		c.ExpectSize >= 0 || c.AnySize || c.Timeout != 0 || c.Close {
		return usage("write it into "+c.Target, "the flags for a request are for a URL; a scenario says its requests itself")
	}
	sc, err := load.LoadScenario(c.Target)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/reference/scenario.md lists every key")
	}
	l.opts.Scenario, l.opts.URL = sc, c.URL
	if c.URL == "" {
		st, err := stack.Load(a.cli.File)
		if err != nil || st.Load.URL == "" {
			return usage("kasoku load "+c.Target+" http://127.0.0.1:8080", "no URL is given, and none can be read from %s", a.cli.File)
		}
		l.opts.URL, l.opts.Allow = st.Load.URL, slices.Concat(c.Allow, st.Load.Allow)
		l.opts.SkipTLSVerify = c.SkipTLSVerify || st.Load.SkipTLSVerify
	}
	l.request = "scenario " + sc.Name + " on " + l.opts.URL
	return nil
}

// probe asks the URL before the load and learns what a right answer is.
func (c *LoadCmd) probe(ctx context.Context, l *loading) error {
	if l.simple == nil {
		return nil
	}
	if err := l.simple.Probe(ctx, l.opts); err != nil {
		return err
	}
	var err error
	l.opts.Scenario, err = l.simple.Scenario()
	return err
}

// openOut creates the file for --out before the load, so that no result is
// lost to a wrong name; nil if none is asked for.
func (c *LoadCmd) openOut() (*os.File, error) {
	if c.Out == "" {
		return nil, nil
	}
	f, err := os.Create(c.Out)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("--out: %w", err), "name a file that can be written")
	}
	return f, nil
}

func writeOut(f *os.File, v any) error {
	if f == nil {
		return nil
	}
	enc := json.NewEncoder(f)
	enc.SetIndent("", "  ")
	if err := errors.Join(enc.Encode(v), f.Close()); err != nil {
		return ui.Coded(ui.Failure, fmt.Errorf("--out: %w", err), "check that the disk is not full")
	}
	return nil
}

// loadError gives an error before the result its exit code and hint.
func loadError(ctx context.Context, err error) error {
	var wrong *load.StatusError
	switch {
	case ctx.Err() != nil:
		return ui.Coded(ui.Interrupted, errors.New("interrupted before the end, so there is no result"), "")
	case errors.As(err, &wrong) && wrong.Location != "":
		return ui.Coded(ui.WrongAnswers, err, "load "+wrong.Location+" instead, or say --expect-status if this is right")
	case errors.As(err, &wrong):
		return ui.Coded(ui.WrongAnswers, err, "correct the URL, or say --expect-status if this is right")
	case errors.Is(err, load.ErrUnmeasured):
		return ui.Coded(ui.Usage, err, "kasoku load --help")
	case errors.Is(err, load.ErrNotAllowed):
		return ui.Coded(ui.Target, err, "--allow ADDRESS, if the machine is yours")
	}
	return ui.Coded(ui.Target, err, "check that the service runs and answers there")
}

// loadVerdict is the error of a run that has a result.
func loadVerdict(l *loading, res *load.Result) error {
	switch {
	case res.Requests == 0 && len(res.Samples) > 0:
		return ui.Coded(ui.Target, fmt.Errorf("%s: no request was answered: %s", l.request, res.Samples[0].Got), "check that the service runs")
	case res.Requests == 0:
		return ui.Coded(ui.Target, fmt.Errorf("%s: no request was answered in the window", l.request), "give it more time with -d")
	case res.Mismatches > 0:
		hint := "the samples above say what differs; --json has their bodies"
		if l.simple != nil && len(res.Samples) > 0 && strings.HasSuffix(res.Samples[0].Expected, " bytes") {
			hint = "--any-size, if the length of a right answer may vary"
		}
		return ui.Coded(ui.WrongAnswers, fmt.Errorf("%s wrong answers", ui.Count(float64(res.Mismatches))), hint)
	}
	return nil
}
