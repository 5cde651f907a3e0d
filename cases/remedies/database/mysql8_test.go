package database_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

// mySQL8 is the server that KASOKU_MYSQLD names, with its share folder in
// KASOKU_MYSQL_SHARE, or else the one that scripts/mysql8.sh keeps. Root runs
// it as root: the folder may be in a home that others cannot enter.
func mySQL8(t *testing.T) product {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	p := product{kind: "mysql", user: "root", program: os.Getenv("KASOKU_MYSQLD"), install: installMySQL}
	share := os.Getenv("KASOKU_MYSQL_SHARE")
	if p.program == "" {
		if os.Getenv("KASOKU_NO_MYSQL8") == "1" {
			t.Skip("KASOKU_NO_MYSQL8 is 1: nothing is shown on MySQL 8")
		}
		cmd := exec.Command("../../../scripts/mysql8.sh")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("there is no MySQL 8 to test with (scripts/mysql8.sh: %v)", err)
		}
		folder := strings.TrimSpace(string(out))
		p.program, share = filepath.Join(folder, "bin/mysqld"), filepath.Join(folder, "share")
	}
	p.lines = fmt.Sprintf("basedir = %s\nlc-messages-dir = %s\nmysqlx = OFF\nsecure-file-priv =\n", filepath.Dir(share), share)
	return p
}

func installMySQL(t *testing.T, p product, data, user string) {
	t.Helper()
	if err := hosttest.MySQLData(data, user, p.program, p.lines); err != nil {
		t.Fatal(err)
	}
}

// bad8 is bad without what MySQL 8 does not have, and with what only it has.
const bad8 = `thread_cache_size = 0
table_open_cache = 40
table_open_cache_instances = 40
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
internal_tmp_mem_storage_engine = MEMORY
temptable_max_ram = 2M
sort_buffer_size = 32K
join_buffer_size = 1K
read_buffer_size = 8K
read_rnd_buffer_size = 8K
innodb_buffer_pool_size = 24M
innodb_log_buffer_size = 1M
innodb_io_capacity = 100
innodb_io_capacity_max = 200
innodb_max_dirty_pages_pct = 1
innodb_flush_method = fsync
innodb_flush_neighbors = 1
innodb_lru_scan_depth = 100
innodb_autoinc_lock_mode = 1
innodb_adaptive_hash_index = ON
innodb_flush_log_at_trx_commit = 1
`

// fill8 makes the tables in MySQL's words: it has no seq_1_to_N, and MD5 is not
// part of 9.7 itself any more.
func fill8() []string {
	series := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < %d) SELECT", n)
	}
	return []string{"SET SESSION cte_max_recursion_depth = 100000, SESSION sql_log_bin = 0",
		"CREATE TABLE words (id INT PRIMARY KEY AUTO_INCREMENT, word CHAR(40) NOT NULL, grp INT NOT NULL) CHARACTER SET latin1",
		"INSERT INTO words (word, grp) " + series(6000) + " HEX(seq * 7919), seq % 300 FROM s",
		"CREATE TABLE listed (id INT, word CHAR(200)) ENGINE=MyISAM CHARACTER SET latin1",
		"INSERT INTO listed " + series(1000) + " seq, HEX(seq) FROM s",
		"CREATE TABLE hot (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO hot VALUES (1, 0)",
		// Of the indexes only plain and long_plain are alike to a reader of rows.
		`CREATE TABLE kinds (id INT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, name VARCHAR(40) NOT NULL,
			KEY plain (a), KEY long_plain (a, b), KEY down (a, b DESC), KEY shadow (b), KEY unseen (b, a) INVISIBLE,
			KEY low ((LOWER(name))), KEY up ((UPPER(name))))`,
		"INSERT INTO kinds " + series(200) + " seq, seq % 7, seq % 5, HEX(seq) FROM s",
		"ANALYZE TABLE words, kinds, hot",
	}
}

// few pages: one that scans, one whose transactions wait for each other.
func few() map[string]route {
	return map[string]route{
		"/word": {weight: 3, sql: func(n int64) []string {
			return []string{fmt.Sprintf("SELECT id, grp FROM words WHERE word = HEX(%d)", n%6000*7919)}
		}},
		"/counted": {weight: 2, sql: func(int64) []string {
			return []string{"BEGIN", "UPDATE hot SET n = n + 1 WHERE id = 1", "SELECT SLEEP(0.02)", "COMMIT"}
		}},
	}
}

