package index

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/evidence"
)

func itoa(n int) string { return strconv.Itoa(n) }

// served is a statement and what the set, and one index in it, bring it.
type served struct {
	s       *statement
	seconds float64
	left    float64
	rows    float64 // examined per execution with the set
	plain   float64 // without the index, as measured
}

// advice describes a chosen candidate.
func (w *workload) advice(c *candidate, chosen []*candidate) Advice {
	a := Advice{Schema: c.table.Schema, Table: c.table.Name, Name: c.indexName(chosen)}
	for i, col := range c.columns {
		spec := c.table.spelling(col)
		if c.lengths[i] > 0 {
			spec += "(" + itoa(c.lengths[i]) + ")"
		}
		if c.descends(i) {
			spec += " DESC"
		}
		a.Columns = append(a.Columns, spec)
	}
	var list []served
	for _, s := range w.statements {
		v := w.saves(s, chosen)
		if v.seconds <= 0 || !v.used[c.table.key+":"+c.key] {
			continue
		}
		measured := float64(s.RowsExamined) / float64(s.Count)
		if s.RowsExamined == 0 {
			measured = w.saves(s, nil).rows
		}
		list = append(list, served{s, v.seconds, v.left, min(v.rows, measured), measured})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].seconds > list[j].seconds })
	left := map[int]float64{}
	for _, x := range list {
		a.Statements = append(a.Statements, x.s.at)
		left[x.s.at] = x.left
		a.RowsBefore += x.plain * float64(x.s.Count)
		a.RowsAfter += x.rows * float64(x.s.Count)
	}
	slices.Sort(a.Statements)
	for _, at := range a.Statements {
		a.Left = append(a.Left, left[at])
	}
	var rest []*candidate
	for _, o := range chosen {
		if o != c {
			rest = append(rest, o)
		}
	}
	last := w.objective(chosen) - w.objective(rest)
	if w.total > 0 {
		a.Benefit = math.Max(0, math.Min(1, math.Max(c.alone, last)/w.total))
	}
	a.Reason = w.reason(c, list)
	if others := w.needs(c, chosen); len(others) > 0 {
		a.Reason += together(others)
		for _, o := range others {
			a.With = append(a.With, o.indexName(chosen))
		}
	}
	a.Size = int64(c.size())
	a.Entries, a.Writing = c.entries(), time.Duration(w.writeCost(c)*float64(time.Second))
	a.Covers = w.covers(c)
	a.Gaps = w.gaps(c)
	return a
}

func (w *workload) reason(c *candidate, list []served) string {
	var parts []string
	for i, x := range list {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-3))
			break
		}
		if x.s.Sampled > 0 {
			parts = append(parts, fmt.Sprintf("%q was seen running in %d looks, which stand for %s, and examines about %s rows each time%s; with the index about %s",
				shorten(x.s.Fingerprint, x.s.Example), x.s.Sampled, round(x.s.Total), count(x.plain), c.table.plannedWhole(x.s), count(x.rows)))
			continue
		}
		parts = append(parts, fmt.Sprintf("%q ran %d times in %s and examined %s rows each time%s; with the index about %s",
			shorten(x.s.Fingerprint, x.s.Example), x.s.Count, round(x.s.Total), count(x.plain), c.table.plannedWhole(x.s), count(x.rows)))
	}
	text := strings.Join(parts, "; ")
	if cost := w.writeCost(c); cost > 0 {
		text += fmt.Sprintf("; keeping it up to date costs about %s of writing in the same time", round(time.Duration(cost*float64(time.Second))))
	}
	return text
}

// plannedWhole says so where the server's own plan of the statement reads all of
// the table.
func (t *table) plannedWhole(s *statement) string {
	plan := evidence.Plan(s.Explain)
	for _, p := range plan {
		if p.Whole() && (strings.EqualFold(p.Table, t.Name) || len(plan) == 1) {
			return fmt.Sprintf(" (EXPLAIN: %s is read whole, %s)", p.Table, p.Access)
		}
	}
	return ""
}

func shorten(fingerprint, example string) string {
	if fingerprint == "" {
		fingerprint = example
	}
	text := []rune(strings.Join(strings.Fields(fingerprint), " "))
	if len(text) > 100 {
		return string(text[:99]) + "…"
	}
	return string(text)
}

func count(rows float64) string {
	if rows < 10 && rows != math.Trunc(rows) {
		return strconv.FormatFloat(rows, 'f', 1, 64)
	}
	return strconv.FormatFloat(math.Round(rows), 'f', 0, 64)
}

func round(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// size of the index: entries with the primary key and 13 bytes of headers (6
// of the record, 7 of its share of the page), pages 15/16 full as InnoDB
// builds them.
func (c *candidate) size() float64 {
	columns, lengths := c.withPrimary()
	bytes := 13.0
	for i, col := range columns {
		bytes += meanBytes(c.table.columns[col], lengths[i])
	}
	return math.Ceil(c.table.rows * bytes * 16 / 15)
}

// entry is the bytes of one entry: 6 of the record's header, and the columns.
func (c *candidate) entry() float64 {
	columns, lengths := c.withPrimary()
	bytes := 6.0
	for i, col := range columns {
		bytes += meanBytes(c.table.columns[col], lengths[i])
	}
	return bytes
}

func (w *workload) covers(c *candidate) []string {
	var out []string
	for _, have := range c.table.indexes {
		if !have.unique && len(have.columns) > 0 && have.prefixOf(c.indexDef) {
			out = append(out, have.name)
		}
	}
	var shorter []string
	for _, o := range w.candidates {
		if o.key != c.key && o.prefixOf(c.indexDef) {
			shorter = append(shorter, strings.Join(o.columns, ", "))
		}
	}
	slices.Sort(shorter)
	return append(out, slices.Compact(shorter)...)
}

// maxName of an identifier in MySQL and MariaDB, in characters.
const maxName = 64

// indexName is kasoku_<table>_<columns>: letters, digits and _ only. A name that
// had to be changed or shortened, or is taken, ends with a hash of what it
// stands for.
func (c *candidate) indexName(chosen []*candidate) string {
	full := c.fullName()
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, full)
	taken := false
	for _, have := range c.table.indexes {
		taken = taken || strings.EqualFold(have.name, clean)
	}
	for _, o := range chosen {
		taken = taken || o.key != c.key && o.table == c.table && o.fullName() == full
	}
	if clean == full && len(clean) <= maxName && !taken {
		return clean
	}
	sum := sha256.Sum256([]byte(c.table.key + ":" + c.key))
	return clean[:min(len(clean), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

func (c *candidate) fullName() string {
	full := "kasoku_" + c.table.Name
	for i, col := range c.columns {
		full += "_" + c.table.spelling(col)
		if c.lengths[i] > 0 {
			full += itoa(c.lengths[i])
		}
		if c.descends(i) {
			full += "_desc"
		}
	}
	return full
}
