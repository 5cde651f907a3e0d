package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/bench/accelerator/history"
)

// allowed are the classes that MariaDB shows without the accelerator, by level: what a
// short run compares with. A long run finds them anew.
var allowed = map[sql.IsolationLevel][]string{
	sql.LevelSerializable:   {},
	sql.LevelRepeatableRead: {history.GSingle, history.G2, history.StaleStatement},
	sql.LevelReadCommitted:  {history.GSingle, history.G2, history.Fractured, history.Unrepeatable},
}

// comparison runs trials on one server.
type comparison struct {
	*server
	settings
	worker string
	out    io.Writer
	rules  string // the file of the rules
	stale  string // the same with staleness allowed
}

// rulesText are the rules of the worker's statements; %s is what is said of staleness.
const rulesText = `{"format": 1, "rules": [
{"id": "list", "kind": "prefetch", "after": "SELECT list_id FROM members WHERE board = ? ORDER BY id", "column": "list_id", "statement": "SELECT val, note_id FROM lists WHERE id = ?"%[1]s},
{"id": "list of a span", "kind": "prefetch", "after": "SELECT id, val FROM lists WHERE id BETWEEN ? AND ? ORDER BY id", "column": "id", "statement": "SELECT val, note_id FROM lists WHERE id = ?"%[1]s},
{"id": "note", "kind": "prefetch", "after": "SELECT val, note_id FROM lists WHERE id = ?", "column": "note_id", "statement": "SELECT val FROM notes WHERE id = ?"%[1]s}]}
`

func (c *comparison) writeRules() error {
	c.rules, c.stale = filepath.Join(c.dir, "rules.json"), filepath.Join(c.dir, "stale.json")
	if err := os.WriteFile(c.rules, fmt.Appendf(nil, rulesText, ""), 0o600); err != nil {
		return err
	}
	return os.WriteFile(c.stale, fmt.Appendf(nil, rulesText, `, "staleness": "allowed"`), 0o600)
}

// trial is one at a level.
func (c *comparison) trial(name string, level sql.IsolationLevel, rules string, txns int, seed uint64) trial {
	return trial{name: name, level: level, rules: rules, worker: c.worker, txns: txns, procs: c.procs, seed: seed, faults: true}
}

// without says which classes a level shows without the accelerator: a class implies itself
// with real time.
func without(classes []string) map[string]bool {
	out := map[string]bool{}
	for _, class := range classes {
		out[class], out[class+history.RealTime] = true, true
	}
	return out
}

// beyond are the classes of a result that are not allowed.
func beyond(r *ran, allowed map[string]bool) (out []string) {
	for _, class := range slices.Sorted(maps.Keys(r.Counts)) {
		if !allowed[class] {
			out = append(out, class)
		}
	}
	return out
}

// judged are the levels that are compared.
var judged = []sql.IsolationLevel{sql.LevelSerializable, sql.LevelRepeatableRead, sql.LevelReadCommitted}

// mostRepeats is how often the server is looked at again before a class counts as new.
const mostRepeats = 10

// levels compares each level with and without.
func (c *comparison) levels(ctx context.Context) (bool, error) {
	fmt.Fprintln(c.out, "| level | accelerator | committed | rolled back | not known | reads | from memory | killed: queries, connections, processes, server | s | anomalies |")
	fmt.Fprintln(c.out, "|---|---|---:|---:|---:|---:|---:|---|---:|---|")
	ok := true
	for _, level := range judged {
		if !c.wants("levels", level.String()) {
			continue
		}
		fine, err := c.compare(ctx, level)
		if err != nil {
			return false, err
		}
		ok = ok && fine
	}
	if !c.wants("levels", sql.LevelReadCommitted.String()) {
		return ok, nil
	}
	// What a permission of staleness costs is told, not judged.
	_, err := c.told(ctx, c.trial("with, staleness allowed", sql.LevelReadCommitted, c.stale, c.txns, c.seed))
	return ok, err
}

