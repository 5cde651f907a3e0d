package main

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync"
)

// cell is one figure: a method on a trace with a true effect, many times.
type cell struct {
	trace  *trace
	method method
	effect float64
	n      int // experiments

	kept int
	runs int     // of all experiments
	took float64 // seconds, of all experiments
}

func (c *cell) share() float64    { return float64(c.kept) / float64(c.n) }
func (c *cell) meanRuns() float64 { return float64(c.runs) / float64(c.n) }
func (c *cell) meanTook() float64 { return c.took / float64(c.n) }

// fill makes the cell's experiments. Its coin depends on what the cell is, not
// on the order of work, so that figures are the same each time.
func (c *cell) fill(ctx context.Context, seed uint64) {
	h := fnv.New64a()
	h.Write([]byte(c.trace.name + c.method.name)) // never fails
	coin := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(int64(c.effect*10000))))
	for range c.n {
		if ctx.Err() != nil {
			return
		}
		p := &replay{trace: c.trace, next: coin.IntN(len(c.trace.runs)), effect: c.effect}
		if c.method.keep(p, coin) {
			c.kept++
		}
		c.runs += p.runs
		c.took += p.took
	}
}

// fillAll works on all cells at once.
func fillAll(ctx context.Context, cells []*cell, seed uint64) error {
	work := make(chan *cell)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := range work {
				c.fill(ctx, seed)
			}
		})
	}
	for _, c := range cells {
		work <- c
	}
	close(work)
	wg.Wait()
	return ctx.Err()
}

// sum of cells of one kind, each weighing the same.
func sum(cells []*cell, pick func(*cell) bool) *cell {
	var all cell
	for _, c := range cells {
		if pick(c) {
			all.n, all.kept, all.runs, all.took = all.n+c.n, all.kept+c.kept, all.runs+c.runs, all.took+c.took
		}
	}
	return &all
}
