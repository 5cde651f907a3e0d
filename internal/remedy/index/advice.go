// Package index advises secondary indexes for a whole workload. It is pure:
// statements and tables in, advice and notes out.
//
// Flow: (1) read.go and block.go parse each statement and note which column of
// which table it restricts, joins, sorts and groups by; (2) candidate.go lists
// the indexes that could serve any of them; (3) cost.go and join.go estimate
// the rows a statement examines with a given set of indexes; (4) choose.go
// picks the set that saves most time, writes counted, and drops what is
// redundant; (5) reason.go names it and says why.
package index

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"kasoku/internal/evidence"
)

// Options of the advisor. The zero value means the defaults.
type Options struct {
	// MinRows of a table worth an index; default 100, where rows are wide as many fewer
	// as they take longer to read. What takes such a statement's time otherwise is as much
	// as 200 rows (costStatement), so smaller ones have little to save; of larger ones
	// MinBenefit decides.
	MinRows int64
	// MinRatio of rows examined per row sent from which a statement that is
	// not a full scan is considered; default 2: what is saved decides.
	MinRatio float64
	// MinBenefit is the least share (0–1) of all statement time that an index
	// must save; default 0.005. Less than that no experiment can prove.
	MinBenefit float64
	// WriteCost of maintaining one entry of one index; default 10 µs, a
	// B-tree insertion into cached pages with its share of redo log.
	WriteCost time.Duration
	// PrefixLength in characters for columns too long to index whole, where a
	// sample of their values says nothing (Column.Prefix); default 64.
	PrefixLength int
	// MaxColumns of an index; default 5.
	MaxColumns int
	// Descending: the server's indexes can have columns that descend (MariaDB 10.8,
	// MySQL 8.0), so an order that mixes directions can be read from one.
	Descending bool
	// Functional: an index may be on an expression (MySQL 8.0.13). Finds: the server uses
	// the index of a generated column for a condition that has its expression (MySQL 5.7,
	// MariaDB 11.8); else the condition must name the column. MySQL: it is none of MariaDB.
	Functional, Finds, MySQL bool
}

func (o Options) withDefaults() Options {
	if o.MinRows <= 0 {
		o.MinRows = 100
	}
	if o.MinRatio <= 0 {
		o.MinRatio = 2
	}
	if o.MinBenefit <= 0 {
		o.MinBenefit = 0.005
	}
	if o.WriteCost <= 0 {
		o.WriteCost = 10 * time.Microsecond
	}
	if o.PrefixLength <= 0 {
		o.PrefixLength = 64
	}
	if o.MaxColumns <= 0 {
		o.MaxColumns = 5
	}
	return o
}

// Advice is one index to create.
type Advice struct {
	Schema, Table, Name string
	// Columns in order; "col", or "col(64)" for a prefix in characters, with DESC behind
	// one that descends.
	Columns []string
	// Reason names the statements it serves with their counts and times.
	Reason string
	// Statements it serves: positions in the given slice, ascending.
	Statements []int
	// Benefit is the share (0–1) of all statement time that it is expected to
	// save, writes subtracted: alone, or as the last of the set, whichever is
	// more.
	Benefit float64
	// Left is, for each of Statements, the part of its time that is left with all advised
	// indexes: what it reads then, sorts and sends, and what any statement takes (cost.go).
	Left []float64
	// RowsBefore and RowsAfter are the rows that its statements examine in
	// the whole window without it (measured) and with it (expected).
	RowsBefore, RowsAfter float64
	// Size in bytes, estimated.
	Size int64
	// Entries that the statements' writes put into it or take out in the whole window, and
	// about how long that takes (Options.WriteCost).
	Entries float64
	Writing time.Duration
	// Gaps, if not "", says which statement may lock a gap by it, so that two
	// transactions which write there can end in a deadlock. Under READ COMMITTED and
	// outside transactions none does.
	Gaps string
	// With are the names of other advised indexes of the table without which it serves
	// nothing: those for the other sides of an OR.
	With []string
	// Covers names existing indexes ("name") that it makes redundant, and
	// column lists ("a, b") of shorter candidates that it stands for.
	Covers []string
}

// Create is the statement that makes it.
func (a Advice) Create() string {
	return fmt.Sprintf("CREATE INDEX %s ON %s.%s (%s)", evidence.QuoteName(a.Name), evidence.QuoteName(a.Schema), evidence.QuoteName(a.Table), strings.Join(a.Columns, ", "))
}

// Note is what an index cannot help, or what was not judged.
type Note struct {
	Statement int // position in the given slice
	Table     string
	Columns   []string
	Text      string
	// DDL that would help beside a change of the statement or of the schema, "" if there is
	// none. Nobody runs it but the reader.
	DDL string
}

// String is the text with its DDL.
func (n Note) String() string {
	if n.DDL == "" {
		return n.Text
	}
	return n.Text + ": " + n.DDL
}

// Advise proposes indexes for the statements on the tables, most beneficial
// first. The result does not depend on the order of statements or tables.
// Statements that cannot be parsed, and predicates that no index can serve,
// become notes.
func Advise(statements []evidence.Statement, tables []evidence.Table, opts Options) ([]Advice, []Note) {
	opts = opts.withDefaults()
	cat := newCatalog(tables)
	cat.opts = opts
	order := canonicalOrder(statements)
	w := &workload{opts: opts, catalog: cat}
	var notes []Note
	affected := slices.ContainsFunc(statements, func(s evidence.Statement) bool { return s.RowsAffected > 0 })
	all := make([]*statement, 0, len(order))
	for _, at := range order {
		all = append(all, newStatement(statements[at], at, cat, affected))
	}
	grow(all)
	for _, s := range all {
		at := s.at
		calibrate(s)
		w.total += s.seconds()
		for _, n := range s.notes {
			n.Statement = at
			notes = append(notes, n)
		}
		w.countWrites(s)
		if s.root != nil && s.root.writes {
			w.writers = append(w.writers, s)
		}
		if s.eligible(opts) {
			w.statements = append(w.statements, s)
		}
	}
	notes = append(notes, partitions(all)...)
	w.candidates = w.listCandidates()
	chosen := w.choose()
	advice := make([]Advice, 0, len(chosen))
	for _, c := range chosen {
		advice = append(advice, w.advice(c, chosen))
	}
	sort.SliceStable(advice, func(i, j int) bool { return advice[i].Benefit > advice[j].Benefit })
	sort.SliceStable(notes, func(i, j int) bool {
		if notes[i].Statement != notes[j].Statement {
			return notes[i].Statement < notes[j].Statement
		}
		return notes[i].Text < notes[j].Text
	})
	return advice, dedupNotes(notes)
}

// canonicalOrder sorts by content, so that sums and ties do not depend on the
// order given.
func canonicalOrder(statements []evidence.Statement) []int {
	order := make([]int, len(statements))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := statements[order[i]], statements[order[j]]
		switch {
		case a.Schema != b.Schema:
			return a.Schema < b.Schema
		case a.Fingerprint != b.Fingerprint:
			return a.Fingerprint < b.Fingerprint
		case a.Example != b.Example:
			return a.Example < b.Example
		case a.Total != b.Total:
			return a.Total > b.Total
		case a.Count != b.Count:
			return a.Count > b.Count
		}
		return a.RowsExamined > b.RowsExamined
	})
	return order
}

func dedupNotes(notes []Note) []Note {
	var out []Note
	for i, n := range notes {
		if i > 0 && n.Statement == notes[i-1].Statement && n.Text == notes[i-1].Text {
			continue
		}
		out = append(out, n)
	}
	return out
}
