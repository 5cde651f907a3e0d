package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// EstimateDistinct fills Column.Distinct where no index knows it, and Column.Nulls, from the
// first sampleRows rows of each table, largest tables first, and then
// Column.Prefix of long texts, each by itself, from sampleTexts rows; at last Column.Nulls of
// tables of which nothing else is asked: all in all
// for at most sampleInAll. With d distinct values in a sample of n of N rows the
// estimate is d if d ≤ n/10 (the values repeat: few are missing), else d·N/n.
// Rows come in the order of the primary key, so values that follow it are
// estimated too low. It returns the number of tables left out for lack of time.
func EstimateDistinct(ctx context.Context, q querier, db *Database) (skipped int, err error) {
	deadline := time.Now().Add(sampleInAll)
	tables := db.byRows()
	left := map[*Table]bool{}
	sample := func(t *Table, columns []*Column, rows int64) error {
		if len(columns) == 0 || t.Rows == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			left[t] = true
			return nil
		}
		if err := sampleTable(ctx, q, db, t, columns, rows); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("sample %s.%s: %w", t.Schema, t.Name, ctx.Err())
			}
			left[t] = true // too slow, a broken table, no right to read it: unknown
		}
		return nil
	}
	for _, t := range tables {
		if s := t.sampled(); len(s.unknown) > 0 {
			if err := sample(t, slices.Concat(s.unknown, s.nullable), sampleRows); err != nil {
				return len(left), err
			}
		}
	}
	for _, t := range tables {
		for _, c := range t.sampled().long {
			if err := sample(t, []*Column{c}, sampleTexts); err != nil {
				return len(left), err
			}
		}
	}
	skipped = len(left) // what is left is not worth a word
	for _, t := range tables {
		if s := t.sampled(); len(s.unknown) == 0 {
			if err := sample(t, s.nullable, sampleRows); err != nil {
				return skipped, err
			}
		}
	}
	return skipped, nil
}

// prefixes are the lengths, in characters, that are asked for texts too long to
// be indexed whole. The last one is what the others are measured by: 191 of
// utf8mb4 are the longest key of all InnoDB's row formats and of MyISAM (767 and
// 1000 bytes).
var prefixes = []int{8, 16, 32, 64, 128, 191}

// MaxWhole is the longest character column, in characters, that is indexed whole:
// up to it the length takes one byte, and three such columns fit InnoDB's
// 3072-byte key.
const MaxWhole = 255

// prefixShare of the last one's distinct values that a prefix must have. What it
// leaves together is read in vain: a few rows for each lookup.
const prefixShare = 0.95

func sampleTable(ctx context.Context, q querier, db *Database, t *Table, columns []*Column, most int64) error {
	var counts, names []string
	var reads []func(counted []int64, sample int64) // one for each column
	count := func(expressions ...string) (at, n int) {
		counts = append(counts, expressions...)
		return len(counts) - len(expressions), len(expressions)
	}
	for _, c := range columns {
		name := QuoteName(c.Name)
		if c.long() {
			var lefts []string
			for _, n := range prefixes {
				lefts = append(lefts, fmt.Sprintf("COUNT(DISTINCT LEFT(%s, %d))", name, n))
			}
			at, n := count(lefts...)
			reads = append(reads, func(counted []int64, sample int64) {
				c.Prefix = prefixOf(counted[at : at+n])
				if c.Distinct == 0 {
					c.Distinct = estimate(counted[at+n-1], sample, most, t.Rows)
				}
			})
			names = append(names, fmt.Sprintf("LEFT(%s, %d) AS %s", name, prefixes[len(prefixes)-1], name))
			continue
		}
		names = append(names, name)
		if c.Distinct == 0 {
			at, _ := count("COUNT(DISTINCT " + name + ")")
			reads = append(reads, func(counted []int64, sample int64) { c.Distinct = estimate(counted[at], sample, most, t.Rows) })
		}
		if c.Nullable {
			at, _ := count("COUNT(" + name + ")")
			reads = append(reads, func(counted []int64, sample int64) {
				if sample > 0 {
					c.Nulls = 1 - float64(counted[at])/float64(sample)
				}
			})
		}
	}
	query := fmt.Sprintf("COUNT(*), %s FROM (SELECT %s FROM %s.%s LIMIT %d) AS sample",
		strings.Join(counts, ", "), strings.Join(names, ", "), QuoteName(t.Schema), QuoteName(t.Name), most)
	ctx, cancel := context.WithTimeout(ctx, 2*samplePerCall)
	defer cancel()
	rows, err := q.QueryContext(ctx, db.limited(query, samplePerCall))
	if err != nil {
		return err
	}
	defer rows.Close()
	values := make([]int64, len(counts)+1)
	into := make([]any, len(values))
	for i := range values {
		into[i] = &values[i]
	}
	if rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	for _, read := range reads {
		read(values[1:], values[0])
	}
	return rows.Err()
}

// prefixOf is the shortest of prefixes whose count of distinct values is enough.
func prefixOf(distinct []int64) int {
	all := distinct[len(distinct)-1]
	for i, d := range distinct {
		if all > 0 && float64(d) >= prefixShare*float64(all) {
			return prefixes[i]
		}
	}
	return 0
}

// limited makes "SELECT rest" stop after d.
func (db *Database) limited(rest string, d time.Duration) string {
	if db.MariaDB {
		return fmt.Sprintf("SET STATEMENT max_statement_time = %g FOR SELECT %s", d.Seconds(), rest)
	}
	return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */ %s", d.Milliseconds(), rest)
}

func estimate(distinct, sample, most, rows int64) int64 {
	if sample <= 0 || distinct <= 0 {
		return 0
	}
	if sample < most || rows <= sample || distinct <= sample/10 {
		return distinct
	}
	return int64(float64(distinct) / float64(sample) * float64(rows))
}

// samples are the columns of a table that are worth one.
type samples struct {
	unknown  []*Column // no index tells how many distinct values they have, and one could hold them
	nullable []*Column // only how many rows have none is asked
	long     []*Column // texts of which an index could hold a part
}

func (t *Table) sampled() (s samples) {
	for i := range t.Columns {
		c := &t.Columns[i]
		kind := strings.ToLower(c.Type)
		none := strings.Contains(kind, "blob") || kind == "json" ||
			strings.Contains(kind, "geometry") || strings.Contains(kind, "point") || strings.Contains(kind, "polygon") || strings.Contains(kind, "linestring")
		switch {
		case c.long():
			s.long = append(s.long, c)
		case none:
		case c.Distinct == 0:
			s.unknown = append(s.unknown, c)
		case c.Nullable:
			s.nullable = append(s.nullable, c)
		}
	}
	return s
}

// long reports whether a column holds texts of more than 255 characters.
func (c *Column) long() bool {
	kind := strings.ToLower(c.Type)
	var size int
	if n, _ := fmt.Sscanf(kind, "varchar(%d)", &size); n == 1 {
		return size > MaxWhole
	}
	return strings.HasPrefix(kind, "text") || strings.HasPrefix(kind, "mediumtext") || strings.HasPrefix(kind, "longtext")
}
