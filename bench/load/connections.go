package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/target"
)

// connsWindow is how long the connections are held; activeEvery how often nginx
// is asked how many there are.
const (
	connsWindow = 6 * time.Second
	activeEvery = 250 * time.Millisecond
)

// sparePorts are source ports beside those of the connections: earlier parts
// leave some in TIME_WAIT, and nginx is asked for its status.
const sparePorts = 2000

// manyConnections is part conns: every user has one connection and a request
// under way on it all the time, so none is idle and none may be closed.
func (b *bench) manyConnections(ctx context.Context) error {
	name := fmt.Sprintf("%d connections held at once, without an error", b.connections)
	limit := fmt.Sprintf("≥ %d", b.connections)
	if why := b.tooFew(b.connections); why != "" {
		b.figures.add("conns", name, limit, why, notJudged, true)
		return nil
	}
	fmt.Fprintf(b.stderr, "part conns: %d connections for %s\n", b.connections, connsWindow)
	job := peer.Job{URL: b.nginx.URL(target.Page), Users: 1, Duration: time.Second,
		Check: pageCheck()}
	one, base, err := b.hold(ctx, job)
	if err != nil {
		return err
	}
	job.Users, job.Duration = b.connections, connsWindow
	many, full, err := b.hold(ctx, job)
	if err != nil {
		return err
	}
	s := met
	text := fmt.Sprintf("%d at once, %d opened, %d answers, %d failed", full.active, full.opened, many.Report.Requests, many.Report.Failed)
	switch {
	case one.Err != "" || many.Err != "":
		s, text = short, "kasoku failed: "+brief(one.Err+many.Err)
	case full.active < int64(b.connections) || many.Report.Failed > 0:
		s = short
	}
	memory := "–"
	if base.peak > 0 && full.peak > 0 {
		memory = fmt.Sprintf("%.1f KiB more for each; %.1f MiB with %d (%.1f KiB each), %.1f MiB with 1", float64(full.peak-base.peak)/float64(b.connections-1)/1024,
			mebi(full.peak), b.connections, float64(full.peak)/float64(b.connections)/1024, mebi(base.peak))
	}
	fmt.Fprintf(b.stdout, "\nconns) %s; kasoku's memory per connection: %s\n", text, memory)
	b.figures.add("conns", name, limit, text, s, true)
	b.figures.add("conns", "kasoku's memory per connection", "", memory, "", false)
	return nil
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// tooFew says why this machine cannot hold the connections; "" if it can.
func (b *bench) tooFew(connections int) string {
	if b.files < uint64(connections)+100 {
		return fmt.Sprintf("only %d open files allowed; raise the hard limit (ulimit -Hn) or be root", b.files)
	}
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return err.Error()
	}
	var low, high int
	if _, err := fmt.Sscan(string(data), &low, &high); err != nil {
		return fmt.Sprintf("ip_local_port_range is %q", data)
	}
	if high-low < connections+sparePorts {
		return fmt.Sprintf("only %d source ports; widen net.ipv4.ip_local_port_range", high-low)
	}
	return ""
}

// held is what was seen while Kasoku held connections.
type held struct {
	active int64 // most at once by nginx's count, without the asking one
	opened int64 // in all; more than active if some had to be opened again
	peak   int64 // bytes of memory
}

// hold runs Kasoku and asks nginx meanwhile.
func (b *bench) hold(ctx context.Context, job peer.Job) (*sample, held, error) {
	var h held
	before, err := b.nginx.Status(ctx)
	if err != nil {
		return nil, h, err
	}
	watchPeak, peak := proc.WatchPeak()
	asked := int64(1) // the last one, below
	watch := func(ctx context.Context, pid int) {
		var wait sync.WaitGroup
		wait.Go(func() { watchPeak(ctx, pid) })
		t := time.NewTicker(activeEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				wait.Wait()
				return
			case <-t.C:
			}
			asked++
			if s, err := b.nginx.Status(ctx); err == nil { // an answer that comes too late tells nothing
				h.active = max(h.active, s.Active-1)
			}
		}
	}
	s, err := b.execute(ctx, "conns", 1, entry{fmt.Sprintf("kasoku, %d connections", job.Users), b.tool("kasoku"), job}, watch)
	if err != nil {
		return nil, h, err
	}
	after, err := b.nginx.Status(ctx)
	if err != nil {
		return nil, h, err
	}
	b.runs = append(b.runs, s)
	h.opened, h.peak = after.Accepted-before.Accepted-asked, *peak
	return s, h, nil
}
