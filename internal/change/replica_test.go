package change

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/stack"
)

// A database is copied and followed while an application writes, turned round to
// the copy and back, and all is as before, but for the application's own rows.
func TestDatabaseTurnedAndBack(t *testing.T) {
	p := newTwoDBs(t)
	before := p.seen(t)
	dir := filepath.Join(p.path("project"), ".kasoku")
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	x, err := Open(t.Context(), p.options(dir))
	must(t, err)
	defer x.Close()
	w := p.write(t, 0)
	under, err := x.Apply(t.Context(), Intent{Title: "copy", Plan: Prepares("apart"), Changes: p.replica()})
	must(t, err)
	for range 2 {
		tx, err := x.Apply(t.Context(), Intent{Title: "turn", Plan: "apart", Changes: p.turn()})
		must(t, err)
		if got := p.ask(t, "main", "SELECT @@read_only") + p.ask(t, "spare", "SELECT @@read_only"); got != "10" {
			t.Fatalf("read-only: %s", got)
		}
		must(t, await.Until(func() error { // the application is there
			if p.ask(t, "spare", "SELECT COUNT(*) FROM shop.orders WHERE writer = 'spare'") == "0" {
				return os.ErrNotExist
			}
			return nil
		}))
		must(t, x.Revert(t.Context(), tx.ID))
	}
	tx, err := x.Apply(t.Context(), Intent{Title: "turn", Plan: "apart", Changes: p.turn()})
	must(t, err)
	must(t, x.Keep(t.Context(), under.ID))
	must(t, x.Keep(t.Context(), tx.ID))
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Fatalf("drift %v, %v", drift, err)
	}
	must(t, x.UndoAll(t.Context()))
	w.end(t, p, "main")
	if w.last["spare"] == 0 || w.last["main"] == 0 {
		t.Fatalf("one of them was never written to: %v", w.last)
	}
	wantEqual(t, "put back", p.seen(t), before)
	if n := p.ask(t, "main", "SELECT COUNT(*) FROM shop.items"); n != "2000" {
		t.Errorf("%s items", n)
	}
	// No password or hash is in the journal.
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := strings.ToLower(content(t, path))
		if strings.Contains(text, "identified") || strings.Contains(text, "master_password") || strings.Contains(text, appPassword) {
			t.Errorf("%s has a secret", path)
		}
		return nil
	}))
}

// What cannot be moved is refused before anything is done.
func TestReplicaRefuses(t *testing.T) {
	p := newTwoDBs(t)
	x, err := Open(t.Context(), p.options(p.path(".kasoku")))
	must(t, err)
	defer x.Close()
	before := p.seen(t)
	for _, c := range []struct{ on, make, undo, says string }{
		{"main", "CREATE TABLE shop.old (a INT) ENGINE=MyISAM", "DROP TABLE shop.old", "shop.old (MyISAM)"},
		{"main", "CREATE EVENT shop.e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "DROP EVENT shop.e", "has events"},
		{"main", "CREATE DEFINER=app@127.0.0.1 VIEW shop.v AS SELECT 1", "DROP VIEW shop.v", "shop.v of app@127.0.0.1"},
		{"main", "GRANT ALL ON *.* TO app@127.0.0.1", "REVOKE ALL ON *.* FROM app@127.0.0.1", "may write although"},
		{"main", "GRANT READ_ONLY ADMIN ON *.* TO app@127.0.0.1", "REVOKE READ_ONLY ADMIN ON *.* FROM app@127.0.0.1", "may write although"},
		{"main", "CREATE USER sock@localhost IDENTIFIED VIA unix_socket; GRANT ALL ON shop.* TO sock@localhost", "DROP USER sock@localhost", "unix socket only"},
		{"main", "CREATE USER root@'%'; GRANT ALL ON *.* TO root@'%'", "DROP USER root@'%'", "root@%, that may write although"},
		{"main", "SET GLOBAL replicate_do_db = 'shop'", "SET GLOBAL replicate_do_db = ''", "replicate_do_db = shop"},
		{"spare", "SET GLOBAL replicate_wild_ignore_table = 'shop.s%'", "SET GLOBAL replicate_wild_ignore_table = ''", "replicate_wild_ignore_table = shop.s%"},
		{"main", "SET GLOBAL sync_master_info = 10000", "SET GLOBAL sync_master_info = 1", "sync_master_info of main is 10000, and must be 1"},
		{"spare", "SET GLOBAL sync_master_info = 10000", "SET GLOBAL sync_master_info = 1", "sync_master_info of spare is 10000, and must be 1"},
		{"spare", "CREATE USER app@127.0.0.1", "DROP USER app@127.0.0.1", "an account 'app'@'127.0.0.1' of its own"},
		{"main", "CHANGE MASTER TO MASTER_HOST='192.0.2.1'", "RESET SLAVE ALL", "follows another server"},
		{"spare", "CREATE DATABASE own", "DROP DATABASE own", "has data of its own (own)"},
		{"spare", "SET GLOBAL read_only = 0", "SET GLOBAL read_only = 1", "is not read-only"},
		{"spare", "SET GLOBAL server_id = 1", "SET GLOBAL server_id = 2", "the same server_id"},
	} {
		p.exec(t, c.on, strings.Split(c.make, "; ")...)
		_, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
		wantText(t, err, c.says)
		p.exec(t, c.on, c.undo)
	}
	wantEqual(t, "after refusals", p.seen(t), before)
}

// A copy that follows no more, and whose accounts somebody has dropped, is still a
// copy: it is not taken for what was there before, and its data go.
func TestReplicaTakenApart(t *testing.T) {
	p := newTwoDBs(t)
	before := p.seen(t)
	x, err := Open(t.Context(), p.options(p.path(".kasoku")))
	must(t, err)
	defer x.Close()
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
	must(t, err)
	p.exec(t, "spare", "STOP SLAVE", "RESET SLAVE ALL")
	for _, name := range []string{"main", "spare"} {
		for account := range strings.Lines(p.ask(t, name, "SELECT CONCAT(QUOTE(User), '@', QUOTE(Host)) FROM mysql.user WHERE User IN ('"+stack.ReplicaUser+"', '"+copyUser+"')")) {
			p.exec(t, name, "SET SESSION sql_log_bin = 0", "DROP USER "+strings.TrimSpace(account))
		}
	}
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "put back", p.seen(t), before)
}

