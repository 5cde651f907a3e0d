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

// gaps names a statement that changes or deletes rows by the index, mostly changes
// none, and shares the table with inserts. Where it finds none, it locks the gap
// where the row would be by the index, which others may do too; then each waits for the other's
// insert (MySQL 8.0 Reference Manual, "InnoDB Locking", "Gap Locks"). Without the index
// it locks the whole table, and the others wait.
func (w *workload) gaps(c *candidate) string {
	if !c.table.innodb() || c.unique || c.table.inserts == 0 {
		return ""
	}
	for _, s := range w.writers {
		b := s.root
		if !s.affected || len(b.accesses) != 1 || b.accesses[0].table != c.table || s.Count == 0 {
			continue
		}
		m := b.accesses[0].match(c.indexDef, nil)
		if met := float64(s.RowsAffected) / float64(s.Count); m.equal > 0 && met < seldomMet && c.table.inserts >= insertedAsOften*float64(s.Count) {
			return fmt.Sprintf("%q changes no row in most of its %d executions; where it finds none it locks the gap instead, and two transactions that then write there end in a deadlock",
				shorten(s.Fingerprint, s.Example), s.Count)
		}
	}
	return ""
}
