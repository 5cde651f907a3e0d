// Command worker is one process of the check of the accelerator: it runs random
// transactions on lists (tables.go of the parent makes them) through the accelerator or
// without it, and writes what it did and saw to a file, a line per transaction. Before
// each append is sent a line says so: a process that is killed leaves what may be there.
//
//	worker CONFIG     where CONFIG is Config as JSON; exit status 0, 2 if it cannot work
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kasoku/accelerator"
	"kasoku/bench/accelerator/history"
)

// Config is what a worker is told.
type Config struct {
	Socket  string
	Process int
	Level   sql.IsolationLevel
	Rules   string // a file; "": without the accelerator
	Txns    int    // how many transactions, those outside of a transaction counted as one
	Seed    uint64
	Out     string // the file of the history
	// Cut: connections break after some thousand bytes, and some transactions' contexts end.
	Cut bool
}

// Line is a line of the file: a transaction that has ended, or an append about to be sent.
type Line struct {
	*history.Txn
	Intent *history.Op `json:"intent,omitempty"`
	Begun  int64       `json:"begun,omitempty"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	var c Config
	if len(args) != 1 {
		return fmt.Errorf("one argument, its configuration")
	}
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return err
	}
	w := &worker{Config: c}
	if err := w.open(); err != nil {
		return err
	}
	defer w.close()
	for done := 0; done < c.Txns; {
		begun, err := w.step()
		if err != nil {
			return err
		}
		if begun {
			done++
		}
	}
	return json.NewEncoder(os.Stdout).Encode(w.counts())
}

// counts are those of the accelerator's rules, summed up.
func (w *worker) counts() (sum accelerator.Count) {
	if w.rules == nil {
		return sum
	}
	for _, c := range w.rules.Counts() {
		sum.Answered, sum.Fetched, sum.Passed = sum.Answered+c.Answered, sum.Fetched+c.Fetched, sum.Passed+c.Passed
		sum.Broken = sum.Broken || c.Broken
	}
	return sum
}

// now is the machine's monotonic clock, which all processes share.
func now() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return time.Now().UnixNano()
	}
	return t.Nano()
}
