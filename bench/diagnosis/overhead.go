package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"

	"kasoku/internal/load"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// overheadBar is the most that collectors which are on in every run may take
// of the throughput.
const overheadBar = 0.01

// overhead alternates scored runs, whose collectors read before, during and
// after the window, with runs of the load alone.
func (c *login) overhead(ctx context.Context, pairs int) (bool, error) {
	var ratios []float64
	for pair := range pairs {
		var with, alone float64
		for i := range 2 {
			var err error
			if (i+pair)%2 == 0 { // AB BA: drift cancels
				with, err = c.collected(ctx)
			} else {
				alone, err = c.alone(ctx)
			}
			if err != nil {
				return false, err
			}
		}
		ratios = append(ratios, with/alone)
		fmt.Printf("pair %2d: %7.0f right answers/s with the collectors, %7.0f without: %.4f\n", pair+1, with, alone, with/alone)
	}
	loss := 1 - stat.GeoMean(ratios)
	fmt.Printf("\nloss of throughput: %.2f %% ± %.2f (95 %% of %d pairs; bar: %.0f %%)\n", 100*loss, 100*spread(ratios), pairs, 100*overheadBar)
	return loss <= overheadBar, nil
}

// spread is the half-width of the mean ratio's 95 % interval (normal; a dozen
// pairs or more).
func spread(ratios []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, r := range ratios {
		mean += math.Log(r) / float64(len(ratios))
	}
	for _, r := range ratios {
		sum += (math.Log(r) - mean) * (math.Log(r) - mean)
	}
	n := float64(len(ratios))
	return 1.96 * math.Sqrt(sum/math.Max(1, n-1)/n)
}

func (c *login) collected(ctx context.Context) (float64, error) {
	run, err := c.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: "with collectors"})
	if err != nil {
		return 0, err
	}
	return right(run.Evidence.Load)
}

func (c *login) alone(ctx context.Context) (float64, error) {
	reset := exec.CommandContext(ctx, script, "reset", c.dir)
	reset.Stderr = os.Stderr
	if err := reset.Run(); err != nil {
		return 0, fmt.Errorf("reset the case: %w", err)
	}
	b := c.bench
	res, err := load.Run(ctx, load.Options{Scenario: b.Scenario, URL: b.Stack.Load.URL, Window: b.Window, Progress: func(load.Progress) {}})
	if err != nil {
		return 0, err
	}
	return right(res)
}

func right(l *load.Result) (float64, error) {
	if l.Mismatches > 0 {
		return 0, fmt.Errorf("%d wrong answers", l.Mismatches)
	}
	return float64(l.Succeeded) / l.Window.Seconds(), nil
}
