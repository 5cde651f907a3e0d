package diagnose

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// A plan that pushes a condition into an index of many entries, and a time that the rows
// examined do not explain, tell of work that the server does not count.
func TestHidden(t *testing.T) {
	const plan = `{"query_block": {"table": {"table_name": "audit", "access_type": "range", "key": "made", "rows": 41000, "index_condition": "audit.shop = 3"}}}`
	const whole = `{"query_block": {"table": {"table_name": "audit", "access_type": "range", "key": "made", "rows": 41000}}}`
	statement := func(each time.Duration, examined int64, plan string) evidence.Statement {
		return evidence.Statement{Count: 500, Total: 500 * each, RowsExamined: 500 * examined, RowsSent: 500 * 20, Explain: plan}
	}
	const mariadb = `{"query_block": {"table": {"update": 1, "table_name": "seat", "access_type": "index_merge", "index_merge": {"intersect": [{"range": {"key": "hall"}}, {"range": {"key": "guest"}}]}, "rows": 1}}}`
	const mysql = `{"query_block": {"table": {"table_name": "seat", "access_type": "index_merge", "key": "intersect(hall,guest)", "rows_examined_per_scan": 1}}}`
	const union = `{"query_block": {"table": {"table_name": "seat", "access_type": "index_merge", "index_merge": {"union": [{"range": {"key": "hall"}}, {"range": {"key": "guest"}}]}, "rows": 1}}}`
	merging := func(plan string) evidence.Statement {
		return evidence.Statement{Count: 10, Total: 370 * time.Millisecond, LockTime: 200 * time.Microsecond, RowsExamined: 10, Explain: plan}
	}
	for _, c := range []struct {
		name string
		s    evidence.Statement
		want int64
	}{
		{"12 ms for 110 rows", statement(12*time.Millisecond, 110, plan), 41000},
		{"37 ms for one row that is in two indexes", merging(mariadb), 1849},
		{"the same with MySQL", merging(mysql), 1849},
		{"several indexes, one after the other", merging(union), 0},
		{"nothing is pushed", statement(12*time.Millisecond, 110, whole), 0},
		{"no plan", statement(12*time.Millisecond, 110, ""), 0},
		{"80 µs", statement(80*time.Microsecond, 110, plan), 0},
		{"as many rows as entries", statement(12*time.Millisecond, 41000, plan), 0},
		{"it waits for a lock", func() evidence.Statement {
			s := statement(12*time.Millisecond, 110, plan)
			s.LockTime = s.Total
			return s
		}(), 0},
	} {
		if got := Hidden(c.s); got != c.want {
			t.Errorf("%s: %d entries, want %d", c.name, got, c.want)
		}
		if c.want > 0 && !Scans(c.s) {
			t.Errorf("%s: it is not taken for one that reads too much", c.name)
		}
	}
}
