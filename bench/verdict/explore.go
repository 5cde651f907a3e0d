package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/stack"
	"kasoku/internal/stat"
)

// explore prints, for each recording, window and number of pairs, what
// experiments would bring and cost: how the defaults were chosen.
func explore(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("verdict explore", flag.ContinueOnError)
	dir := f.String("noise", "bench/verdict/noise", "folder of the recordings")
	n := f.Int("n", 1000, "experiments for each figure")
	pairs := f.String("pairs", "10,20,32,40", "most pairs of an experiment")
	windows := f.String("windows", "500ms,1s,1.5s,2s,3s", "windows of a run, at most the recorded one")
	alpha := f.Float64("alpha", level, "false-keep rate of an experiment")
	only := f.String("only", "", "recordings whose name begins with this")
	limit := f.Float64("foreign", stack.DefaultMaxForeignCPU, "share of foreign CPU above which a run is no evidence")
	if err := f.Parse(args); err != nil {
		return err
	}
	recordings, err := loadAll(*dir)
	if err != nil {
		return err
	}
	for _, r := range recordings {
		if !strings.HasPrefix(r.Name, *only) {
			continue
		}
		fmt.Printf("%s: %d runs, %s, %s\n", r.Name, len(r.Runs), r.State, r.Beside)
		for w := range strings.SplitSeq(*windows, ",") {
			window, err := time.ParseDuration(w)
			if err != nil {
				return err
			}
			if window.Milliseconds() > int64(r.WindowMS) {
				continue
			}
			t := newTrace(r, window, *limit)
			describe(t)
			for p := range strings.SplitSeq(*pairs, ",") {
				most, err := strconv.Atoi(p)
				if err != nil {
					return err
				}
				rule := experiment.DefaultRule()
				rule.MaxPairs, rule.Alpha = most, *alpha
				if err := explored(ctx, t, rule, *n); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// describe says how noisy a trace is.
func describe(t *trace) {
	var logs, pairs []float64
	unfit, took := 0, 0.0
	for i, r := range t.runs {
		logs = append(logs, math.Log(r.score))
		took += r.took / float64(len(t.runs))
		if r.unfit != "" {
			unfit++
		}
		if i > 0 {
			pairs = append(pairs, math.Log(r.score/t.runs[i-1].score))
		}
	}
	_, sd := stat.MeanSD(logs)
	_, pair := stat.MeanSD(pairs)
	fmt.Printf("  window %s: sd of runs %.1f %%, of pairs %.1f %%, %.1f s a run, %d unfit, loud %v\n",
		t.window, 100*sd, 100*pair, took, unfit, t.loud)
}

func explored(ctx context.Context, t *trace, rule experiment.Rule, n int) error {
	m := method{"Kasoku " + strconv.Itoa(rule.MaxPairs), kasoku(rule)}
	var cells []*cell
	for _, e := range []float64{0, 0.02, 0.05, 0.10, 0.30} {
		c := &cell{trace: t, method: m, effect: e, n: n}
		if e == 0 {
			c.n *= 4
		}
		cells = append(cells, c)
	}
	if err := fillAll(ctx, cells, 1); err != nil {
		return err
	}
	fmt.Printf("    %3d pairs:", rule.MaxPairs)
	for _, c := range cells {
		fmt.Printf("  %+.0f %%: %5.1f %% kept, %4.1f runs, %3.0f s", 100*c.effect, 100*c.share(), c.meanRuns(), c.meanTook())
	}
	fmt.Println()
	return nil
}
