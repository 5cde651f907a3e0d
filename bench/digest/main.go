// Command digest compares "kasoku digest" with other ways to sum logs up, in
// one run, and judges it by the bars of the issue that asked for it:
//
//	access   access logs in LTSV, JSON and the combined form: alp, goaccess, grep -c, wc -l
//	packed   the LTSV log packed by gzip and zstd: the unpacker | grep -c
//	memory   the peak of resident memory, and that it does not grow with the log
//	slow     a slow query log: pt-query-digest, slp; the same classes and counts
//
// In: bin/kasoku and the tools that scripts/peers.sh digest installed. Out:
// tables, a list of figures with their bars, and optionally everything as JSON.
// Exit status 0 if every bar was met, 1 if one was not or could not be judged,
// 2 if the benchmark itself failed, 130 if interrupted.
//
// Logs are generated once into a cache folder and read once before the rounds,
// so that they are in memory. Tools run one after the other, in an order drawn
// anew for each round, on all processors. Throughput counts unpacked bytes.
// Ratios are taken within a round, so what drifts over minutes cancels. Slow
// tools get a tenth of the log: their throughput does not depend on its length.
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
)

// settings are the command line.
type settings struct {
	kasoku, peers, cache string
	only                 []string
	lines, entries       int
	rounds               int
	seed                 uint64
	json                 string
}

// parts in the order in which they run.
var parts = []string{"access", "packed", "memory", "slow"}

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
		fmt.Fprintln(stderr, "bench-digest:", err)
		return 2
	}
	ok, err := compare(ctx, s, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench-digest: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "bench-digest:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench-digest", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.kasoku, "kasoku", "bin/kasoku", "Kasoku's program")
	f.StringVar(&s.peers, "peers", ".cache/peers/bin", "folder of the other tools; PATH comes after it")
	f.StringVar(&s.cache, "cache", ".cache/bench/digest", "folder for the logs")
	only := f.String("only", strings.Join(parts, ","), "parts to run")
	f.IntVar(&s.lines, "lines", 5_000_000, "lines of the access logs")
	f.IntVar(&s.entries, "entries", 200_000, "entries of the slow log")
	f.IntVar(&s.rounds, "rounds", 5, "rounds of each part")
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
	case s.rounds < 1 || s.lines < 1000 || s.entries < 1000:
		return s, errors.New("-rounds must be 1 or more, -lines and -entries 1000 or more")
	}
	return s, nil
}

// compare runs the chosen parts and tells whether every bar was met.
func compare(ctx context.Context, s settings, stdout, stderr io.Writer) (bool, error) {
	b, err := open(s, stdout, stderr)
	if err != nil {
		return false, err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"access", b.accessLogs}, {"packed", b.packedLogs}, {"memory", b.memory}, {"slow", b.slowLogs}} {
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
