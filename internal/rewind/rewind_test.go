package rewind

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is a MariaDB of the test's own, with a connection as the application has one.
type server struct {
	t    *testing.T
	dir  string
	data string
	cmd  *exec.Cmd
	db   *sql.DB
	st   *stack.Stack
}

func startServer(t *testing.T) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "krw")
	must(t, err)
	s := &server{t: t, dir: dir, data: filepath.Join(dir, "data")}
	t.Cleanup(func() { s.stop(); os.RemoveAll(dir) })
	must(t, hosttest.MariaDBData(s.data, "", "8M"))
	s.start()
	password := filepath.Join(dir, "password")
	must(t, os.WriteFile(password, []byte("\n"), 0o600))
	s.st = &stack.Stack{Dir: dir, Services: []stack.Service{{Name: "db", Kind: stack.MariaDB, Host: stack.LocalHost,
		Listen: []string{"unix:" + s.socket()}, Login: &stack.Login{User: "root", PasswordFile: password}}}}
	return s
}

func (s *server) socket() string { return filepath.Join(s.dir, "s") }

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+s.data, "--socket="+s.socket(), "--skip-networking", "--pid-file="+s.dir+"/pid", "--tmpdir="+s.dir,
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--log-error="+s.dir+"/log")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(s.t, s.cmd.Start())
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.MultiStatements, cfg.DBName = "root", "unix", s.socket(), true, ""
	connector, err := mysql.NewConnector(cfg)
	must(s.t, err)
	s.db = sql.OpenDB(connector)
	await.NoError(s.t, "MariaDB", s.db.Ping)
}

func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	s.db.Close()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) exec(statements ...string) {
	s.t.Helper()
	for _, q := range statements {
		if _, err := s.db.Exec(q); err != nil {
			s.t.Fatalf("%s: %v", q, err)
		}
	}
}

// state is every row of every table of the database app, as the server's own dump
// writes them, with the numbers that come next.
func (s *server) state() string {
	s.t.Helper()
	out, err := exec.Command("mariadb-dump", "--no-defaults", "--socket="+s.socket(), "-uroot", "--order-by-primary", "--skip-dump-date", "--skip-extended-insert", "--hex-blob", "--triggers", "--databases", "app").CombinedOutput()
	if err != nil {
		s.t.Fatalf("mariadb-dump: %v\n%s", err, out)
	}
	// Rows without a key have no order.
	lines := strings.Split(string(out), "\n")
	isLog := func(l string) bool { return strings.HasPrefix(l, "INSERT INTO `log`") }
	if first := slices.IndexFunc(lines, isLog); first >= 0 {
		end := first
		for end < len(lines) && isLog(lines[end]) {
			end++
		}
		slices.Sort(lines[first:end])
	}
	return strings.Join(lines, "\n")
}

func (s *server) take(o stack.Snapshot) *Keeper {
	s.t.Helper()
	k, err := Take(s.t.Context(), s.st, hosts(), Options{Snapshot: o, Dir: s.dir})
	must(s.t, err)
	s.t.Cleanup(k.Close)
	return k
}

func (s *server) back(k *Keeper) Report {
	s.t.Helper()
	r, err := k.Back(s.t.Context())
	must(s.t, err)
	return r
}

func hosts() map[string]host.Host {
	return map[string]host.Host{stack.LocalHost: host.NewLocal()}
}