// signs are counters of a run as they would be if everything that bad8 sets
// were too small for it: the names are the server's own, see there.
var signs = map[string]float64{
	"Aborted_clients": 400, "Threads_created": 900, "Opened_tables": 5000, "Opened_table_definitions": 5000, "Binlog_cache_disk_use": 500,
	"Created_tmp_disk_tables": 500, "Sort_merge_passes": 900, "Select_full_join": 500, "Handler_read_rnd_next": 9e6, "Connections": 1000,
	"Innodb_log_waits": 300, "Innodb_buffer_pool_pages_flushed": 9000, "Innodb_dblwr_pages_written": 9000, "Com_insert_select": 400,
	"Com_insert": 400, "Innodb_row_lock_time": 20000, "Innodb_row_lock_waits": 500, "Handler_commit": 5000,
	"Innodb_adaptive_hash_hash_searches": 1000, "Innodb_adaptive_hash_non_hash_searches": 90000, "Innodb_os_log_written": 1e9,
}

// levels are the same for what goes up and down.
var levels = map[string]string{"Open_tables": "40", "Open_table_definitions": "400", "Max_used_connections": "14",
	"Innodb_buffer_pool_pages_dirty": "300", "Innodb_buffer_pool_pages_total": "1536", "Threads_running": "900"}

// showing is what a run is to have shown: what counters rose by in ten seconds, what
// they stood at, what the disks did, and the bytes of data and indexes (0: those
// that there are).
type showing struct {
	signs  map[string]float64
	levels map[string]string
	disks  []evidence.DiskUse
	data   int64
}

// under is what a look would be if the run had shown signs and levels.
func (s *server) under(t *testing.T, in remedy.Input) remedy.Input {
	t.Helper()
	return s.having(t, in, showing{signs: signs, levels: levels})
}

// having is what a look would be if the run had shown this, with the server as it
// is now. A counter that the server does not have is an error: a rule on it could
// never be seen.
func (s *server) having(t *testing.T, in remedy.Input, shows showing) remedy.Input {
	t.Helper()
	ev := *in.Evidence
	load := *ev.Load
	load.Window, load.Succeeded = 10*time.Second, 1000
	ev.Load = &load
	ev.System.DiskBusy = 0.3
	ev.System.TCP.PassiveOpens = load.Succeeded // its clients come through the socket
	if shows.disks != nil {
		ev.System.Disks = shows.disks
	}
	db := ev.Counters["db"]
	db.Delta, db.Value = maps.Clone(db.Delta), maps.Clone(db.Value)
	for name, n := range shows.signs {
		if _, has := db.Value[name]; !has {
			t.Errorf("the server has no counter %s", name)
		}
		db.Delta[name] = n
	}
	for name, n := range shows.levels {
		if _, has := db.Value[name]; !has {
			t.Errorf("the server has no counter %s", name)
		}
		db.Value[name] = n
	}
	db.Delta["Sort_scan"], db.Delta["Sort_range"] = 1, 1
	ev.Counters = maps.Clone(ev.Counters)
	ev.Counters["db"] = db
	snap, err := evidence.Take(t.Context(), s.Stack, s.Hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if shows.data > 0 {
		snap.Databases["db"].DataBytes = shows.data
	}
	d, err := diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: &ev, Snapshot: snap})
	if err != nil {
		t.Fatal(err)
	}
	return remedy.Input{Stack: in.Stack, Evidence: &ev, Snapshot: snap, Diagnosis: d}
}

// shown applies a plan, looks, and takes it back.
func (s *server) shown(t *testing.T, p remedy.Plan, inForce func()) {
	t.Helper()
	before := s.Hash(t)
	tx := s.Apply(t, p)
	s.took(t, p)
	inForce()
	s.Revert(t, tx)
	if s.Hash(t) != before {
		t.Error("the target is not as before")
	}
}

