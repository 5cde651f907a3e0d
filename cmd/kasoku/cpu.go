package main

import (
	"context"
	"fmt"
	"syscall"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
)

// cpuSplit tells, from one call to the next, how busy the machine is and how
// much of that is the load generator: this process, or also a benchmark that it runs.
type cpuSplit struct {
	host            host.Host
	others          float64 // CPU seconds of a benchmark that makes the load, since it was begun
	busy, all, self float64 // CPU seconds at the last call; self with others
	seen            float64 // others at the last call
}

// text is "cpu 97 % (load 12 %)", empty if it cannot be read.
func (c *cpuSplit) text() string {
	busy, all, err := evidence.CPUTimes(context.Background(), c.host)
	var use syscall.Rusage
	if err != nil || syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return ""
	}
	self := seconds(use.Utime) + seconds(use.Stime) + c.others
	last := *c
	c.busy, c.all, c.self, c.seen = busy, all, self, c.others
	if last.all == 0 || all <= last.all {
		return ""
	}
	return c.between(last)
}

// between is the text of what was used since the last call. A benchmark that was begun
// anew meanwhile counts from 0 again.
func (c *cpuSplit) between(last cpuSplit) string {
	load := c.self - last.self
	if load < 0 {
		load += last.seen
	}
	return fmt.Sprintf("cpu %.0f %% (load %.0f %%)", 100*(c.busy-last.busy)/(c.all-last.all), 100*max(load, 0)/(c.all-last.all))
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
