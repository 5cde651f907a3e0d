package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/stack"
)

// Bars at the default setting (issue: verdicts that hold).
const (
	falseKeepBar = 0.01 // most, of experiments without an effect
	falseLossBar = 0.01 // the same, that are called regressed
	power5Bar    = 0.95 // least, of candidates that are 5 % faster
	power2Bar    = 0.80 // least, of candidates that are 2 % faster
)

// effects that are simulated besides none.
var effects = []float64{-0.02, 0.01, 0.02, 0.05, 0.10, 0.20, 0.30}

// simOptions are sim's flags.
type simOptions struct {
	noise, only string
	n, power    int
	sessions    int
	seed        uint64
	window      time.Duration
	early       bool
}

// sim prints figures beside their bars; false if one is missed.
func sim(ctx context.Context, args []string) (bool, error) {
	var o simOptions
	f := flag.NewFlagSet("verdict sim", flag.ContinueOnError)
	f.StringVar(&o.noise, "noise", "bench/verdict/noise", "folder of the recordings")
	f.StringVar(&o.only, "only", "", "recordings whose name begins with this")
	f.IntVar(&o.n, "n", 10000, "experiments without an effect for each method and recording")
	f.IntVar(&o.power, "power", 2000, "experiments for each effect")
	f.IntVar(&o.sessions, "sessions", 500, "sessions of 30 experiments for each recording")
	f.Uint64Var(&o.seed, "seed", 1, "of all coins")
	f.DurationVar(&o.window, "window", 0, "cut the runs to this; 0: as recorded")
	f.BoolVar(&o.early, "early", false, "only what is decided early, where few pairs fit")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	recordings, err := loadAll(o.noise)
	if err != nil {
		return false, err
	}
	var traces []*trace
	for _, r := range recordings {
		if strings.HasPrefix(r.Name, o.only) {
			traces = append(traces, newTrace(r, o.window, stack.DefaultMaxForeignCPU))
		}
	}
	rule := experiment.DefaultRule()
	fmt.Printf("Default rule: level %g, smallest effect %g %%, at most %d pairs; every method decides at %g.\n",
		rule.Alpha, 100*rule.SmallestEffect, rule.MaxPairs, level)
	for _, t := range traces {
		describe(t)
	}
	early, err := o.soon(ctx, traces, rule)
	if err != nil || o.early {
		return early, err
	}
	ok, err := o.falseKeeps(ctx, traces, rule)
	if err != nil {
		return false, err
	}
	calm, err := o.losses(ctx, traces, rule)
	if err != nil {
		return false, err
	}
	powerful, err := o.powers(ctx, traces, rule)
	if err != nil {
		return false, err
	}
	held, err := o.wholeSessions(ctx, traces, rule)
	return early && ok && calm && powerful && held, err
}

// falseKeeps: candidates that change nothing, by every method.
func (o simOptions) falseKeeps(ctx context.Context, traces []*trace, rule experiment.Rule) (bool, error) {
	var cells []*cell
	for _, m := range methods(rule) {
		for _, t := range traces {
			cells = append(cells, &cell{trace: t, method: m, n: o.n})
		}
	}
	if err := fillAll(ctx, cells, o.seed); err != nil {
		return false, err
	}
	fmt.Printf("\nFalse keeps, %% of %d experiments for each recording\n", o.n)
	header(traces)
	for _, m := range methods(rule) {
		own := func(c *cell) bool { return c.method.name == m.name }
		row(m.name, cells, own, (*cell).share, 100)
	}
	ok := true
	for _, name := range []string{product, briefProduct, cutProduct, fewProduct} {
		own := sum(cells, func(c *cell) bool { return c.method.name == name })
		ok = bar(name+": false keeps over all recordings", own.share(), falseKeepBar, false) && ok
	}
	return ok, nil
}

// losses: how often candidates are called regressed, by the rule of `kasoku tune`,
// which needs to know only that nothing is to be gained, and by that of `try` and
// `compare`. The bar is for what those say of candidates that change nothing.
func (o simOptions) losses(ctx context.Context, traces []*trace, rule experiment.Rule) (bool, error) {
	asked := rule
	asked.Losses = true
	inTune, inTry := method{product + ", tune", kasokuSays(experiment.Regressed, rule)}, method{product + ", try", kasokuSays(experiment.Regressed, asked)}
	ok := true
	for _, e := range []float64{0, -0.05, -0.10, -0.30} {
		n := o.power
		if e == 0 {
			n = o.n
		}
		fmt.Printf("\nCalled regressed with a true effect of %+.0f %%, %% of %d\n", 100*e, n)
		header(traces)
		for _, m := range []method{inTune, inTry} {
			all, err := o.fillRow(ctx, traces, m, e, n)
			if err != nil {
				return false, err
			}
			if e == 0 && m.name == inTry.name {
				ok = bar(m.name+": false losses over all recordings", all.share(), falseLossBar, false) && ok
			}
		}
	}
	fmt.Printf("\nKept by try without an effect, %% of %d\n", o.n)
	header(traces)
	all, err := o.fillRow(ctx, traces, method{inTry.name, kasoku(asked)}, 0, o.n)
	if err != nil {
		return false, err
	}
	return bar(inTry.name+": false keeps over all recordings", all.share(), falseKeepBar, false) && ok, nil
}

