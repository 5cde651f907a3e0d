package database_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	conf := filepath.Join(filepath.Dir(data), "install.cnf")
	// An install is thrown away with the test: nothing of it needs the disk.
	if err := os.WriteFile(conf, []byte("[mysqld]\n"+p.lines+"innodb-flush-log-at-trx-commit = 0\ninnodb-doublewrite = OFF\nskip-log-bin\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	argv := []string{p.program, "--defaults-file=" + conf, "--initialize-insecure", "--datadir=" + data, "--log-error=" + filepath.Join(filepath.Dir(data), "install.log")}
	if user != "" {
		argv = append(argv, "--user="+user)
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		said, _ := os.ReadFile(filepath.Join(filepath.Dir(data), "install.log"))
		t.Fatalf("%v: %v\n%s%s", argv, err, out, said)
	}
}

// bad8 is bad without what MySQL 8 does not have, and with what only it has.
const bad8 = `thread_cache_size = 0
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
internal_tmp_mem_storage_engine = MEMORY
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
innodb_autoinc_lock_mode = 1
innodb_adaptive_hash_index = ON
innodb_flush_log_at_trx_commit = 2
`

// fill8 is fill in MySQL's words: it has no seq_1_to_N.
func fill8() []string {
	series := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < %d) SELECT", n)
	}
	out := []string{"SET SESSION cte_max_recursion_depth = 100000",
		"CREATE TABLE words (id INT PRIMARY KEY AUTO_INCREMENT, word CHAR(40) NOT NULL, grp INT NOT NULL) CHARACTER SET latin1",
		"INSERT INTO words (word, grp) " + series(3000) + " MD5(seq), seq % 300 FROM s",
		"CREATE TABLE listed (id INT, word CHAR(200)) ENGINE=MyISAM CHARACTER SET latin1",
		"INSERT INTO listed " + series(5000) + " seq, MD5(seq) FROM s",
		"CREATE TABLE hot (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO hot VALUES (1, 0)",
		"CREATE TABLE written (id BIGINT PRIMARY KEY AUTO_INCREMENT, k CHAR(32) NOT NULL, v VARCHAR(400) NOT NULL, KEY (k))",
		"INSERT INTO written (k, v) " + series(8000) + " MD5(seq), REPEAT('v', 300) FROM s",
		"CREATE TABLE large (id INT PRIMARY KEY, v LONGBLOB)", "INSERT INTO large " + series(4) + " seq, '' FROM s",
	}
	for i := range manyTables {
		out = append(out, fmt.Sprintf("CREATE TABLE t%03d (id INT PRIMARY KEY) ENGINE=MEMORY", i))
	}
	return out
}

// busy8 is busy without SQL_NO_CACHE.
func busy8() map[string]route {
	routes := busy()
	for path, r := range routes {
		sql := r.sql
		r.sql = func(n int64) (out []string) {
			for _, s := range sql(n) {
				out = append(out, strings.Replace(s, "SQL_NO_CACHE ", "", 1))
			}
			return out
		}
		routes[path] = r
	}
	return routes
}

// The same bad state as TestDatabaseSettings on MySQL 8.
func TestMySQL8(t *testing.T) {
	s := startProduct(t, mySQL8(t), bad8, fill8(), busy8())
	crowd(t, s, 13)
	s.joined(t, "db.aborted", "db.thread-cache", "db.table-cache", "db.definition-cache", "db.connections", "db.binlog-cache",
		"db.tmp-disk", "db.sort-merge", "db.join-buffer", "db.read-buffer", "db.name-resolve",
		"db.log-buffer", "db.dirty-pages", "db.flush-method", "db.autoinc-lock", "db.isolation", "db.doublewrite", "db.binlog-sync")
}
