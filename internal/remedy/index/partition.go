package index

import (
	"fmt"
	"strings"
	"time"

	"kasoku/internal/evidence"
)

const (
	// partitionRows and partitionBytes: a table that is smaller is read and emptied in
	// seconds, and each partition costs memory and an open file.
	partitionRows  = 1e6
	partitionBytes = 1 << 30
)

// partitions notes tables that grow at one end and are emptied at the other: rows are
// deleted by their age and by nothing else.
func partitions(all []*statement) (notes []Note) {
	seen := map[*table]bool{}
	for _, s := range all {
		t, column := s.deletesByAge()
		if t == nil || seen[t] || t.Partitioned || t.inserts == 0 || t.updates[column] > 0 ||
			t.rows < partitionRows && t.DataBytes < partitionBytes {
			continue
		}
		seen[t] = true
		notes = append(notes, t.byDate(s, column, all))
	}
	return notes
}

// deletesByAge is the table and the column of time of a DELETE that has no other condition
// than that a row is old.
func (s *statement) deletesByAge() (*table, string) {
	if len(s.deleteFrom) != 1 || s.root == nil || len(s.root.accesses) != 1 || len(s.root.subs) > 0 {
		return nil, ""
	}
	a := s.deleteFrom[0]
	if a.table == nil || len(a.preds) != 1 || len(a.ors) > 0 || a.residual != 1 || a.preds[0].kind != predRange {
		return nil, ""
	}
	switch base, _ := columnType(a.table.columns[a.preds[0].column]); base {
	case "date", "datetime", "timestamp":
		return a.table, a.preds[0].column
	}
	return nil, ""
}

// pruned are how many of the statements that read the table restrict the column, and of
// how many.
func pruned(all []*statement, t *table, column string) (some, of int64) {
	for _, s := range all {
		if s.root == nil || len(s.deleteFrom) > 0 {
			continue
		}
		reads, restricts := false, false
		s.root.walk(func(b *block) {
			for _, a := range b.accesses {
				if a.table != t {
					continue
				}
				reads = true
				for _, p := range a.preds {
					restricts = restricts || p.column == column
				}
			}
		})
		if reads {
			of += s.Count
		}
		if restricts {
			some += s.Count
		}
	}
	return some, of
}

// byDate is the note with its reasons, or with what stands against it.
func (t *table) byDate(s *statement, column string, all []*statement) Note {
	some, of := pruned(all, t, column)
	n := Note{Statement: s.at, Table: t.Name, Columns: []string{t.spelling(column)}}
	begin := fmt.Sprintf("%q deletes rows by their age one by one, from every index, and leaves holes; with partitions by months of %s old rows go with their partition, at once (ALTER TABLE … DROP PARTITION)",
		shorten(s.Fingerprint, s.Example), t.spelling(column))
	if why := t.unpartitionable(column); why != "" {
		n.Text = begin + "; not here: " + why
		return n
	}
	n.Text = begin + fmt.Sprintf("; %d of %d executions that read the table restrict %s and would look into those partitions only, the others into every one. "+
		"The primary key must have the column; making them copies the table while nobody writes", some, of, t.spelling(column))
	n.DDL = t.partitionBy(s, column)
	return n
}

// unpartitionable says what keeps a table from being partitioned by a column (MariaDB
// Knowledge Base, "Partitioning Limitations"; MySQL 8.0 Reference Manual, "Restrictions
// and Limitations on Partitioning"). "" if nothing.
func (t *table) unpartitionable(column string) string {
	if len(t.ForeignKeys) > 0 || t.referred {
		return "foreign keys and partitions exclude each other"
	}
	for _, d := range t.indexes {
		if d.unique && !strings.EqualFold(d.name, "PRIMARY") && !contains(d.columns, column) {
			return fmt.Sprintf("the unique index %s would have to have %s, and would then keep less unique", d.name, t.spelling(column))
		}
	}
	if t.columns[column].Nullable && !contains(t.primary, column) {
		return t.spelling(column) + " may be NULL, and no column of a primary key may"
	}
	return ""
}

// partitionBy is the statement that makes partitions of months: that of the row which the
// statement deletes last, and a year on.
func (t *table) partitionBy(s *statement, column string) string {
	first := monthOf(s.Example)
	base, _ := columnType(t.columns[column])
	c := evidence.QuoteName(t.spelling(column))
	var keys []string
	for _, k := range t.primary {
		keys = append(keys, evidence.QuoteName(t.spelling(k)))
	}
	ddl := "ALTER TABLE " + t.name()
	if len(keys) > 0 && !contains(t.primary, column) {
		ddl += fmt.Sprintf(" DROP PRIMARY KEY, ADD PRIMARY KEY (%s)", strings.Join(append(keys, c), ", "))
	}
	value, bound := "RANGE COLUMNS ("+c+")", "'%s'"
	if base == "timestamp" {
		value, bound = "RANGE (UNIX_TIMESTAMP("+c+"))", "UNIX_TIMESTAMP('%s')"
	}
	var list []string
	for i := range 14 {
		month := first.AddDate(0, i, 0)
		list = append(list, fmt.Sprintf("PARTITION p%s VALUES LESS THAN (%s)", month.AddDate(0, -1, 0).Format("200601"), fmt.Sprintf(bound, month.Format("2006-01-02"))))
	}
	return ddl + " PARTITION BY " + value + " (" + strings.Join(append(list, "PARTITION later VALUES LESS THAN (MAXVALUE)"), ", ") + ")"
}

// monthOf is the first day of the month after the first date in a statement, or of the
// year 2000's first month if it has none.
func monthOf(sql string) time.Time {
	day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	if m := dateForm.FindString(sql); m != "" {
		if d, err := time.Parse("2006-01-02", m); err == nil {
			day = time.Date(d.Year(), d.Month(), 1, 0, 0, 0, 0, time.UTC)
		}
	}
	return day.AddDate(0, 1, 0)
}
