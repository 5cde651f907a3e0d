package main

import (
	"context"
	"time"

	"kasoku/bench/load/proc"
	"kasoku/internal/load"
	"kasoku/internal/stat"
)

// settle seconds at a block's begin and rest seconds at its end are left out:
// viewers come and go there.
const settle, rest = 1, 1

// usage reads, in the counted part of the block that begins at from, how much
// CPU time everything but the process apart uses. What other machines stole is
// not in it.
func usage(ctx context.Context, from time.Time, apart int) (time.Duration, error) {
	read := func(at time.Time) (time.Duration, error) {
		if err := until(ctx, at); err != nil {
			return 0, err
		}
		all, err := proc.ReadMachine()
		if err != nil {
			return 0, err
		}
		own, err := proc.Tree(apart)
		return all.Processes + all.Interrupts - own, err
	}
	begin, err := read(from.Add(settle * time.Second))
	if err != nil {
		return 0, err
	}
	end, err := read(from.Add((block - rest) * time.Second))
	return end - begin, err
}

// answers that were right in the counted part of a block.
func answers(res *load.Result, n int) (sum float64) {
	for _, p := range res.Series {
		if p.Second >= n*block+settle && p.Second < (n+1)*block-rest {
			sum += float64(p.Succeeded)
		}
	}
	return sum
}

// turns compares the blocks of each pair by a figure: its share more in those
// that are on, and the half-width of the 95 % interval.
func turns(pairs int, figure func(n int) float64) (more, half float64) {
	var ratios []float64
	for pair := range pairs {
		a, b := figure(2*pair), figure(2*pair+1)
		if !on(2 * pair) {
			a, b = b, a
		}
		ratios = append(ratios, a/b)
	}
	return stat.GeoMean(ratios) - 1, spread(ratios)
}
