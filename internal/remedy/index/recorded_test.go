package index

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
)

// onServer is a statement on a real server, and what its advice must be.
type onServer struct {
	name  string
	setup []string
	sql   string
	want  string  // the advised indexes, as columnsOf has them
	most  float64 // rows and index entries read by it with them
	note  string  // a part of a note, "": there must be none
}

// check what each statement is advised, and by how much less is read with it: the server
// must use every index that is advised.
func check(t *testing.T, cases []onServer) {
	t.Helper()
	conn, err := startMariaDB(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	schema := ""
	for i, c := range cases {
		if i == 0 || !slices.Equal(c.setup, cases[i-1].setup) {
			schema = fmt.Sprintf("case%d", i)
			execute(t, conn, "CREATE DATABASE "+schema)
			execute(t, conn, "USE "+schema)
			for _, s := range c.setup {
				execute(t, conn, s)
				if words := strings.Fields(s); words[0] == "INSERT" {
					execute(t, conn, "ANALYZE TABLE "+words[2])
				}
			}
		}
		statements := recorded(t, conn, schema, c.sql)
		before := takenBack(t, conn, c.sql)
		advice, notes := Advise(statements, tablesOf(t, conn, schema), Options{Descending: true})
		if got := strings.Join(columnsOf(advice), " "); got != c.want {
			t.Errorf("%s: %s\nadvised %s\nwant    %s\nnotes %v", c.name, c.sql, got, c.want, notes)
		}
		said := slices.ContainsFunc(notes, func(n Note) bool { return strings.Contains(n.String(), c.note) })
		if c.note == "" && len(notes) > 0 || c.note != "" && !said {
			t.Errorf("%s: %s: notes %v, want one with %q", c.name, c.sql, notes, c.note)
		}
		for _, a := range advice {
			execute(t, conn, a.Create())
		}
		if len(advice) > 0 {
			execute(t, conn, "ANALYZE TABLE "+advice[0].Table)
		}
		if after := takenBack(t, conn, c.sql); after > c.most {
			t.Errorf("%s: %s reads %.0f, %.0f before, with %v; want at most %.0f", c.name, c.sql, after, before, columnsOf(advice), c.most)
		}
		plan := strings.Join(texts(t, conn, "EXPLAIN FORMAT=JSON "+c.sql), "\n")
		for _, a := range advice {
			if !strings.Contains(plan, `"`+a.Name+`"`) {
				t.Errorf("%s: %s does not use %s: %s", c.name, c.sql, a.Name, plan)
			}
		}
		for _, a := range advice {
			execute(t, conn, "DROP INDEX "+a.Name+" ON "+a.Table)
		}
	}
}

// recorded runs a statement as the server's own log and plan tell of it, as if it had run
// 1000 times. What it writes is taken back.
func recorded(t *testing.T, conn *sql.Conn, schema, query string) []evidence.Statement {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slow.log")
	execute(t, conn, "SET GLOBAL slow_query_log_file = '"+file+"'")
	execute(t, conn, "SET GLOBAL slow_query_log = ON")
	execute(t, conn, "SET SESSION slow_query_log = ON, log_slow_filter = '', log_slow_verbosity = 'query_plan', long_query_time = 0")
	execute(t, conn, "BEGIN")
	rowsRead(t, conn, query)
	execute(t, conn, "ROLLBACK")
	execute(t, conn, "SET SESSION long_query_time = 10")
	log, err := evidence.ReadSlowLog(t.Context(), host.NewLocal(), "db", file, 0, -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	word := strings.Fields(query)[0]
	out := slices.DeleteFunc(log.Statements, func(s evidence.Statement) bool {
		return !strings.HasPrefix(s.Fingerprint, word) || strings.Contains(s.Fingerprint, "SESSION_STATUS")
	})
	if len(out) != 1 || out[0].Count != 1 {
		t.Fatalf("%s: recorded are %+v", query, log.Statements)
	}
	if _, err := evidence.Explain(t.Context(), conn, true, "db", out); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	execute(t, conn, "SET SESSION max_statement_time = 0")
	execute(t, conn, "USE "+schema)
	s := &out[0]
	for _, n := range []*int64{&s.Count, &s.RowsExamined, &s.RowsSent, &s.RowsAffected, &s.BytesSent, &s.FullScans, &s.FullJoins} {
		*n *= 1000
	}
	s.Total, s.LockTime = 1000*s.Total, 1000*s.LockTime
	return out
}

// takenBack is how many rows and index entries a statement reads, whose writes are undone.
// The server counts what it reads of its own statistics when it opens a table, so that is
// done before.
func takenBack(t *testing.T, conn *sql.Conn, query string) float64 {
	t.Helper()
	texts(t, conn, "EXPLAIN FORMAT=JSON "+query)
	execute(t, conn, "BEGIN")
	n := rowsRead(t, conn, query)
	execute(t, conn, "ROLLBACK")
	return n
}

func tablesOf(t *testing.T, conn *sql.Conn, schema string) []evidence.Table {
	t.Helper()
	read, err := evidence.ReadDatabase(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.EstimateDistinct(t.Context(), conn, read); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(read.Tables, func(x evidence.Table) bool { return x.Schema != schema })
}

// texts of an answer's first column.
func texts(t *testing.T, conn *sql.Conn, query string) (out []string) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