// schema has what tables of applications have: keys of several columns and of text in
// several collations, none at all, foreign keys, every type, triggers that no row of a
// run goes past, partitions, a column that the server works out.
const schema = `
CREATE DATABASE app CHARACTER SET utf8mb4;
USE app;
CREATE TABLE people (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_unicode_ci UNIQUE, seen TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), upper_name VARCHAR(40) AS (UPPER(name)) STORED);
CREATE TABLE sessions (id VARCHAR(32) CHARACTER SET latin1 PRIMARY KEY, person INT UNSIGNED, data LONGBLOB, FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
CREATE TABLE votes (person INT UNSIGNED, thing BIGINT, value FLOAT, exact DOUBLE, price DECIMAL(20,6), PRIMARY KEY (person, thing));
CREATE TABLE log (text VARCHAR(100), n INT) ENGINE=Aria;
CREATE TABLE kinds (id INT PRIMARY KEY, b BIT(9), e ENUM('ä','b'), s SET('x','y','z'), d DATE, dt DATETIME(6), ti TIME(2), y YEAR, j JSON, g POINT, bin VARBINARY(20), t TEXT CHARACTER SET sjis, big BIGINT UNSIGNED);
CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 3;
CREATE TABLE heap (id INT PRIMARY KEY) ENGINE=MEMORY;
CREATE TABLE ledger (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40));
CREATE TRIGGER voted AFTER INSERT ON votes FOR EACH ROW INSERT INTO ledger (what) VALUES (CONCAT('vote ', NEW.thing));
CREATE TRIGGER unvoted AFTER DELETE ON votes FOR EACH ROW INSERT INTO ledger (what) VALUES (CONCAT('unvote ', OLD.thing));
INSERT INTO people (name, seen) VALUES ('Ann', '2026-03-29 02:30:00.123'), ('bob', '2026-10-25 02:30:00'), ('Çelik', '1999-01-01 00:00:00');
INSERT INTO sessions VALUES ('a1', 1, x'00ff10270a'), ('B2', 2, NULL), ('c3', NULL, REPEAT('x', 100000));
INSERT INTO votes VALUES (1, 10, 0.1, 0.1, 1.100000), (1, 11, 16777216.0, 1.7976931348623157e308, -3), (2, 10, 1e-30, 5e-324, NULL);
INSERT INTO log VALUES ('a', 1), ('a', 1), ('b', NULL);
INSERT INTO kinds VALUES (1, b'100000001', 'ä', 'x,z', '2026-02-28', '2026-01-01 00:00:00.000001', '-838:59:59.99', 1901, '{"a": "ü"}', POINT(1, 2.5), x'00010203ff', 'テスト', 18446744073709551615),
	(2, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, '', '', 0);
INSERT INTO parts SELECT seq, seq * 7 FROM seq_1_to_50;
INSERT INTO heap VALUES (1), (2);
`

// writes are what runs do: each makes another difference.
var writes = [][]string{
	{"UPDATE app.people SET name = 'ANN' WHERE id = 1"}, // the same by the collation
	{"INSERT INTO app.people (name) VALUES ('dora'), ('eve')", "INSERT INTO app.sessions VALUES ('d4', 4, 'x')"},
	{"DELETE FROM app.people WHERE id = 2"}, // and by the foreign key a session
	{"UPDATE app.sessions SET id = 'b2' WHERE id = 'B2'", "UPDATE app.sessions SET data = x'00' WHERE id = 'a1'"},
	{"INSERT INTO app.votes VALUES (3, 1, 1, 1, 1)", "UPDATE app.votes SET value = 0.10001, exact = 0.1000000001 WHERE person = 1 AND thing = 10"},
	{"DELETE FROM app.votes"},
	{"INSERT INTO app.log VALUES ('a', 1)"},
	{"DELETE FROM app.log LIMIT 1"},
	{"UPDATE app.kinds SET b = b'1', e = 'b', s = 'y', j = '{}', g = POINT(3, 4), t = 'ア', bin = x'01', big = 1, dt = dt + INTERVAL 1 MICROSECOND WHERE id = 1", "DELETE FROM app.kinds WHERE id = 2"},
	{"UPDATE app.parts SET v = 0 WHERE id = 17", "DELETE FROM app.parts WHERE id > 40"},
	{"DELETE FROM app.heap"},
	{"TRUNCATE app.parts", "TRUNCATE app.ledger"},
	{"DROP TABLE app.sessions"},
	// What a benchmark's initialisation does.
	{"DROP TABLE app.log", "CREATE TABLE app.log (text VARCHAR(100), n INT) ENGINE=Aria"},
	// Two rows that change places where a name is unique.
	{"UPDATE app.people SET name = 'tmp' WHERE id = 1", "UPDATE app.people SET name = 'Ann' WHERE id = 2", "UPDATE app.people SET name = 'bob' WHERE id = 1"},
}

