// Package database_test shows the settings of MariaDB on a real server.
package database_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
)

// bad has every cache and limit too small for what the application does.
const bad = `thread_cache_size = 0
table_open_cache = 10
table_definition_cache = 400
max_connections = 14
back_log = 4
wait_timeout = 5
log_bin = %DIR%/db/binlog
sync_binlog = 1
binlog_format = ROW
binlog_cache_size = 4096
tmp_table_size = 32K
max_heap_table_size = 16K
sort_buffer_size = 4K
join_buffer_size = 1K
read_buffer_size = 8K
read_rnd_buffer_size = 8K
query_cache_type = 1
query_cache_size = 1M
innodb_buffer_pool_size = 96M
innodb_log_file_size = 16M
innodb_log_buffer_size = 2M
innodb_io_capacity = 100
innodb_io_capacity_max = 200
innodb_max_dirty_pages_pct = 1
innodb_flush_method = fsync
innodb_adaptive_hash_index = ON
innodb_flush_log_at_trx_commit = 2
`

const manyTables = 430

// fill makes the tables: many empty ones, one of words to sort, group and
// join, one that is read as a whole, and those that are written.
func fill() []string {
	out := []string{
		"CREATE TABLE words (id INT PRIMARY KEY AUTO_INCREMENT, word CHAR(40) NOT NULL, grp INT NOT NULL) CHARACTER SET latin1",
		"INSERT INTO words (word, grp) SELECT MD5(seq), seq % 300 FROM seq_1_to_3000",
		"CREATE TABLE listed (id INT, word CHAR(200)) ENGINE=MyISAM",
		"INSERT INTO listed SELECT seq, MD5(seq) FROM seq_1_to_5000",
		"CREATE TABLE hot (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO hot VALUES (1, 0)",
		"CREATE TABLE written (id BIGINT PRIMARY KEY AUTO_INCREMENT, k CHAR(32) NOT NULL, v VARCHAR(400) NOT NULL, KEY (k))",
		"INSERT INTO written (k, v) SELECT MD5(seq), REPEAT('v', 300) FROM seq_1_to_8000",
		"CREATE TABLE large (id INT PRIMARY KEY, v LONGBLOB)", "INSERT INTO large SELECT seq, '' FROM seq_1_to_4",
	}
	for i := range manyTables {
		out = append(out, fmt.Sprintf("CREATE TABLE t%03d (id INT PRIMARY KEY) ENGINE=MEMORY", i))
	}
	return out
}

func busy() map[string]route {
	return map[string]route{
		"/many-tables": {weight: 3, sql: func(n int64) (out []string) {
			for i := range int64(25) {
				out = append(out, fmt.Sprintf("SELECT SQL_NO_CACHE id FROM t%03d", (n*25+i)%manyTables))
			}
			return out
		}},
		"/sorted":  {weight: 3, sql: func(int64) []string { return []string{"SELECT SQL_NO_CACHE word, id FROM words ORDER BY word DESC"} }},
		"/grouped": {weight: 3, sql: func(int64) []string { return []string{"SELECT SQL_NO_CACHE word, COUNT(*) FROM words GROUP BY word"} }},
		"/joined": {weight: 3, sql: func(int64) []string {
			return []string{"SELECT SQL_NO_CACHE COUNT(*) FROM words a JOIN words b ON b.grp = a.grp + 1 WHERE a.id <= 40"}
		}},
		"/listed": {weight: 2, sql: func(n int64) []string {
			return []string{fmt.Sprintf("SELECT COUNT(*) FROM listed WHERE word = MD5(%d)", n)}
		}},
		"/written": {weight: 4, sql: func(n int64) []string {
			return []string{"BEGIN", "UPDATE hot SET n = n + 1 WHERE id = 1",
				fmt.Sprintf("UPDATE written SET k = MD5(RAND()), v = REPEAT('%d', 300) WHERE id IN (%s)", n%10, ids(n)), "SELECT SLEEP(0.003)", "COMMIT"}
		}},
		"/copied": {weight: 2, sql: func(n int64) []string {
			return []string{"BEGIN", "INSERT INTO written (k, v) SELECT k, v FROM written WHERE id BETWEEN 100 AND 140", "ROLLBACK"}
		}},
		"/large": {weight: 2, sql: func(n int64) []string {
			return []string{fmt.Sprintf("UPDATE large SET v = REPEAT('%d', 4000000) WHERE id = %d", n%10, n%4+1)}
		}},
		"/rude": {weight: 3, rude: true, sql: func(int64) []string { return []string{"SELECT 1"} }},
	}
}

