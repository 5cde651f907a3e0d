package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

// twoDBs are two private MariaDB servers: main has an application's data, spare none.
type twoDBs struct{ dir string }

func (p twoDBs) path(name string) string { return filepath.Join(p.dir, name) }

// newTwoDBs starts them as a plan leaves servers that are prepared, with more options.
func newTwoDBs(t *testing.T, more ...string) twoDBs {
	t.Helper()
	if testing.Short() {
		t.Skip("starts two MariaDB servers")
	}
	dir, err := os.MkdirTemp(memory(), "kpr")
	must(t, err)
	p := twoDBs{dir}
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, hosttest.MariaDBData(p.path("main"), "", "8M"))
	must(t, exec.Command("cp", "-a", p.path("main"), p.path("spare")).Run())
	for i, name := range []string{"main", "spare"} {
		p.start(t, name, i, more)
	}
	if name, err := os.Hostname(); err == nil { // mariadb-install-db makes it, and it may write although a server is read-only
		p.exec(t, "main", "DROP USER IF EXISTS root@'"+strings.ToLower(name)+"'")
	}
	p.exec(t, "main", "CREATE DATABASE shop CHARACTER SET utf8mb4", "CREATE TABLE shop.orders (id INT PRIMARY KEY, writer VARCHAR(20))",
		"CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), KEY (name))", "INSERT INTO shop.items (name) SELECT CONCAT('品', seq) FROM shop.seq_1_to_2000",
		"CREATE USER app@127.0.0.1 IDENTIFIED BY '"+appPassword+"'", "GRANT SELECT, INSERT ON shop.* TO app@127.0.0.1",
		"CREATE USER web@localhost IDENTIFIED BY 'another-word'", "GRANT SELECT ON shop.* TO web@localhost") // made for 127.0.0.1 on both
	return p
}

const appPassword = "the-apps-own-word"

func (p twoDBs) start(t *testing.T, name string, i int, more []string) {
	t.Helper()
	port := strconv.Itoa(hosttest.FreePort(t))
	must(t, os.WriteFile(p.path(name+".port"), []byte(port), 0o600))
	log, err := os.Create(p.path(name + ".log"))
	must(t, err)
	defer log.Close()
	argv := append([]string{"--no-defaults", "--user=root", "--datadir=" + p.path(name), "--tmpdir=" + p.path(name), "--socket=" + p.path(name+".sock"), "--port=" + port, "--bind-address=127.0.0.1", "--pid-file=" + p.path(name+".pid"),
		"--innodb-buffer-pool-size=16M", "--innodb-buffer-pool-chunk-size=2M", "--innodb-log-file-size=8M", "--key-buffer-size=1M", "--performance-schema=OFF",
		fmt.Sprintf("--server-id=%d", i+1), "--log-bin=kasoku-bin", "--log-slave-updates", "--binlog-format=ROW", "--sync-master-info=1", fmt.Sprintf("--read-only=%d", i)}, more...)
	c := exec.Command("mariadbd", argv...)
	c.Stdout, c.Stderr = log, log
	must(t, c.Start())
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(p.path(name + ".log"))
			t.Logf("%s said:\n%s", name, b[max(0, len(b)-3000):])
		}
	})
	must(t, await.Until(func() error {
		db, err := p.db(context.Background(), name)
		if err == nil {
			db.Close()
		}
		return err
	}))
}

func (p twoDBs) address(name string) string {
	b, _ := os.ReadFile(p.path(name + ".port"))
	return "127.0.0.1:" + string(b)
}

func (p twoDBs) db(ctx context.Context, name string) (*sql.DB, error) {
	return p.login(ctx, "root", "", "unix", p.path(name+".sock"))
}

func (twoDBs) login(ctx context.Context, user, password, network, address string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.Logger, c.Timeout, c.DialFunc = user, password, network, address, &mysql.NopLogger{}, 5*time.Second, dialer(ctx)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (p twoDBs) exec(t *testing.T, name string, statements ...string) {
	t.Helper()
	must(t, p.run(t.Context(), name, statements...))
}

// run runs statements by one connection.
func (p twoDBs) run(ctx context.Context, name string, statements ...string) error {
	db, err := p.db(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // what is set for a session counts for the next statement
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", name, s, err)
		}
	}
	return nil
}

// ask returns the values of the first column, one a line.
func (p twoDBs) ask(t *testing.T, name, query string) string {
	t.Helper()
	db, err := p.db(t.Context(), name)
	must(t, err)
	defer db.Close()
	rows, err := db.Query(query)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	var out []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		must(t, rows.Scan(into...))
		out = append(out, values[0].String)
	}
	return strings.Join(out, "\n")
}

