package index

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/internal/evidence"
)

// TestAgainstExhaustiveSearch compares the advisor with a search over sets of
// single and two-column indexes on a real MariaDB, by the rows that the server
// reads: at most a tenth more than the best set found.
func TestAgainstExhaustiveSearch(t *testing.T) {
	db := startMariaDB(t)
	for _, w := range realWorkloads {
		t.Run(w.name, func(t *testing.T) {
			l := newLab(t, db, w)
			advice, notes := Advise(l.evidence(), l.tables(), Options{})
			none := l.total(nil)
			var chosen []string
			for _, a := range advice {
				chosen = append(chosen, l.create(a.Table, a.Columns))
			}
			l.createAll()
			mine := l.total(chosen)
			best, set := l.search()
			t.Logf("no index: %.0f rows; advised %v: %.0f; best found %v: %.0f; notes %v", none, chosen, mine, set, best, notes)
			if mine > 1.1*best {
				t.Errorf("the advised indexes make the server read %.0f rows, the best found %.0f", mine, best)
				l.explain(chosen, set)
			}
		})
	}
}

// lab is one workload's schema on the server.
type lab struct {
	t       *testing.T
	conn    *sql.Conn
	w       realWorkload
	names   []string          // of tables
	indexes map[string]string // "table(a,b)" → table
	hidden  map[string]bool   // by "table(a,b)"
	cache   map[string]float64
}

func newLab(t *testing.T, db *sql.DB, w realWorkload) *lab {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	l := &lab{t: t, conn: conn, w: w, names: sortedKeys(w.columns), indexes: map[string]string{}, hidden: map[string]bool{}, cache: map[string]float64{}}
	l.exec("CREATE DATABASE " + w.name)
	l.exec("USE " + w.name)
	for _, s := range w.schema {
		l.exec(s)
	}
	for _, n := range l.names {
		l.exec("ANALYZE TABLE " + n)
	}
	return l
}

func (l *lab) exec(query string) {
	l.t.Helper()
	rows, err := l.conn.QueryContext(context.Background(), query)
	if err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	if err := rows.Close(); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
}

// strings of the first column, or of several joined by tabs.
func (l *lab) strings(query string) (out []string) {
	l.t.Helper()
	rows, err := l.conn.QueryContext(context.Background(), query)
	if err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		l.t.Fatal(err)
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			l.t.Fatal(err)
		}
		var parts []string
		for _, v := range values {
			parts = append(parts, v.String)
		}
		out = append(out, strings.Join(parts, "\t"))
	}
	if err := rows.Err(); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	return out
}

func (l *lab) number(query string) (n float64) {
	l.t.Helper()
	got := l.strings(query)
	if len(got) != 1 {
		l.t.Fatalf("%s: %v", query, got)
	}
	if _, err := fmt.Sscan(got[0], &n); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// reads of one class: mean rows read and sent per execution. What it writes
// is rolled back. The server also counts what it reads of its own statistics
// when it opens a table, so the tables are opened first.
func (l *lab) reads(s realStatement) (read, sent float64) {
	l.exec("EXPLAIN " + s.instances[0])
	for _, q := range s.instances {
		l.exec("BEGIN")
		l.exec("FLUSH STATUS")
		sent += float64(len(l.strings(q)))
		for _, line := range l.strings("SHOW SESSION STATUS LIKE 'Handler_read%'") {
			var n float64
			if _, err := fmt.Sscan(strings.Split(line, "\t")[1], &n); err != nil {
				l.t.Fatal(err)
			}
			read += n
		}
		l.exec("ROLLBACK")
	}
	n := float64(len(s.instances))
	return read / n, sent / n
}

// evidence as a run would have seen it: 0.1 ms and 0.3 µs per row read.
func (l *lab) evidence() (out []evidence.Statement) {
	for _, s := range l.w.statements {
		read, sent := l.reads(s)
		st := evidence.Statement{Schema: l.w.name, Example: s.instances[0], Fingerprint: s.instances[0], Count: s.count,
			Total:        time.Duration(float64(s.count) * (1e5 + 300*read)),
			RowsExamined: int64(read * float64(s.count)), RowsSent: int64(sent * float64(s.count))}
		if read > 1000 {
			st.FullScans = s.count
		}
		out = append(out, st)
	}
	return out
}

func (l *lab) tables() (out []evidence.Table) {
	for _, n := range l.names {
		t := evidence.Table{Schema: l.w.name, Name: n, Engine: "InnoDB", Rows: int64(l.number("SELECT COUNT(*) FROM " + n)),
			Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}}
		for _, line := range l.strings("SHOW COLUMNS FROM " + n) {
			f := strings.Split(line, "\t")
			t.Columns = append(t.Columns, evidence.Column{Name: f[0], Type: f[1],
				Distinct: int64(l.number("SELECT COUNT(DISTINCT " + f[0] + ") FROM " + n))})
		}
		out = append(out, t)
	}
	return out
}

