package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// Entries of an index that a pushed condition turns down are not among the rows examined:
// the time for each row tells them.
func TestWorkThatRowsExaminedDoNotShow(t *testing.T) {
	audit := define("audit", 200000, "id:int(11):200000 made:int(11):200000 shop:int(11):150 kind:int(11):6 text:varchar(60):200000", "PRIMARY(id)", "made(made,shop)")
	slow := run("SELECT * FROM audit WHERE shop = 3 AND made >= 900 AND kind = 2 ORDER BY made LIMIT 40", 1000, 15*second, 120, 25)
	advice, _ := Advise([]evidence.Statement{slow}, []evidence.Table{audit}, Options{})
	if got := columnsOf(advice); len(got) != 1 || !strings.HasSuffix(got[0], "made)") || strings.HasPrefix(got[0], "audit(made") {
		t.Errorf("advised %v, want one index that begins with what is compared and ends with made", got)
	}
	whole := slow // what takes so long is something else: nothing is pushed into an index
	whole.Explain = `{"query_block": {"table": {"table_name": "audit", "access_type": "range", "key": "made", "rows": 41000}}}`
	if advice, _ := Advise([]evidence.Statement{whole}, []evidence.Table{audit}, Options{}); len(advice) > 0 {
		t.Errorf("a plan that pushes nothing: advised %v", columnsOf(advice))
	}
	quick := slow
	quick.Total = 80 * time.Millisecond // 80 µs each
	if advice, _ := Advise([]evidence.Statement{quick}, []evidence.Table{audit}, Options{}); len(advice) > 0 {
		t.Errorf("a statement that takes 80 µs: advised %v", columnsOf(advice))
	}
}

// What is known from looks at what runs gets an index, too, and says so. What it sends is not
// known, so it does not tell how many rows its conditions meet.
func TestSampledStatements(t *testing.T) {
	audit := define("audit", 200000, "id:int(11):200000 shop:int(11):150 kind:int(11):6", "PRIMARY(id)")
	seen := run("SELECT * FROM audit WHERE shop = 3", 1000, 60*time.Second, 200000, 0)
	seen.Sampled = 400
	advice, _ := Advise([]evidence.Statement{seen}, []evidence.Table{audit}, Options{})
	if len(advice) != 1 || strings.Join(columnsOf(advice), "") != "audit(shop)" || !strings.Contains(advice[0].Reason, "400 looks") || advice[0].RowsAfter < 1000*1000 {
		t.Errorf("%+v", advice)
	}
}

// An intersection of two indexes reads all entries of both, and only the rows that are in both
// are among the rows examined.
func TestIntersectionThatRowsExaminedDoNotShow(t *testing.T) {
	seat := define("seat", 600000, "id:int(11):600000 hall:int(11):30000 guest:int(11):200 row:int(11):40 price:int(11):90", "PRIMARY(id)", "hall(hall)", "guest(guest)")
	hall := define("hall", 30000, "id:int(11):30000 town:varchar(60):300", "PRIMARY(id)")
	const both = `"access_type": "index_merge", "index_merge": {"intersect": [{"range": {"key": "hall"}}, {"range": {"key": "guest"}}]}, "rows": 1`
	for _, c := range []struct{ name, query, plan string }{
		{"an UPDATE", "UPDATE seat SET price = 3 WHERE hall = 388 AND guest = 4", `{"query_block": {"table": {"update": 1, "table_name": "seat", ` + both + `}}}`},
		{"a join", "SELECT s.row, h.town FROM seat s JOIN hall h ON h.id = s.hall WHERE s.hall = 388 AND s.guest = 4",
			`{"query_block": {"nested_loop": [{"table": {"table_name": "h", "access_type": "const", "key": "PRIMARY", "rows": 1}}, {"table": {"table_name": "s", ` + both + `}}]}}`},
	} {
		slow := run(c.query, 1400, 51*second, 1, 1)
		slow.Explain = c.plan
		advice, notes := Advise([]evidence.Statement{slow}, []evidence.Table{seat, hall}, Options{})
		if got := columnsOf(advice); len(got) != 1 || !strings.HasPrefix(got[0], "seat(hall,guest") && !strings.HasPrefix(got[0], "seat(guest,hall") {
			t.Errorf("%s: advised %v, want one of both columns; notes %v", c.name, got, notes)
		}
		slow.Explain = strings.ReplaceAll(c.plan, both, `"access_type": "ref", "key": "hall", "rows": 20`)
		if advice, _ := Advise([]evidence.Statement{slow}, []evidence.Table{seat, hall}, Options{}); len(advice) > 0 {
			t.Errorf("%s, by one index that finds a few rows: advised %v", c.name, columnsOf(advice))
		}
	}
}

