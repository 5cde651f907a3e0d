package digest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func captured(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// countsOf is "3 SELECT …" by class, in the digest's order of fingerprints.
func countsOf(s *Statements) map[string]int64 {
	out := map[string]int64{}
	for _, c := range s.Classes {
		out[c.Fingerprint] += c.Count
	}
	return out
}

// One session of psql, in the three forms that PostgreSQL 15 writes, with
// log_min_duration_statement = 0 and auto_explain: nothing counts twice, and a
// text that looks like a message is text.
func TestPostgresLogs(t *testing.T) {
	want := map[string]int64{"SELECT * FROM users WHERE id = ?": 2, "EXECUTE p(?)": 2, "PREPARE p AS SELECT count(*) FROM users WHERE id < ?": 1,
		"SELECT ?, id FROM users": 1, "SELECT ?, ? FROM users LIMIT ?": 1, "SELECT Name, doc # >> ? FROM users WHERE Name = ? AND id = ?::int": 1}
	for _, c := range []struct {
		name, format string
		classes      int
	}{{"postgres-15.stderr.log", "postgresql", 9}, {"postgres-15.csv.log", "postgresql csvlog", 8}, {"postgres-15.json.log", "postgresql jsonlog", 8}} {
		data := captured(t, c.name)
		if k, err := KindOf(c.name, data); k != KindSlow || err != nil {
			t.Errorf("%s: %q %v", c.name, k, err)
		}
		s := digested(t, data, StatementOptions{})
		got := countsOf(s)
		for print, n := range want {
			if got[print] != n {
				t.Errorf("%s: %d of %q, want %d", c.name, got[print], print, n)
			}
		}
		if s.Format != c.format || len(s.Classes) != c.classes || s.Bad != 0 || s.Classes[0].Schema != "postgres" || s.Classes[0].Total != 19050*time.Microsecond {
			t.Errorf("%s: %s, %d classes: %v; %+v", c.name, s.Format, len(s.Classes), got, s.Classes[0])
		}
		if want := time.Date(2026, 11, 28, 9, 50, 18, 654e6, time.UTC); !s.From.Equal(want) {
			t.Errorf("%s begins at %v", c.name, s.From)
		}
	}
}

// Executions through the extended protocol count once; their parse and bind are
// told apart.
func TestPostgresPhases(t *testing.T) {
	s := digested(t, captured(t, "postgres-15.stderr.log"), StatementOptions{})
	if n := countsOf(s)["SELECT abalance FROM pgbench_accounts WHERE aid = ?"]; n != 5 {
		t.Errorf("%d executions: %v", n, countsOf(s))
	}
	if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "6 messages of prepared statements with 1.59 ms are not in the table") {
		t.Errorf("%q", s.Warnings)
	}
}

// Prefixes as people set them, by the manual and by the services that host it.
func TestPostgresPrefixes(t *testing.T) {
	at := time.Date(2025, 3, 2, 10, 0, 1, 0, time.UTC)
	for _, c := range []struct{ why, prefix, schema string }{
		{"RDS: %t:%r:%u@%d:[%p]:", "2025-03-02 10:00:01 UTC:10.1.2.3(52834):app@shop:[4321]:", "shop"},
		{"Debian", "2025-03-02 10:00:01.000 UTC [4321] app@shop ", "shop"},
		{"pgbadger's", "2025-03-02 10:00:01 UTC [4321]: [3-1] user=app,db=shop,app=web,client=10.1.2.3 ", "shop"},
		{"an offset", "2025-03-02 15:30:01 +0530 [4321] ", ""},
		{"a zone's name", "2025-03-02 19:00:01 JST [4321] ", ""},
		{"an epoch: %n", "1740909601.000 [4321] ", ""},
	} {
		log := c.prefix + "LOG:  duration: 12.500 ms  statement: SELECT a\n\tFROM t WHERE b = 'x'\n" +
			c.prefix + "LOG:  duration: 7.500 ms  execute <unnamed>: SELECT a FROM t WHERE b = $1\n" + c.prefix + "DETAIL:  parameters: $1 = 'y'\n" +
			c.prefix + "LOG:  statement: SELECT 1\n" + c.prefix + "LOG:  duration: 1.000 ms\n" + c.prefix + "LOG:  duration: 5.000 ms\n"
		s := digested(t, []byte(log), StatementOptions{})
		if len(s.Classes) != 2 || s.Classes[0].Count != 2 || s.Classes[0].Total != 20*time.Millisecond || s.Classes[0].Schema != c.schema || !s.From.Equal(at) {
			t.Errorf("%s: from %v, %+v", c.why, s.From, s.Classes)
		}
		if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "1 duration without a statement") {
			t.Errorf("%s: %q", c.why, w)
		}
	}
	odd := digested(t, []byte("2025-03-02 10:00:01 QQT [1] LOG:  duration: 1.000 ms  statement: SELECT 1\n"), StatementOptions{})
	if w := strings.Join(odd.Warnings, "\n"); !strings.Contains(w, "QQT (1)") {
		t.Errorf("%q", w)
	}
}

