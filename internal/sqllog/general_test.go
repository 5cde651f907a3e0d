package sqllog

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func parseGeneral(t testing.TB, data []byte) []GeneralEntry {
	t.Helper()
	var out []GeneralEntry
	if err := ParseGeneral(bytes.NewReader(data), func(e GeneralEntry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// A PHP script with native prepared statements, then with emulated ones.
func TestParseGeneralLogOfMariaDB(t *testing.T) {
	all := parseGeneral(t, fixture(t, "mariadb-10.11.general.log"))
	count := map[string]int{}
	for _, e := range all {
		count[e.Command]++
	}
	if count["Prepare"] < 5 || count["Execute"] < count["Prepare"] || count["Connect"] < 3 || count["Close stmt"] < 5 || count["Quit"] < 3 {
		t.Errorf("%v", count)
	}
	want := []string{`Execute SELECT * FROM users WHERE login = 'us\"er\'1\n\\x` + "\t' AND id > '1'",
		"Query UPDATE users\n  SET password_hash = 'geheim1',\n salt='abc'\n WHERE id = 5", "Quit "}
	for _, w := range want {
		if !slices.ContainsFunc(all, func(e GeneralEntry) bool { return e.Command+" "+e.Text == w && e.Thread > 0 }) {
			t.Errorf("no entry %q", w)
		}
	}
	timed := 0
	for _, e := range all {
		if !e.Time.IsZero() {
			timed++
		}
	}
	if timed == 0 || timed == len(all) {
		t.Errorf("%d of %d entries with a time", timed, len(all))
	}
}

// By the MySQL manual, "The General Query Log": no MySQL server was at hand.
func TestParseGeneralLogOfMySQL(t *testing.T) {
	log := "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n" +
		"Time                 Id Command    Argument\n" +
		"2024-05-01T10:00:00.123456Z\t    8 Connect\tapp@localhost on shop using Socket\n" +
		"2024-05-01T10:00:00.223456Z\t    8 Query\tSELECT 1,\n\t\t2 Query\n\t\t 3 FROM t\n" +
		"2024-05-01T10:00:00.323456Z\t    8 Quit\t\n"
	e := parseGeneral(t, []byte(log))
	if len(e) != 3 || e[1].Text != "SELECT 1,\n\t\t2 Query\n\t\t 3 FROM t" {
		t.Fatalf("%+v", e)
	}
	if want := time.Date(2024, 5, 1, 10, 0, 0, 123456000, time.UTC); !e[0].Time.Equal(want) {
		t.Errorf("%v", e[0].Time)
	}
	if e[2].Command != "Quit" || e[0].Thread != 8 {
		t.Errorf("%+v", e)
	}
	old := parseGeneral(t, []byte("140501  9:00:01\t    3 Connect\troot@localhost on \n\t\t    3 Query\tselect 1\n"))
	if len(old) != 2 || old[0].Time.Hour() != 9 || old[1].Text != "select 1" {
		t.Errorf("%+v", old)
	}
}

func TestGeneralLogHugeStatement(t *testing.T) {
	e := parseGeneral(t, []byte("\t\t    3 Query\tINSERT INTO t VALUES "+strings.Repeat("(1,'abcdefgh'),", 20000)+"\n\t\t    3 Quit\t\n"))
	if len(e) != 2 || len(e[0].Text) > MaxStatement || e[1].Command != "Quit" {
		t.Errorf("%d entries", len(e))
	}
}

func FuzzGeneralLog(f *testing.F) {
	f.Add(fixture(f, "mariadb-10.11.general.log")[:2000])
	f.Add([]byte("2024-05-01T10:00:00.123456Z\t    8 Query\tSELECT 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range parseGeneral(t, data) {
			if e.Command == "" || len(e.Text) > MaxStatement+1 {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// Old servers pad commands instead of a tab behind them; copied off a screen,
// tabs are blanks.
func TestParseGeneralLogOfOldMySQL(t *testing.T) {
	tabs := "080312 10:00:00\t      7 Connect     web@localhost on store\n\t\t      7 Query       SELECT name,\n  code\n\t5 Query\nFROM items\n" +
		"\t\t      7 Field List  items\n080312 10:00:01\t     12 Register Sl x\n\t\t      7 Quit       \n"
	blanks := strings.NewReplacer("\t\t", strings.Repeat(" ", 16), "00\t", "00 ", "01\t", "01 ").Replace(tabs)
	for _, log := range []string{tabs, blanks, strings.ReplaceAll(tabs, "\n", "\r\n")} {
		e := parseGeneral(t, []byte(log))
		if len(e) != 5 || e[0].Command != "Connect" || e[0].Text != "web@localhost on store" || e[0].Time.Hour() != 10 ||
			e[1].Text != "SELECT name,\n  code\n\t5 Query\nFROM items" || e[2].Command != "Field List" || e[3].Command != "Register Slave" || e[4].Command != "Quit" || e[4].Thread != 7 {
			t.Errorf("%+v of %q", e, log)
		}
	}
	e := parseGeneral(t, []byte("140501  9:00:01\t    3 Query\tSELECT 1\n                     9 Query       x\n\t\t    3 Query       y\n"))
	if len(e) != 1 {
		t.Errorf("another form within a statement: %+v", e)
	}
}
