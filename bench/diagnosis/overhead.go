package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
)

const (
	// overheadBar is the most that collectors which are on in every run may
	// take of the throughput.
	overheadBar = 0.01
	// block of seconds with the collectors, then without, or the other way
	// round: as long as a short run's window, so that the readings at its begin
	// and end weigh as much.
	block = 5
)

// overhead is one long run in which the collectors of a scored run are on and
// off in turn, in random order within each pair of blocks. Runs one after the
// other differ by more than the collectors could cost.
func (c *login) overhead(ctx context.Context, pairs int) (bool, error) {
	b := c.bench
	// Opened beforehand: that is not part of a window.
	cols, err := c.collectors(ctx, pairs)
	defer func() {
		for _, col := range cols {
			col.Close()
		}
	}()
	if err != nil {
		return false, err
	}
	var work sync.WaitGroup
	var failed error
	begun := false
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := load.Run(ctx, load.Options{Scenario: b.Scenario, URL: b.Stack.Load.URL, Warmup: 3 * time.Second,
		Window: time.Duration(pairs*2*block) * time.Second, Progress: func(p load.Progress) {
			if p.Phase != load.PhaseMeasure || begun {
				return
			}
			begun = true
			work.Go(func() {
				if failed = toggle(ctx, time.Now(), cols); failed != nil {
					cancel()
				}
			})
		}})
	cancel()
	work.Wait()
	if failed != nil && !isCancel(failed) {
		return false, failed
	}
	if err != nil {
		return false, err
	}
	// A run of minutes may meet a full second's scheduling pause in a check of
	// times; more than that would be another load.
	if res.Mismatches > res.Requests/10000 {
		return false, fmt.Errorf("%d wrong answers; the first: %+v", res.Mismatches, res.Samples[0])
	}
	return judge(res, pairs), nil
}

func isCancel(err error) bool { return err != nil && context.Canceled.Error() == err.Error() }

// first reports whether the collectors are on in a pair's first block: a fixed
// sequence without a period (bits of the golden ratio's multiples).
func first(pair int) bool { return math.Mod(float64(pair+1)*0.6180339887498949, 1) < 0.5 }

// on reports whether they are in a block.
func on(n int) bool { return first(n/2) == (n%2 == 0) }

// collectors of the blocks that have one, by the block's number.
func (c *login) collectors(ctx context.Context, pairs int) (map[int]*evidence.Collector, error) {
	out := map[int]*evidence.Collector{}
	for n := range 2 * pairs {
		if !on(n) {
			continue
		}
		col, err := evidence.NewCollector(ctx, c.bench.Stack, c.bench.Hosts, evidence.CollectorOptions{Generator: os.Getpid()})
		if err != nil {
			return out, err
		}
		out[n] = col
	}
	return out, nil
}

// toggle starts and ends each block's collector.
func toggle(ctx context.Context, begin time.Time, cols map[int]*evidence.Collector) error {
	for _, n := range slices.Sorted(maps.Keys(cols)) {
		if err := within(ctx, cols[n], begin.Add(time.Duration(n*block)*time.Second)); err != nil {
			return err
		}
	}
	return nil
}

// within reads from a block's begin to its end.
func within(ctx context.Context, col *evidence.Collector, at time.Time) error {
	if err := until(ctx, at); err != nil {
		return err
	}
	if err := col.Start(ctx); err != nil {
		return err
	}
	// The last readings are part of the block.
	if err := until(ctx, at.Add(block*time.Second-100*time.Millisecond)); err != nil {
		return err
	}
	return col.End(ctx)
}

func until(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// judge compares the blocks of each pair.
func judge(res *load.Result, pairs int) bool {
	rate := func(n int) float64 {
		sum := 0.0
		for _, p := range res.Series {
			if p.Second >= n*block && p.Second < (n+1)*block {
				sum += float64(p.Succeeded)
			}
		}
		return sum / block
	}
	var with, without float64
	for n := range 2 * pairs {
		if on(n) {
			with += rate(n) / float64(pairs)
		} else {
			without += rate(n) / float64(pairs)
		}
	}
	less, half := turns(pairs, rate)
	fmt.Printf("%d pairs of %d s: %.0f right answers/s with the collectors, %.0f without\n", pairs, block, with, without)
	fmt.Printf("loss of throughput: %.2f %% ± %.2f (95 %%; bar: %.0f %%)\n", -100*less, 100*half, 100*overheadBar)
	return -less <= overheadBar
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
