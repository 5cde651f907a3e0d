package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// server is a private MariaDB in a folder without a disk.
type server struct {
	dir  string
	cmd  *exec.Cmd
	db   *sql.DB
	conn *sql.Conn
}

// startTime is how long the server may take to answer, on a machine that is busy.
const startTime = 3 * time.Minute

func startServer(ctx context.Context) (*server, error) {
	within := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		within = "/dev/shm"
	}
	dir, err := os.MkdirTemp(within, "kasoku-indexes")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if err := s.start(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) start(ctx context.Context) error {
	data, socket := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "s")
	user := "--user=mysql"
	if os.Getuid() == 0 {
		user = "--user=root"
	}
	install := exec.CommandContext(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", user)
	install.Env = append(os.Environ(), "TMPDIR="+s.dir)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("make a MariaDB: %w; run `make deps`\n%s", err, out)
	}
	// Statistics from all pages: the same plans each time. One place for them: no other
	// work runs on this server. Nothing is flushed.
	s.cmd = exec.Command("mariadbd", "--no-defaults", user, "--datadir="+data, "--socket="+socket, "--skip-networking", "--tmpdir="+s.dir,
		"--innodb-buffer-pool-size=256M", "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0", "--innodb-flush-method=nosync",
		"--innodb-stats-persistent-sample-pages=20000", "--innodb-stats-auto-recalc=0", "--innodb-doublewrite=0",
		"--performance-schema=ON", "--performance-schema-instrument=statement/%=ON", "--performance-schema-consumer-events-statements-current=ON", "--performance-schema-consumer-events-statements-history=ON")
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start MariaDB: %w; run `make deps`", err)
	}
	if s.db, err = sql.Open("mysql", "root@unix("+socket+")/"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for s.db.PingContext(ctx) != nil {
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("MariaDB does not answer: %w\n%s", ctx.Err(), text)
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.conn, err = s.db.Conn(ctx)
	return err
}

func (s *server) stop() {
	if s.db != nil {
		s.db.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
	os.RemoveAll(s.dir)
}

// exec runs a statement and reads its rows to the end.
func (s *server) exec(ctx context.Context, query string) error {
	_, err := s.rows(ctx, query)
	return err
}

// rows of a query, as texts; NULL is "".
func (s *server) rows(ctx context.Context, query string) (out [][]string, err error) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return out, nil
}