// ids of 60 rows all over the table.
func ids(n int64) string {
	var out []string
	for i := range int64(60) {
		out = append(out, fmt.Sprint((n*997+i*131)%8000+1))
	}
	return strings.Join(out, ",")
}

// joined puts what answers several findings in force as one transaction, so
// that the server restarts once, and looks whether each sign is gone. Plans
// that compute from what others set come before them.
func (s *server) joined(t *testing.T, rules ...string) (remedy.Input, remedy.Result) {
	t.Helper()
	in, res, plans := s.seen(t, rules)
	p, left := remedy.Join(in, plans)
	if len(left) > 0 {
		t.Fatalf("cannot be planned together: %.300v", left)
	}
	before := s.Hash(t)
	for _, one := range plans {
		s.Effect(t, one)
	}
	tx := s.Apply(t, p)
	s.Answers(t, "joined")
	s.took(t, p)
	again := remedy.PlanAll(s.Look(t, bed.Relaxed()))
	for _, rule := range rules {
		t.Run(rule, func(t *testing.T) {
			if q, ok := answers(again, rule); ok {
				t.Errorf("its sign is still there: %s: %s", q.ID, q.Why)
			}
		})
	}
	s.Revert(t, tx)
	if s.Hash(t) != before {
		t.Error("the target is not as before")
	}
	return in, res
}

// seen looks until every rule has had a plan: on a machine that is busy with other
// things a run may be too short for what happens seldom, so the next is longer. Its
// own inserts may by then have made the data larger than the pool, which takes
// other signs away.
func (s *server) seen(t *testing.T, rules []string) (in remedy.Input, res remedy.Result, plans []remedy.Plan) {
	t.Helper()
	missing := rules
	for range 3 {
		in = computed(s.Look(t, bed.Relaxed()))
		res = remedy.PlanAll(in)
		var still []string
		for _, rule := range missing {
			if p, ok := answers(res, rule); ok {
				plans = append(plans, p)
			} else {
				still = append(still, rule)
			}
		}
		missing = still
		if len(missing) == 0 {
			slices.SortStableFunc(plans, func(a, b remedy.Plan) int { return slices.Index(rules, a.Rule) - slices.Index(rules, b.Rule) })
			return in, res, plans
		}
		s.Bench.Window *= 3
	}
	for _, f := range in.Diagnosis.Findings {
		t.Logf("%s: %s", f.Rule, f.Text)
	}
	t.Fatalf("nothing is planned for %v; skipped: %s", missing, strings.Join(res.Skipped, "\n"))
	return in, res, plans
}

// computed has so little at stake that sizes are computed, not searched.
func computed(in remedy.Input) remedy.Input {
	d := *in.Diagnosis
	d.Findings = slices.Clone(d.Findings)
	for i := range d.Findings {
		d.Findings[i].Bound = min(d.Findings[i].Bound, 1.05)
	}
	in.Diagnosis = &d
	return in
}

// answers is the plan of this family for a rule's finding.
func answers(res remedy.Result, rule string) (remedy.Plan, bool) {
	for _, p := range res.Plans {
		if p.Rule == rule && strings.HasPrefix(p.Remedy, "mariadb.") {
			return p, true
		}
	}
	return remedy.Plan{}, false
}

