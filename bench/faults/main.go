// Command faults breaks Kasoku and its target at every step of every kind of
// change, and looks whether everything is as before or as kept:
//
//	kinds   file, directory, link, variable, index, table, command, restart,
//	        sysctl, unit, process, package, move of an endpoint, git commit,
//	        a ready build
//	faults  SIGKILL of the controller and of the helper on the target, SSH cut,
//	        hard reboot of the target, disk full, permission lost, a service
//	        that does not come up, an object edited by someone else meanwhile
//
// The target is a disposable host (kasoku lab) with systemd, nginx and MariaDB,
// reached by SSH. One case is one kind × one step × one fault: a process of its
// own applies and keeps the change and runs into the fault before that step;
// then the fault is healed, Kasoku recovers, and files (bytes, mode, owner),
// schema, variables, kernel settings, units, processes, packages and checkouts
// are compared with what they were before and after. What someone else edited
// must still be as they left it.
//
// In: bin/kasoku. Out: a table, and with -write the page docs/measured/faults.md. Exit
// status 0 if at least -least cases ran and none was lost, 1 if not, 2 if the
// benchmark itself failed, 130 if interrupted.
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
	kasoku, base string
	lab, rows    string
	kinds, on    []string // faults
	write        string
	least        int
	reboots      int // every so many steps are tried with a reboot
	cuts         int // … and with a cut connection
	every        int // … and with the other faults
	verbose      bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if text := os.Getenv(victimEnv); text != "" {
		os.Exit(victim(ctx, text))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		var ok bool
		if ok, err = matrix(ctx, s, stdout, stderr); err == nil && !ok {
			return 1
		}
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "faults: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "faults:", err)
		return 2
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.kasoku, "kasoku", "bin/kasoku", "Kasoku's static program")
	f.StringVar(&s.base, "base", "", "folder of the disposable hosts' bases; empty: the default")
	onlyKinds := f.String("kinds", strings.Join(names(kinds), ","), "kinds of change to try; empty: none, only the page of -rows is written")
	onlyFaults := f.String("faults", strings.Join(names(faults), ","), "faults to try")
	f.StringVar(&s.lab, "lab", "faults", "name of the disposable host; another one for a run beside this one")
	f.StringVar(&s.rows, "rows", "", "folder that gets a file for each kind that was run, and whose rows of other kinds, of the same tree, join the table")
	f.StringVar(&s.write, "write", "", "write the table as Markdown to this file")
	f.IntVar(&s.least, "least", 500, "cases that must have run")
	f.IntVar(&s.reboots, "reboots", 2, "reboot before every so many steps; a reboot takes some seconds")
	f.IntVar(&s.cuts, "cuts", 1, "cut the connection before every so many steps; a case takes some seconds")
	f.IntVar(&s.every, "every", 1, "strike before every so many steps with the other faults, another one for each fault")
	f.BoolVar(&s.verbose, "v", false, "a line for each case")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.kinds, s.on = strings.Split(*onlyKinds, ","), strings.Split(*onlyFaults, ",")
	for _, c := range []struct {
		what      string
		got, have []string
	}{{"kind", s.kinds, names(kinds)}, {"fault", s.on, names(faults)}} {
		for _, name := range c.got {
			if name == "" && s.rows != "" {
				continue
			}
			if !slices.Contains(c.have, name) {
				return s, fmt.Errorf("there is no %s %q; choose from %s", c.what, name, strings.Join(c.have, ","))
			}
		}
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected %q; see -help", f.Arg(0))
	}
	if s.reboots < 1 || s.cuts < 1 || s.every < 1 {
		return s, errors.New("-reboots, -cuts and -every must be 1 or more")
	}
	return s, nil
}

// matrix runs all cases on a host of its own.
func matrix(ctx context.Context, s settings, stdout, stderr io.Writer) (bool, error) {
	began := time.Now()
	m := newResults(stdout, stderr, s.verbose)
	if err := m.all(ctx, s); err != nil {
		m.took = time.Since(began)
		m.print() // what there is
		return false, err
	}
	if s.rows != "" {
		if err := m.gather(s.rows); err != nil {
			return false, err
		}
	}
	m.took = time.Since(began)
	m.print()
	if s.write != "" {
		if err := m.markdown(s.write); err != nil {
			return false, err
		}
	}
	return m.met(s.least), nil
}

// all runs the kinds that were asked for.
func (m *results) all(ctx context.Context, s settings) error {
	if slices.Equal(s.kinds, []string{""}) {
		return nil
	}
	t, err := openTarget(ctx, s, m.log)
	if err != nil {
		return err
	}
	defer t.close()
	for _, k := range kinds {
		if !slices.Contains(s.kinds, k.name) {
			continue
		}
		err := m.kind(ctx, t, k, s)
		if err == nil && s.rows != "" {
			err = m.save(s.rows, k.name)
		}
		if err != nil {
			return fmt.Errorf("kind %s: %w", k.name, err)
		}
	}
	return nil
}

// named has a name.
type named interface{ title() string }

func names[T named](all []T) []string {
	var out []string
	for _, x := range all {
		out = append(out, x.title())
	}
	return out
}
