// Command load compares Kasoku's load engine with other generators on one
// nginx, in one run, and judges it by the bars of the issue that asked for it:
//
//	a      CPU per request in the closed model, answers checked
//	b      CPU per request at a fixed rate, and how late requests are
//	c      peak rate on a tiny file
//	co     coordinated omission: latency on a server that stalls
//	conns  10,000 connections held, and memory for each
//
// In: bin/kasoku and the tools that scripts/peers.sh installed. Out: tables, a
// list of figures with their bars, and optionally everything as JSON. Exit
// status 0 if every bar was met, 1 if one was not or could not be judged for
// want of wrk or ab, 2 if the benchmark itself failed, 130 if interrupted.
//
// Tools run one after the other, in rounds, in an order drawn anew for each
// round. Ratios are taken within a round, so what drifts over minutes cancels.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the command line.
type settings struct {
	kasoku, peers string
	only          []string
	duration      time.Duration
	rounds, users int
	rate          int
	connections   int
	seed          uint64
	json          string
}

// parts in the order in which they run.
var parts = []string{"a", "b", "c", "co", "conns"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench-load:", err)
		return 2
	}
	ok, err := compare(ctx, s, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench-load: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "bench-load:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench-load", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.kasoku, "kasoku", "bin/kasoku", "Kasoku's program")
	f.StringVar(&s.peers, "peers", ".cache/peers/bin", "folder of the other tools; PATH comes after it")
	only := f.String("only", strings.Join(parts, ","), "parts to run")
	f.DurationVar(&s.duration, "d", 3*time.Second, "how long a tool runs in a round; whole seconds")
	f.IntVar(&s.rounds, "rounds", 5, "rounds of the parts a, b and c")
	f.IntVar(&s.users, "c", 32, "connections of the parts a, b and c")
	f.IntVar(&s.rate, "rate", 5000, "requests a second of part b")
	f.IntVar(&s.connections, "connections", 10000, "connections of part conns")
	f.Uint64Var(&s.seed, "seed", 1, "for the order of the tools")
	f.StringVar(&s.json, "json", "", "write all runs and figures to this file")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.only = strings.Split(*only, ",")
	for _, p := range s.only {
		if !slices.Contains(parts, p) {
			return s, fmt.Errorf("there is no part %q; choose from %s", p, strings.Join(parts, ","))
		}
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected %q; see -help", f.Arg(0))
	case s.duration < time.Second || s.duration%time.Second != 0:
		return s, fmt.Errorf("-d %s: wrk and ab take whole seconds only", s.duration)
	case s.rounds < 1 || s.users < 1 || s.rate < 1 || s.connections < 2:
		return s, errors.New("-rounds, -c and -rate must be 1 or more, -connections 2 or more")
	}
	return s, nil
}

// compare runs the chosen parts and tells whether every bar was met.
func compare(ctx context.Context, s settings, stdout, stderr io.Writer) (bool, error) {
	b, err := open(ctx, s, stdout, stderr)
	if err != nil {
		return false, err
	}
	defer b.close()
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"a", b.closedModel}, {"b", b.fixedRate}, {"c", b.peakRate}, {"co", b.omission}, {"conns", b.manyConnections}} {
		if !slices.Contains(s.only, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return false, fmt.Errorf("part %s: %w", part.name, err)
		}
	}
	b.figures.print(stdout)
	if s.json != "" {
		if err := b.writeJSON(s.json); err != nil {
			return false, err
		}
	}
	return b.figures.met(), nil
}
