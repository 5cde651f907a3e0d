// Command sessiontime compares how long a session of `kasoku tune` takes with
// how long the same plans take one by one, each with a fixed number of runs of
// the scenario's full duration on either side, as one does by hand. Both begin
// from the case as found. scripts/bench-session-time.sh makes the copies.
//
//	sessiontime DIR ONE_BY_ONE_DIR
//
// DIR holds a finished session of tune; the other is as found and is changed by
// this program (through the journal; `kasoku undo --all` puts it back). What is
// compared is the time until the service is within 5 % of DIR's final state: in DIR by
// the effects of its experiments, one by one by that state's score or by its plans,
// whatever comes first.
// Ends with 1 if Kasoku takes more than a third of the other, with 2 on errors.
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
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

const (
	// bar is the most that Kasoku may take of the time of the other.
	bar = 1.0 / 3
	// near is how much of the final score counts as having it.
	near = 0.95
)

func main() {
	runs := flag.Int("runs", 5, "runs of each side, one by one")
	window := flag.Duration("d", 0, "measured window of a run, one by one; 0: the scenario's duration")
	limit := flag.Duration("limit", 0, "end one by one after this time; 0: when no plan is left")
	decided := flag.Bool("decided", false, "end one by one when it has taken so long that the bar is held, instead of when it is there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, flag.Args(), *runs, *window, *limit, *decided)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sessiontime:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, dirs []string, runs int, window, limit time.Duration, decided bool) (ok bool, err error) {
	if len(dirs) != 2 || runs < 2 {
		return false, errors.New("name the tuned copy of the case and the one as found; -runs is at least 2")
	}
	tuned, err := readSession(dirs[0])
	if err != nil {
		return false, err
	}
	fmt.Printf("kasoku tune: from %.1f to %.1f points/s; within %.0f %% of that after %s and %d plans, in all %s\n", tuned.asFound, tuned.final, 100*(1-near),
		tuned.reached.Round(time.Second), len(tuned.kept), tuned.took.Round(time.Second))
	o, err := open(ctx, dirs[1], window)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	o.goal, o.need, o.runs, o.limit = near*tuned.final, tuned.kept, runs, limit
	if enough := time.Duration(float64(tuned.reached) / bar); decided && (limit == 0 || enough < limit) {
		o.limit = enough
	}
	if err := o.all(ctx, tuned.plans); err != nil {
		return false, err
	}
	return o.tell(tuned), nil
}

// tell prints the figures beside the bar and reports whether it is held.
func (o *oneByOne) tell(tuned session) bool {
	least := ""
	if !o.there {
		least = " (not reached: what is compared is the time of all that was tried)"
	}
	ratio := float64(tuned.reached) / float64(o.reached)
	word := "ok"
	if ratio > bar {
		word = "SHORT"
	}
	fmt.Printf("\n%-34s %10s\n", "until within 5 % of the final score", "")
	fmt.Printf("%-34s %10s\n", "  kasoku tune", tuned.reached.Round(time.Second))
	fmt.Printf("%-34s %10s   %d plans, %d runs%s\n", fmt.Sprintf("  one by one, %d+%d runs of %s", o.runs, o.runs, o.window), o.reached.Round(time.Second), o.tried, o.measured, least)
	fmt.Printf("%-34s %10.3f   (≤ %.3f) %s\n", "  ratio", ratio, bar, word)
	return ratio <= bar
}

// open opens a copy of the case for changes.
func open(ctx context.Context, dir string, window time.Duration) (*oneByOne, error) {
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
	if window == 0 {
		window = sc.Duration
	}
	hosts := map[string]host.Host{"local": host.NewLocal()}
	o := &oneByOne{window: window, bench: &tune.Bench{Stack: st, Hosts: hosts, Scenario: sc, Store: db, Window: window, Instruments: tune.Instruments{Plain: true}}}
	if o.exec, err = tune.OpenExecutor(ctx, filepath.Join(st.Dir, ".kasoku"), st, hosts, func(*change.Options) {}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return o, nil
}

func (o *oneByOne) close() error { return errors.Join(o.exec.Close(), o.bench.Store.Close()) }
