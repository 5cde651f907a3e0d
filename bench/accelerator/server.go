package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// server is a private MariaDB that may be killed and started again.
type server struct {
	dir, socket string
	db          *sql.DB

	mu  sync.Mutex
	cmd *exec.Cmd
}

// startTime is how long the server may take to answer, on a machine that is busy.
const startTime = 3 * time.Minute

// tables are the lists: members says which are of a board, an event appends by a trigger.
var tables = []string{
	"CREATE DATABASE app",
	"USE app",
	"CREATE TABLE members (id INT PRIMARY KEY, board INT NOT NULL, list_id INT NOT NULL, KEY (board)) ENGINE=InnoDB",
	"INSERT INTO members SELECT seq, (seq - 1) DIV 8, seq FROM seq_1_to_8000",
	"CREATE TABLE lists (id INT PRIMARY KEY, val TEXT NOT NULL, note_id INT NULL) ENGINE=InnoDB",
	"CREATE TABLE notes (id INT PRIMARY KEY, val TEXT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE events (id INT AUTO_INCREMENT PRIMARY KEY, note_id INT NOT NULL, val VARCHAR(20) NOT NULL) ENGINE=InnoDB",
	"CREATE TRIGGER events_note AFTER INSERT ON events FOR EACH ROW INSERT INTO notes VALUES (NEW.note_id, NEW.val) ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', NEW.val)",
	"CREATE PROCEDURE put_note(i INT, v VARCHAR(20)) INSERT INTO notes VALUES (i, v) ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', v)",
	"CREATE FUNCTION append_note(i INT, v VARCHAR(20)) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO notes VALUES (i, v) ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', v); RETURN 1; END",
}

// startServer makes a server in dir, with the tables.
func startServer(ctx context.Context, dir string) (*server, error) {
	s := &server{dir: dir, socket: filepath.Join(dir, "s")}
	install := exec.CommandContext(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+filepath.Join(dir, "data"), "--auth-root-authentication-method=normal", "--skip-test-db", asUser())
	install.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a MariaDB: %w; run `make deps`\n%s", err, out)
	}
	_ = mysql.SetLogger(silent{}) // that connections broke is meant
	var err error
	if s.db, err = sql.Open("mysql", "root@unix("+s.socket+")/"); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.stop()
		return nil, err
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		s.stop()
		return nil, err
	}
	defer c.Close()
	for _, t := range tables {
		if _, err := c.ExecContext(ctx, t); err != nil {
			s.stop()
			return nil, fmt.Errorf("%s: %w", t, err)
		}
	}
	return s, nil
}

func asUser() string {
	if os.Getuid() == 0 {
		return "--user=root"
	}
	return "--user=mysql"
}

// start starts it and waits until it answers. What was committed is there after a kill:
// the kernel has the log.
func (s *server) start(ctx context.Context) error {
	cmd := exec.Command("mariadbd", "--no-defaults", asUser(), "--datadir="+filepath.Join(s.dir, "data"), "--socket="+s.socket, "--skip-networking", "--tmpdir="+s.dir,
		"--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--innodb-lock-wait-timeout=1", "--log-bin-trust-function-creators=1", "--max-connect-errors=1000000")
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start MariaDB: %w; run `make deps`", err)
	}
	s.mu.Lock()
	s.cmd = cmd
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for s.db.PingContext(ctx) != nil {
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("MariaDB does not answer: %w\n%s", ctx.Err(), text)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// kill ends it without a word.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) stop() {
	_ = s.db.Close()
	s.kill()
}

// clear empties the lists.
func (s *server) clear(ctx context.Context) error {
	for _, t := range []string{"lists", "notes", "events"} {
		if _, err := s.db.ExecContext(ctx, "TRUNCATE app."+t); err != nil {
			return err
		}
	}
	return nil
}

type silent struct{}

func (silent) Print(...any) {}
