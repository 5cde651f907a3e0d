package scratch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/index"
	"kasoku/internal/ui"
)

// Result of a try.
type Result struct {
	// Statements that were tried, by their position.
	Statements map[int]*digest.Tried
	// Indexes in the order of the advice.
	Indexes []digest.TriedIndex
	// Notes are what the reader is to know: what was copied, what was left over from a
	// killed run.
	Notes []string
}

// Try makes the advised indexes on copies of the tables and tells what they do to the
// statements, of which each has its Schema. tell is called once before anything is
// made, with what is going to be. The schema of the copies is dropped whatever happens;
// an error that it was not is among those returned.
func Try(ctx context.Context, db *sql.DB, maria bool, tables []evidence.Table, statements []evidence.Statement, advice []index.Advice, limits Limits, tell func(string)) (r *Result, err error) {
	limits = limits.withDefaults()
	t := &try{limits: limits, tables: tables, statements: statements, advice: advice, result: &Result{Statements: map[int]*digest.Tried{}}}
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, fmt.Errorf("the %s for trying are over", ui.Duration(limits.Time)))
	defer cancel()
	s, err := open(ctx, db, maria, limits.Time)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := s.Close(ctx); closed != nil {
			err = errors.Join(err, closed)
		}
	}()
	for _, name := range s.Swept {
		t.result.Notes = append(t.result.Notes, fmt.Sprintf("%s was left by a run that was killed; it was dropped", name))
	}
	t.schema = s
	if err := t.run(ctx, tell); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, err
	}
	return t.result, nil
}

// try is one under way.
type try struct {
	schema     *Schema
	limits     Limits
	tables     []evidence.Table
	statements []evidence.Statement
	advice     []index.Advice
	jobs       []job
	copies     []*Copy
	result     *Result
}

func (t *try) run(ctx context.Context, tell func(string)) error {
	t.aim()
	if len(t.jobs) == 0 {
		return nil
	}
	var err error
	if t.copies, err = copies(t.tables, t.jobs, t.advice, t.limits); err != nil {
		return err
	}
	tell(t.outlook())
	if err := t.schema.exec(ctx, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"); err != nil { // rows come as they are
		return err
	}
	for _, c := range t.copies {
		if err := t.schema.fill(ctx, c); err != nil {
			return fmt.Errorf("copy %s.%s: %w", c.Table.Schema, c.Table.Name, err)
		}
		if _, err := t.schema.indexBytes(ctx, c.Table.Name); err != nil { // statistics
			return err
		}
		t.result.Notes = append(t.result.Notes, c.String())
	}
	if err := t.schema.asBefore(ctx, t.limits.Each); err != nil {
		return err
	}
	before, err := t.lookAll(ctx)
	if err != nil {
		return err
	}
	if err := t.schema.limit(ctx, t.schema.conn, t.limits.Time); err != nil {
		return err
	}
	if err := t.build(ctx); err != nil {
		return err
	}
	if err := t.schema.limit(ctx, t.schema.conn, t.limits.Each); err != nil {
		return err
	}
	after, err := t.lookAll(ctx)
	if err != nil {
		return err
	}
	for _, j := range t.jobs {
		t.compare(j, before[j.at], after[j.at])
	}
	t.judge()
	return nil
}

// aim lists the statements that the advice is for, as far as copies can serve them.
func (t *try) aim() {
	var at []int
	for _, a := range t.advice {
		at = append(at, a.Statements...)
	}
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		s := t.statements[i]
		x, err := aim(s.Example, s.Schema, t.schema.Name)
		if err == nil {
			err = copyable(x, t.tables)
		}
		if err != nil {
			t.result.Statements[i] = &digest.Tried{ReadBefore: -1, ReadAfter: -1, Why: err.Error()}
			continue
		}
		t.jobs = append(t.jobs, job{i, x})
	}
}

