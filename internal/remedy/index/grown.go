package index

import "fmt"

// grow raises what is known of tables' sizes by what the statements show. The schema
// is read before a run, and many a run begins by emptying tables.
func grow(all []*statement) {
	inserted, deleted := map[*table]float64{}, map[*table]bool{}
	for _, s := range all {
		for _, a := range s.deleteFrom {
			deleted[a.table] = true
		}
		if s.insertInto != nil && !s.insertBlock {
			inserted[s.insertInto] += float64(s.Count) * s.insertRows
		}
		s.growScanned()
	}
	for t, n := range inserted {
		if !deleted[t] {
			t.rows = max(t.rows, n/2) // on average over the run
		}
	}
}

// growScanned takes the rows that a scan of a single table examined for its size.
func (s *statement) growScanned() {
	b := s.root
	if b == nil || s.Count <= 0 || len(b.accesses) != 1 || len(b.subs) > 0 || b.accesses[0].table == nil {
		return
	}
	t, n := b.accesses[0].table, float64(s.Count)
	if whole := s.FullScans >= s.Count && b.limit == 0 && !b.sorted && !b.grouped && s.insertInto == nil; whole {
		t.rows = max(t.rows, float64(s.RowsExamined)/n)
	}
	if s.RowsSent > 0 && !b.grouped && !b.aggregate {
		t.bytes = max(t.bytes, float64(s.BytesSent)/float64(s.RowsSent))
	}
}

const (
	// seldomMet rows for each execution: a statement that mostly finds nothing.
	seldomMet = 0.5
	// insertedAsOften: inserts that belong to it are at least this share of its count.
	insertedAsOften = 0.1
)

// gaps says by what an index lets transactions end in a deadlock that do not without
// it: it makes a gap that is locked, or it no longer keeps apart those that lock one.
func (w *workload) gaps(c *candidate) string {
	if !c.table.innodb() || c.unique {
		return ""
	}
	if s := w.locksGap(c.table, c.indexDef); s != nil {
		return fmt.Sprintf("%q changes no row in most of its %d executions; where it finds none it locks the gap instead, and two transactions that then write there end in a deadlock",
			shorten(s.Fingerprint, s.Example), s.Count)
	}
	scan := w.locksAll(c)
	if scan == nil {
		return ""
	}
	for _, s := range w.writers {
		if b := s.root; len(b.accesses) == 1 && b.accesses[0].table != nil && s != scan {
			for _, d := range b.accesses[0].table.indexes {
				if g := w.locksGap(b.accesses[0].table, d); g != nil {
					return fmt.Sprintf("%q reads all rows and locks them, so that transactions with it come one after the other; with the index they run side by side, and %q, which finds no row in most of its %d executions, locks a gap there: two that then write into it end in a deadlock",
						shorten(scan.Fingerprint, scan.Example), shorten(g.Fingerprint, g.Example), g.Count)
				}
			}
		}
	}
	return ""
}

// locksGap is a statement that changes or deletes rows by an index, mostly changes
// none, and shares the table with inserts; nil if there is none. Where it finds none, it
// locks the gap where the row would be by the index, which others may do too; then each waits
// for the other's insert (MySQL 8.0 Reference Manual, "InnoDB Locking", "Gap Locks"). Without
// the index it locks the whole table, and the others wait.
func (w *workload) locksGap(t *table, d indexDef) *statement {
	if !t.innodb() || t.inserts == 0 {
		return nil
	}
	for _, s := range w.writers {
		b := s.root
		if !s.affected || len(b.accesses) != 1 || b.accesses[0].table != t || s.Count == 0 {
			continue
		}
		met := float64(s.RowsAffected) / float64(s.Count)
		if m := b.accesses[0].match(d, nil); m.equal > 0 && met < seldomMet && t.inserts >= insertedAsOften*float64(s.Count) {
			return s
		}
	}
	return nil
}

// lockedAll: a statement that examines at least this share of its table reads all of it.
const lockedAll = 0.5

// locksAll is a statement that changes or deletes some rows of the candidate's table and
// reads all of it to find them, which the candidate ends; nil if there is none. InnoDB locks
// every row that it reads for that until the end of the transaction (MySQL 8.0 Reference
// Manual, "Locks Set by Different SQL Statements in InnoDB").
func (w *workload) locksAll(c *candidate) *statement {
	for _, s := range w.writers {
		b := s.root
		if len(b.accesses) != 1 || b.accesses[0].table != c.table || s.Count == 0 {
			continue
		}
		if m := b.accesses[0].match(c.indexDef, nil); m.equal > 0 && float64(s.RowsExamined)/float64(s.Count) >= lockedAll*c.table.rows {
			return s
		}
	}
	return nil
}