// fillRow makes n experiments by a method on each trace, prints what share came out
// and their runs, and returns the sum.
func (o simOptions) fillRow(ctx context.Context, traces []*trace, m method, effect float64, n int) (*cell, error) {
	var cells []*cell
	for _, t := range traces {
		cells = append(cells, &cell{trace: t, method: m, effect: effect, n: n})
	}
	if err := fillAll(ctx, cells, o.seed); err != nil {
		return nil, err
	}
	all := func(*cell) bool { return true }
	row(m.name, cells, all, (*cell).share, 100)
	row("  mean runs", cells, all, (*cell).meanRuns, 1)
	return sum(cells, all), nil
}

// powers: candidates that are faster or slower. Loud recordings are shown, but
// the bars are for runs that are evidence at the default share of foreign CPU,
// and that were warmed up as the product's are.
func (o simOptions) powers(ctx context.Context, traces []*trace, rule experiment.Rule) (bool, error) {
	var cells []*cell
	for _, m := range methods(rule) {
		for _, e := range effects {
			for _, t := range traces {
				cells = append(cells, &cell{trace: t, method: m, effect: e, n: o.power})
			}
		}
	}
	if err := fillAll(ctx, cells, o.seed); err != nil {
		return false, err
	}
	ok := true
	for _, e := range effects {
		fmt.Printf("\nKept with a true effect of %+.0f %%, %% of %d\n", 100*e, o.power)
		header(traces)
		for _, m := range methods(rule) {
			own := func(c *cell) bool { return c.method.name == m.name && c.effect == e }
			row(m.name, cells, own, (*cell).share, 100)
		}
		own := func(c *cell) bool { return c.method.name == product && c.effect == e }
		row("Kasoku: mean runs", cells, own, (*cell).meanRuns, 1)
		row("Kasoku: mean seconds", cells, own, (*cell).meanTook, 1)
		if e < 0 {
			ok = bar("−2 % kept, over all recordings", sum(cells, own).share(), falseKeepBar, false) && ok
			continue
		}
		quiet := sum(cells, func(c *cell) bool { return own(c) && !c.trace.loud && !c.trace.cold })
		if quiet.n == 0 {
			fmt.Println("MISSED not judged: every recording is loud or cold; record a quiet one (verdict record -h)")
			ok = false
			continue
		}
		switch e {
		case 0.05:
			ok = bar("+5 % kept, over all recordings that are neither loud nor cold", quiet.share(), power5Bar, true) && ok
		case 0.02:
			ok = bar("+2 % kept, over all recordings that are neither loud nor cold", quiet.share(), power2Bar, true) && ok
		}
	}
	return ok, nil
}

// labelWidth and columnWidth lay the tables out.
const labelWidth, columnWidth = 24, 20

func header(traces []*trace) {
	fmt.Printf("%-*s", labelWidth, "")
	for _, t := range traces {
		name := t.name
		if t.loud {
			name += " (loud)"
		} else if t.cold {
			name += " (cold)"
		}
		fmt.Printf(" %*s", columnWidth, name)
	}
	fmt.Printf(" %*s\n", columnWidth, "all")
}

func row(label string, cells []*cell, own func(*cell) bool, figure func(*cell) float64, times float64) {
	fmt.Printf("%-*s", labelWidth, label)
	for _, c := range cells {
		if own(c) {
			fmt.Printf(" %*.1f", columnWidth, times*figure(c))
		}
	}
	fmt.Printf(" %*.1f\n", columnWidth, times*figure(sum(cells, own)))
}

// bar prints a share beside its bar and reports whether it is met.
func bar(what string, got, want float64, least bool) bool {
	ok, word := got <= want, "at most"
	if least {
		ok, word = got >= want, "at least"
	}
	mark := "ok"
	if !ok {
		mark = "MISSED"
	}
	fmt.Printf("%-6s %s: %.2f %% (bar: %s %.0f %%)\n", mark, what, 100*got, word, 100*want)
	return ok
}
