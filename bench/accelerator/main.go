// Command accelerator checks accelerator/ by random transactions of several processes on a
// real MariaDB: what they see is compared with what they see without it.
//
//  1. serve    (server.go) a private server with lists that transactions append to
//  2. work     (worker/) each process is a program of its own; some use the accelerator
//  3. break    (faults.go) statements and connections are killed and cut, processes and the
//     server are killed, while they work
//  4. check    (history/) anomalies of the history, by Elle's method
//  5. compare  (levels.go) with it no class of anomaly may be there that is not there
//     without, at SERIALIZABLE none at all
//  6. doubt    (mutants.go) an accelerator in which something that ends memory is taken out
//     has to be caught within a minute
//
// Exit status 0 if all holds, 1 if not, 2 if the run failed, 130 if interrupted.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// settings are the command line.
type settings struct {
	txns  int
	procs int
	seed  uint64
	limit time.Duration
	only  string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := settings{limit: time.Minute}
	f := flag.NewFlagSet("accelerator", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&s.txns, "n", 10_000, "transactions of each process")
	f.IntVar(&s.procs, "processes", 4, "how many processes work at once")
	f.Uint64Var(&s.seed, "seed", 1, "the transactions' seed")
	f.StringVar(&s.only, "only", "", "levels, mutants, or the name of one (\"Repeatable Read\"): that part alone")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case f.NArg() > 0 || s.txns < 1 || s.procs < 1 || !s.part():
		fmt.Fprintln(stderr, "accelerator: no arguments; -n and -processes are 1 or more, -only is levels, mutants or the name of one of them")
		return 2
	}
	ok, err := s.session(ctx, stdout)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "accelerator: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "accelerator:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

// wants says whether a part, and one of it by name, is to be run.
func (s settings) wants(part, name string) bool {
	return s.only == "" || s.only == part || s.only == name
}

// part says whether what only names is there.
func (s settings) part() bool {
	return s.wants("levels", "mutants") || slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == s.only }) ||
		slices.ContainsFunc(judged, func(l sql.IsolationLevel) bool { return l.String() == s.only })
}

// session does all of it.
func (s settings) session(ctx context.Context, out io.Writer) (bool, error) {
	within := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		within = "/dev/shm" // processes are killed, not the machine: no disk is needed
	}
	dir, err := os.MkdirTemp(within, "kasoku-accelerator")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	worker, err := build(ctx, dir, "worker", nil)
	if err != nil {
		return false, err
	}
	db, err := startServer(ctx, dir)
	if err != nil {
		return false, err
	}
	defer db.stop()
	c := &comparison{server: db, settings: s, worker: worker, out: out}
	if err := c.writeRules(); err != nil {
		return false, err
	}
	levels, err := c.levels(ctx)
	if err != nil {
		return false, err
	}
	mutants, err := c.mutants(ctx)
	if err != nil {
		return false, err
	}
	return levels && mutants, nil
}
