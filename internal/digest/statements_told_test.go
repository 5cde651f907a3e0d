package digest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// told is what is said of a digest, in one text.
func told(s *Statements) string { return strings.Join(s.Health(), "\n") }

// Rows of a table are counted as rows, whatever they stand for.
func TestSummaryRowsThatCannotBeRead(t *testing.T) {
	table := "query\tdb\texec_count\ttotal_latency\trows_sent\n" +
		"SELECT * FROM `items`\tstore\t5000\t4.25 s\t10\nSELECT * FROM `carts`\tstore\t300\t1 m 3\t10\nSELECT * FROM `users`\tstore\t20\t10 ms\t2\n"
	s := digested(t, []byte(table), StatementOptions{})
	if w := told(s); !strings.Contains(w, "1 of 3 rows could not be read") || !strings.Contains(w, "not understood: 1 of 3 rows") {
		t.Errorf("told: %s", w)
	}
}

// What a table does not tell is not shown as 0, and \N is no name.
func TestSummaryWithoutValues(t *testing.T) {
	table := "SCHEMA_NAME,DIGEST_TEXT,COUNT_STAR,SUM_TIMER_WAIT,SUM_ROWS_EXAMINED\n\"store\",\"SELECT `a` FROM `b`\",\"1,200\",\"3,600,000,000,000\",40\n\\N,COMMIT,7,\"5000000000\",\\N\n"
	s := digested(t, []byte(table), StatementOptions{})
	if len(s.Classes) != 2 || s.Bad != 0 || s.Classes[0].Count != 1200 || s.Classes[0].Total != 3600*time.Millisecond || s.Classes[1].Schema != "" {
		t.Fatalf("%+v", s)
	}
	if head := s.View(nil, 10).Head; slices.ContainsFunc(head, func(h Head) bool { return h.Name == "sent" }) {
		t.Errorf("columns: %v", head)
	}
}

// Separators of thousands and decimal commas are read where they mean one thing.
func TestSummaryNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		unit float64
		want float64
		ok   bool
	}{
		{"2,500,500", picosecond, 2501, true},
		{"12,500", 0, 12500, true},
		{"12,500.5", millisecond, 12500.5e6, true},
		{"1,234,567", millisecond, 1234567e6, true},
		{"2500,5", millisecond, 2500.5e6, true},
		{"2,500", millisecond, 0, false},
		{"2500,5", 0, 0, false},
		{"1,2,3", 0, 0, false},
		{"12,34,567", 0, 0, false},
		{`\N`, millisecond, 0, true},
	} {
		if got, ok := summaryNumber(c.text, c.unit); got != c.want || ok != c.ok {
			t.Errorf("%s in %v ns: %v %v", c.text, c.unit, got, ok)
		}
	}
}

// A lock time that cannot be is told as a query time is.
func TestBadTimesAreTold(t *testing.T) {
	entry := func(query, lock string) string {
		return "# Time: 2025-03-02T10:00:01.250000Z\n# User@Host: shop[shop] @ web1 [10.1.2.3]  Id:    21\n" +
			"# Query_time: " + query + "  Lock_time: " + lock + " Rows_sent: 2  Rows_examined: 40\nSET timestamp=1740909601;\nSELECT 1 FROM a;\n"
	}
	s := digested(t, []byte(entry("1.500000", "18446744073709.406250")+entry("18446744073708.5", "0.000010")+entry("0,500000", "0,000010")), StatementOptions{})
	if w := told(s); !strings.Contains(w, "2 statements with a query or lock time that is no number, or cannot be") || s.Classes[0].Total != 2*time.Second {
		t.Errorf("%v, told: %s", s.Classes[0].Total, w)
	}
}

// Two kinds of logs in one file: what most lines are is read, and the rest is told.
func TestMixedLogsAreTold(t *testing.T) {
	requests := func(n int) string {
		return strings.Repeat("10.1.2.3 - - [02/Mar/2025:10:00:00 +0000] \"GET /items/7 HTTP/1.1\" 200 512 \"-\" \"curl/8.5\"\n", n)
	}
	entry := "# Time: 2025-03-02T10:00:01.250000Z\n# User@Host: shop[shop] @ web1 [10.1.2.3]  Id:    21\n" +
		"# Query_time: 1.5  Lock_time: 0 Rows_sent: 2  Rows_examined: 40\nSET timestamp=1740909601;\nSELECT 1 FROM a;\n"
	for _, c := range []struct {
		log  string
		want Kind
	}{
		{requests(12) + entry, KindAccess},
		{requests(2) + strings.Repeat(entry, 3), KindSlow},
		{"AND b = 2\n  AND c = 3;\n" + entry, KindSlow},
		{strings.Repeat("  AND c = 3\n", 20) + ";\n" + entry, KindSlow},
	} {
		if k, err := KindOf("mixed.log", []byte(c.log)); k != c.want || err != nil {
			t.Errorf("%.40q: %q %v", c.log, k, err)
		}
	}
	s := digested(t, []byte(requests(2)+strings.Repeat(entry, 3)), StatementOptions{})
	if w := told(s); !strings.Contains(w, "it begins with 2 lines of an access log, which were left out") || s.Entries != 3 {
		t.Errorf("told: %s", w)
	}
}