// TestMySQL8 shows on a real MySQL 8 what TestDatabaseSettings and others show on
// MariaDB. The server is started once; signs of settings are put into the
// evidence of one look, so that the test does not depend on what this machine
// does in a second.
func TestMySQL8(t *testing.T) {
	s := startProduct(t, mySQL8(t), bad8, fill8(), few())
	in := s.Look(t, bed.Relaxed())
	for _, h := range in.Evidence.Health {
		if strings.HasSuffix(h.Source, " of db") && (!h.OK || strings.Contains(h.Text, "not judged")) {
			t.Errorf("%s: %s", h.Source, h.Text)
		}
	}
	t.Run("statements", func(t *testing.T) { s.statements(t, in) })
	t.Run("row locks", func(t *testing.T) { lockedRows(t, in) })
	t.Run("digests", func(t *testing.T) { s.digests(t) })
	t.Run("indexes", func(t *testing.T) { s.indexes8(t, in) })
	t.Run("logins", func(t *testing.T) { s.logins(t) })
	t.Run("unknown options", func(t *testing.T) { s.unknown8(t, in) })
	t.Run("persisted", func(t *testing.T) { s.persisted(t, in) })
	t.Run("settings", func(t *testing.T) { s.settings8(t, in) })
	t.Run("page writing", func(t *testing.T) { s.pageWriting(t, in) })
	t.Run("parts", func(t *testing.T) { s.parts(t, in) })
}

// statements come from the slow log with log_slow_extra, and are explained.
func (s *server) statements(t *testing.T, in remedy.Input) {
	for _, st := range in.Evidence.Statements {
		if strings.Contains(st.Fingerprint, "FROM words") {
			if st.Schema != "app" || st.RowsExamined/max(st.Count, 1) < 5000 || !strings.Contains(st.Explain, "words") {
				t.Errorf("schema %q, %d rows examined by %d, explained as %.80q", st.Schema, st.RowsExamined, st.Count, st.Explain)
			}
			return
		}
	}
	t.Errorf("the scan was not recorded: %+v", in.Evidence.Statements)
}

func lockedRows(t *testing.T, in remedy.Input) {
	for _, w := range in.Evidence.LockWaits {
		if w.Schema == "app" && w.Table == "hot" && w.Rows == 1 {
			return
		}
	}
	t.Errorf("transactions waited for app.hot, seen was %+v", in.Evidence.LockWaits)
}

// digests: a scored run reads performance_schema, with percentiles and samples.
func (s *server) digests(t *testing.T) {
	run := s.Answers(t, "digests")
	for _, st := range run.Evidence.Statements {
		if strings.Contains(st.Fingerprint, "FROM words") {
			if st.Count == 0 || st.RowsExamined < 5000 || !strings.Contains(st.Example, "FROM words") {
				t.Errorf("it is %+v", st)
			}
			return
		}
	}
	t.Errorf("the scan is in no digest: %+v", run.Evidence.Statements)
}

// indexes8: the missing one is built and taken back; of those there are, one is
// spare and none that only MySQL 8 has.
func (s *server) indexes8(t *testing.T, in remedy.Input) {
	p := bed.Want(t, remedy.PlanAll(in), "mariadb.index")
	s.shown(t, p, func() {
		if p, ok := answers(remedy.PlanAll(s.Look(t, bed.Relaxed())), "db.full-scan"); ok {
			t.Errorf("it is planned again: %s", p.ID)
		}
	})
	var spare []string
	for _, x := range diagnose.SpareIndexes(in.Snapshot.Databases["db"], 1) {
		spare = append(spare, x.Index.Name+" by "+x.By)
	}
	if got := strings.Join(spare, ", "); got != "plain by down" {
		t.Errorf("spare are %s", got)
	}
	drop := change.Change{Kind: change.KindIndex, Host: "local", Service: "db", Drop: true,
		Index: &change.Index{Schema: "app", Table: "kinds", Name: "down", Columns: []string{"a", "b DESC"}}}
	s.shown(t, remedy.Plan{ID: "drop", Title: "drop", Changes: []change.Change{drop}}, func() {})
	copied := change.Change{Kind: change.KindIndex, Host: "local", Service: "db", Index: &change.Index{Schema: "app", Table: "listed", Name: "by_id", Columns: []string{"id"}}}
	s.shown(t, remedy.Plan{ID: "copied", Title: "an index of a small MyISAM table", Changes: []change.Change{copied}}, func() {})
}

// logins with caching_sha2_password, whose cache is emptied before each, over
// TCP without TLS and through the socket.
func (s *server) logins(t *testing.T) {
	svc := *s.Stack.Service("db")
	for _, login := range []stack.Login{{User: "kasoku", Address: fmt.Sprintf("127.0.0.1:%d", s.port)}, {User: "kasoku", Socket: s.Dir + "/db/s.sock"}} {
		login.PasswordFile = s.Dir + "/secret"
		svc.Login = &login
		if _, err := s.root.ExecContext(t.Context(), "FLUSH PRIVILEGES"); err != nil {
			t.Fatal(err)
		}
		db, err := stack.OpenDB(t.Context(), s.Hosts["local"], &svc)
		if err != nil {
			t.Errorf("%s%s: %v", login.Address, login.Socket, err)
			continue
		}
		var plugin string
		if err := db.QueryRow("SELECT plugin FROM mysql.user WHERE CONCAT(user, '@', host) = CURRENT_USER()").Scan(&plugin); err != nil || plugin != "caching_sha2_password" {
			t.Errorf("%s: %v", plugin, err)
		}
		db.Close()
	}
}