// A general log is counted, and says that it has no times.
func TestGeneralLogs(t *testing.T) {
	s := digested(t, slowSample(t, "mariadb-10.11.general.log"), StatementOptions{})
	if !s.Untimed || s.Entries == 0 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "has no times") {
		t.Errorf("%+v", s)
	}
	if err := s.Sort(""); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(s.Classes); i++ {
		if s.Classes[i].Count > s.Classes[i-1].Count {
			t.Errorf("%d after %d", s.Classes[i].Count, s.Classes[i-1].Count)
		}
	}
	var out bytes.Buffer
	if err := WriteText(&out, s.View([]string{"g"}, 0), 0); err != nil || strings.Contains(out.String(), "0 s") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A statement may hold what looks like another log.
func TestFirstKindCounts(t *testing.T) {
	header := "# Time: 250302 10:00:09\n# User@Host: a[a] @ b []\n# Query_time: 9.000000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 0\nSET timestamp=1740909609;\n"
	general := "250302 10:00:01\t     5 Query\tSELECT 'a;\n"
	s := digested(t, []byte(general+header+"DROP TABLE x' FROM t\n\t\t     5 Query\tSELECT 2\n"), StatementOptions{})
	if !s.Untimed || s.Entries != 2 {
		t.Errorf("a general log: %+v", s)
	}
	s = digested(t, []byte(header+"SELECT 'a\n"+general+"';\n"), StatementOptions{})
	if s.Untimed || s.Entries != 1 || s.Classes[0].Total != 9*time.Second {
		t.Errorf("a slow log: %+v", s)
	}
	s = digested(t, []byte("2025-03-02 10:00:01 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT 'a;\n\t"+strings.ReplaceAll(header, "\n", "\n\t")+"';\n"), StatementOptions{})
	if s.Format != "postgresql" || s.Classes[0].Total != time.Millisecond {
		t.Errorf("PostgreSQL's: %+v", s)
	}
}

// A slow log reads the same whatever carries it.
func TestCarriedSlowLogs(t *testing.T) {
	plain := slowSample(t, "mysql-8.0.slow.log")
	want := digested(t, plain, StatementOptions{})
	each := func(f func(line string) string) []byte {
		var b strings.Builder
		for line := range strings.Lines(string(plain)) {
			b.WriteString(f(strings.TrimSuffix(line, "\n")) + "\n")
		}
		return []byte(b.String())
	}
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	var entries []string
	for _, e := range strings.SplitAfter(string(plain), ";\n# Time") {
		if tail, ok := strings.CutSuffix(e, "# Time"); ok {
			e = tail
		}
		if len(entries) > 0 {
			e = "# Time" + e
		}
		entries = append(entries, e)
	}
	events := func(key string) string {
		var out []string
		for i, e := range entries {
			out = append(out, fmt.Sprintf(`{"timestamp":%d,%s:%s,"ingestionTime":5}`, i, quoted(key), quoted(strings.TrimSuffix(e, "\n"))))
		}
		return strings.Join(out, ",")
	}
	table := func(names string) []byte {
		out := names + "\n"
		for _, e := range entries {
			out += "2024-05-01 10:00:00.123,\"" + strings.ReplaceAll(strings.TrimSuffix(e, "\n"), `"`, `""`) + "\"\n"
		}
		return []byte(out)
	}
	printed := ""
	for _, e := range entries {
		printed += "2024-05-01T10:00:00.123000+00:00 shop-db " + e
	}
	for why, data := range map[string][]byte{
		"a table of CloudWatch's": table("timestamp,message"), "a table of Insights": table("@timestamp,@message"), "a table of Splunk's": table(`"_time","_raw"`),
		"aws logs tail, of events of several lines": []byte(printed),
		"CloudWatch's events":                       []byte(`{"events":[` + events("message") + `],"nextForwardToken":"f/1"}`),
		"a list":                                    []byte(`[` + events("@message") + `]`),
		"one event a line":                          []byte(strings.ReplaceAll(events("message"), "},{", "}\n{")),
		"a container's file": each(func(s string) string {
			return `{"log":` + quoted(s+"\n") + `,"stream":"stderr","time":"2024-05-01T10:00:00Z"}`
		}),
		"CRI":                       each(func(s string) string { return "2024-05-01T10:00:00.123456789Z stderr F " + s }),
		"compose":                   each(func(s string) string { return "db-1  | " + s }),
		"syslog":                    each(func(s string) string { return "May  1 10:00:00 db1 mysqld[812]: " + s }),
		"aws logs tail":             each(func(s string) string { return "2024-05-01T10:00:00.123000+00:00 shop-db " + s }),
		"an export of CloudWatch's": each(func(s string) string { return "2024-05-01T10:00:00.123Z " + s }),
	} {
		if k, err := KindOf(why, data[:min(len(data), peekSize)]); k != KindSlow || err != nil {
			t.Errorf("%s: %q %v", why, k, err)
		}
		s := digested(t, data, StatementOptions{})
		if s.Entries != want.Entries || len(s.Classes) != len(want.Classes) || s.Bad != 0 || s.Classes[0].Total != want.Classes[0].Total || s.Commands != want.Commands {
			t.Errorf("%s: %d statements in %d classes, %q", why, s.Entries, len(s.Classes), s.Warnings)
		}
	}
}

