package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// slowLogTable is mysql.slow_log in a form of the clients.
func slowLogTable(form string, queryTimes ...string) string {
	names := []string{"start_time", "user_host", "query_time", "lock_time", "rows_sent", "rows_examined", "db", "sql_text", "thread_id"}
	var b strings.Builder
	if form == "tabs" {
		b.WriteString(strings.Join(names, "\t") + "\n")
	} else if form == "CSV" {
		b.WriteString(strings.Join(names, ",") + "\n")
	}
	for i, q := range queryTimes {
		values := []string{fmt.Sprintf("2025-03-02 10:00:%02d.250000", i), "web[web] @ app1 [10.1.2.3]", q, "00:00:00.000250", "3", "900", "store",
			fmt.Sprintf("SELECT name FROM items WHERE code = %d", i), "31"}
		switch form {
		case "tabs":
			b.WriteString(strings.Join(values, "\t") + "\n")
		case "CSV":
			b.WriteString(`"` + strings.Join(values, `","`) + "\"\n")
		case "lines":
			fmt.Fprintf(&b, "*************************** %d. row ***************************\n", i+1)
			for k, name := range names {
				fmt.Fprintf(&b, "%14s: %s\n", name, values[k])
			}
		case "JSON":
			b.WriteString("{")
			for k, name := range names {
				fmt.Fprintf(&b, "%s%q: %q", strings.Repeat(", ", min(k, 1)), name, values[k])
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// mysql.slow_log, where log_output is TABLE, as clients show it.
func TestSlowLogTable(t *testing.T) {
	for _, form := range []string{"tabs", "CSV", "lines", "JSON"} {
		log := slowLogTable(form, "00:00:02.250000", "00:01:00.500000", "01:00:00.000001")
		if k, err := KindOf("slow.tsv", []byte(log)); k != KindSlow || err != nil {
			t.Errorf("%s: %q %v", form, k, err)
			continue
		}
		s := digested(t, []byte(log), StatementOptions{})
		want := time.Hour + 62*time.Second + 750001*time.Microsecond
		if s.Format != "mysql.slow_log" || len(s.Classes) != 1 || s.Bad != 0 || len(s.Warnings) > 0 || s.From.Second() != 0 || s.To.Second() != 2 {
			t.Fatalf("%s: %+v", form, s)
		}
		if c := s.Classes[0]; c.Count != 3 || c.Total != want || c.LockTime != 750*time.Microsecond || c.RowsExamined != 2700 || c.RowsSent != 9 || c.Schema != "store" || c.P50 == 0 {
			t.Errorf("%s: %+v", form, c)
		}
	}
	s := digested(t, []byte(slowLogTable("tabs", "00:00:02", "00:00:00", "2.5")), StatementOptions{})
	if w := told(s); !strings.Contains(w, "whole seconds") || !strings.Contains(w, "1 of 3 entries could not be read") || s.Entries != 2 {
		t.Errorf("told: %s", w)
	}
	text := strings.Replace(slowLogTable("tabs", "00:00:02.5", "00:00:01.5"), "SELECT name FROM items WHERE code = 0", "Quit", 1)
	text = strings.Replace(text, "SELECT name FROM items WHERE code = 1", "0x53454c45435420612046524f4d2062", 1)
	if s := digested(t, []byte(text), StatementOptions{}); s.Commands != 1 || s.Classes[0].Fingerprint != "SELECT a FROM b" {
		t.Errorf("%+v", s)
	}
}

// mysql.general_log has no times.
func TestGeneralLogTable(t *testing.T) {
	log := "event_time\tuser_host\tthread_id\tserver_id\tcommand_type\targument\n" +
		"2025-03-02 10:00:01.250000\tweb[web] @ app1 []\t31\t1\tConnect\tweb@app1 on store using TCP/IP\n" +
		"2025-03-02 10:00:02.250000\tweb[web] @ app1 []\t31\t1\tQuery\tSELECT name FROM items\\nWHERE code = 5\n" +
		"2025-03-02 10:00:03.250000\tweb[web] @ app1 []\t31\t1\tQuit\t\n"
	s := digested(t, []byte(log), StatementOptions{})
	if !s.Untimed || s.Entries != 1 || s.Commands != 2 || s.Classes[0].Schema != "store" || s.Classes[0].Fingerprint != "SELECT name FROM items WHERE code = ?" || !strings.Contains(told(s), "no times") {
		t.Errorf("%+v", s)
	}
}

// psql's own table, with a statement of several lines and one that ends with "+".
func TestSummaryOfPsql(t *testing.T) {
	table := " dbid | calls | total_exec_time | rows |            query            \n" +
		"------+-------+-----------------+------+-----------------------------\n" +
		"    5 |   300 |         1250.25 |   30 | SELECT name                +\n" +
		"      |       |                 |      |   FROM items               +\n" +
		"      |       |                 |      | WHERE code = $1\n" +
		"    5 |    20 |         4500.75 |   20 | SELECT $1 +                \n" +
		"    5 |    10 |           75.75 |   10 | COMMIT\n" +
		"(3 rows)\n\nTime: 3.1 ms | a\n"
	for _, text := range []string{table, strings.ReplaceAll(table, "\n", "\r\n")} {
		s := digested(t, []byte(text), StatementOptions{})
		got := countsOf(s)
		if len(s.Classes) != 3 || s.Bad != 0 || got["SELECT name FROM items WHERE code = ?"] != 300 || got["COMMIT"] != 10 || s.Classes[0].Total != 4500750*time.Microsecond {
			t.Errorf("%v, told: %s", got, told(s))
		}
	}
	s := digested(t, []byte(strings.Replace(table, "    5 |    10 |", "    5     10 |", 1)), StatementOptions{})
	if !strings.Contains(told(s), "1 of 3 rows could not be read") {
		t.Errorf("told: %s", told(s))
	}
}

// psql's table with \\x: a line a value.
func TestSummaryOfPsqlExpanded(t *testing.T) {
	table := "-[ RECORD 1 ]---+------------------------------\n" +
		"calls           | 300\ntotal_exec_time | 1250.25\nrows            | 30\n" +
		"query           | SELECT name                  +\n                |   FROM items | other         +\n                | WHERE code = $1\n" +
		"-[ RECORD 2 ]---+------------------------------\n" +
		"calls           | 20\ntotal_exec_time | 4500.75\nrows            | 20\nquery           | SELECT $1 +\n" +
		"-[ RECORD 3 ]---+------------------------------\ncalls           | 20\n\n"
	s := digested(t, []byte(table), StatementOptions{})
	got := countsOf(s)
	if len(s.Classes) != 2 || got["SELECT name FROM items | other WHERE code = ?"] != 300 || s.Classes[0].Total != 4500750*time.Microsecond || s.Bad != 1 {
		t.Errorf("%v, told: %s", got, told(s))
	}
	if !strings.Contains(told(s), "1 of 3 rows could not be read") {
		t.Errorf("told: %s", told(s))
	}
}
