package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/stall"
)

// The open model sends coRate requests/s for coWindow, a multiple of the
// stalls' period. coUsers is more than can be waiting at the end of a stall
// (500). Closed tools run for a shorter time: their figures only illustrate.
const (
	coRate        = 1000
	coWindow      = 20 * time.Second
	coUsers       = 1000
	coClosed      = 10 * time.Second
	coClosedUsers = 10
	// coTolerance is how far p99 and maximum may be off the analytic value.
	coTolerance = 0.05
)

// omission is part co. Kasoku runs alone; then the other tools with a rate
// together, then the closed tools together.
func (b *bench) omission(ctx context.Context) error {
	plan := stall.Default
	server, err := stall.Serve(plan)
	if err != nil {
		return err
	}
	defer server.Close() // its connections end with the tools
	job := peer.Job{URL: server.URL(), Users: coUsers, Rate: coRate, Duration: coWindow}
	closed := peer.Job{URL: server.URL(), Users: coClosedUsers, Duration: coClosed}
	groups := [3][]entry{}
	for _, t := range b.tools {
		switch {
		case t.Name == "kasoku":
			groups[0] = []entry{{"kasoku", t, job}}
		case t.Open && t.Name != "hey":
			groups[1] = append(groups[1], entry{t.Name + ", with a rate", t, job})
		case t.Closed: // hey too: its -q only slows its closed loop down
			groups[2] = append(groups[2], entry{t.Name + ", closed", t, closed})
		}
	}
	all := series{}
	for i, g := range groups {
		server.Restart()
		if err := b.together(ctx, g, all); err != nil {
			return err
		}
		// Only Kasoku's figures are judged, so only they are taken again.
		for try := 1; i == 0 && all["kasoku"][0].Foreign.Sum() > b.noise && try <= b.tries; try++ {
			fmt.Fprintf(b.stderr, "part co: others had %.0f %% of the machine; again (%d of %d)\n", all["kasoku"][0].Foreign.Sum()*100, try, b.tries)
			server.Restart()
			if err := b.together(ctx, g, all); err != nil {
				return err
			}
			all["kasoku"][0].Repeated = try
		}
	}
	b.printOmission(plan, groups[:], all)
	k := all["kasoku"][0]
	b.judgeNear("p99 on a server that stalls", plan.Quantile(0.99), k.Report.P99, k.Err)
	b.judgeNear("max on a server that stalls", plan.Quantile(1), k.Report.Max, k.Err)
	planned := float64(coRate) * coWindow.Seconds()
	s := met
	if k.Err != "" || k.Report.Dropped > 0 || k.Report.Failed > 0 || math.Abs(float64(k.Report.Planned)-planned) > countTolerance*planned {
		s = short
	}
	b.figures.add("co", "requests planned; dropped; failed", fmt.Sprintf("%.0f; 0; 0", planned),
		fmt.Sprintf("%d; %d; %d", k.Report.Planned, k.Report.Dropped, k.Report.Failed), s, true)
	return nil
}

// together runs a group at the same time and adds its samples.
func (b *bench) together(ctx context.Context, group []entry, all series) error {
	meter, err := proc.NewMeter(b.nginx.PID()) // the stalling server is this process
	if err != nil {
		return err
	}
	samples, errs := make([]*sample, len(group)), make([]error, len(group))
	var wait sync.WaitGroup
	for i, e := range group {
		fmt.Fprintf(b.stderr, "part co: %s, %s\n", e.label, e.job.Duration)
		wait.Go(func() { samples[i], errs[i] = b.execute(ctx, "co", 1, e, nil) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var used time.Duration
	for _, s := range samples {
		used += s.User + s.System
	}
	busy, err := meter.Foreign(used, runtime.NumCPU())
	if err != nil {
		return err
	}
	for i, e := range group {
		samples[i].Foreign = busy
		all[e.label] = []*sample{samples[i]}
		b.runs = append(b.runs, samples[i])
	}
	return nil
}

func (b *bench) printOmission(plan stall.Plan, groups [][]entry, all series) {
	fmt.Fprintf(b.stdout, "\nco) the server stalls for %s every %s; open tools: %d requests/s for %s; closed tools: %d connections for %s\n",
		plan.Length, plan.Every, coRate, coWindow, coClosedUsers, coClosed)
	rows := [][]string{{"", "requests", "p99", "max", "notes"},
		{"by arithmetic", fmt.Sprint(coRate * int(coWindow.Seconds())), millis(plan.Quantile(0.99)), millis(plan.Quantile(1)), ""}}
	for _, g := range groups {
		for _, e := range g {
			r := all[e.label][0].Report
			notes := all.notes(e.label)
			if err := all.broken(e.label); err != "" {
				notes = brief(err)
			} else if notes == "" {
				notes = e.tool.Note
			}
			rows = append(rows, []string{e.label, fmt.Sprint(r.Requests), millis(r.P99), millis(r.Max), notes})
			if e.tool.Name == "kasoku" {
				rows = append(rows, []string{"kasoku, uncorrected", "", millis(r.Uncorrected99), millis(r.UncorrectedMax), "from the real send time"})
			}
		}
	}
	printTable(b.stdout, rows)
}

// millis of a latency; 0 is one that the tool does not tell.
func millis(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// judgeNear holds a latency against its analytic value.
func (b *bench) judgeNear(name string, want, got time.Duration, failed string) {
	off := float64(got-want) / float64(want)
	limit := fmt.Sprintf("%s ± %.0f %%", millis(want), coTolerance*100)
	switch {
	case failed != "":
		b.figures.add("co", name, limit, "kasoku failed: "+brief(failed), short, true)
	case math.Abs(off) <= coTolerance:
		b.figures.add("co", name, limit, fmt.Sprintf("%s (%+.1f %%)", millis(got), off*100), met, true)
	default:
		b.figures.add("co", name, limit, fmt.Sprintf("%s (%+.1f %%)", millis(got), off*100), short, true)
	}
}