// PostgreSQL's lines as Google's and Azure's exports have them: what stands behind the
// line in its object is no part of the statement.
func TestCarriedPostgres(t *testing.T) {
	for _, form := range []string{
		`{"insertId":"s%[1]d","textPayload":"2025-03-02 10:00:0%[1]d.100 UTC [77]: [10-1] db=shop,user=web LOG:  duration: 1%[1]d.500 ms  statement: SELECT a FROM t WHERE b = %[1]d","resource":{"type":"cloudsql_database"},"trace":"t%[1]d"}`,
		`{"properties":{"errorLevel":"LOG","message":"2025-03-02 10:00:0%[1]d UTC-64de-6c LOG:  duration: 1%[1]d.500 ms  execute <unnamed>: SELECT a FROM t WHERE b = %[1]d","detail":"parameters: x = '%[1]d'"},"time":"2025-03-02T10:00:0%[1]dZ","category":"PostgreSQLLogs"}`,
	} {
		var log strings.Builder
		for i := range 4 {
			fmt.Fprintf(&log, form+"\n", i)
		}
		s := digested(t, []byte(log.String()), StatementOptions{})
		if s.Entries != 4 || s.Bad != 0 || len(s.Classes) != 1 || s.Classes[0].Total != 48*time.Millisecond || s.Classes[0].Fingerprint != "SELECT a FROM t WHERE b = ?" {
			t.Errorf("%d statements, %d not understood, in %d classes: %+v", s.Entries, s.Bad, len(s.Classes), s.Classes)
		}
	}
}

// Reports and what is no log are refused with a hint, never read as something else.
func TestReportsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"\nReading mysql slow query log from slow.log\nCount: 3  Time=0.10s (0s)  Lock=0.00s (0s)  Rows=1.0 (3), app[app]@localhost\n  SELECT a FROM t WHERE b=N\n": "mysqldumpslow",
		"\n# 140ms user time, 20ms system time, 30.1M rss, 35.2M vsz\n# Overall: 16 total, 6 unique, 3.20 QPS, 0.01x concurrency _____\n":                           "pt-query-digest",
	} {
		if _, err := KindOf("report.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "digest the log") {
			t.Errorf("%v", err)
		}
	}
}