// Rows come back exactly, whatever wrote them, time after time, with the numbers that
// come next; an index that a change made meanwhile stays; nothing is left behind.
func TestRows(t *testing.T) {
	s := startServer(t)
	s.exec(schema)
	k := s.take(stack.Snapshot{Shared: true})
	found := s.state()
	for i, w := range writes {
		s.exec(w...)
		if s.state() == found {
			t.Fatalf("write %d changed nothing", i)
		}
		must(t, k.Seen(t.Context()))
		r := s.back(k)
		if got := s.state(); got != found {
			t.Fatalf("after write %d (%s) the rows are not as before:\n%s", i, w[0], difference(found, got))
		}
		if r.Rows == 0 && i != 11 {
			t.Errorf("write %d: no row was said to be put back", i)
		}
	}
	if r := s.back(k); r.Rows != 0 || r.Tables != 0 {
		t.Errorf("nothing was written, and %s was put back", r)
	}
	s.exec("CREATE INDEX kasoku_seen ON app.people (seen)", "UPDATE app.people SET seen = NOW()")
	s.back(k)
	with := s.state()
	if !strings.Contains(with, "kasoku_seen") {
		t.Error("an index that was made after the copy is gone")
	}
	s.exec("DROP INDEX kasoku_seen ON app.people")
	if got := s.state(); got != found {
		t.Errorf("with an index that was made meanwhile, rows differ:\n%s", difference(found, got))
	}
	k.Close()
	left, err := os.ReadDir(s.dir)
	must(t, err)
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "kept-") {
			t.Errorf("%s is left", f.Name())
		}
	}
	var n int
	must(t, s.db.QueryRow("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE '%kasoku%'").Scan(&n))
	if n != 0 {
		t.Error("a schema is left")
	}
}

// A restart, which empties what servers know of the last changes, hides nothing: not
// what was written before it, nor what was written after.
func TestRowsAcrossRestarts(t *testing.T) {
	s := startServer(t)
	s.exec(schema)
	k := s.take(stack.Snapshot{Shared: true})
	found := s.state()
	for _, noted := range []bool{true, false} {
		s.exec("INSERT INTO app.votes VALUES (9, 9, 1, 1, 1)", "UPDATE app.people SET name = 'x' WHERE id = 3")
		if noted {
			must(t, k.Seen(t.Context()))
		}
		s.stop()
		s.start()
		s.exec("DELETE FROM app.log")
		s.back(k)
		if got := s.state(); got != found {
			t.Fatalf("noted before the restart: %t; rows differ:\n%s", noted, difference(found, got))
		}
	}
}

// Twenty runs that write at random, twenty times the same rows.
func TestTwentyResets(t *testing.T) {
	s := startServer(t)
	s.exec(schema, "INSERT INTO app.people (name) SELECT CONCAT('p', seq) FROM seq_1_to_5000")
	k := s.take(stack.Snapshot{Shared: true})
	found := sha256.Sum256([]byte(s.state()))
	for i := range 20 {
		s.exec(fmt.Sprintf("UPDATE app.people SET seen = seen + INTERVAL 1 DAY WHERE id %% 7 = %d", i%7),
			fmt.Sprintf("DELETE FROM app.people WHERE id BETWEEN %d AND %d", 100+i*50, 130+i*50),
			fmt.Sprintf("INSERT INTO app.people (name) SELECT CONCAT('run%d-', seq) FROM seq_1_to_200", i))
		s.back(k)
		if sha256.Sum256([]byte(s.state())) != found {
			t.Fatalf("reset %d: other rows than at first", i+1)
		}
	}
}