// create an index once; all are ignored by the optimizer until shown.
func (l *lab) create(table string, columns []string) string {
	key := table + "(" + strings.Join(columns, ",") + ")"
	if _, ok := l.indexes[key]; !ok {
		l.exec(fmt.Sprintf("CREATE INDEX `%s` ON %s (%s) IGNORED", key, table, strings.Join(columns, ",")))
		l.indexes[key], l.hidden[key] = table, true
	}
	return key
}

func (l *lab) createAll() {
	for _, n := range l.names {
		for _, a := range l.w.columns[n] {
			l.create(n, []string{a})
			for _, b := range l.w.columns[n] {
				if a != b {
					l.create(n, []string{a, b})
				}
			}
		}
		l.exec("ANALYZE TABLE " + n)
	}
}

// show makes the optimizer see these indexes and no others.
func (l *lab) show(set []string) {
	for _, key := range sortedKeys(l.indexes) {
		hide := !slices.Contains(set, key)
		if hide == l.hidden[key] {
			continue
		}
		word := "NOT IGNORED"
		if hide {
			word = "IGNORED"
		}
		l.exec(fmt.Sprintf("ALTER TABLE %s ALTER INDEX `%s` %s", l.indexes[key], key, word))
		l.hidden[key] = hide
	}
}

// total rows read by the workload with a set of indexes.
func (l *lab) total(set []string) float64 {
	sum := 0.0
	for _, s := range l.w.statements {
		var relevant []string
		for _, key := range set {
			if strings.Contains(s.instances[0], " "+l.indexes[key]+" ") {
				relevant = append(relevant, key)
			}
		}
		sort.Strings(relevant)
		key := s.instances[0] + strings.Join(relevant, ";")
		if _, ok := l.cache[key]; !ok {
			l.show(relevant)
			l.cache[key], _ = l.reads(s)
		}
		sum += l.cache[key] * float64(s.count)
	}
	return sum
}

// search tries, table by table, every set of up to two indexes of which none
// is a prefix of the other, given the best sets of the other tables, twice.
func (l *lab) search() (best float64, set []string) {
	chosen := map[string][]string{}
	for range 2 {
		for _, n := range l.names {
			var pool []string
			for key, table := range l.indexes {
				if table == n && strings.Count(key, ",") < 2 {
					pool = append(pool, key)
				}
			}
			sort.Strings(pool)
			var others []string
			for m, s := range chosen {
				if m != n {
					others = append(others, s...)
				}
			}
			found := l.total(others)
			mine := []string(nil)
			for i, a := range pool {
				for _, b := range append([]string{""}, pool[i+1:]...) {
					try := []string{a}
					if b != "" {
						if strings.HasPrefix(a, strings.TrimSuffix(b, ")")+",") || strings.HasPrefix(b, strings.TrimSuffix(a, ")")+",") {
							continue
						}
						try = append(try, b)
					}
					if rows := l.total(append(try, others...)); rows < found {
						found, mine = rows, try
					}
				}
			}
			best, chosen[n] = found, mine
		}
	}
	for _, n := range l.names {
		set = append(set, chosen[n]...)
	}
	return best, set
}

func (l *lab) explain(sets ...[]string) {
	for _, s := range l.w.statements {
		for _, set := range sets {
			l.show(set)
			read, _ := l.reads(s)
			l.t.Logf("%s\n with %v: %.1f rows: %q", s.instances[0], set, read, l.strings("EXPLAIN "+s.instances[0]))
		}
	}
}

func startMariaDB(t *testing.T) *sql.DB {
	t.Helper()
	for _, name := range []string{"mariadbd", "mariadb-install-db"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("this test needs MariaDB's server: %v; run `make deps`", err)
		}
	}
	dir, err := os.MkdirTemp("", "kidx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	user := []string{}
	if os.Getuid() == 0 {
		user = []string{"--user=root"}
	}
	install := exec.Command("mariadb-install-db", append(user, "--no-defaults", "--datadir="+data, "--skip-test-db", "--auth-root-authentication-method=normal")...)
	// Servers that start at the same time with one folder for temporary tables
	// delete each other's.
	install.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := install.CombinedOutput()
	if err != nil {
		t.Fatalf("create a data folder: %v\n%s", err, out)
	}
	server := exec.Command("mariadbd", append([]string{"--no-defaults"}, append(user, "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--pid-file="+filepath.Join(dir, "pid"), "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0", "--innodb-flush-method=nosync")...)...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	t.Cleanup(func() { server.Process.Kill(); <-exited })
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for deadline := time.Now().Add(20 * time.Second); ; {
		if err = db.Ping(); err == nil {
			return db
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("MariaDB did not come up: %v\n%s", err, text)
		}
		select {
		case err := <-exited:
			exited <- err
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("MariaDB ended: %v\n%s", err, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