// A table of performance_schema, in each form in which clients write it.
func TestSummaries(t *testing.T) {
	names := []string{"SCHEMA_NAME", "DIGEST", "DIGEST_TEXT", "COUNT_STAR", "SUM_TIMER_WAIT", "MAX_TIMER_WAIT", "SUM_LOCK_TIME", "SUM_ERRORS", "SUM_ROWS_SENT", "SUM_ROWS_EXAMINED", "QUANTILE_95", "FIRST_SEEN", "LAST_SEEN"}
	rows := [][]string{
		{"shop", "a1", "SELECT * FROM `orders` WHERE `user` = ?", "40", "8000000000000", "900000000000", "4000000000", "2", "80", "4000", "700000000000", "2025-03-02 10:00:00.000000", "2025-03-02 11:00:00.000000"},
		{"shop", "b2", "UPDATE `orders` SET `note` = ? WHERE `id` = ?", "5", "500000000000", "200000000000", "0", "0", "0", "5", "150000000000", "2025-03-02 10:30:00.000000", "2025-03-02 10:40:00.000000"},
		{"NULL", "NULL", "NULL", "7", "100000000", "90000000", "0", "0", "7", "0", "80000000", "2025-03-02 10:00:00.000000", "2025-03-02 11:00:00.000000"},
	}
	all := append([][]string{names}, rows...)
	joined := func(sep string, cell func(string) string) string {
		var b strings.Builder
		for _, r := range all {
			for i, c := range r {
				if i > 0 {
					b.WriteString(sep)
				}
				b.WriteString(cell(c))
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	same := func(s string) string { return s }
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	var vertical, lines strings.Builder
	var objects []map[string]any
	for i, r := range rows {
		fmt.Fprintf(&vertical, "*************************** %d. row ***************************\n", i+1)
		o := map[string]any{}
		for k, v := range r {
			fmt.Fprintf(&vertical, "%*s: %s\n", 17, names[k], v)
			if o[names[k]] = v; v == "NULL" {
				o[names[k]] = nil
			}
		}
		objects = append(objects, o)
		b, _ := json.Marshal(o)
		lines.Write(append(b, '\n'))
	}
	list, _ := json.Marshal(objects)
	nested, _ := json.Marshal(map[string]any{"hasData": true, "rows": objects})
	widths := make([]int, len(names))
	for _, r := range all {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	edge, border := "", ""
	for _, w := range widths {
		edge += "+" + strings.Repeat("-", w+2)
	}
	edge += "+\n"
	for i, r := range all {
		if i < 2 {
			border += edge
		}
		for k, c := range r {
			border += fmt.Sprintf("| %-*s ", widths[k], c)
		}
		border += "|\n"
	}
	border += edge + "3 rows in set (0.01 sec)\n"
	for why, text := range map[string]string{"tabs": joined("\t", same), "CSV": joined(",", quoted), "CSV with semicolons": joined(";", quoted), "with a byte order mark": "\xef\xbb\xbf" + joined(",", quoted),
		"one column a line": vertical.String() + "3 rows in set (0.00 sec)\n", "borders": border, "a list": string(list), "an object a line": lines.String(), "MySQL Shell's": string(nested), "CR LF": strings.ReplaceAll(joined(",", quoted), "\n", "\r\n")} {
		if k, err := KindOf(why, []byte(text)); k != KindSlow || err != nil {
			t.Errorf("%s: %q %v", why, k, err)
		}
		s := digested(t, []byte(text), StatementOptions{})
		if s.Entries != 52 || len(s.Classes) != 3 || s.Bad != 0 || s.Format != "performance_schema (sum_timer_wait in ps)" {
			t.Errorf("%s: %d statements in %d classes, format %q, bad %d %s", why, s.Entries, len(s.Classes), s.Format, s.Bad, s.FirstBad)
			continue
		}
		c := s.Classes[0]
		if c.Fingerprint != "SELECT * FROM orders WHERE user = ?" || c.Schema != "shop" || c.Total != 8*time.Second || c.Max != 900*time.Millisecond || c.P95 != 700*time.Millisecond ||
			c.LockTime != 4*time.Millisecond || c.RowsExamined != 4000 || c.Errors != 2 || c.P50 != 0 {
			t.Errorf("%s: %+v", why, c)
		}
		if last := s.Classes[2]; last.Fingerprint != OtherStatements || last.Total != 100*time.Microsecond {
			t.Errorf("%s: %+v", why, last)
		}
	}
}

// Units are read from names and values, and never guessed.
func TestSummaryUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"query,calls,total_exec_time,rows\n\"select $1\",4,2500.5,4\n", 2500500 * time.Microsecond},
		{"query,calls,total_time\n\"select $1\",4,2500.5\n", 2500500 * time.Microsecond},
		{"query\tdb\texec_count\ttotal_latency\nSELECT ?\tshop\t4\t2.05 s\n", 2050 * time.Millisecond},
		{"query\tdb\texec_count\ttotal_latency\nSELECT ?\tshop\t4\t1.50 min\n", 90 * time.Second},
		{"digest_text,count_star,total_ms\nSELECT ?,4,2500\n", 2500 * time.Millisecond},
		{"digest_text,count_star,sum_timer_wait_s\nSELECT ?,4,2.5\n", 2500 * time.Millisecond},
	} {
		s := digested(t, []byte(c.text), StatementOptions{})
		if len(s.Classes) != 1 || s.Classes[0].Total != c.want || s.Classes[0].Count != 4 {
			t.Errorf("%q: %+v", c.text, s.Classes)
		}
	}
	for _, text := range []string{"digest_text,count_star,total\nSELECT ?,4,2500\n", "digest_text,count_star,sum_timer_wait/1000000000\nSELECT ?,4,2500\n"} {
		_, err := StatementLogs(context.Background(), []Input{inputOf("x.csv", []byte(text))}, StatementOptions{})
		if !errors.Is(err, ErrUnit) || !strings.Contains(err.Error(), "total_ms") {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := digested(t, []byte("digest_text,count_star,sum_timer_wait\nSELECT ?,4,2500\nSELECT ?,four,1\n"), StatementOptions{})
	if s.Bad != 1 || s.BadAt != "slow.log:3" {
		t.Errorf("%+v", s)
	}
}

// pg_stat_statements of PostgreSQL 15 as psql --csv writes it.
func TestPgStatStatements(t *testing.T) {
	s := digested(t, captured(t, "pg_stat_statements-15.csv"), StatementOptions{})
	if s.Format != "pg_stat_statements (total_exec_time in ms)" || len(s.Classes) != 8 || countsOf(s)["SELECT * FROM users WHERE id = ?"] != 2 || s.Bad != 0 {
		t.Errorf("%s: %v", s.Format, countsOf(s))
	}
	if c := s.Classes[0]; c.Total < 58*time.Millisecond || c.Total > 59*time.Millisecond {
		t.Errorf("%+v", c)
	}
}

// endlessText is a JSON text of n bytes after a head.
type endlessText struct {
	head string
	left int64
}

func (e *endlessText) Read(p []byte) (int, error) {
	if n := copy(p, e.head); n > 0 {
		e.head = e.head[n:]
		return n, nil
	}
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	e.left -= int64(len(p))
	return len(p), nil
}

// One endless value of JSON ends with an error, not with the memory.
func TestCarriedValueIsBounded(t *testing.T) {
	log := &endlessText{head: `{"log":"# Time: 2025-03-02T10:00:01.250000Z\n"}` + "\n" + `{"log":"# User@Host: a[a] @ b []  Id: 1\n"}` + "\n" + `{"log":"`, left: 1 << 30}
	in := Input{Name: "x.json", Open: func() (io.ReadCloser, error) { return io.NopCloser(log), nil }}
	_, err := StatementLogs(context.Background(), []Input{in}, StatementOptions{})
	if err == nil || !strings.Contains(err.Error(), "longer than 8 MiB") || log.left < 900<<20 {
		t.Errorf("%v with %d left", err, log.left)
	}
}

// Whatever stands in a log, reading it ends without a panic, with no number
// below zero.
func FuzzStatementSources(f *testing.F) {
	for _, name := range []string{"postgres-15.stderr.log", "postgres-15.csv.log", "postgres-15.json.log", "pg_stat_statements-15.csv"} {
		data := captured(f, name)
		f.Add(data[:min(len(data), 1500)])
	}
	f.Add([]byte("*************************** 1. row ***************************\nDIGEST_TEXT: SELECT ?\n COUNT_STAR: 1\nSUM_TIMER_WAIT: 5\n"))
	f.Add([]byte("+---+---+---+\n| DIGEST_TEXT | COUNT_STAR | SUM_TIMER_WAIT |\n+---+---+---+\n| a | 1 | 2 |\n"))
	f.Add([]byte(`{"events":[{"message":"# User@Host: a[a] @ b []\n# Query_time: 1.0  Lock_time: 0\nSET timestamp=1;\nSELECT 1;"}]}`))
	f.Add([]byte("db-1  | # User@Host: a[a] @ b []\ndb-1  | # Query_time: 1.0  Lock_time: 0\ndb-1  | SELECT 1;\n"))
	f.Add([]byte("250302 10:00:01\t     5 Query\tSELECT 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if k, err := KindOf("x", data[:min(len(data), peekSize)]); err != nil || k != KindSlow {
			return
		}
		s, err := StatementLogs(context.Background(), []Input{inputOf("x", data)}, StatementOptions{Workers: 1})
		if err != nil {
			return
		}
		var n int64
		for _, c := range s.Classes {
			if n += c.Count; c.Total < 0 || c.Max < 0 || c.RowsSent < 0 || c.Count < 0 {
				t.Fatalf("%+v", c)
			}
		}
		if n != s.Entries {
			t.Fatalf("%d of %d", n, s.Entries)
		}
	})
}

// What MariaDB 10.11's own client writes of performance_schema, as tabs, with
// borders and with \G: each look finds the one before it as a class more.
func TestCapturedSummaries(t *testing.T) {
	for i, name := range []string{"tsv", "vertical.txt", "borders.txt"} {
		s := digested(t, captured(t, "performance_schema-mariadb-10.11."+name), StatementOptions{})
		c := s.Classes[1]
		if s.Entries != int64(22+i) || s.Bad != 0 || c.Fingerprint != "SELECT o.id FROM orders o JOIN orders p ON p.user = o.total WHERE o.id < ?" || c.Count != 1 ||
			c.Schema != "shop" || c.Total.Round(time.Millisecond) != 294*time.Millisecond || c.RowsExamined != 49 || c.FullJoins != 1 || s.From.IsZero() {
			t.Errorf("%s: %d statements, %d bad: %+v", name, s.Entries, s.Bad, c)
		}
	}
}

// A log of MariaDB 10.11 with every log_slow_verbosity, with a statement whose
// text is a whole header of the server's form.
func TestCapturedSlowLogWithHeaderLikeText(t *testing.T) {
	s := digested(t, captured(t, "mariadb-10.11-every.slow.log"), StatementOptions{})
	counts := countsOf(s)
	if counts["SELECT ? FROM orders LIMIT ?"] != 1 || counts["SELECT * FROM orders WHERE user = ?"] != 2 || s.Bad != 0 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "2 lines within statements") {
		t.Errorf("%v %q", counts, s.Warnings)
	}
	for _, c := range s.Classes {
		if c.Max > time.Second || strings.HasPrefix(c.Fingerprint, "DROP") {
			t.Errorf("%+v", c)
		}
	}
}

// MySQL 8.0.15's slow log with and without log_slow_extra, its general log, and
// what the client writes of its summaries, of one session. A statement's text is
// a whole header of the server's form.
func TestCapturedMySQL8(t *testing.T) {
	s := digested(t, captured(t, "mysql-8.0.15.slow.log"), StatementOptions{})
	counts := countsOf(s)
	if s.Entries != 24 || s.Commands != 8 || counts["SELECT ? FROM orders LIMIT ?"] != 1 || counts["SELECT * FROM orders WHERE user = ?"] != 3 || s.Bad != 0 || s.Classes[0].Max > time.Second {
		t.Errorf("%d statements, %d commands, %v %q", s.Entries, s.Commands, counts, s.Warnings)
	}
	g := digested(t, captured(t, "mysql-8.0.15.general.log"), StatementOptions{})
	if c := countsOf(g); !g.Untimed || c["SELECT ? FROM orders LIMIT ?"] != 1 || c["SELECT * FROM orders WHERE user = ?"] != 3 {
		t.Errorf("%v", c)
	}
	for name, format := range map[string]string{"performance_schema": "performance_schema (sum_timer_wait in ps)", "statement_analysis": "sys.statement_analysis (total_latency in ps)"} {
		p := digested(t, captured(t, name+"-mysql-8.0.15.tsv"), StatementOptions{})
		if p.Format != format || p.Bad != 0 || p.Classes[1].Total.Round(100*time.Microsecond) != 11300*time.Microsecond || p.Classes[1].RowsSent != 490 {
			t.Errorf("%s: %+v", p.Format, p.Classes[1])
		}
	}
}

// Sums cannot be filtered by what single runs did: that is said.
func TestSummariesAreNotFiltered(t *testing.T) {
	in := []Input{inputOf("x.tsv", captured(t, "performance_schema-mysql-8.0.15.tsv"))}
	if _, err := StatementLogs(context.Background(), in, StatementOptions{Since: time.Unix(1, 0)}); !errors.Is(err, ErrSummed) {
		t.Errorf("%v", err)
	}
	f, err := ParseStatementFilter([]string{"table=orders"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := StatementLogs(context.Background(), in, StatementOptions{Keep: f.Keep()})
	if err != nil {
		t.Fatal(err)
	}
	ApplyStatements(f, s)
	if len(s.Classes) == 0 || len(s.Classes) > 10 {
		t.Errorf("%d classes", len(s.Classes))
	}
}