// What a request that the load gave up still writes is waited for, and put back.
func TestLateWrites(t *testing.T) {
	s := startServer(t)
	s.exec(schema)
	k := s.take(stack.Snapshot{Shared: true})
	found := s.state()
	// The server tells the second of a table's last change: in another one the tables
	// are known to be as they were.
	was := ""
	must(t, s.db.QueryRow("SELECT NOW()").Scan(&was))
	await.For(t, "another second", func() bool {
		is := ""
		must(t, s.db.QueryRow("SELECT NOW()").Scan(&is))
		return is != was
	})
	s.back(k)
	late, err := s.db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = late.Exec("UPDATE app.people SET name = 'late' WHERE id = 3")
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := k.Back(t.Context())
		ended <- err
	}()
	var back error
	over, sessions := false, 0
	await.For(t, "the session that puts rows back", func() bool {
		select {
		case back = <-ended:
			over = true
		default:
			must(t, s.db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon'").Scan(&sessions))
		}
		return over || sessions > s.db.Stats().OpenConnections
	})
	must(t, late.Commit())
	if !over {
		back = <-ended
	}
	must(t, back)
	if got := s.state(); got != found {
		t.Errorf("what was written late stayed:\n%s", difference(found, got))
	}
}

// Whoever else writes would lose what they write: refused, unless they are told to.
func TestOthersWrite(t *testing.T) {
	s := startServer(t)
	s.exec(schema)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_, _ = s.db.ExecContext(ctx, "INSERT INTO app.ledger (what) VALUES ('cron')")
			_, _ = s.db.ExecContext(ctx, "DO SLEEP(0.05)")
		}
	}()
	defer func() { stop(); <-ended }()
	_, err := Take(t.Context(), s.st, hosts(), Options{Dir: s.dir})
	if err == nil || !strings.Contains(err.Error(), "app.ledger") || !strings.Contains(err.Error(), "shared: true") {
		t.Fatalf("got %v", err)
	}
	k := s.take(stack.Snapshot{Except: []string{"app.ledger"}}) // others are seen to leave alone
	if left := k.Left(); len(left) != 1 || !strings.Contains(left[0], "app.ledger") {
		t.Errorf("left: %q", left)
	}
	s.take(stack.Snapshot{Shared: true})
}

// A login that may only read is told before the first run, with what to grant.
func TestMayNotWrite(t *testing.T) {
	s := startServer(t)
	s.exec(schema, "CREATE USER reader", "GRANT SELECT ON *.* TO reader")
	s.st.Services[0].Login.User = "reader"
	_, err := Take(t.Context(), s.st, hosts(), Options{Snapshot: stack.Snapshot{Shared: true}, Dir: s.dir})
	if err == nil || !strings.Contains(err.Error(), "grant the login SELECT, INSERT, DELETE") || !strings.Contains(err.Error(), "keep db: copy `app`") {
		t.Errorf("got %v", err)
	}
}

// A database that follows another is left to it: what is put back there comes over.
func TestFollower(t *testing.T) {
	s := startServer(t)
	s.exec(schema, "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'nobody'")
	k := s.take(stack.Snapshot{Shared: true})
	if left := k.Left(); len(left) != 1 || !strings.Contains(left[0], "db: it follows another database") {
		t.Errorf("left: %q", left)
	}
	s.exec("DELETE FROM app.votes")
	must(t, k.Seen(t.Context()))
	if r := s.back(k); r.Rows != 0 {
		t.Errorf("put back %s", r)
	}
}

// Columns that changed since the copy: said, and nothing is written.
func TestOtherColumns(t *testing.T) {
	s := startServer(t)
	s.exec(schema)
	k := s.take(stack.Snapshot{Shared: true})
	s.exec("ALTER TABLE app.ledger ADD COLUMN more INT", "INSERT INTO app.ledger (what) VALUES ('x')")
	if _, err := k.Back(t.Context()); err == nil || !strings.Contains(err.Error(), "`app`.`ledger`: its columns") {
		t.Errorf("got %v", err)
	}
}

