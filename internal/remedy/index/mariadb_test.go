package index

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// TestAgainstExhaustiveSearch compares the advisor with a search over sets of
// single and two-column indexes on a real MariaDB, by the rows that the server
// reads and the index entries that writes would cost: at most 15 % more than the
// best set found. LONG=1 tries sets of three indexes per table too,
// which takes minutes.
func TestAgainstExhaustiveSearch(t *testing.T) {
	await.SkipShort(t)
	db := startMariaDB(t)
	var table strings.Builder
	fmt.Fprintf(&table, "%-10s %12s %12s %12s %6s  %s\n", "schema", "no index", "advised", "best found", "ratio", "advised indexes")
	product, n := 1.0, 0.0
	for _, w := range realWorkloads() {
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
			ratio := mine / best
			product, n = product*ratio, n+1
			fmt.Fprintf(&table, "%-10s %12.0f %12.0f %12.0f %6.2f  %s\n", w.name, none, mine, best, ratio, strings.Join(chosen, " "))
			if ratio > maxRatio {
				t.Errorf("the advised indexes %v cost %.0f, the best found %v %.0f; notes %v", chosen, mine, set, best, notes)
				l.explain(chosen, set)
			}
		})
	}
	t.Logf("cost in rows read by the whole workload, %.0f for each index entry written; geometric mean of the ratios %.3f\n%s", entryRows, math.Pow(product, 1/n), table.String())
	if n < 20 {
		t.Errorf("%.0f schemas, at least 20 are promised", n)
	}
}

// maxRatio of the advised set's cost to the best found.
const maxRatio = 1.15

// entryRows is what an index entry costs to write, in rows read: the advisor's
// 10 µs over the 0.3 µs per row that evidence() tells it.
const entryRows = 33.0

// lab is one workload's schema on the server.
type lab struct {
	t       *testing.T
	conn    *sql.Conn
	w       realWorkload
	names   []string          // of tables
	indexes map[string]string // "table(a,b)" → table
	columns map[string][]string
	hidden  map[string]bool // by "table(a,b)"
	cache   map[string]float64
}

