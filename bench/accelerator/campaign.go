package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kasoku/bench/accelerator/history"
)

// trial is one run of some processes.
type trial struct {
	name   string
	level  sql.IsolationLevel
	rules  string // a file; "": without the accelerator
	worker string // the program
	txns   int    // of each process
	procs  int
	seed   uint64
	faults bool
}

// ran is what came of it.
type ran struct {
	*history.Result
	answered int64 // reads answered from memory, of processes that were not killed
	fetched  int64
	faults   faults
	took     time.Duration
}

// config is worker.Config.
type config struct {
	Socket  string
	Process int
	Level   sql.IsolationLevel
	Rules   string
	Txns    int
	Seed    uint64
	Out     string
	Cut     bool
}

// line is worker.Line.
type line struct {
	*history.Txn
	Intent *history.Op `json:"intent"`
	Begun  int64       `json:"begun"`
}

// process is a worker at work.
type process struct {
	cmd    *exec.Cmd
	out    string
	stdout strings.Builder
	stderr strings.Builder
	ended  chan error
}

// run runs the processes of a trial, breaks things meanwhile, and checks the history.
func (s *server) run(ctx context.Context, t trial) (*ran, error) {
	begun := time.Now()
	if err := s.clear(ctx); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "histories")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &ran{}
	b := &breaker{server: s, random: rand.New(rand.NewPCG(t.seed, 99)), trial: t}
	var all []*process
	defer func() {
		for _, p := range all {
			_ = p.cmd.Process.Kill()
		}
	}()
	begin := func(left int) error {
		c := config{s.socket, len(all), t.level, t.rules, left, t.seed, filepath.Join(dir, strconv.Itoa(len(all))), t.faults}
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		p := &process{cmd: exec.Command(t.worker, string(data)), out: c.Out, ended: make(chan error, 1)}
		p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // several of them share the CPUs
		p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
		if err := p.cmd.Start(); err != nil {
			return err
		}
		go func() { p.ended <- p.cmd.Wait() }()
		all = append(all, p)
		return nil
	}
	for range t.procs {
		if err := begin(t.txns); err != nil {
			return nil, err
		}
	}
	if err := b.watch(ctx, func() []*process { return all }, begin); err != nil {
		return nil, err
	}
	var txns []history.Txn
	for _, p := range all {
		var c struct{ Answered, Fetched int64 }
		if json.Unmarshal([]byte(p.stdout.String()), &c) == nil {
			r.answered, r.fetched = r.answered+c.Answered, r.fetched+c.Fetched
		}
		more, err := read(p.out)
		if err != nil {
			return nil, err
		}
		txns = append(txns, more...)
	}
	last, err := s.lists(ctx)
	if err != nil {
		return nil, err
	}
	r.Result, r.faults = history.Check(append(txns, last)), b.done
	r.took = time.Since(begun)
	return r, nil
}

// read reads the history of a process; the appends of a transaction whose end is missing
// may be there or not.
func read(name string) (out []history.Txn, _ error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // killed before its first line
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var open history.Txn
	d := json.NewDecoder(bufio.NewReader(f))
	for {
		var l line
		err := d.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			if len(open.Ops) > 0 {
				out = append(out, open)
			}
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case l.Intent != nil:
			open.Begin, open.Outcome = l.Begun, history.Unknown
			open.Ops = append(open.Ops, *l.Intent)
		default:
			out = append(out, *l.Txn)
			open = history.Txn{}
		}
	}
}

// lists reads everything when all processes have ended.
func (s *server) lists(ctx context.Context) (history.Txn, error) {
	out := history.Txn{Process: -1, Begin: endless - 1, End: endless, Outcome: history.Committed}
	// Transactions of connections that broke end when the server sees it.
	if err := s.settled(ctx); err != nil {
		return out, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, val FROM app.lists UNION ALL SELECT id, val FROM app.notes")
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var key int
		var text string
		if err := rows.Scan(&key, &text); err != nil {
			return out, err
		}
		op := history.Op{Kind: history.Read, Key: key}
		for _, w := range strings.Split(text, ",") {
			n, err := strconv.Atoi(w)
			if err != nil {
				return out, fmt.Errorf("list %d: %w", key, err)
			}
			op.List = append(op.List, n)
		}
		out.Ops = append(out.Ops, op)
	}
	return out, rows.Err()
}

const endless = int64(1<<63 - 1)

// settled waits until no transaction is open.
func (s *server) settled(ctx context.Context) error {
	for {
		var n int
		if err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.innodb_trx").Scan(&n); err != nil || n == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