// compare says whether a level shows nothing with the accelerator that it does not show
// without, at SERIALIZABLE nothing at all.
func (c *comparison) compare(ctx context.Context, level sql.IsolationLevel) (bool, error) {
	plain, err := c.told(ctx, c.trial("without", level, "", c.txns, c.seed))
	if err != nil {
		return false, err
	}
	with, err := c.told(ctx, c.trial("with", level, c.rules, c.txns, c.seed))
	if err != nil {
		return false, err
	}
	known := map[string]bool{}
	if level != sql.LevelSerializable {
		known = without(slices.Collect(maps.Keys(plain.Counts)))
		for n := uint64(1); n <= mostRepeats && len(beyond(with, known)) > 0; n++ {
			more, err := c.told(ctx, c.trial("without, again", level, "", c.txns, c.seed+n))
			if err != nil {
				return false, err
			}
			maps.Copy(known, without(slices.Collect(maps.Keys(more.Counts))))
		}
	}
	more := beyond(with, known)
	for _, class := range more {
		fmt.Fprintf(c.out, "\n%v, with the accelerator alone: %s: %s\n", level, class, with.Examples[class])
	}
	if level == sql.LevelRepeatableRead && with.answered == 0 {
		return false, fmt.Errorf("%v: memory answered nothing, so nothing was checked", level)
	}
	return len(more) == 0, nil
}

// perHistory is how many transactions of each process are checked together.
const perHistory = 1000

// told runs a trial, as several histories if it is long, and writes its line.
func (c *comparison) told(ctx context.Context, t trial) (*ran, error) {
	var all *ran
	for left := t.txns; left > 0; left -= perHistory {
		t.txns = min(left, perHistory)
		r, err := c.run(ctx, t)
		if err != nil {
			return nil, err
		}
		all = all.and(r)
		t.seed += 1000
	}
	var found []string
	for _, class := range slices.Sorted(maps.Keys(all.Counts)) {
		found = append(found, fmt.Sprintf("%s %d", class, all.Counts[class]))
	}
	if found == nil {
		found = []string{"none"}
	}
	fmt.Fprintf(c.out, "| %v | %s | %d | %d | %d | %d | %d | %d, %d, %d, %d | %.0f | %s |\n", t.level, t.name,
		all.Outcomes[history.Committed], all.Outcomes[history.Aborted], all.Outcomes[history.Unknown], all.Reads, all.answered,
		all.faults.queries, all.faults.connections, all.faults.processes, all.faults.servers, all.took.Seconds(), strings.Join(found, "; "))
	return all, nil
}

// and is r with what another history brought.
func (r *ran) and(more *ran) *ran {
	if r == nil {
		return more
	}
	for class, n := range more.Counts {
		if r.Counts[class] == 0 {
			r.Examples[class] = more.Examples[class]
		}
		r.Counts[class] += n
	}
	for outcome, n := range more.Outcomes {
		r.Outcomes[outcome] += n
	}
	r.Txns, r.Reads, r.Appends = r.Txns+more.Txns, r.Reads+more.Reads, r.Appends+more.Appends
	r.answered, r.fetched, r.took = r.answered+more.answered, r.fetched+more.fetched, r.took+more.took
	f, m := &r.faults, more.faults
	f.queries, f.connections, f.processes, f.servers = f.queries+m.queries, f.connections+m.connections, f.processes+m.processes, f.servers+m.servers
	return r
}

// perRound is how many transactions of each process a mutant's history has.
const perRound = 60

// mostRounds is after how many a mutant counts as not caught, whatever the time.
const mostRounds = 100

// mutants tells how long it takes until each is caught, without the time to compile it.
func (c *comparison) mutants(ctx context.Context) (bool, error) {
	fmt.Fprintln(c.out, "\n| what was taken out | level | caught after s | transactions | by |\n|---|---|---:|---:|---|")
	all := true
	for n, m := range mutants {
		if !c.wants("mutants", m.name) {
			continue
		}
		worker, err := build(ctx, c.dir, fmt.Sprintf("mutant%d", n), m.edits)
		if err != nil {
			return false, err
		}
		caught, err := c.caught(ctx, m, worker)
		if err != nil {
			return false, err
		}
		all = all && caught
	}
	return all, nil
}

// caught runs a mutant until its history has a class that the level does not show.
func (c *comparison) caught(ctx context.Context, m mutant, worker string) (bool, error) {
	begun, txns := time.Now(), 0
	for seed := c.seed; ; seed++ {
		t := c.trial(m.name, m.level, c.rules, perRound, seed)
		t.worker, t.faults = worker, false
		r, err := c.run(ctx, t)
		if err != nil {
			return false, err
		}
		txns += r.Txns
		took := time.Since(begun)
		if by := beyond(r, without(allowed[m.level])); len(by) > 0 {
			fmt.Fprintf(c.out, "| %s | %v | %.1f | %d | %s |\n", m.name, m.level, took.Seconds(), txns, strings.Join(by, "; "))
			return took < c.limit, nil
		}
		if took > c.limit || seed-c.seed > mostRounds {
			fmt.Fprintf(c.out, "| %s | %v | not | %d | |\n", m.name, m.level, txns)
			return false, nil
		}
	}
}