// outlook says what is going to be made.
func (t *try) outlook() string {
	var parts []string
	var sum int64
	for _, c := range t.copies {
		sum += c.Bytes
		part := fmt.Sprintf("%s.%s (%s rows)", c.Table.Schema, c.Table.Name, ui.Count(float64(c.Table.Rows)))
		if c.Table.Rows > c.Rows {
			part = fmt.Sprintf("%s.%s (%s of %s rows)", c.Table.Schema, c.Table.Name, ui.Count(float64(c.Rows)), ui.Count(float64(c.Table.Rows)))
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("%s tried on copies of %s, in the schema %s: about %s and at most %s; dropped afterwards",
		ui.Plural(len(t.advice), "index is", "indexes are"), strings.Join(parts, ", "), t.schema.Name, ui.Bytes(sum), ui.Duration(t.limits.Time))
}

// String says what was copied.
func (c *Copy) String() string {
	name := c.Table.Schema + "." + c.Table.Name
	if c.Whole {
		return fmt.Sprintf("a copy of %s with all of its %s rows", name, ui.Count(float64(c.Copied)))
	}
	return fmt.Sprintf("a copy of %s with %s of about %s rows, %s: rows read are those of the copy", name, ui.Count(float64(c.Copied)), ui.Count(float64(c.Table.Rows)), c.How)
}

func (t *try) lookAll(ctx context.Context) (map[int]seen, error) {
	out := map[int]seen{}
	for _, j := range t.jobs {
		s, err := t.schema.look(ctx, j.target)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			s.read, s.why = -1, err.Error()
		}
		out[j.at] = s
	}
	return out, nil
}

// build makes the indexes.
func (t *try) build(ctx context.Context) error {
	for _, a := range t.advice {
		x := digest.TriedIndex{Table: a.Schema + "." + a.Table, Name: a.Name, Create: a.Create(), Entries: int64(a.Entries), Writing: a.Writing, Bytes: a.Size}
		at := slices.IndexFunc(t.copies, func(c *Copy) bool {
			return strings.EqualFold(c.Table.Schema, a.Schema) && strings.EqualFold(c.Table.Name, a.Table)
		})
		if at < 0 {
			x.Note = "no statement that it is for could be tried"
			t.result.Indexes = append(t.result.Indexes, x)
			continue
		}
		c := t.copies[at]
		bytes, err := t.schema.index(ctx, c.Table.Name, a.Name, a.Columns)
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			x.Note = "the server does not make it: " + err.Error()
		case c.Whole:
			x.Bytes = bytes
		case c.Copied > 0:
			x.Bytes = int64(float64(bytes) * float64(c.Table.Rows) / float64(c.Copied))
		}
		t.result.Indexes = append(t.result.Indexes, x)
	}
	return nil
}

// compare one statement's two ways.
func (t *try) compare(j job, before, after seen) {
	x := &digest.Tried{Before: before.plan, After: after.plan, ReadBefore: before.read, ReadAfter: after.read, Why: before.why}
	if x.Why == "" {
		x.Why = after.why
	}
	sampled := 0
	for _, name := range j.target.tables {
		for _, c := range t.copies {
			if strings.EqualFold(c.Table.Schema, name[0]) && strings.EqualFold(c.Table.Name, name[1]) && !c.Whole {
				sampled++
			}
		}
	}
	if sampled > 1 {
		x.ReadBefore, x.ReadAfter = -1, -1
		x.Why = "several of its tables were copied in part, and rows that belong together are not all there: only the plans count"
	}
	t.result.Statements[j.at] = x
}

// judge says of each index whether it does what it was advised for.
func (t *try) judge() {
	for i := range t.result.Indexes {
		x, a := &t.result.Indexes[i], t.advice[i]
		if x.Note != "" { // it was not made
			continue
		}
		for _, at := range a.Statements {
			s := t.result.Statements[at]
			if s == nil || len(s.After) == 0 {
				continue
			}
			x.Tried = true
			if s.Reads(x.Name) {
				x.Used = true
				x.Helps = x.Helps || s.Less()
			}
		}
		switch {
		case !x.Tried:
			x.Note = "no statement that it is for could be tried"
		case !x.Used:
			x.Note = "the server does not read it on the copy"
		case !x.Helps:
			x.Note = "the server reads it on the copy, but no row less"
		}
	}
}
