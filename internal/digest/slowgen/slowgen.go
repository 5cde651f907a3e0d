// Package slowgen writes slow query logs of any length for tests and
// benchmarks: the statements of a small shop, in the forms that servers write.
//
// In: a form and a number of entries. Out: the same bytes each time.
package slowgen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Form is a server's way to write its slow log.
type Form int

// Forms.
const (
	MariaDB Form = iota // log_slow_verbosity=query_plan
	MySQL8              // log_slow_extra=ON
	MySQL57
	Percona // log_slow_verbosity=full
	MySQL51
)

// Forms are all of them.
var Forms = []Form{MariaDB, MySQL8, MySQL57, Percona, MySQL51}

func (f Form) String() string {
	return [...]string{"mariadb", "mysql8", "mysql57", "percona", "mysql51"}[f]
}

// templates are statements with places for values: # a number, $ a word, @ a
// list of numbers, % rows. How often each comes falls with its place.
var templates = []string{
	"SELECT * FROM users WHERE id = #",
	"SELECT id, login, name FROM users WHERE login = '$' AND deleted = #",
	"SELECT o.id, o.total, u.name FROM orders o JOIN users u ON u.id = o.user_id WHERE o.user_id = # ORDER BY o.created_at DESC LIMIT 20",
	"UPDATE sessions SET seen_at = NOW(), data = '$|$|$' WHERE token = '$'",
	"SELECT * FROM products WHERE id IN (@)",
	"INSERT INTO events (user_id, kind, payload) VALUES (#, '$', '{\"a\":#,\"b\":\"$\"}')",
	"SELECT COUNT(*) FROM comments WHERE post_id = #",
	"SELECT c.id, c.body, c.created_at FROM comments AS c WHERE c.post_id = # AND c.state = '$' ORDER BY c.id LIMIT #, 20",
	"SELECT value FROM settings WHERE name = '$'",
	"COMMIT",
	"INSERT INTO order_items (order_id, product_id, quantity, price) VALUES %",
	"SELECT p.*, (SELECT COUNT(*) FROM reviews r WHERE r.product_id = p.id) AS n\nFROM products p\nLEFT JOIN stock s ON s.product_id = p.id AND s.shop = '$'\nWHERE p.category = # AND p.price BETWEEN #.50 AND #.99\nGROUP BY p.id HAVING n > # ORDER BY p.name",
	"DELETE FROM carts WHERE updated_at < '2026-11-# 10:00:00' LIMIT 100",
	"SELECT a FROM tags WHERE name LIKE '$%' OR name LIKE '%$' /* search */",
	"UPDATE products SET stock = stock - # WHERE id = #",
	"SELECT id FROM users WHERE email = '$@example.com' AND password_hash = '$$'",
	"INSERT IGNORE INTO follows (a, b) VALUES (#, #)",
	"SELECT SQL_NO_CACHE id FROM queue WHERE taken = 0 ORDER BY id ASC LIMIT # FOR UPDATE",
	"SET NAMES utf8mb4",
	"SELECT DATE(created_at) AS day, SUM(total) FROM orders WHERE created_at >= '2026-01-01' AND shop_id = # GROUP BY day",
}

// Write writes n entries.
func Write(w io.Writer, f Form, n int) error {
	b := bufio.NewWriterSize(w, 1<<20)
	g := &gen{w: b, form: f, rnd: rand.New(rand.NewPCG(7, uint64(f)))}
	g.banner()
	for i := range n {
		g.entry(i)
	}
	return b.Flush()
}

type gen struct {
	w    *bufio.Writer
	form Form
	rnd  *rand.Rand
	last int64
	sql  strings.Builder
}

var began = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func (g *gen) banner() {
	version := [...]string{"mariadbd, Version: 10.11.19-MariaDB-log (Debian 12)", "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL)",
		"/usr/sbin/mysqld, Version: 5.7.44-log (MySQL Community Server (GPL))", "/usr/sbin/mysqld, Version: 5.6.51-91.0-log (Percona Server (GPL))",
		"/usr/sbin/mysqld, Version: 5.1.73-log (Source distribution)"}[g.form]
	fmt.Fprintf(g.w, "%s. started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\nTime                 Id Command    Argument\n", version)
}

