// Command tuners compares ways to tune the bank login in one run: the service
// as found, mysqltuner's advice by the letter, a random search over settings,
// indexes and Kasoku's other plans with as much time as Kasoku took, a person's
// configuration (cases/login/hand), and Kasoku. scripts/bench-tuners.sh makes the copies of
// the case and lets Kasoku tune its own.
//
//	tuners random -t 6m -seed 1 DIR     search and keep the best that was seen
//	tuners advice DIR < OUTPUT          apply what mysqltuner printed
//	tuners compare NAME=DIR …           alternating runs of all copies
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, errShort):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "tuners:", err)
		os.Exit(2)
	}
}

// errShort: a figure fell short of its bar, which the table names.
var errShort = errors.New("a figure fell short")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("name what to do: random, advice or compare (see the head of bench/tuners/main.go)")
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	limit := f.Duration("t", 6*time.Minute, "random: how long to search")
	seed := f.Uint64("seed", 1, "random, compare: seed")
	window := f.Duration("d", 3*time.Second, "measured window of a run")
	rounds := f.Int("rounds", 8, "compare: rounds of runs")
	bar := f.Float64("bar", barHand, "compare: least ratio of Kasoku's score to that by hand")
	users := f.Int("c", 0, "virtual users; 0: the scenario's")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case args[0] == "random" && f.NArg() == 1:
		return randomSearch(ctx, f.Arg(0), *limit, *window, *users, *seed)
	case args[0] == "advice" && f.NArg() == 1:
		return followAdvice(ctx, f.Arg(0), os.Stdin)
	case args[0] == "compare" && f.NArg() > 1:
		return compare(ctx, f.Args(), *rounds, *window, *users, *seed, *bar)
	}
	return fmt.Errorf("%s: see the head of bench/tuners/main.go for its arguments", args[0])
}

// place is one copy of the case.
type place struct {
	dir   string
	stack *stack.Stack
	hosts map[string]host.Host
	bench *tune.Bench
	exec  *change.Executor // nil if it is only measured
}

func open(ctx context.Context, dir string, window time.Duration, writes bool) (*place, error) {
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return nil, err
	}
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(filepath.Join(st.Dir, ".kasoku"))
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, stack: st, hosts: map[string]host.Host{"local": host.NewLocal()}}
	p.bench = &tune.Bench{Stack: st, Hosts: p.hosts, Scenario: sc, Store: db, Window: window}
	if writes {
		if p.exec, err = tune.OpenExecutor(ctx, filepath.Join(st.Dir, ".kasoku"), st, p.hosts); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return p, nil
}

func (p *place) close() error {
	err := p.bench.Store.Close()
	if p.exec != nil {
		err = errors.Join(err, p.exec.Close())
	}
	return err
}

func (p *place) snapshot(ctx context.Context) (*evidence.Snapshot, error) {
	return evidence.Take(ctx, p.stack, p.hosts, evidence.TakeOptions{})
}

// score makes one run; wrong answers score nothing.
func (p *place) score(ctx context.Context, label string, users int) (float64, error) {
	for try := 0; ; try++ {
		r, err := p.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: label, Workload: users})
		if err != nil {
			return 0, err
		}
		if r.Unfit != "" && try < 3 {
			fmt.Fprintf(os.Stderr, "a run was no evidence (%s); it is repeated\n", r.Unfit)
			continue
		}
		if r.Evidence.Load.Mismatches > 0 {
			return 0, nil
		}
		return r.Score, nil
	}
}
