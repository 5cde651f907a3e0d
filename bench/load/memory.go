package main

import (
	"context"
	"fmt"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/target"
)

// memoryUsers are the numbers of connections that part memory holds.
var memoryUsers = []int{1000, 10000}

// memoryWindow is long enough for every tool to have opened 10,000 connections
// and answered on each.
const memoryWindow = 5 * time.Second

// memory is part memory: the most memory that was resident, of every tool that
// holds so many connections in the closed model. Memory hardly varies from run
// to run, so one is enough.
func (b *bench) memory(ctx context.Context) error {
	fmt.Fprintf(b.stdout, "\nmemory) most that was resident, MiB; each connection has a request under way\n")
	rows := [][]string{{"tool"}}
	for _, n := range memoryUsers {
		rows[0] = append(rows[0], fmt.Sprintf("%d connections", n))
	}
	rows[0] = append(rows[0], "KiB more for each")
	for _, t := range b.tools {
		if !t.Closed || t.Far {
			continue
		}
		row, peaks := []string{t.Name}, []int64{}
		for _, n := range memoryUsers {
			peak, why, err := b.peakOf(ctx, t, n)
			if err != nil {
				return err
			}
			if why != "" {
				row = append(row, why)
				continue
			}
			row, peaks = append(row, fmt.Sprintf("%.1f", mebi(peak))), append(peaks, peak)
		}
		each := "–"
		if last := len(memoryUsers) - 1; len(peaks) == len(memoryUsers) {
			each = fmt.Sprintf("%.1f", float64(peaks[last]-peaks[0])/float64(memoryUsers[last]-memoryUsers[0])/1024)
		}
		rows = append(rows, append(row, each))
		b.figures.add("memory", t.Name+"'s peak with 1,000; 10,000 connections, MiB", "", row[1]+"; "+row[2], "", false)
	}
	printTable(b.stdout, rows)
	return nil
}

// peakOf runs one tool; why says what it could not do.
func (b *bench) peakOf(ctx context.Context, t *peer.Tool, users int) (peak int64, why string, err error) {
	if why := b.tooFew(users); why != "" {
		return 0, why, nil
	}
	fmt.Fprintf(b.stderr, "part memory: %s, %d connections\n", t.Name, users)
	job := peer.Job{URL: b.nginx.URL(target.Page), Users: users, Duration: memoryWindow}
	if t.Name == "kasoku" {
		job.Check = pageCheck()
	}
	watch, most := proc.WatchPeak()
	s, err := b.execute(ctx, "memory", 1, entry{fmt.Sprintf("%s, %d connections", t.Name, users), t, job}, watch)
	if err != nil {
		return 0, "", err
	}
	b.runs = append(b.runs, s)
	s.Peak = *most
	switch {
	case s.Err != "":
		return 0, "it failed: " + brief(s.Err), nil
	case *most == 0:
		return 0, "it ended too soon to be seen", nil
	case s.Report.Requests < int64(users):
		return 0, fmt.Sprintf("only %d answers", s.Report.Requests), nil
	}
	return *most, "", nil
}