// A trigger that spoils what is put back is named, and not fought for ever.
func TestTriggerThatSpoils(t *testing.T) {
	s := startServer(t)
	s.exec(schema, "CREATE TABLE app.stubborn (id INT PRIMARY KEY, v INT)", "INSERT INTO app.stubborn VALUES (1, 1)",
		"CREATE TRIGGER app.spoil BEFORE INSERT ON app.stubborn FOR EACH ROW SET NEW.v = NEW.v + 1")
	k := s.take(stack.Snapshot{Shared: true})
	s.exec("DELETE FROM app.stubborn")
	if _, err := k.Back(t.Context()); err == nil || !strings.Contains(err.Error(), "triggers") {
		t.Errorf("got %v", err)
	}
}

func difference(a, b string) string {
	var out []string
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, l := range la {
		if !slices.Contains(lb, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range lb {
		if !slices.Contains(la, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}

// Keys of Redis come back with the time that they had left; others go.
func TestRedis(t *testing.T) {
	dir, err := os.MkdirTemp("", "krr")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "r")
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--requirepass", "sesame")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ctx := t.Context()
	client := func(n int) *redis.Client {
		c := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, DB: n, Password: "sesame"})
		t.Cleanup(func() { c.Close() })
		return c
	}
	c, other := client(0), client(3)
	await.NoError(t, "Redis", func() error { return c.Ping(ctx).Err() })
	must(t, c.Set(ctx, "plain", "a\x00b", 0).Err())
	must(t, c.Set(ctx, "short", "1", time.Hour).Err())
	must(t, c.ZAdd(ctx, "rank", redis.Z{Score: 1, Member: "x"}, redis.Z{Score: 2.5, Member: "y"}).Err())
	must(t, c.HSet(ctx, "hash", "f", "v").Err())
	must(t, other.RPush(ctx, "list", "1", "2").Err())
	for i := range 1200 {
		must(t, c.Set(ctx, fmt.Sprintf("many:%d", i), i, 0).Err())
	}
	st := &stack.Stack{Dir: dir, Services: []stack.Service{{Name: "kv", Kind: stack.Redis, Host: stack.LocalHost, Listen: []string{"unix:" + socket}}}}
	if _, err := Take(ctx, st, hosts(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "write its login") {
		t.Errorf("without its password: %v", err)
	}
	password := filepath.Join(dir, "password")
	must(t, os.WriteFile(password, []byte("sesame\n"), 0o600))
	st.Services[0].Login = &stack.Login{PasswordFile: password}
	k, err := Take(ctx, st, hosts(), Options{Dir: dir})
	must(t, err)
	t.Cleanup(k.Close)
	must(t, c.Set(ctx, "plain", "else", time.Minute).Err())
	must(t, c.Persist(ctx, "short").Err())
	must(t, c.ZIncrBy(ctx, "rank", 5, "x").Err())
	must(t, c.Del(ctx, "hash", "many:7").Err())
	must(t, other.RPush(ctx, "list", "3").Err())
	must(t, client(5).Set(ctx, "new", "1", 0).Err())
	must(t, c.Set(ctx, "new", "1", 0).Err())
	r, err := k.Back(ctx)
	must(t, err)
	if r.Keys < 7 {
		t.Errorf("%d keys were put back", r.Keys)
	}
	for _, x := range []struct {
		what string
		got  any
		want any
	}{
		{"plain", c.Get(ctx, "plain").Val(), "a\x00b"},
		{"plain's time", c.TTL(ctx, "plain").Val(), time.Duration(-1)},
		{"short has time", c.TTL(ctx, "short").Val() > 50*time.Minute, true},
		{"rank", c.ZScore(ctx, "rank", "x").Val(), 1.0},
		{"hash", c.HGet(ctx, "hash", "f").Val(), "v"},
		{"many", c.Get(ctx, "many:7").Val(), "7"},
		{"list", fmt.Sprint(other.LRange(ctx, "list", 0, -1).Val()), "[1 2]"},
		{"keys", c.DBSize(ctx).Val(), int64(1204)},
		{"new database", client(5).DBSize(ctx).Val(), int64(0)},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

// A folder comes back with bytes, modes, owners, times and links; a memcached is
// emptied.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	up := filepath.Join(dir, "uploads")
	must(t, os.MkdirAll(filepath.Join(up, "a", "deep er"), 0o755))
	must(t, os.MkdirAll(filepath.Join(up, "empty"), 0o700))
	for name, text := range map[string]string{"a/one": "1", "a/deep er/two\nlines": strings.Repeat("2", 100000), "three": ""} {
		must(t, os.WriteFile(filepath.Join(up, name), []byte(text), 0o640))
	}
	must(t, os.Symlink("a/one", filepath.Join(up, "link")))
	old := time.Unix(1_700_000_000, 123456789)
	must(t, filepath.WalkDir(up, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(p, old, old)
	}))
	for _, p := range []string{filepath.Join(up, "a"), filepath.Join(up, "a", "deep er"), up} {
		must(t, os.Chtimes(p, old, old))
	}
	list := func() string {
		out, err := exec.Command("sh", "-c", `cd "$1" && find . -printf '%p %y %m %U %G %T@ %l\n' | sort && find . -type f -exec sha256sum {} + | sort`, "sh", up).CombinedOutput()
		must(t, err)
		return string(out)
	}
	found := list()
	k, err := Take(t.Context(), &stack.Stack{Dir: dir}, hosts(), Options{Snapshot: stack.Snapshot{Folders: []string{up}}, Dir: dir})
	must(t, err)
	t.Cleanup(k.Close)
	for i, change := range []func(){
		func() { must(t, os.WriteFile(filepath.Join(up, "a", "new"), []byte("x"), 0o644)) },
		func() { must(t, os.RemoveAll(filepath.Join(up, "a"))) },
		func() { must(t, os.WriteFile(filepath.Join(up, "three"), []byte("33"), 0o640)) },
		func() { // the same size and the same time
			p := filepath.Join(up, "a", "one")
			must(t, os.WriteFile(p, []byte("9"), 0o640))
			must(t, os.Chtimes(p, old, old))
		},
		func() { must(t, os.Chmod(filepath.Join(up, "empty"), 0o755)) },
		func() {
			must(t, os.Remove(filepath.Join(up, "link")))
			must(t, os.Symlink("three", filepath.Join(up, "link")))
		},
		func() {
			must(t, os.Remove(filepath.Join(up, "three")))
			must(t, os.MkdirAll(filepath.Join(up, "three", "in"), 0o755))
		},
		func() { must(t, os.MkdirAll(filepath.Join(up, "x", "y", "z"), 0o755)) },
	} {
		change()
		if list() == found {
			t.Fatalf("change %d changed nothing", i)
		}
		r, err := k.Back(t.Context())
		must(t, err)
		if got := list(); got != found || r.Files == 0 {
			t.Fatalf("change %d, %s: not as before:\n%s", i, r, difference(found, got))
		}
	}
}

// What cannot be kept is said before anything is measured.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	l, err := net.Listen("unix", filepath.Join(dir, "l"))
	must(t, err)
	l.Close()
	for name, c := range map[string]struct {
		st   stack.Stack
		o    stack.Snapshot
		want string
	}{
		"nothing":       {want: "there is nothing to keep"},
		"no login":      {st: stack.Stack{Services: []stack.Service{{Name: "db", Kind: stack.MariaDB}}}, want: "no login"},
		"a file":        {o: stack.Snapshot{Folders: []string{file}}, want: "not a folder"},
		"no such":       {o: stack.Snapshot{Folders: []string{dir + "/none"}}, want: "no such file"},
		"a silent host": {st: stack.Stack{Services: []stack.Service{{Name: "kv", Kind: stack.Redis, Host: stack.LocalHost, Listen: []string{"unix:" + dir + "/l"}}}}, want: "kv"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Take(t.Context(), &c.st, hosts(), Options{Snapshot: c.o, Dir: dir})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
