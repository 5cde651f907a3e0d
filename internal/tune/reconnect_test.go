package tune

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// The real application with connections for life: they are older than the record of
// statements, which then holds none. A session restarts who holds them and looks
// again; a command that is to change nothing only says so.
func TestOldConnectionsAreMadeAnew(t *testing.T) {
	l := useLab(t)
	file := ""
	for _, svc := range l.stack.Services {
		if svc.Kind == stack.App {
			file = filepath.Join(svc.Root, "src/database.php")
		}
	}
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	reload := func() {
		restarts, _ := l.tuner().restartable()
		for _, c := range restarts {
			if svc := l.stack.Service(c.Service); svc.Kind == stack.PHPFPM {
				tx, err := l.exec.Apply(context.Background(), change.Intent{Title: "the application is another", Changes: []change.Change{c}})
				if err != nil {
					t.Fatal(err)
				}
				if err := l.exec.Keep(context.Background(), tx.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), info.Mode()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
		reload()
	}
	write(strings.Replace(string(was), "PDO::ATTR_EMULATE_PREPARES", "PDO::ATTR_PERSISTENT => true,\n            PDO::ATTR_EMULATE_PREPARES", 1))
	t.Cleanup(func() { write(string(was)) })
	asFound := l.hash(t)
	tu := l.tuner()
	if _, err := l.bench.Run(t.Context(), RunOptions{Kind: store.Scored, Workload: 4}); err != nil { // all children connect
		t.Fatal(err)
	}
	look := func() *store.Run {
		l.bench.Instruments.Plain = true
		run, _, err := Observe(t.Context(), l.exec, l.bench, 4, "look", quiet{})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if run := look(); len(oldConnections(run)) == 0 {
		t.Fatalf("all statements were recorded, so this test shows nothing: %d", len(run.Evidence.Statements))
	}
	l.bench.Instruments.restarts = tu.restartable
	defer func() { l.bench.Instruments.restarts = nil }()
	run := look()
	// A busy machine answers few requests within the window, which need not ask all.
	ofPages := slices.ContainsFunc(run.Evidence.Statements, func(s evidence.Statement) bool { return strings.Contains(s.Fingerprint, "FROM users") })
	if old := oldConnections(run); len(old) > 0 || !ofPages {
		t.Errorf("old connections of %v, statements %+v", old, run.Evidence.Statements)
	}
	if got := l.hash(t); got != asFound {
		t.Error("the configuration is not as found")
	}
}

// Who talks to a database is restarted, or what it runs in; what may not be is told.
func TestWhoHoldsOldConnections(t *testing.T) {
	v := newVirtual(t)
	v.stack.Services = []stack.Service{{Name: "db", Kind: stack.MariaDB}, {Name: "php", Kind: stack.PHPFPM}, {Name: "site", Kind: stack.App, RunsIn: "php", TalksTo: []string{"db"}},
		{Name: "api", Kind: stack.App, TalksTo: []string{"db"}, RunsIn: ""}, {Name: "other", Kind: stack.App}, {Name: "db2", Kind: stack.MariaDB, TalksTo: []string{"db"}}}
	b := &Bench{Stack: v.stack}
	if got := strings.Join(b.holders([]string{"db"}), " "); got != "php api" {
		t.Errorf("held by %q", got)
	}
	told := &drawing{}
	b.Instruments.restarts = func() ([]change.Change, []store.NotRestarted) {
		return nil, []store.NotRestarted{{Service: "api", Why: "regulation.no_restart lists it"}}
	}
	run := &store.Run{Evidence: &evidence.Evidence{Health: []evidence.Health{{Source: "slow log of db", OldConnections: "db"}}}}
	again, err := b.reconnect(context.Background(), v.exec, run, told)
	if again || err != nil || !strings.Contains(strings.Join(told.lines, "\n"), "api holds connections") {
		t.Errorf("%v, %v: %q", again, err, told.lines)
	}
}
