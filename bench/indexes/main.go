// Command indexes measures how good the index advice is, on schemas that nobody
// chose: it draws tables, data and workloads from a seed, lets internal/remedy/index
// advise, and compares the advised indexes with the best that a search over
// candidates finds on a real MariaDB.
//
//  1. draw    (schema.go, forms.go) one to three tables of at most 100,000 rows, and
//     one to six statements on them
//  2. load    (server.go, lab.go) a private server without a disk, INSERT … SELECT
//     from tables of the sequence engine
//  3. search  (candidates.go, search.go) at most 40 indexes by what the statements
//     name: each alone, pairs, then sets grown and improved while that pays
//  4. advise  (advice.go) what Kasoku reads of such a server, and what it advises
//  5. judge   (judge.go) both sets by rows read (Handler_read_* and
//     Handler_icp_attempts), index entries written, and bytes
//
// What is measured of a seed is kept (store.go), so that a run goes on where one was
// ended, and one with other advice measures only sets that were never tried.
// Exit status 0 if both bars are reached, 1 if not, 2 if the run failed, 130 if
// interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// settings are the command line.
type settings struct {
	seed    int64
	count   int
	limit   time.Duration
	folder  string
	descent float64
	verbose bool
}

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
	ok := false
	if err == nil {
		ok, err = s.session(ctx, stdout)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "indexes: interrupted; the same command goes on")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "indexes:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("indexes", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Int64Var(&s.seed, "seed", 1, "the first schema's seed")
	f.IntVar(&s.count, "n", 300, "how many schemas")
	f.DurationVar(&s.limit, "limit", 2*time.Hour, "begin no schema after this time")
	f.Float64Var(&s.descent, "descent", 4, "rows that a descent of an index counts as (Handler_read_key); each number wants a -keep of its own")
	f.StringVar(&s.folder, "keep", ".cache/indexes", "folder for what was measured")
	f.BoolVar(&s.verbose, "v", false, "print every schema with its statements")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("%q is not understood; see -h", f.Arg(0))
	}
	if s.descent < 1 {
		return s, fmt.Errorf("-descent %g: at least 1 row", s.descent)
	}
	if s.count < 1 {
		return s, fmt.Errorf("-n %d: at least one schema is needed", s.count)
	}
	return s, nil
}

// session judges the schemas one after the other; ok tells that the bars are reached.
func (s settings) session(ctx context.Context, stdout io.Writer) (ok bool, err error) {
	var srv *server
	defer func() {
		if srv != nil {
			srv.stop()
		}
	}()
	start := func() (*server, error) {
		if srv == nil {
			srv, err = startServer(ctx)
		}
		return srv, err
	}
	var all tally
	begun := time.Now()
	for i := range s.count {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if time.Since(begun) > s.limit {
			fmt.Fprintf(stdout, "the time is up: %d of %d schemas were judged\n", i, s.count)
			break
		}
		v, err := s.judge(ctx, s.seed+int64(i), start)
		if err != nil {
			return false, fmt.Errorf("seed %d: %w", s.seed+int64(i), err)
		}
		all.add(v)
		if s.verbose || !v.passes() {
			v.print(stdout)
		}
	}
	return all.print(stdout, s.count), nil
}
