package pagecache

import (
	"database/sql"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/remedy"
)

const poolConf = `[mysqld]
%USER%
port = %PORT%
bind-address = 127.0.0.1
socket = %DIR%/db/s.sock
pid-file = %DIR%/db/p.pid
datadir = %DIR%/db
tmpdir = %DIR%/db
log_error = %DIR%/db/error.log
innodb_buffer_pool_size = 64M
innodb_log_file_size = 16M
# begins cold
innodb_buffer_pool_dump_at_shutdown = OFF
innodb_buffer_pool_load_at_startup = OFF
`

const poolStack = `version: 1
name: pool
services:
  - name: db
    kind: mariadb
    binary: /usr/sbin/mariadbd
    config: %DIR%/my.cnf
    listen: ["127.0.0.1:%PORT%", "unix:%DIR%/db/s.sock"]
    control: {method: process, pid_file: %DIR%/db/p.pid, start: ["/usr/sbin/mariadbd", "--defaults-file=%DIR%/my.cnf"]}
    login: {user: kasoku, password_file: %DIR%/secret}
load: {scenario: %DIR%/scenario.yaml, url: "%URL%"}
`

// startPool is a MariaDB with a table, and what tells the pages in its pool.
func startPool(t *testing.T) (b *bed.Bed, db *sql.DB, pages func() int) {
	t.Helper()
	dir := bed.Folder(t)
	data, port, owner, user := filepath.Join(dir, "db"), fmt.Sprint(bed.FreePort(t)), "", ""
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		owner, user = "mysql", "user = mysql"
	}
	bed.InstallMariaDB(t, data, owner, "16M")
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "alive") }))
	t.Cleanup(app.Close)
	fill := strings.NewReplacer("%USER%", user, "%PORT%", port, "%URL%", app.URL)
	bed.Write(t, dir, "my.cnf", fill.Replace(poolConf))
	bed.Write(t, dir, "kasoku.yaml", fill.Replace(poolStack))
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: pool\nworkload: 2\nsessions:\n  - name: s\n    steps:\n      - {request: GET /, think: 5ms, expect: {contains: [alive]}}\n")
	password := "kasoku-" + filepath.Base(dir)
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	bed.StopByPIDFile(t, filepath.Join(data, "p.pid"))
	bed.Start(t, dir, "mariadbd", "/usr/sbin/mariadbd", "--defaults-file="+dir+"/my.cnf")
	bed.Await(t, data+"/s.sock")
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger = "root", "unix", data+"/s.sock", log.New(io.Discard, "", 0)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db = sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(0) // restarts break kept ones
	for _, s := range []string{"CREATE USER kasoku@localhost IDENTIFIED BY '" + password + "'", "GRANT ALL ON *.* TO kasoku@localhost", "CREATE USER kasoku@127.0.0.1 IDENTIFIED BY '" + password + "'", "GRANT ALL ON *.* TO kasoku@127.0.0.1",
		"CREATE DATABASE app", "CREATE TABLE app.t (id INT PRIMARY KEY, v CHAR(250) NOT NULL)", "INSERT INTO app.t SELECT seq, REPEAT('x', 250) FROM app.seq_1_to_100000"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return bed.Open(t, dir), db, func() int {
		t.Helper()
		var name, n string
		if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_data'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		count, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
}

// TestPoolWarm: after the restart that the plan itself makes, the pool holds
// what it held before; without the plan it is nearly empty.
func TestPoolWarm(t *testing.T) {
	b, _, pages := startPool(t)
	b.Unmeasured = true // each restart as found empties the pool
	full := pages()
	b.Show(t, func(t *testing.T, _ remedy.Plan) {
		var warm int
		said := func() string { return fmt.Sprintf("%d pages before the restart, %d after it", full, warm) }
		await.ForOr(t, "the pages, which are read in the background", said, func() bool {
			warm = pages()
			return warm >= full*8/10
		})
		t.Logf("%d pages before the restart, %d after it", full, warm)
	}, "mariadb.pool-warm")
	cold := pages()
	t.Logf("%d pages after the restart that took it back", cold)
	if cold > full/2 {
		t.Errorf("of %d pages %d were there after a restart without it", full, cold)
	}
}

// TestPoolShare: by default the list holds the quarter of the pool that was
// asked for last; with all of it what was there is there again. This is what is
// planned after a reboot that left caches cold.
func TestPoolShare(t *testing.T) {
	b, db, pages := startPool(t)
	text, err := os.ReadFile(filepath.Join(b.Dir, "my.cnf"))
	if err != nil {
		t.Fatal(err)
	}
	bed.Write(t, b.Dir, "my.cnf", strings.ReplaceAll(string(text), "= OFF", "= ON"))
	restart := func() {
		t.Helper()
		tx, err := b.Exec.Apply(t.Context(), change.Intent{Title: "restart", Changes: []change.Change{{Kind: change.KindRestart, Service: "db", Activate: change.Restart}}})
		if err == nil {
			err = b.Exec.Keep(t.Context(), tx.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// back is how many pages are there after a restart, of how many before.
	back := func() (n, of int) {
		t.Helper()
		var sum int
		if err := db.QueryRowContext(t.Context(), "SELECT SUM(LENGTH(v)) FROM app.t").Scan(&sum); err != nil {
			t.Fatal(err)
		}
		of = pages()
		restart()
		await.For(t, "the pages, which are read in the background", func() bool {
			var name, state string
			if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'").Scan(&name, &state); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(state, "completed")
		})
		return pages(), of
	}
	restart() // takes the file on
	quarter, of := back()
	if _, err := db.ExecContext(t.Context(), "SET GLOBAL innodb_buffer_pool_dump_pct = 100"); err != nil {
		t.Fatal(err)
	}
	all, ofAll := back()
	t.Logf("with the default %d of %d pages are there after a restart, with 100 %% %d of %d", quarter, of, all, ofAll)
	// The server reads some hundred pages of its own when it starts.
	if quarter > of*3/4 || all < ofAll*8/10 {
		t.Errorf("with the default %d of %d pages are there, with all %d of %d", quarter, of, all, ofAll)
	}
}
