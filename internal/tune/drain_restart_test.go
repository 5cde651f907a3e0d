package tune

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/foreign"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// starts is a Controller that counts, and does something at each.
type starts struct {
	nothing
	n  int
	do func() error
}

func (s *starts) Restart(context.Context) error { s.n++; return s.do() }

// Applications that go on answering what nobody waits for are restarted in place of being
// waited for, as long as that helps.
func TestRestartInPlaceOfWaiting(t *testing.T) {
	const long = 50
	for _, c := range []struct {
		name                 string
		backlog, other       int // seconds that the application, and another service, works after a run
		fails, refused       bool
		drains               int // with a backlog each
		restarts, firstLooks int
		says                 string
	}{
		{name: "a short backlog", backlog: 4, drains: 1, firstLooks: 5, says: "worked on for 4 s"},
		{name: "a long one", backlog: long, drains: 2, restarts: 2, firstLooks: restartLooks + 2, says: "until app was restarted"},
		{name: "the database's", other: 40, drains: 2, restarts: 1, firstLooks: 41, says: "though app was restarted; that is not done again"},
		{name: "it fails", backlog: long, fails: true, drains: 2, restarts: 2, firstLooks: long + 1, says: "app could not be restarted"},
		{name: "it may not be", backlog: long, refused: true, drains: 2, firstLooks: long + 1, says: "worked on for 50 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVirtual(t)
			v.stack.Services[0].RunsIn, v.stack.Services[0].Binary = "", "/usr/bin/python3"
			v.stack.Load.Command = &foreign.Command{Argv: []string{"bench"}}
			var told []string
			tu := v.tuner()
			b := tu.Bench
			b.Listeners.Note = func(text string) { told = append(told, text) }
			b.Instruments.exec = tu.Exec
			b.Instruments.restarts = func() ([]change.Change, []store.NotRestarted) {
				if c.refused {
					return nil, []store.NotRestarted{{Service: "app", Why: "regulation.no_restart lists it"}}
				}
				return []change.Change{{Kind: change.KindRestart, Host: "local", Service: "app", Activate: change.Restart}}, nil
			}
			app, other, looks := 0, 0, 0
			control := &starts{}
			control.do = func() error {
				if c.fails && control.n == 1 { // the second one puts it back
					return errors.New("no")
				}
				if !c.fails {
					app = 0
				}
				return nil
			}
			v.control = control
			b.disturbance.working = func(context.Context) (float64, error) {
				looks++
				if app+other == 0 {
					return 0, nil
				}
				app, other = max(0, app-1), max(0, other-1)
				return 0.9, nil
			}
			for i := range c.drains {
				app, other, looks = c.backlog, c.other, 0
				if err := b.drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if i == 0 && looks != c.firstLooks {
					t.Errorf("%d looks, want %d", looks, c.firstLooks)
				}
			}
			if control.n != c.restarts {
				t.Errorf("%d restarts, want %d", control.n, c.restarts)
			}
			if text := strings.Join(told, "\n"); !strings.Contains(text, c.says) {
				t.Errorf("told %q, want %q", text, c.says)
			}
			if n := len(tu.Exec.Pending()); n > 0 {
				t.Errorf("%d changes are pending", n)
			}
		})
	}
}

// A backlog may be there while a change is on trial: that one stays pending, is taken back as
// ever, and the restart is no change that undo would take back.
func TestRestartBesideAChangeOnTrial(t *testing.T) {
	v := newVirtual(t, knob{name: "better", factor: 1.2, bound: 2})
	tu, in := v.looked()
	tu.Bench.Instruments.exec = tu.Exec
	tu.Bench.Instruments.restarts = func() ([]change.Change, []store.NotRestarted) {
		return []change.Change{{Kind: change.KindRestart, Host: "local", Service: "app", Activate: change.Restart}}, nil
	}
	v.stack.Services[0].RunsIn = ""
	control := &starts{do: func() error { return nil }}
	v.control = control
	before := v.text()
	tx, err := tu.Exec.Apply(t.Context(), change.Intent{Title: "t", Changes: remedy.PlanAll(in).Plans[0].Changes})
	if err != nil {
		t.Fatal(err)
	}
	whom, err := tu.Bench.unload(t.Context())
	if err != nil || whom != "app" || control.n != 1 || len(tu.Exec.Pending()) != 1 || v.on() != "better" {
		t.Fatalf("restarted %q, %d times, %v; %d pending, on: %q", whom, control.n, err, len(tu.Exec.Pending()), v.on())
	}
	if err := tu.Exec.Revert(t.Context(), tx.ID); err != nil || v.text() != before {
		t.Errorf("%v; it is %q", err, v.text())
	}
	if kept := slices.DeleteFunc(tu.Exec.History(), func(x change.Tx) bool { return !x.InForce() }); len(kept) > 0 {
		t.Errorf("in force: %+v", kept)
	}
}

// What applications run in is restarted, but a Java program, which is slow at first, is not.
func TestWhoIsRestartedInPlaceOfWaiting(t *testing.T) {
	st := &stack.Stack{Services: []stack.Service{
		{Name: "front", Kind: stack.Nginx}, {Name: "fpm", Kind: stack.PHPFPM}, {Name: "blog", Kind: stack.App, RunsIn: "fpm"},
		{Name: "wiki", Kind: stack.App, RunsIn: "httpd"}, {Name: "httpd", Kind: stack.Apache}, {Name: "api", Kind: stack.App, Binary: "/usr/bin/node"},
		{Name: "shop", Kind: stack.App, Binary: "/usr/lib/jvm/java-17/bin/java"}, {Name: "db", Kind: stack.MariaDB}}}
	if got := strings.Join(appServers(st), " "); got != "fpm httpd api shop" {
		t.Errorf("applications run in %q", got)
	}
	v := newVirtual(t)
	tu := v.tuner()
	v.stack.Services = []stack.Service{{Name: "shop", Kind: stack.App, Binary: "/usr/lib/jvm/java-17/bin/java"}}
	tu.Bench.Instruments.exec, tu.Bench.Instruments.restarts = tu.Exec, tu.restartable
	if whom, err := tu.Bench.unload(t.Context()); whom != "" || err != nil || !tu.Bench.disturbance.unhelped {
		t.Errorf("restarted %q, %v", whom, err)
	}
}