func (p twoDBs) options(dir string) Options {
	s := &stack.Stack{Services: []stack.Service{{Name: "main", Kind: stack.MariaDB}, {Name: "spare", Kind: stack.MariaDB, SpareFor: "main"}}}
	o := Options{Dir: dir, Stack: s, Control: func(string) (Controller, error) { return nothing{}, nil },
		DB: func(ctx context.Context, service string) (*sql.DB, error) { return p.db(ctx, service) }}
	p.onTwoHosts(&o)
	return o
}

// nothing is a Controller of what is always well.
type nothing struct{}

func (nothing) Check(context.Context) error       { return nil }
func (nothing) Reload(context.Context) error      { return nil }
func (nothing) Restart(context.Context) error     { return nil }
func (nothing) WaitHealthy(context.Context) error { return nil }

func (p twoDBs) replica() []Change {
	return []Change{{Kind: KindReplica, Service: "spare", Replica: &Replica{Main: "main", Address: p.address("spare"), MainAddress: p.address("main"), Clients: []string{"127.0.0.1"}, OwnLog: true}}}
}

func (p twoDBs) turn() []Change {
	return []Change{
		{Kind: KindTurn, Service: "spare", Turn: &Turn{To: "main", FromAddress: p.address("spare"), ToAddress: p.address("main"), Half: true}},
		{Kind: KindTurn, Service: "main", Turn: &Turn{To: "spare", FromAddress: p.address("main"), ToAddress: p.address("spare")}},
	}
}

// seen is all of both servers that must come back; rows are the application's.
func (p twoDBs) seen(t *testing.T) string {
	t.Helper()
	var out []string
	for _, name := range []string{"main", "spare"} {
		out = append(out, name,
			p.ask(t, name, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1"),
			p.ask(t, name, "SELECT CONCAT(User, '@', Host, ' ', IF(User = '"+stack.ReplicaUser+"', '', authentication_string)) FROM mysql.user ORDER BY 1"),
			p.ask(t, name, "SELECT CONCAT(Db, ' ', User, '@', Host, ' ', Insert_priv) FROM mysql.db ORDER BY 1"),
			p.ask(t, name, "SELECT CONCAT('read-only: ', @@read_only)"), fmt.Sprint("follows: ", p.ask(t, name, "SHOW SLAVE STATUS") != ""))
		if p.ask(t, "spare", "SELECT COUNT(*) FROM mysql.user WHERE User = '"+stack.ReplicaUser+"'") == "0" {
			out = append(out, "has: "+p.ask(t, name, "SELECT @@gtid_slave_pos"))
		}
	}
	return strings.Join(out, "\n")
}

// writers write to both servers as the application, all the time, whichever lets
// them, and remember what was acknowledged.
type writers struct {
	stop  chan struct{}
	done  chan struct{}
	acked map[int]string
	last  map[string]int
}

func (p twoDBs) write(t *testing.T, from int) *writers {
	w := &writers{stop: make(chan struct{}), done: make(chan struct{}), acked: map[int]string{}, last: map[string]int{}}
	go func() {
		defer close(w.done)
		pools := map[string]*sql.DB{}
		for n := from; ; n++ {
			select {
			case <-w.stop:
				for _, db := range pools {
					db.Close()
				}
				return
			default:
			}
			for _, name := range []string{"main", "spare"} {
				if pools[name] == nil {
					db, err := p.login(context.Background(), "app", appPassword, "tcp", p.address(name))
					if err != nil {
						continue // the spare has no such account yet
					}
					pools[name] = db
				}
				id := 2*n + len(name)%2
				if _, err := pools[name].Exec("INSERT INTO shop.orders VALUES (?, ?)", id, name); err == nil {
					w.acked[id], w.last[name] = name, id
				} else if my := (*mysql.MySQLError)(nil); errors.As(err, &my) && my.Number == 1045 {
					pools[name].Close()
					delete(pools, name)
				}
			}
			time.Sleep(5 * time.Millisecond) // some writes between two of Kasoku's statements
		}
	}()
	return w
}

// end stops them and looks for what was acknowledged on a server.
func (w *writers) end(t *testing.T, p twoDBs, on string) {
	t.Helper()
	close(w.stop)
	<-w.done
	have := map[string]bool{}
	for id := range strings.SplitSeq(p.ask(t, on, "SELECT id FROM shop.orders"), "\n") {
		have[id] = true
	}
	lost := 0
	by := map[string]int{}
	for id, name := range w.acked {
		by[name]++
		if !have[fmt.Sprint(id)] {
			lost++
		}
	}
	if lost > 0 {
		t.Fatalf("%d of %d acknowledged writes are not on %s (acknowledged by %v)", lost, len(w.acked), on, by)
	}
	t.Logf("%d acknowledged writes are all on %s (acknowledged by %v)", len(w.acked), on, by)
}