func (g *gen) statement() string {
	// The square of a uniform number: the first of 20 comes ten times as often as the last.
	u := g.rnd.Float64()
	t := templates[int(u*u*float64(len(templates)))]
	s := &g.sql
	s.Reset()
	for i := range len(t) {
		switch t[i] {
		case '#':
			fmt.Fprintf(s, "%d", g.rnd.IntN(100000))
		case '$':
			for range 3 + g.rnd.IntN(12) {
				s.WriteByte("abcdefghijklmnopqrstuvwxyz"[g.rnd.IntN(26)])
			}
		case '@':
			for k := range 1 + g.rnd.IntN(8) {
				fmt.Fprintf(s, "%s%d", [2]string{"", ","}[min(k, 1)], g.rnd.IntN(100000))
			}
		case '%':
			if strings.HasSuffix(t, "VALUES %") {
				for k := range 1 + g.rnd.IntN(4) {
					fmt.Fprintf(s, "%s(%d, %d, %d, %d.99)", [2]string{"", ", "}[min(k, 1)], g.rnd.IntN(1e6), g.rnd.IntN(1e4), g.rnd.IntN(9), g.rnd.IntN(200))
				}
				continue
			}
			s.WriteByte('%')
		default:
			s.WriteByte(t[i])
		}
	}
	return s.String()
}

func (g *gen) entry(i int) {
	at := began.Add(time.Duration(i) * 400 * time.Microsecond)
	took := 20 + g.rnd.ExpFloat64()*800 // µs
	examined := g.rnd.IntN(2000)
	sent := g.rnd.IntN(30)
	thread := 8 + g.rnd.IntN(40)
	scan := [2]string{"No", "Yes"}[g.rnd.IntN(2)]
	changed := at.Unix() != g.last
	g.last = at.Unix()
	basic := fmt.Sprintf("# Query_time: %.6f  Lock_time: %.6f", took/1e6, took/1e7)
	rows := fmt.Sprintf("Rows_sent: %d  Rows_examined: %d", sent, examined)
	switch g.form {
	case MariaDB:
		if changed {
			fmt.Fprintf(g.w, "# Time: %s\n", at.Format("060102 15:04:05"))
		}
		fmt.Fprintf(g.w, "# User@Host: app[app] @ localhost []\n# Thread_id: %d  Schema: shop  QC_hit: No\n%s  %s\n# Rows_affected: 0  Bytes_sent: %d\n", thread, basic, rows, 60*sent)
		fmt.Fprintf(g.w, "# Full_scan: %s  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n# Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No\n", scan)
	case MySQL8:
		fmt.Fprintf(g.w, "# Time: %s\n# User@Host: app[app] @ localhost []  Id: %5d\n%s %s Thread_id: %d Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: %d Read_first: 0 Read_last: 0 Read_key: 1 Read_next: %d Read_prev: 0 Read_rnd: 0 Read_rnd_next: 0 Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 0 Sort_scan_count: 0 Created_tmp_disk_tables: 0 Created_tmp_tables: 0 Start: %[1]s End: %[1]s\n",
			at.Format("2006-01-02T15:04:05.000000Z"), thread, basic, rows, thread, 60*sent, sent)
	case MySQL57:
		fmt.Fprintf(g.w, "# Time: %s\n# User@Host: app[app] @ localhost []  Id: %5d\n%s %s\n", at.Format("2006-01-02T15:04:05.000000Z"), thread, basic, rows)
	case Percona:
		if changed {
			fmt.Fprintf(g.w, "# Time: %s\n", at.Format("060102 15:04:05"))
		}
		fmt.Fprintf(g.w, "# User@Host: app[app] @ localhost []  Id: %5d\n# Schema: shop  Last_errno: 0  Killed: 0\n%s  %s  Rows_affected: 0\n# Bytes_sent: %d  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n", thread, basic, rows, 60*sent)
		fmt.Fprintf(g.w, "# InnoDB_trx_id: %X\n# QC_Hit: No  Full_scan: %s  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n# Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0  InnoDB_IO_r_wait: 0.000000\n#   InnoDB_rec_lock_wait: 0.000000  InnoDB_queue_wait: 0.000000\n#   InnoDB_pages_distinct: 7\n", i, scan)
	case MySQL51:
		if changed {
			fmt.Fprintf(g.w, "# Time: %s\n", at.Format("060102 15:04:05"))
		}
		fmt.Fprintf(g.w, "# User@Host: app[app] @ localhost []\n%s %s\n", basic, rows)
	}
	if i == 0 && g.form != MariaDB {
		fmt.Fprint(g.w, "use shop;\n")
	}
	fmt.Fprintf(g.w, "SET timestamp=%d;\n%s;\n", at.Unix(), g.statement())
}