// A filter of the binary log leaves writes out that have been acknowledged.
func TestReplicaRefusesBinlogFilter(t *testing.T) {
	p := newTwoDBs(t, "--binlog-ignore-db=sessions")
	x, err := Open(t.Context(), p.options(p.path(".kasoku")))
	must(t, err)
	defer x.Close()
	_, err = x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
	wantText(t, err, "main leaves writes out of replication (binlog_ignore_db = sessions)")
}

// A schema may be named like an option of the program that copies it.
func TestReplicaOfOddNames(t *testing.T) {
	p := newTwoDBs(t)
	before := p.seen(t)
	p.exec(t, "main", "CREATE DATABASE `--result-file=odd`", "CREATE TABLE `--result-file=odd`.t (a INT)", "INSERT INTO `--result-file=odd`.t VALUES (7)")
	x, err := Open(t.Context(), p.options(p.path(".kasoku")))
	must(t, err)
	defer x.Close()
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
	must(t, err)
	wantEqual(t, "copied", p.ask(t, "spare", "SELECT a FROM `--result-file=odd`.t"), "7")
	must(t, x.Revert(t.Context(), tx.ID))
	p.exec(t, "main", "DROP DATABASE `--result-file=odd`")
	wantEqual(t, "put back", p.seen(t), before)
}

// A server that logs each statement as slow writes no password and no hash down.
func TestReplicaTellsNoLog(t *testing.T) {
	p := newTwoDBs(t)
	ends := []string{"main", "spare"}
	for _, name := range ends {
		p.exec(t, name, "SET GLOBAL slow_query_log_file = '"+p.path(name+".slow")+"'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1",
			"SET GLOBAL general_log_file = '"+p.path(name+".general")+"'", "SET GLOBAL general_log = 1")
	}
	x, err := Open(t.Context(), p.options(p.path(".kasoku")))
	must(t, err)
	defer x.Close()
	for _, changes := range [][]Change{p.replica(), p.turn()} {
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: changes})
		must(t, err)
		must(t, x.Keep(t.Context(), tx.ID))
	}
	must(t, x.UndoAll(t.Context()))
	for _, name := range ends {
		p.exec(t, name, "SELECT 'it logs'")
		for _, log := range []string{".slow", ".general"} {
			text := ""
			must(t, await.Until(func() error { // it is written after the answer
				if text = strings.ToLower(content(t, p.path(name+log))); !strings.Contains(text, "it logs") {
					return fmt.Errorf("%s%s does not log: %s", name, log, text)
				}
				return nil
			}))
			for line := range strings.Lines(text) {
				if strings.Contains(line, "master_password") || strings.Contains(line, "identified") {
					t.Errorf("%s%s has a secret: %s", name, log, line)
				}
			}
		}
	}
}

// What is said about one that no longer follows tells what to do.
func TestReplicaStopped(t *testing.T) {
	runs := map[string]string{"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Last_IO_Errno": "0", "Last_SQL_Errno": "0"}
	for _, c := range []struct {
		what string
		set  map[string]string
		says string
	}{
		{"it follows", nil, ""},
		{"it connects again", map[string]string{"Slave_IO_Running": "Connecting", "Last_IO_Errno": "2003"}, ""},
		{"a statement failed", map[string]string{"Slave_SQL_Running": "No", "Last_SQL_Errno": "1396", "Last_SQL_Error": "Operation ALTER USER failed"}, "do by hand on main what that statement lacks"},
		{"the log is gone", map[string]string{"Slave_IO_Running": "No", "Last_IO_Errno": "1236"}, "only a new copy of spare's data"},
		{"another error", map[string]string{"Slave_IO_Running": "No", "Last_IO_Errno": "1593"}, "error 1593"},
		{"a person stopped it", map[string]string{"Slave_IO_Running": "No", "Slave_SQL_Running": "No"}, "RESET SLAVE and START SLAVE"},
	} {
		row := maps.Clone(runs)
		maps.Copy(row, c.set)
		got := (&dbEnd{service: "main"}).stopped([]map[string]string{row}, &dbEnd{service: "spare"})
		if !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}
