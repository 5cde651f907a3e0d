package diagnose

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// class of statements, as a digest tells them.
func class(fingerprint string, count int64, each time.Duration) evidence.Statement {
	return evidence.Statement{Service: "db", Schema: "shop", Fingerprint: fingerprint, Count: count, Total: time.Duration(count) * each, RowsSent: count}
}

func replayed(s evidence.Statement, repeats int64) evidence.Statement {
	s.Replayed, s.Repeats = true, repeats
	return s
}

// What a query cache is worth follows from the tables: results of those that nothing
// writes stay, however much is written to others.
func TestQueryCacheByTables(t *testing.T) {
	const items, orders = "SELECT * FROM items WHERE price < ? ORDER BY price LIMIT ?", "SELECT * FROM orders WHERE user_id = ?"
	for _, c := range []struct {
		name       string
		statements []evidence.Statement
		reach      float64 // 0: no finding
		words      string
		rows       int64 // of items; 0: not known
	}{
		{"a list of things that nobody writes, beside many writes of orders",
			[]evidence.Statement{class(items, 1000, 4*time.Millisecond), class("INSERT INTO orders VALUES (?)", 2000, time.Millisecond), class(orders, 500, time.Millisecond)}, 0.43, "reads only tables that nothing wrote in the run (shop.items)", 0},
		{"the list's table is written, too",
			[]evidence.Statement{class(items, 1000, 4*time.Millisecond), class("UPDATE items SET stock = stock - ? WHERE id = ?", 1000, time.Millisecond)}, 0, "", 0},
		{"with every tenth read",
			[]evidence.Statement{class(items, 1000, 4*time.Millisecond), class("UPDATE items SET stock = stock - ? WHERE id = ?", 100, time.Millisecond)}, 0.43, "about 450 of 1000 reads", 0},
		{"as many writes, all of them before the reads",
			[]evidence.Statement{replayed(class(items, 1000, 4*time.Millisecond), 960), class("UPDATE items SET stock = stock - ? WHERE id = ?", 1000, time.Millisecond)}, 0.96, "in the order in which they came, 960 of 1000 reads", 0},
		{"nothing is written, and no values come again", []evidence.Statement{replayed(class(items, 1000, 4*time.Millisecond), 0)}, 0, "", 0},
		{"with every tenth read, in another database",
			[]evidence.Statement{class(items, 1000, 4*time.Millisecond), class("UPDATE archive.items SET stock = ? WHERE id = ?", 1000, time.Millisecond)}, 0.48, "about 500 of 1000 reads", 0},
		{"a join with a table that is written",
			[]evidence.Statement{class("SELECT * FROM items i JOIN stock s ON s.item = i.id", 1000, 4*time.Millisecond), class("INSERT INTO stock VALUES (?)", 1000, time.Millisecond)}, 0, "", 0},
		{"one and the same statement", []evidence.Statement{class("SELECT name FROM kinds ORDER BY name", 1000, time.Millisecond)}, 0.98, "about 999 of 1000 reads", 0},
		{"what differs each time", []evidence.Statement{class("SELECT * FROM items WHERE until > NOW()", 1000, 4*time.Millisecond)}, 0, "", 0},
		{"locking reads", []evidence.Statement{class("SELECT * FROM items WHERE id = ? FOR UPDATE", 1000, 4*time.Millisecond)}, 0, "", 0},
		{"reads that take no longer than the cache", []evidence.Statement{class("SELECT * FROM items WHERE id = ?", 20000, 40*time.Microsecond)}, 0, "", 0},
		{"a small table that is asked by one value", []evidence.Statement{class("SELECT * FROM items WHERE id = ?", 20000, 40*time.Microsecond)}, 0.7, "about 19499 of 20000 reads", 500},
		{"a large table that is asked by one value", []evidence.Statement{class("SELECT * FROM items WHERE id = ?", 20000, 40*time.Microsecond)}, 0, "", 500000},
		{"a small table that is asked by two values", []evidence.Statement{class("SELECT * FROM items WHERE id = ? AND size < ?", 20000, 40*time.Microsecond)}, 0, "", 500},
	} {
		in := healthy()
		delta("db", "Com_select", 90000)(&in)
		in.Evidence.Statements = c.statements
		if c.rows > 0 {
			in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "shop", Name: "items", Rows: c.rows}}
		}
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		reach, text := 0.0, ""
		for _, f := range d.Findings {
			if f.Rule == "db.query-cache-unused" {
				reach, _ = strconv.ParseFloat(f.Subject["reach"], 64)
				text = f.Text
			}
		}
		if reach < c.reach-0.03 || reach > c.reach+0.03 || !strings.Contains(text, c.words) {
			t.Errorf("%s: reach %.3f, want %.2f; %q, want %q", c.name, reach, c.reach, text, c.words)
		}
	}
}