// The server reads by the advised indexes what it read all of the table for.
func TestServerReadsWhatIsAdvised(t *testing.T) {
	await.SkipShort(t)
	db := startMariaDB(t)
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i, c := range []struct {
		name, table, fill string
		statements        []string
		most              float64 // rows read by each, with the advice
	}{
		{"an OR", "CREATE TABLE t (id INT PRIMARY KEY, giver INT, taker INT, v VARCHAR(40))",
			"SELECT seq, CRC32(seq) % 1500, CRC32(seq * 3) % 1700, REPEAT('v', 30) FROM seq_1_to_15000",
			[]string{"SELECT * FROM t WHERE giver = 6 OR taker = 6"}, 60},
		{"an OR that is sorted, and one of pairs", "CREATE TABLE t (id INT PRIMARY KEY, asker INT, asked INT, made DATETIME)",
			"SELECT seq, CRC32(seq) % 3000, CRC32(seq * 3) % 3000, '2025-03-01' + INTERVAL seq SECOND FROM seq_1_to_30000",
			[]string{"SELECT * FROM t WHERE asker = 8 OR asked = 8 ORDER BY made DESC", "SELECT COUNT(1) AS n FROM t WHERE (asker = 8 AND asked = 21) OR (asker = 21 AND asked = 8)"}, 80},
		{"a pushed condition", "CREATE TABLE t (id INT PRIMARY KEY, made INT, shop INT, kind INT, text VARCHAR(60), KEY m (made, shop))",
			"SELECT seq, 1700000000 + seq, CRC32(seq) % 150, CRC32(seq * 3) % 6, REPEAT('m', 40) FROM seq_1_to_60000",
			[]string{"SELECT * FROM t WHERE shop = 3 AND made >= 1700009000 AND kind = 2 ORDER BY made LIMIT 50"}, 120},
	} {
		execute(t, conn, fmt.Sprintf("CREATE DATABASE c%d", i))
		execute(t, conn, fmt.Sprintf("USE c%d", i))
		execute(t, conn, c.table)
		execute(t, conn, "INSERT INTO t "+c.fill)
		execute(t, conn, "ANALYZE TABLE t")
		read, err := evidence.ReadDatabase(ctx, conn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evidence.EstimateDistinct(ctx, conn, read); err != nil {
			t.Fatal(err)
		}
		var tables []evidence.Table
		for _, table := range read.Tables {
			if table.Schema == fmt.Sprintf("c%d", i) {
				tables = append(tables, table)
			}
		}
		var statements []evidence.Statement
		for _, sql := range c.statements {
			n, sent := rowsRead(t, conn, sql), float64(0)
			s := run(sql, 500, time.Duration(500*(1e5+300*n)), n, sent)
			s.Schema = tables[0].Schema
			if c.name == "a pushed condition" {
				s.RowsExamined, s.FullScans = 500*100, 0
			}
			statements = append(statements, s)
		}
		advice, notes := Advise(statements, tables, Options{Descending: true})
		for j, a := range advice {
			execute(t, conn, fmt.Sprintf("CREATE INDEX x%d ON t (%s)", j, strings.Join(a.Columns, ", ")))
		}
		for _, sql := range c.statements {
			if n := rowsRead(t, conn, sql); n > c.most {
				t.Errorf("%s: %s reads %.0f rows with %v; notes %v", c.name, sql, n, columnsOf(advice), notes)
			}
		}
	}
}

func execute(t *testing.T, conn *sql.Conn, query string) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// rowsRead by one execution, and entries that a pushed condition looked at.
func rowsRead(t *testing.T, conn *sql.Conn, query string) (n float64) {
	t.Helper()
	execute(t, conn, "FLUSH STATUS")
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRowContext(context.Background(), "SELECT SUM(VARIABLE_VALUE) FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ%' OR VARIABLE_NAME = 'HANDLER_ICP_ATTEMPTS'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A real server compares the entries of two indexes, its plan says so, and the advised index
// ends it.
func TestServerIntersectsIndexes(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	conn, err := startMariaDB(t).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute(t, conn, "CREATE DATABASE halls")
	execute(t, conn, "USE halls")
	execute(t, conn, "CREATE TABLE seat (id INT PRIMARY KEY, hall INT NOT NULL, guest INT NOT NULL, price INT NOT NULL, note VARCHAR(200) NOT NULL, KEY hall (hall), KEY guest (guest))")
	execute(t, conn, "INSERT INTO seat SELECT seq, CRC32(seq) % 300, CRC32(seq * 3) % 200, seq % 90, REPEAT('n', 150) FROM seq_1_to_60000")
	execute(t, conn, "ANALYZE TABLE seat")
	const query = "UPDATE seat SET price = 3 WHERE hall = 88 AND guest = 4"
	explain := func() (plan string) {
		if err := conn.QueryRowContext(ctx, "EXPLAIN FORMAT=JSON "+query).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	slow := run(query, 1000, 20*second, 1, 0)
	slow.Schema, slow.Explain = "halls", explain()
	if p := evidence.Plan(slow.Explain); len(p) != 1 || len(p[0].Intersected) != 2 {
		t.Fatalf("the server does not intersect: %s", slow.Explain)
	}
	read, err := evidence.ReadDatabase(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.EstimateDistinct(ctx, conn, read); err != nil {
		t.Fatal(err)
	}
	advice, notes := Advise([]evidence.Statement{slow}, read.Tables, Options{})
	if len(advice) != 1 || len(advice[0].Columns) < 2 {
		t.Fatalf("advised %v; notes %v", columnsOf(advice), notes)
	}
	execute(t, conn, "CREATE INDEX both_of ON seat ("+strings.Join(advice[0].Columns, ", ")+")")
	if p := evidence.Plan(explain()); len(p) != 1 || len(p[0].Intersected) > 0 || p[0].Key != "both_of" {
		t.Errorf("with %v: %+v", advice[0].Columns, p)
	}
}