// unknown8: options of other servers are found by the server's own list, plugins'
// and loose ones are not among them, and no change is made beside them.
func (s *server) unknown8(t *testing.T, in remedy.Input) {
	file := s.Dir + "/my.cnf"
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	defer write(string(good))
	write(string(good) + "query_cache_size = 1M\ninnodb-file-format = Barracuda\nloose_rocksdb = 1\nskip-name-resol = 0\naria_pagecache_buffer_size = 8M\n")
	broken := s.under(t, in)
	p, ok := answers(remedy.PlanAll(broken), "db.unknown-settings")
	if !ok {
		t.Fatal("nothing is planned")
	}
	if want := "mariadb.foreign:db:query_cache_size,innodb-file-format,aria_pagecache_buffer_size"; p.ID != want {
		t.Errorf("it is %s, want %s", p.ID, want)
	}
	other, ok := answers(remedy.PlanAll(broken), "db.thread-cache")
	if !ok {
		t.Fatal("nothing else is planned")
	}
	if _, err := s.Exec.Apply(t.Context(), change.Intent{Title: "beside", Plan: other.ID, Changes: other.Changes}); err == nil || !strings.Contains(err.Error(), "query_cache_size") {
		t.Errorf("a change beside options that the server would not start with: %v", err)
	}
	s.shown(t, p, func() {
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "query_cache") || !strings.Contains(string(text), "loose_rocksdb = 1") {
			t.Errorf("%v: the file is\n%s", err, text)
		}
	})
}

