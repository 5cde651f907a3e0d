// Command wiki plays the whole case of cases/wiki on four disposable hosts and
// prints its figures beside their bars; `make case-wiki` runs it, as root:
//
//  1. the wiki as found on the first host, three more beside it, and its scores;
//  2. `kasoku tune`, unattended, under the contest's regulation;
//  3. the scores of what it leaves, and `kasoku prove`;
//  4. one host against several: the same software on one to four hosts behind a
//     balancer, and the number of hosts that `kasoku capacity` foretells from
//     the fewer ones, which is then measured.
//
// What is done is kept in a file, so that an interrupted case goes on where its
// hosts still run. Ends with 1 if a figure falls short of its bar.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, errShort):
		os.Exit(1)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "case-wiki: interrupted:", err)
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "case-wiki:", err)
		os.Exit(2)
	}
}

// errShort: a figure fell short of its bar, which the table names.
var errShort = errors.New("a figure fell short")

// wholeCase is one play of the case.
type wholeCase struct {
	options
	result *Result
}

// options are the flags.
type options struct {
	Dir     string        // where the result, the store and the hosts' files are
	Kasoku  string        // the program under test
	Script  string        // cases/wiki/hosts.sh
	Page    string        // the page to write; "": none
	Size    string        // small or full
	Budget  time.Duration // of kasoku tune
	Scores  int           // scored runs before and after
	Window  time.Duration // of a run on several hosts and of the main page alone
	Rounds  int           // of runs on several hosts, each up to four and down again
	CPUs    float64       // that each host may use in step 4
	Keep    bool          // the hosts stay
	HostDir string
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("wiki", flag.ContinueOnError)
	var o options
	f.StringVar(&o.Dir, "dir", "cases/wiki/run-case", "where the result, the store and the hosts' files are")
	f.StringVar(&o.Kasoku, "kasoku", "bin/kasoku", "the program")
	f.StringVar(&o.Script, "hosts", "cases/wiki/hosts.sh", "what starts the hosts")
	f.StringVar(&o.Size, "size", "full", "of the content: small or full")
	f.DurationVar(&o.Budget, "budget", 30*time.Minute, "of kasoku tune")
	f.IntVar(&o.Scores, "scores", 3, "scored runs before and after")
	f.DurationVar(&o.Window, "window", 25*time.Second, "measured window of a run on several hosts, and of one of the main page alone")
	f.IntVar(&o.Rounds, "rounds", 2, "of runs on several hosts, each up to four and down again")
	f.Float64Var(&o.CPUs, "cpus", 0.4, "CPUs of each host where one is compared with four")
	f.BoolVar(&o.Keep, "keep", false, "leave the hosts as they are at the end")
	f.StringVar(&o.Page, "write", "", "write the page to this file, too")
	again := f.Bool("page-only", false, "measure nothing: print, and with -write write, what the last play found")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || o.Scores < 1 || o.Rounds < 1 || o.Budget <= 0 || o.CPUs <= 0 || o.Size != "small" && o.Size != "full" {
		return errors.New("see the head of bench/wiki/main.go and -help for the flags")
	}
	for _, path := range []*string{&o.Dir, &o.Kasoku, &o.Script} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	o.HostDir = filepath.Join(o.Dir, "hosts")
	c := &wholeCase{options: o}
	if *again {
		var err error
		if c.result, err = loadResult(o.Dir); err != nil {
			return fmt.Errorf("there is no result to print: %w", err)
		}
		return c.tell()
	}
	if os.Geteuid() != 0 {
		return errors.New("disposable hosts need root: sudo make case-wiki")
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	return c.play(ctx)
}

// play goes through the steps that are not done yet.
func (c *wholeCase) play(ctx context.Context) (err error) {
	if err := c.start(ctx); err != nil {
		return errors.Join(err, c.end())
	}
	steps := []struct {
		name string
		done bool
		do   func(context.Context) error
	}{
		{"The wiki as found", c.result.Found != nil, c.found},
		{fmt.Sprintf("Kasoku tunes it for at most %s", c.Budget), c.result.Session != nil && c.result.Session.Done, c.tune},
		{"What it leaves", c.result.Tuned != nil, c.tuned},
		{"The regulation checks", c.result.Checks != nil, c.prove},
		{"One host against four", c.result.Levels != nil, c.levels},
		{"How many hosts: foretold, then measured", c.result.Capacity != nil, c.capacity},
	}
	for _, s := range steps {
		if s.done {
			say("%s: done before", s.name)
			continue
		}
		say("%s", s.name)
		began := time.Now()
		err = s.do(ctx)
		c.result.Took += time.Since(began)
		if err = errors.Join(err, c.result.save(c.Dir)); err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
			break
		}
	}
	if end := c.end(); err != nil || end != nil {
		return errors.Join(err, end)
	}
	c.result.Complete = true
	if err := c.result.save(c.Dir); err != nil {
		return err
	}
	return c.tell()
}

// tell prints the figures beside their bars and writes the page.
func (c *wholeCase) tell() error {
	figures := judge(c.result)
	fmt.Println()
	short := printFigures(os.Stdout, figures)
	if c.Page != "" {
		if err := os.WriteFile(c.Page, []byte(page(c.result, figures)), 0o644); err != nil {
			return err
		}
		fmt.Println("\nwritten:", c.Page)
	}
	if short {
		return errShort
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf("\n== "+format+"\n", args...) }
