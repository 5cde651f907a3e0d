package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// An order that mixes directions gets an index that has them, behind what is asked to be
// equal; one that is there already is read from either end.
func TestOrdersThatMixDirections(t *testing.T) {
	const columns = "id:int(11):30000 kind:varchar(32):8 popularity:int(11):25000 rent:int(11):20000"
	for _, c := range []struct {
		sql     string
		indexes []string
		want    string
	}{
		{"SELECT * FROM flats ORDER BY popularity DESC, id ASC LIMIT 20", nil, "popularity DESC, id"},
		{"SELECT * FROM flats ORDER BY popularity ASC, id DESC LIMIT 20", nil, "popularity, id DESC"},
		{"SELECT * FROM flats WHERE kind = 'sofa' ORDER BY popularity DESC, id ASC LIMIT 20", nil, "kind, popularity DESC, id"},
		{"SELECT * FROM flats WHERE kind = 'sofa' ORDER BY popularity DESC, rent ASC LIMIT 20", []string{"old(kind,popularity,rent)"}, "kind, popularity DESC, rent"},
		{"SELECT * FROM flats ORDER BY popularity DESC, id DESC LIMIT 20", nil, "popularity"},
		{"SELECT * FROM flats ORDER BY popularity DESC, id ASC LIMIT 20", []string{"there(popularity,id desc)"}, ""},
		{"SELECT * FROM flats ORDER BY popularity DESC, id ASC LIMIT 20", []string{"there(popularity desc,id)"}, ""},
	} {
		flats := define("flats", 30000, columns, append([]string{"PRIMARY(id)"}, plain(c.indexes)...)...)
		for i, spec := range c.indexes {
			at := i + 1
			for j, col := range strings.Split(strings.TrimSuffix(spec[strings.Index(spec, "(")+1:], ")"), ",") {
				flats.Indexes[at].Descending = append(flats.Indexes[at].Descending, strings.HasSuffix(col, " desc"))
				flats.Indexes[at].Columns[j] = strings.TrimSuffix(col, " desc")
			}
		}
		statements := []evidence.Statement{run(c.sql, 1000, 60*second, 30000, 20)}
		advice, notes := Advise(statements, []evidence.Table{flats}, Options{Descending: true})
		got := ""
		if len(advice) > 0 {
			got = strings.Join(advice[0].Columns, ", ")
		}
		if got != c.want || len(advice) > 1 {
			t.Errorf("%s, with %v: advised %q, want %q; %v", c.sql, c.indexes, columnsOf(advice), c.want, notes)
		}
		if old, _ := Advise(statements, []evidence.Table{flats}, Options{}); len(c.indexes) == 0 && slices.ContainsFunc(old, func(a Advice) bool { return strings.Contains(strings.Join(a.Columns, " "), "DESC") }) {
			t.Errorf("%s: an index that descends is advised for a server that has none", c.sql)
		}
	}
}

// plain takes directions away from an index's columns.
func plain(indexes []string) []string {
	var out []string
	for _, x := range indexes {
		out = append(out, strings.ReplaceAll(x, " desc", ""))
	}
	return out
}

// The server reads twenty rows by such an index, where it read and sorted all.
func TestServerReadsMixedDirections(t *testing.T) {
	await.SkipShort(t)
	db := startMariaDB(t)
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("CREATE DATABASE directions")
	exec("USE directions")
	exec("CREATE TABLE flats (id INT PRIMARY KEY, kind VARCHAR(32) NOT NULL, popularity INT NOT NULL, rent INT NOT NULL, text VARCHAR(200) NOT NULL)")
	exec("INSERT INTO flats SELECT seq, CONCAT('k', seq % 8), (seq * 7919) % 25000, seq % 20000, REPEAT('x', 150) FROM seq_1_to_30000")
	exec("ANALYZE TABLE flats")
	read := func(sql string) int {
		t.Helper()
		exec("FLUSH STATUS")
		rows, err := conn.QueryContext(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := conn.QueryRowContext(ctx, "SELECT SUM(VARIABLE_VALUE) FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ%'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, where := range []string{"", "WHERE kind = 'k3' "} {
		sql := "SELECT * FROM flats " + where + "ORDER BY popularity DESC, id ASC LIMIT 20"
		before := read(sql)
		flats := define("flats", 30000, "id:int(11):30000 kind:varchar(32):8 popularity:int(11):25000 rent:int(11):20000", "PRIMARY(id)")
		advice, _ := Advise([]evidence.Statement{run(sql, 1000, 60*second, float64(before), 20)}, []evidence.Table{flats}, Options{Descending: true})
		if len(advice) != 1 {
			t.Fatalf("%s: advised %v", sql, columnsOf(advice))
		}
		exec(fmt.Sprintf("CREATE INDEX x ON flats (%s)", strings.Join(advice[0].Columns, ", ")))
		if after := read(sql); after > 40 || before < 3000 {
			t.Errorf("%s: %d rows were read before, %d with (%s)", sql, before, after, strings.Join(advice[0].Columns, ", "))
		}
		exec("DROP INDEX x ON flats")
	}
}
