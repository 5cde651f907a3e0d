package database_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// quiet reads the same few things again and again.
func quiet() map[string]route {
	return map[string]route{
		"/read": {weight: 4, sql: func(n int64) (out []string) {
			for i := range int64(10) {
				out = append(out, fmt.Sprintf("SELECT v FROM pages WHERE id = %d", (n+i)%40+1))
			}
			return out
		}},
		"/joined": {weight: 1, sql: func(int64) []string {
			return []string{"SELECT COUNT(*) FROM pages a JOIN pages b ON b.grp = a.grp + 1 WHERE a.id <= 10"}
		}},
	}
}

var pages = []string{
	"CREATE TABLE pages (id INT PRIMARY KEY, grp INT NOT NULL, v VARCHAR(400) NOT NULL)",
	"INSERT INTO pages SELECT seq, seq % 9, REPEAT('v', 300) FROM seq_1_to_500",
}

// An almost empty my.cnf gets, as one plan, what the run asks for; lines for
// another version are taken out.
func TestDatabaseDefaults(t *testing.T) {
	s := start(t, "", pages, quiet())
	s.Bench.Window = time.Second
	s.Show(t, func(t *testing.T, p remedy.Plan) {
		if p.Remedy == "mariadb.query-cache" {
			s.answersFromCache(t, "SELECT v FROM app.pages WHERE id = 7")
			return
		}
		for name, want := range map[string]string{"skip_name_resolve": "ON", "query_cache_type": "ON", "query_cache_size": "67108864", "join_buffer_size": "1048576"} {
			if got := s.variable(t, name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		if len(p.Trades) > 0 {
			t.Errorf("it trades %v", p.Trades)
		}
	}, "mariadb.defaults", "mariadb.query-cache")
}

// answersFromCache: the server answers a statement that it knows without
// running it, and runs it again once its table was written (W09).
func (s *server) answersFromCache(t *testing.T, statement string) {
	t.Helper()
	// Com_select counts what comes from the cache, too.
	count := func() (runs, hits int) {
		return s.status(t, "Qcache_inserts"), s.status(t, "Qcache_hits")
	}
	ask := func() {
		if _, err := s.root.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	runs, hits := count()
	for range 5 {
		ask()
	}
	if r, h := count(); r != runs || h != hits+5 {
		t.Errorf("asked five times more, the server ran it %d times and answered %d times from its cache", r-runs, h-hits)
	}
	if _, err := s.root.ExecContext(t.Context(), "UPDATE app.pages SET grp = grp + 1 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	ask()
	if r, _ := count(); r != runs+1 {
		t.Errorf("after a write the server ran it %d times, want once", r-runs)
	}
}

// status is one of the server's counters.
func (s *server) status(t *testing.T, name string) (n int) {
	t.Helper()
	var key string
	if err := s.root.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE ?", name).Scan(&key, &n); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// The server's own word tells what is for another version: one option that it
// still accepts and ignores, one that it accepts only with loose_ (meant so,
// and left alone), and one that was added after its start and that it would
// not start with.
func TestForeignOptions(t *testing.T) {
	s := start(t, "innodb-file-format = Barracuda\nloose_from_elsewhere = 1\ninnodb_buffer_pool_instances = 8\n", pages, quiet())
	file := s.Dir + "/my.cnf"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "table_cache = 64\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Show(t, func(t *testing.T, p remedy.Plan) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{"file-format", "pool_instances", "table_cache"} {
			if strings.Contains(string(text), gone) {
				t.Errorf("%s is still in\n%s", gone, text)
			}
		}
		if !strings.Contains(string(text), "loose_from_elsewhere = 1\n") {
			t.Error("a loose option was taken out")
		}
		if out := bed.Output(t, "/usr/sbin/mariadbd", "--defaults-file="+file, "--help", "--verbose"); strings.Contains(out, "was removed") || strings.Contains(out, "unknown variable 'table_cache") {
			t.Errorf("the server still complains:\n%.2000s", out)
		}
	}, "mariadb.foreign")
}