// persisted: an option file would decide nothing.
func (s *server) persisted(t *testing.T, in remedy.Input) {
	do := func(statement string) {
		if _, err := s.root.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do("SET PERSIST thread_cache_size = 1")
	res := remedy.PlanAll(s.under(t, in))
	do("RESET PERSIST thread_cache_size")
	do("SET GLOBAL thread_cache_size = 0")
	if p, ok := answers(res, "db.thread-cache"); ok {
		t.Errorf("planned: %s", p.ID)
	}
	if text := strings.Join(res.Skipped, "\n"); !strings.Contains(text, "RESET PERSIST thread_cache_size") {
		t.Errorf("skipped: %s", text)
	}
}

// settings8 puts what answers each sign in force at once.
func (s *server) settings8(t *testing.T, in remedy.Input) {
	rules := []string{"db.aborted", "db.thread-cache", "db.table-cache", "db.definition-cache", "db.connections", "db.binlog-cache", "db.tmp-disk",
		"db.sort-merge", "db.join-buffer", "db.read-buffer", "db.name-resolve", "db.log-buffer", "db.io-capacity", "db.dirty-pages", "db.flush-method",
		"db.autoinc-lock", "db.isolation", "db.doublewrite", "db.binlog-sync", "db.adaptive-hash", "db.commit-flush", "db.memory", "db.sync-array"}
	bad := computed(s.under(t, in))
	res := remedy.PlanAll(bad)
	var plans []remedy.Plan
	for _, rule := range rules {
		if p, ok := answers(res, rule); ok {
			plans = append(plans, p)
		} else {
			t.Errorf("nothing is planned for %s: %s", rule, strings.Join(res.Skipped, "\n"))
		}
	}
	have := bad.Snapshot.Databases["db"].Variables
	for _, p := range res.Plans {
		for _, c := range p.Changes {
			if _, ok := have[c.Variable]; c.Kind == change.KindVariable && !ok {
				t.Errorf("%s sets %s, which this server does not have", p.ID, c.Variable)
			}
		}
	}
	if p, ok := answers(res, "db.sync-array"); ok { // which this MariaDB has no more
		s.Effect(t, p)
	}
	p, left := remedy.Join(bad, plans)
	if len(left) > 0 {
		t.Fatalf("cannot be planned together: %.300v", left)
	}
	s.shown(t, p, func() {
		again := remedy.PlanAll(s.under(t, in))
		for _, rule := range []string{"db.name-resolve", "db.flush-method", "db.autoinc-lock", "db.isolation", "db.doublewrite", "db.binlog-sync", "db.adaptive-hash", "db.commit-flush", "db.sync-array"} {
			if p, ok := answers(again, rule); ok {
				t.Errorf("its sign is still there: %s", p.ID)
			}
		}
		s.Answers(t, "settings")
	})
}

// pageWriting shows db.pool-wait and db.flush-neighbors. That no page is clean is
// the disk's and the flusher's own affair, and so is how long a write takes; both
// are put into the evidence. What is done about a pool that waits grows with each
// run that shows it, so it is over when all is at its bound: the sign of bad8 is
// half of the bound, or less.
func (s *server) pageWriting(t *testing.T, in remedy.Input) {
	shows := showing{signs: map[string]float64{"Innodb_buffer_pool_wait_free": 500, "Innodb_buffer_pool_pages_flushed": 500},
		disks: []evidence.DiskUse{{Name: "sda", Busy: 0.05, Writes: 50, WriteLatency: time.Millisecond}}}
	s.answered(t, in, shows, map[string]string{
		"innodb_io_capacity": "1000", "innodb_io_capacity_max": "2000", // what any disk is trusted with; this one does 50 ÷ 0.05
		"innodb_lru_scan_depth":  "192", // an eighth of the 1,536 pages of 24 MiB
		"innodb_flush_neighbors": "0",
	}, "db.pool-wait", "db.flush-neighbors")
}

// parts shows db.binlog-unused, db.table-instances and the instances of a pool of more than a GiB,
// which take a restart. Tables that are closed although the cache has room need
// more tables and connections than fit into a small test, and a pool's parts more
// data; both are put into the evidence. The server takes memory as pages come into
// the pool, so that it is quick to start with 2 GiB. 1,700 MiB and a quarter are
// 17 chunks of 128 MiB, of which two parts cannot have equally many. The pool was
// below the GiB from which on it can have parts, and undo brings it back there:
// SET GLOBAL could not. The binary log, which MySQL 8 keeps without being told to, is switched off
// by the same restart.
func (s *server) parts(t *testing.T, in remedy.Input) {
	cpus := in.Evidence.System.CPUs
	shows := showing{signs: map[string]float64{"Table_open_cache_overflows": 500, "Innodb_buffer_pool_reads": 700, "Innodb_os_log_written": 0},
		levels: map[string]string{"Open_tables": "20"}, data: 1700 << 20}
	want, rules := map[string]string{"log_bin": "OFF"}, []string{"db.binlog-unused"}
	if cpus >= 2 { // else one part is right
		maps.Copy(want, map[string]string{"table_open_cache_instances": fmt.Sprint(cpus / 2),
			"innodb_buffer_pool_instances": "2", "innodb_buffer_pool_size": fmt.Sprint(2304 << 20)})
		rules = append(rules, "db.table-instances", "db.memory")
	}
	s.answered(t, in, shows, want, rules...)
}

// answered puts what answers the rules in force, asks the server for the values,
// and looks whether the same evidence still asks for anything.
func (s *server) answered(t *testing.T, in remedy.Input, shows showing, want map[string]string, rules ...string) {
	t.Helper()
	bad := s.having(t, in, shows)
	res := remedy.PlanAll(bad)
	var plans []remedy.Plan
	for _, rule := range rules {
		p, ok := answers(res, rule)
		if !ok {
			t.Fatalf("nothing is planned for %s: %s", rule, strings.Join(res.Skipped, "\n"))
		}
		plans = append(plans, p)
	}
	was := map[string]string{}
	for name, value := range want {
		if was[name] = s.variable(t, name); was[name] == value {
			t.Errorf("%s is %s before anything was done", name, value)
		}
	}
	p, left := remedy.Join(bad, plans)
	if len(left) > 0 {
		t.Fatalf("cannot be planned together: %.300v", left)
	}
	s.shown(t, p, func() {
		for name, value := range want {
			if got := s.variable(t, name); got != value {
				t.Errorf("%s is %s, want %s", name, got, value)
			}
		}
		again := remedy.PlanAll(s.having(t, in, shows))
		for _, rule := range rules {
			if q, ok := answers(again, rule); ok {
				t.Errorf("its sign is still there: %s", q.ID)
			}
		}
		s.Answers(t, strings.Join(rules, ", "))
	})
	for name, value := range was {
		if got := s.variable(t, name); got != value {
			t.Errorf("%s is %s after the undo, was %s", name, got, value)
		}
	}
}