// took asks the server for every value that the plan's IDs name.
func (s *server) took(t *testing.T, p remedy.Plan) {
	t.Helper()
	for _, c := range p.Changes {
		if c.Kind == change.KindVariable {
			if got := s.variable(t, c.Variable); !strings.EqualFold(got, c.AfterValue) && got != c.AfterValue+".000000" {
				t.Errorf("%s is %s, want %s", c.Variable, got, c.AfterValue)
			}
		}
	}
}

func TestDatabaseSettings(t *testing.T) {
	s := start(t, bad, fill(), busy())
	s.Bench.Window = 1500 * time.Millisecond // long enough for what a busy machine does seldom
	crowd(t, s, 13)
	in, res := s.joined(t, "db.aborted", "db.thread-cache", "db.table-cache", "db.definition-cache", "db.connections", "db.binlog-cache",
		"db.tmp-disk", "db.sort-merge", "db.join-buffer", "db.read-buffer", "db.query-cache", "db.name-resolve", "db.adaptive-hash",
		"db.log-buffer", "db.dirty-pages", "db.flush-method", "db.autoinc-lock", "db.isolation", "db.doublewrite", "db.binlog-sync")
	t.Run("db.io-capacity", func(t *testing.T) { s.paced(t, in) })
	t.Run("mariadb.no-binlog", func(t *testing.T) {
		p, before := bed.Want(t, res, "mariadb.no-binlog"), s.Hash(t)
		tx := s.Apply(t, p)
		s.Answers(t, p.ID)
		if got := s.variable(t, "log_bin"); got != "OFF" {
			t.Errorf("log_bin is %s", got)
		}
		s.Revert(t, tx)
		if s.Hash(t) != before {
			t.Error("the target is not as before")
		}
	})
}

// paced shows db.io-capacity. How fast pages are written is the disk's and the
// flusher's own affair, so the sign is put into the evidence of the look: half
// as many pages again each second as innodb_io_capacity names, on a disk that
// has time.
func (s *server) paced(t *testing.T, in remedy.Input) {
	ev := *in.Evidence
	ev.System.DiskBusy = 0.3
	db := ev.Counters["db"]
	db.Delta = maps.Clone(db.Delta)
	db.Delta["Innodb_buffer_pool_pages_flushed"] = 150 * ev.Load.Window.Seconds()
	db.Delta["Innodb_buffer_pool_wait_free"] = 0 // another sign that asks for the same
	ev.Counters = maps.Clone(ev.Counters)
	ev.Counters["db"] = db
	said := ""
	plan := func(snap *evidence.Snapshot) (remedy.Plan, bool) {
		d, err := diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: &ev, Snapshot: snap})
		if err != nil {
			t.Fatal(err)
		}
		res := remedy.PlanAll(remedy.Input{Stack: in.Stack, Evidence: &ev, Snapshot: snap, Diagnosis: d})
		for _, f := range d.Findings {
			said += f.Rule + " "
		}
		said += fmt.Sprint(res.Skipped)
		// Both findings about writing pages may be answered by one plan.
		for _, p := range res.Plans {
			if slices.ContainsFunc(p.Changes, func(c change.Change) bool { return c.Variable == "innodb_io_capacity" }) {
				return p, true
			}
		}
		return remedy.Plan{}, false
	}
	p, ok := plan(in.Snapshot)
	if !ok {
		t.Fatalf("not planned; findings and what was skipped: %s", said)
	}
	before := s.Hash(t)
	tx := s.Apply(t, p)
	s.Answers(t, p.ID)
	s.took(t, p)
	snap, err := evidence.Take(t.Context(), s.Stack, s.Hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again, ok := plan(snap); ok {
		t.Errorf("its sign is still there: %s", again.ID)
	}
	s.Revert(t, tx)
	if s.Hash(t) != before {
		t.Error("the target is not as before")
	}
}

// crowd has n connections open at a time, so that the server remembers it.
func crowd(t *testing.T, s *server, n int) {
	t.Helper()
	for range n - 2 {
		db := s.open(t, "app", "app", "tcp", fmt.Sprintf("127.0.0.1:%d", s.port), "app")
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
	}
}
