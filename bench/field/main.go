// Command field plays applications of field/ that nobody here has made, each on
// three disposable hosts, and prints its figures beside their bars; `make field`
// runs it, as root, and `make field-NAME` for one application:
//
//  1. three hosts with the application's packages; install.sh on each, fill.sh on
//     the first, whose data the others get, so that all three are the same;
//  2. a fingerprint of the first host; `kasoku init` there, and over what it wrote
//     what a stranger would have to add (told.yaml);
//  3. `kasoku tune`, unattended, on the first host;
//  4. what a person did (hand/apply.sh) on the second; the third stays as found;
//  5. the three in turns, over and over, so that what drifts meets all alike;
//  6. `kasoku undo --all` on the first host, and what is not as it was before.
//
// What is done is kept in a file, so that an interrupted play goes on where its
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
		fmt.Fprintln(os.Stderr, "field: interrupted:", err)
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "field:", err)
		os.Exit(2)
	}
}

// errShort: a figure fell short of its bar, which the table names.
var errShort = errors.New("a figure fell short")

// options are the flags.
type options struct {
	Dir    string        // where results, stores and the hosts' files are
	Kasoku string        // the program under test
	Field  string        // the folder of applications
	Budget time.Duration // of kasoku tune
	Rounds int           // of as found, by hand and Kasoku in turns
	Window time.Duration // of one of these runs; 0: the scenario's
	Keep   bool          // the hosts stay
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("field", flag.ContinueOnError)
	var o options
	f.StringVar(&o.Dir, "dir", ".cache/field", "where results, stores and the hosts' files are")
	f.StringVar(&o.Kasoku, "kasoku", "bin/kasoku", "the program")
	f.StringVar(&o.Field, "field", "field", "the folder of applications")
	f.DurationVar(&o.Budget, "budget", 25*time.Minute, "of kasoku tune")
	f.IntVar(&o.Rounds, "rounds", 6, "of as found, by hand and Kasoku in turns")
	f.DurationVar(&o.Window, "window", 0, "measured window of these runs (default: the scenario's)")
	f.BoolVar(&o.Keep, "keep", false, "leave the hosts as they are at the end")
	only := f.Bool("table-only", false, "measure nothing: print what the last plays found")
	picture := f.String("plot", "", "measure nothing: draw predicted against measured of FIELD/steps.csv into this SVG file")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *picture != "" {
		return plot(filepath.Join(o.Field, "steps.csv"), *picture)
	}
	if o.Rounds < 2 || o.Budget <= 0 {
		return errors.New("see the head of bench/field/main.go and -help for the flags")
	}
	for _, path := range []*string{&o.Dir, &o.Kasoku, &o.Field} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	apps, err := chosen(o.Field, f.Args())
	if err != nil {
		return err
	}
	if !*only && os.Geteuid() != 0 {
		return errors.New("disposable hosts need root: sudo make field")
	}
	var results []*Result
	for _, name := range apps {
		a := newApp(o, name)
		if *only {
			err = a.load()
		} else {
			err = a.play(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, a.result)
	}
	fmt.Println()
	if printTable(os.Stdout, results) {
		return errShort
	}
	return nil
}

// chosen are the named applications, or all that there are.
func chosen(field string, names []string) ([]string, error) {
	if len(names) == 0 {
		files, err := filepath.Glob(filepath.Join(field, "*", "install.sh"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			names = append(names, filepath.Base(filepath.Dir(file)))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no application", field)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(field, name, "install.sh")); err != nil {
			return nil, fmt.Errorf("%s is no application of the field: %w", name, err)
		}
	}
	return names, nil
}

func say(format string, args ...any) { fmt.Printf("\n== "+format+"\n", args...) }