// A log in another language is refused, or its durations are told.
func TestPostgresInAnotherLanguage(t *testing.T) {
	for _, line := range []string{"LOG:  Dauer: 31.250 ms  Anweisung: SELECT 1", "LOG:  durée : 31.250 ms, instruction : SELECT 1",
		"СООБЩЕНИЕ:  продолжительность: 31.250 мс, оператор: SELECT 1", "LOG:  期間: 31.250 ミリ秒  文: SELECT 1"} {
		log := strings.Repeat("2025-03-02 10:00:00.250 UTC [311] "+line+"\n", 3)
		if _, err := KindOf("postgresql.log", []byte(log)); err == nil || !strings.Contains(err.Error(), "lc_messages") {
			t.Errorf("%s: %v", line, err)
		}
	}
	log := `{"timestamp":"2025-03-02 10:00:00.250 UTC","pid":311,"error_severity":"LOG","message":"Dauer: 31.250 ms  Anweisung: SELECT 1"}` + "\n"
	if w := told(digested(t, []byte(log), StatementOptions{})); !strings.Contains(w, "1 duration in another language than English was not read") {
		t.Errorf("told: %s", w)
	}
}

// A single one is told as one.
func TestOneDurationIsOne(t *testing.T) {
	log := "2025-03-02 10:00:00.250 UTC [311] app@store LOG:  duration: 31.250 ms\n2025-03-02 10:00:01.250 UTC [311] app@store LOG:  duration: 2.5 ms  statement: SELECT 1\n"
	if w := told(digested(t, []byte(log), StatementOptions{})); !strings.Contains(w, "1 duration without a statement was left out") {
		t.Errorf("told: %s", w)
	}
}

// Statements that the server cut are told: what is left of them is no statement.
func TestStatementsThatTheServerCut(t *testing.T) {
	const head = "query,db,exec_count,total_latency,rows_sent\n"
	for _, c := range []struct {
		query string
		cut   bool
	}{
		{"SELECT `id` FROM `orders` WHER ... ER BY `created` LIMIT ?", true},
		{"SELECT `id` FROM `orders` WHERE `customer` = ? AND ...", true},
		{"SELECT `id` FROM `orders` WHERE `customer` IN (...)", false},
		{"INSERT INTO `orders` VALUES (...) /* , ... */", false},
	} {
		w := told(digested(t, []byte(head+`"`+c.query+`",shop,4,4.25 s,4`+"\n"), StatementOptions{}))
		if strings.Contains(w, "1 statement was cut by the server") != c.cut {
			t.Errorf("%s: told: %s", c.query, w)
		}
	}
}

// PostgreSQL's jsonlog is read also as programs write it anew, with spaces or sorted keys.
func TestPostgresJSONWrittenAnew(t *testing.T) {
	for _, line := range []string{
		`{"timestamp": "2025-03-02 10:00:00.250 UTC", "pid": 311, "dbname": "store", "error_severity": "LOG", "message": "duration: 31.250 ms  statement: SELECT 1"}`,
		`{"dbname":"store","error_severity":"LOG","message":"duration: 31.250 ms  statement: SELECT 1","pid":311,"timestamp":"2025-03-02 10:00:00.250 UTC"}`,
	} {
		log := []byte(strings.Repeat(line+"\n", 3))
		if kind, err := KindOf("postgresql.log", log); err != nil || kind != KindSlow {
			t.Errorf("%s: %v %v", line, kind, err)
			continue
		}
		if s := digested(t, log, StatementOptions{}); len(s.Classes) != 1 || s.Classes[0].Count != 3 || s.Classes[0].Total != 93_750*time.Microsecond {
			t.Errorf("%s: %+v", line, s)
		}
	}
}
