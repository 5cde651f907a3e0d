package index

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// scan is a statement that reads a whole table each time.
func scan(sql string, count int64, total time.Duration, examined, sent float64, bytes int64) evidence.Statement {
	s := run(sql, count, total, examined, sent)
	s.FullScans, s.BytesSent = count, bytes*s.RowsSent
	return s
}

// What a run fills is as large as its statements show, not as it was before.
func TestTablesFilledWithinTheRun(t *testing.T) {
	empty := func(columns string) evidence.Table { return define("notes", 0, columns, "PRIMARY(id)") }
	const narrow = "id:bigint(20) owner:int(11) points:int(11)"
	insert := run("INSERT INTO notes (owner, points) VALUES (1, 2)", 6000, time.Second, 0, 0)
	joined := run("SELECT COUNT(*) FROM users u JOIN notes n ON n.owner = u.id WHERE u.id = 7", 3000, 20*time.Second, 3000, 1)
	users := define("users", 5000, "id:int(11):5000 name:varchar(80):5000", "PRIMARY(id)")
	drop := run("DELETE FROM notes WHERE id = 1", 6000, time.Second, 1, 0)
	for _, c := range []struct {
		name       string
		tables     []evidence.Table
		statements []evidence.Statement
		want       []string
	}{
		{"scanned while it grows", []evidence.Table{empty(narrow)}, []evidence.Statement{scan("SELECT * FROM notes WHERE owner = 7", 4000, 20*time.Second, 2500, 2, 0)}, []string{"notes(owner)"}},
		{"filled, and read in a join", []evidence.Table{empty(narrow), users}, []evidence.Statement{insert, joined}, []string{"notes(owner)"}},
		{"filled and emptied", []evidence.Table{empty(narrow), users}, []evidence.Statement{insert, drop, joined}, nil},
		{"it stays small", []evidence.Table{empty(narrow)}, []evidence.Statement{scan("SELECT * FROM notes WHERE owner = 7", 4000, 20*time.Second, 80, 1, 0)}, nil},
		{"few rows, wide ones", []evidence.Table{empty("id:bigint(20) owner:int(11) image:longblob")},
			[]evidence.Statement{scan("SELECT image FROM notes WHERE owner = 7", 4000, 20*time.Second, 80, 1, 50_000)}, []string{"notes(owner)"}},
		{"wide rows, whose width is not read", []evidence.Table{empty("id:bigint(20) owner:int(11) points:int(11) image:longblob")},
			[]evidence.Statement{scan("SELECT points FROM notes WHERE owner = 7", 4000, 20*time.Second, 80, 1, 10), scan("SELECT image FROM notes WHERE id = 7", 9, time.Millisecond, 1, 1, 50_000)}, nil},
	} {
		advice, notes := Advise(c.statements, c.tables, Options{})
		if got := columnsOf(advice); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.want, notes)
		}
	}
}

// A table of some hundred rows that is asked at each request is worth an index, beside
// larger ones, too; one that is asked now and then, or written much more, is not.
func TestFewRowsAskedOften(t *testing.T) {
	visitors := define("visitors", 600, "id:bigint(20):600 token:varchar(64):600", "PRIMARY(id)")
	visits := define("visits", 30000, "id:bigint(20):30000 visitor:bigint(20):600", "PRIMARY(id)")
	large := scan("SELECT * FROM visits WHERE visitor = 7", 800, 14*time.Second, 30000, 50, 0)
	const asked = "SELECT * FROM visitors WHERE token = 'a'"
	for _, c := range []struct {
		name  string
		small []evidence.Statement
		want  []string
	}{
		{"at each request", []evidence.Statement{scan(asked, 20000, 6*time.Second, 600, 1, 0)}, []string{"visitors(token)", "visits(visitor)"}},
		{"now and then", []evidence.Statement{scan(asked, 10, 3*time.Millisecond, 600, 1, 0)}, []string{"visits(visitor)"}},
		{"written much more", []evidence.Statement{scan(asked, 2000, 600*time.Millisecond, 600, 1, 0),
			run("INSERT INTO visitors (token) VALUES ('a')", 200000, 20*time.Second, 0, 0), run("DELETE FROM visitors WHERE id = 7", 200000, 20*time.Second, 1, 0)}, []string{"visits(visitor)"}},
	} {
		advice, notes := Advise(append(c.small, large), []evidence.Table{visitors, visits}, Options{})
		if got := columnsOf(advice); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.want, notes)
		}
	}
}