func newLab(t *testing.T, db *sql.DB, w realWorkload) *lab {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	l := &lab{t: t, conn: conn, w: w, names: sortedKeys(w.columns), indexes: map[string]string{}, columns: map[string][]string{}, hidden: map[string]bool{}, cache: map[string]float64{}}
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
// is rolled back; FLUSH would commit, so it comes before. The server also counts
// what it reads of its own statistics when it opens a table, so the tables are
// opened first.
func (l *lab) reads(s realStatement) (read, sent, affected float64) {
	l.exec("EXPLAIN " + s.instances[0])
	for _, q := range s.instances {
		l.exec("FLUSH STATUS")
		l.exec("BEGIN")
		sent += float64(len(l.strings(q)))
		affected += max(0, l.number("SELECT ROW_COUNT()"))
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
	return read / n, sent / n, affected / n
}

// evidence as a run would have seen it: 0.1 ms and 0.3 µs per row read.
func (l *lab) evidence() (out []evidence.Statement) {
	for _, s := range l.w.statements {
		read, sent, affected := l.reads(s)
		st := evidence.Statement{Schema: l.w.name, Example: s.instances[0], Fingerprint: s.instances[0], Count: s.count,
			Total:        time.Duration(float64(s.count) * (1e5 + 300*read)),
			RowsExamined: int64(read * float64(s.count)), RowsSent: int64(sent * float64(s.count)),
			RowsAffected: int64(affected * float64(s.count))}
		if read > 1000 {
			st.FullScans = s.count
		}
		out = append(out, st)
	}
	return out
}

func (l *lab) tables() (out []evidence.Table) {
	for _, n := range l.names {
		t := evidence.Table{Schema: l.w.name, Name: n, Engine: "InnoDB", Rows: int64(l.number("SELECT COUNT(*) FROM " + n)), Indexes: l.keys(n)}
		for _, line := range l.strings("SHOW COLUMNS FROM " + n) {
			f := strings.Split(line, "\t")
			t.Columns = append(t.Columns, evidence.Column{Name: f[0], Type: f[1],
				Distinct: int64(l.number("SELECT COUNT(DISTINCT " + f[0] + ") FROM " + n))})
		}
		out = append(out, t)
	}
	return out
}

// keys that the schema gives a table.
func (l *lab) keys(table string) (out []evidence.TableIndex) {
	for _, line := range l.strings("SHOW INDEX FROM " + table) {
		f := strings.Split(line, "\t") // table, non-unique, name, place, column
		if l.indexes[f[2]] != "" {
			continue
		}
		if f[3] == "1" {
			out = append(out, evidence.TableIndex{Name: f[2], Unique: f[1] == "0"})
		}
		out[len(out)-1].Columns = append(out[len(out)-1].Columns, f[4])
	}
	return out
}

// create an index once; all are ignored by the optimizer until shown.
func (l *lab) create(table string, columns []string) string {
	key := table + "(" + strings.Join(columns, ",") + ")"
	if _, ok := l.indexes[key]; !ok {
		l.exec(fmt.Sprintf("CREATE INDEX `%s` ON %s (%s) IGNORED", key, table, strings.Join(columns, ",")))
		l.indexes[key], l.hidden[key], l.columns[key] = table, true, columns
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
	words := map[string][]string{}
	for _, key := range sortedKeys(l.indexes) {
		hide := !slices.Contains(set, key)
		if hide == l.hidden[key] {
			continue
		}
		word := "NOT IGNORED"
		if hide {
			word = "IGNORED"
		}
		words[l.indexes[key]] = append(words[l.indexes[key]], fmt.Sprintf("ALTER INDEX `%s` %s", key, word))
		l.hidden[key] = hide
	}
	for _, table := range sortedKeys(words) {
		l.exec("ALTER TABLE " + table + " " + strings.Join(words[table], ", "))
	}
}

var word = regexp.MustCompile(`\w+`)

// total cost of the workload with a set of indexes: rows read, and the entries
// that its writes put into the indexes.
func (l *lab) total(set []string) float64 {
	sum := 0.0
	for _, s := range l.w.statements {
		words := word.FindAllString(s.instances[0], -1)
		var relevant []string
		for _, key := range set {
			// An index whose first column a statement does not name saves it no
			// rows.
			first, _ := splitPrefix(l.columns[key][0])
			if slices.Contains(words, l.indexes[key]) && slices.Contains(words, first) {
				relevant = append(relevant, key)
			}
		}
		sort.Strings(relevant)
		key := s.instances[0] + strings.Join(relevant, ";")
		if _, ok := l.cache[key]; !ok {
			l.show(relevant)
			l.cache[key], _, _ = l.reads(s)
		}
		sum += (l.cache[key] + entryRows*l.entries(s, words, set)) * float64(s.count)
	}
	return sum
}

// entries that one run of a statement writes into the indexes of a set: one for
// a row inserted or deleted, two for a changed column.
func (l *lab) entries(s realStatement, words []string, set []string) (n float64) {
	if words[0] == "SELECT" || s.writes == 0 {
		return 0
	}
	for _, key := range set {
		if !slices.Contains(words, l.indexes[key]) {
			continue
		}
		switch words[0] {
		case "INSERT", "DELETE":
			n += s.writes
		case "UPDATE":
			assigned, _, _ := strings.Cut(s.instances[0], " WHERE ")
			for _, c := range l.columns[key] {
				if strings.Contains(assigned, " "+c+" = ") {
					n += 2 * s.writes
					break
				}
			}
		}
	}
	return n
}

// most indexes per table in a set that is tried.
func most() int {
	if os.Getenv("LONG") != "" {
		return 3
	}
	return 2
}

// search tries, table by table, every set of up to two (or three) indexes of
// which none is a prefix of another, given the best sets of the other tables,
// twice.
func (l *lab) search() (best float64, set []string) {
	chosen := map[string][]string{}
	for range 2 {
		for _, n := range l.names {
			var pool, others []string
			for key, table := range l.indexes {
				if table == n && len(l.columns[key]) <= 2 {
					pool = append(pool, key)
				}
			}
			sort.Strings(pool)
			for m, s := range chosen {
				if m != n {
					others = append(others, s...)
				}
			}
			found, mine := l.total(others), []string(nil)
			var try func(from int, have []string)
			try = func(from int, have []string) {
				for i := from; i < len(pool); i++ {
					next := append(slices.Clone(have), pool[i])
					if redundant(next) {
						continue
					}
					if cost := l.total(append(slices.Clone(others), next...)); cost < found {
						found, mine = cost, next
					}
					if len(next) < most() {
						try(i+1, next)
					}
				}
			}
			try(0, nil)
			best, chosen[n] = found, mine
		}
	}
	for _, n := range l.names {
		set = append(set, chosen[n]...)
	}
	return best, set
}

// redundant says whether the last of a set is a prefix of another, or has one.
func redundant(set []string) bool {
	last := strings.TrimSuffix(set[len(set)-1], ")")
	for _, o := range set[:len(set)-1] {
		o = strings.TrimSuffix(o, ")")
		if strings.HasPrefix(o, last+",") || strings.HasPrefix(last, o+",") {
			return true
		}
	}
	return false
}

func (l *lab) explain(sets ...[]string) {
	for _, s := range l.w.statements {
		for _, set := range sets {
			l.show(set)
			read, _, _ := l.reads(s)
			l.t.Logf("%s\n with %v: %.1f rows: %q", s.instances[0], set, read, l.strings("EXPLAIN "+s.instances[0]))
		}
	}
}
