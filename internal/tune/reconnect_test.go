package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
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
	l.calm(t)
	restart := func() {
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
	// Four processes, all from the start: how many FPM starts meanwhile goes by the second.
	const processes = 4
	t.Cleanup(restart) // when the files are as they were
	for _, c := range []struct{ file, is, becomes string }{
		{filepath.Join(l.stack.OfKind(stack.App)[0].Root, "src/database.php"), "PDO::ATTR_EMULATE_PREPARES", "PDO::ATTR_PERSISTENT => true,\n            PDO::ATTR_EMULATE_PREPARES"},
		{filepath.Join(l.dir, "etc/php/pool.d/www.conf"), "pm = dynamic\npm.max_children = 5\n", fmt.Sprintf("pm = static\npm.max_children = %d\n", processes)},
	} {
		t.Cleanup(replaced(t, c.file, c.is, c.becomes))
	}
	restart()
	asFound := l.hash(t)
	tu := l.tuner()
	db, err := stack.OpenDB(t.Context(), l.hosts["local"], l.stack.OfKind(stack.MariaDB)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	await.For(t, "all processes to connect", func() bool {
		if _, err := l.bench.Run(t.Context(), RunOptions{Kind: store.Scored, Workload: processes}); err != nil {
			t.Fatal(err)
		}
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'login'").Scan(&n)
		return err == nil && n >= processes
	})
	// A busy machine answers few requests within a window: it grows until they tell enough.
	old := l.bench.Window
	defer func() { l.bench.Window, l.bench.Instruments.restarts = old, nil }()
	l.bench.Instruments.Plain = true
	looks := func(enough func(*store.Run) bool) *store.Run {
		for l.bench.Window = old; ; l.bench.Window *= 2 {
			run, _, err := Observe(t.Context(), l.exec, l.bench, processes, "look", quiet{})
			if err != nil {
				t.Fatal(err)
			}
			if enough(run) || l.bench.Window > 20*time.Second {
				return run
			}
		}
	}
	missed := func(run *store.Run) bool { return len(oldConnections(run)) > 0 }
	if run := looks(missed); !missed(run) {
		t.Fatalf("all statements were recorded, so this test shows nothing: %+v", run.Evidence.Statements)
	}
	l.bench.Instruments.restarts = tu.restartable
	whole := func(run *store.Run) bool {
		return !missed(run) && slices.ContainsFunc(run.Evidence.Statements, func(s evidence.Statement) bool { return strings.Contains(s.Fingerprint, "FROM users") })
	}
	if run := looks(whole); !whole(run) {
		t.Errorf("old connections of %v, statements %+v", oldConnections(run), run.Evidence.Statements)
	}
	if got := l.hash(t); got != asFound {
		t.Error("the configuration is not as found")
	}
}

// replaced has a text in a file in the place of another, and returns what takes that back.
func replaced(t *testing.T, file, is, becomes string) (back func()) {
	t.Helper()
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := errors.Join(os.WriteFile(file, []byte(text), info.Mode()), os.Chtimes(file, time.Time{}, info.ModTime())); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(string(was), is) {
		t.Fatalf("%s does not hold %q", file, is)
	}
	write(strings.Replace(string(was), is, becomes, 1))
	return func() { write(string(was)) }
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
