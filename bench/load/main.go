// Command load compares Kasoku's load engine with other generators on one
// nginx, in one run, and judges it by bars:
//
//	a       CPU per request in the closed model, answers checked
//	b       CPU per request at a fixed rate, and how late requests are
//	c       peak rate on a tiny file
//	post    as a: a POST with a JSON body and answer
//	tls     as a, by TLS
//	h2      as a, by HTTP/2 over TLS
//	co      coordinated omission: latency on a server that stalls
//	conns   10,000 connections held, and memory for each
//	memory  peak memory with 1,000 and 10,000 connections
//
// In: bin/kasoku and the tools that scripts/peers.sh installed. Out: tables, a
// list of figures with their bars, and optionally everything as JSON. Exit
// status 0 if every bar was met, 1 if one was missed, is undecided or could not
// be judged for want of wrk or ab, 2 if the benchmark itself failed, 130 if
// interrupted.
//
// How a figure comes about:
//
//  1. nginx gets one half of the processors, the tools the other.
//  2. Tools run one after the other, in short rounds, in an order drawn anew
//     for each round.
//  3. A run in which others had more than a small share of the machine is
//     repeated, a few times at most; after that the round lacks it.
//  4. Ratios are taken within a round, so what drifts over minutes cancels.
//     The figure is their median with the sign test's interval.
//  5. A bar is met or missed if the whole interval says so, else undecided.
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
	pin           bool
	noise         float64 // share of the machine that others may have in a run
	tries         int
	json          string
}

// parts in the order in which they run.
var parts = []string{"a", "b", "c", "post", "tls", "h2", "co", "conns", "memory"}

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
	f.DurationVar(&s.duration, "d", time.Second, "how long a tool runs in a round, in part b three times that; whole seconds")
	f.IntVar(&s.rounds, "rounds", 15, "rounds of the parts a to h2; 6 are the least that decide anything")
	f.IntVar(&s.users, "c", 32, "connections of the parts a to h2")
	f.BoolVar(&s.pin, "pin", true, "give nginx and the tools processors of their own, where there are two")
	f.Float64Var(&s.noise, "noise", 0.05, "share of the machine that others may have during a run")
	f.IntVar(&s.tries, "tries", 3, "how often a run that others disturbed is repeated")
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
	case !(s.noise >= 0 && s.noise <= 1) || s.tries < 0:
		return s, errors.New("-noise must be from 0 to 1, -tries 0 or more")
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
	}{{"a", b.closedModel}, {"b", b.fixedRate}, {"c", b.peakRate}, {"post", b.post}, {"tls", b.tls}, {"h2", b.http2},
		{"co", b.omission}, {"conns", b.manyConnections}, {"memory", b.memory}} {
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
