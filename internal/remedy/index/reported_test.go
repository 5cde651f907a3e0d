package index

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// Slow statements that people asked about in public, with data of their own.
func TestReportedStatements(t *testing.T) {
	typ := define("typ", 1500, "id:int(11):1500 card:int(11):1190 name:varchar(40):1500", "PRIMARY(id)")
	book := define("book", 12000, "bookid:int(11):12000 card:int(11):2945 title:varchar(80):12000", "PRIMARY(bookid)")
	review := define("review", 2000, "checksum:bigint(20):2000 fingerprint:varchar(100):2000", "PRIMARY(checksum)")
	history := define("review_history", 40000, "checksum:bigint(20):2000 ts_min:datetime:40000 ts_cnt:int(11):50 query_time_sum:float:40000 sample:varchar(100):1", "PRIMARY(checksum,ts_min)")
	// The server does not count as examined what it reads of a join buffer's inner side.
	joined := run("SELECT * FROM typ LEFT JOIN book ON typ.card = book.card", 3, 124*second, 1500, 6530)
	joined.FullJoins = joined.Count
	joined.Explain = `{"query_block":{"select_id":1,"table":{"table_name":"typ","access_type":"ALL","rows":1500},"block-nl-join":{"table":{"table_name":"book","access_type":"ALL","rows":11941},"buffer_type":"flat","join_type":"BNL"}}}`
	for _, c := range []struct {
		name       string
		tables     []evidence.Table
		statements []evidence.Statement
		want       string
	}{
		{"a join whose inner side the server does not count", []evidence.Table{typ, book}, []evidence.Statement{joined}, "book(card)"},
		{"a range of the table that is joined second", []evidence.Table{review, history},
			[]evidence.Statement{run("SELECT d.checksum, LEFT(d.sample,20), SUM(query_time_sum)/SUM(ts_cnt) FROM review f JOIN review_history d USING (checksum) WHERE d.ts_min >= '2024-01-03 10:00:00' AND d.ts_min <= '2024-01-03 11:00:00' GROUP BY checksum", 30, 22*second, 42000, 258)},
			"review_history(ts_min)"},
	} {
		advice, _ := Advise(c.statements, c.tables, Options{})
		if got := strings.Join(columnsOf(advice), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