// An index by which a statement that finds nothing locks a gap is told of.
func TestGaps(t *testing.T) {
	table := define("avatars", 4000, "id:bigint(20):4000 owner:int(11):4000 image:longblob", "PRIMARY(id)")
	look := scan("SELECT image FROM avatars WHERE owner = 7", 4000, 20*time.Second, 4000, 1, 0)
	insert := run("INSERT INTO avatars (owner, image) VALUES (1, 'x')", 300, time.Second, 0, 0)
	affecting := func(met int64) evidence.Statement {
		s := run("DELETE FROM avatars WHERE owner = 7", 300, time.Second, 4000, 0)
		s.RowsAffected = met
		return s
	}
	myisam := table
	myisam.Engine = "MyISAM"
	for _, c := range []struct {
		name       string
		table      evidence.Table
		statements []evidence.Statement
		want       bool
	}{
		{"it mostly finds nothing", table, []evidence.Statement{look, insert, affecting(20)}, true},
		{"an insert that was cut off within its values", table, []evidence.Statement{look, run("INSERT INTO `app`.avatars(owner, image) VALUES (?, ?", 300, time.Second, 0, 0), affecting(20)}, true},
		{"an insert into another table", table, []evidence.Statement{look, run("INSERT INTO others(owner, image) VALUES (?, ?", 300, time.Second, 0, 0), affecting(20)}, false},
		{"it mostly finds a row", table, []evidence.Statement{look, insert, affecting(280)}, false},
		{"nothing is inserted", table, []evidence.Statement{look, affecting(20)}, false},
		{"an engine without gap locks", myisam, []evidence.Statement{look, insert, affecting(20)}, false},
	} {
		advice, _ := Advise(c.statements, []evidence.Table{c.table}, Options{})
		if len(advice) != 1 || (advice[0].Gaps != "") != c.want || c.want && !strings.Contains(advice[0].Gaps, "DELETE FROM avatars") {
			t.Errorf("%s: %+v", c.name, advice)
		}
	}
}

// So is one that ends a scan which kept apart transactions that lock a gap elsewhere.
func TestScansThatKeepTransactionsApart(t *testing.T) {
	lists := define("lists", 40000, "id:bigint(20):40000 code:varchar(40):40000 name:varchar(80)", "PRIMARY(id)")
	songs := define("songs_of", 1800000, "list:bigint(20):40000 place:int(11):80 song:bigint(20):70000", "PRIMARY(list, place)")
	look := scan("SELECT * FROM lists WHERE code = 'a'", 4000, 90*time.Second, 40000, 1, 0)
	rename := func(examined float64) evidence.Statement {
		s := run("UPDATE lists SET name = 'b' WHERE code = 'a'", 40, 30*time.Second, examined, 0)
		s.RowsAffected = 40
		return s
	}
	empty := func(met int64) evidence.Statement {
		s := run("DELETE FROM songs_of WHERE list = 7", 40, time.Millisecond, 0, 0)
		s.RowsAffected = met
		return s
	}
	fill := run("INSERT INTO songs_of (list, place, song) VALUES (7, 1, 2)", 1200, time.Second, 0, 0)
	for _, c := range []struct {
		name       string
		statements []evidence.Statement
		want       bool
	}{
		{"a new list is emptied and filled", []evidence.Statement{look, rename(40000), empty(0), fill}, true},
		{"lists that are full are emptied", []evidence.Statement{look, rename(40000), empty(1200), fill}, false},
		{"nothing is filled", []evidence.Statement{look, rename(40000), empty(0)}, false},
		{"the writer has its index", []evidence.Statement{look, rename(1), empty(0), fill}, false},
		{"only a reader scans", []evidence.Statement{look, empty(0), fill}, false},
	} {
		advice, _ := Advise(c.statements, []evidence.Table{lists, songs}, Options{})
		if len(advice) != 1 || (advice[0].Gaps != "") != c.want || c.want && (!strings.Contains(advice[0].Gaps, "UPDATE lists") || !strings.Contains(advice[0].Gaps, "DELETE FROM songs_of")) {
			t.Errorf("%s: %+v", c.name, advice)
		}
	}
}

// BenchmarkReads shows what bytesOfRow and the adaptive hash index's keyRead
// (internal/diagnose) stand for: ten thousand narrow rows are read for one, a hundred
// with a long value, the same without it; and a hundred thousand rows are found by
// keys, without and with the hash.
func BenchmarkReads(b *testing.B) {
	db := startMariaDB(b)
	db.SetMaxOpenConns(1)
	run := func(sql string) {
		if _, err := db.ExecContext(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	run("CREATE DATABASE wide")
	run("USE wide")
	run("CREATE TABLE narrow (id INT PRIMARY KEY, owner INT, v VARCHAR(100))")
	run("INSERT INTO narrow SELECT seq, seq, REPEAT('x', 80) FROM seq_1_to_10000")
	run("CREATE TABLE wide (id INT PRIMARY KEY, owner INT, v LONGBLOB)")
	run("INSERT INTO wide SELECT seq, seq, REPEAT('x', 50000) FROM seq_1_to_100")
	run("CREATE TABLE keyed (id INT PRIMARY KEY, v VARCHAR(50))")
	run("INSERT INTO keyed SELECT seq, REPEAT('x', 40) FROM seq_1_to_300000")
	const keys = "SELECT COUNT(k.v) FROM seq_1_to_100000 q STRAIGHT_JOIN keyed k ON k.id = (q.seq * 7919) % 300000 + 1"
	for _, c := range []struct{ name, before, sql string }{
		{"10000 narrow", "DO 0", "SELECT LENGTH(v) FROM narrow WHERE owner = 50"},
		{"100 wide", "DO 0", "SELECT LENGTH(v) FROM wide WHERE owner = 50"},
		{"100 wide without the value", "DO 0", "SELECT id FROM wide WHERE owner = 50"},
		{"100000 by keys", "SET GLOBAL innodb_adaptive_hash_index = OFF", keys},
		{"100000 by keys, hashed", "SET GLOBAL innodb_adaptive_hash_index = ON", keys},
	} {
		b.Run(c.name, func(b *testing.B) {
			run(c.before)
			for b.Loop() {
				var n int
				if err := db.QueryRowContext(b.Context(), c.sql).Scan(&n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
