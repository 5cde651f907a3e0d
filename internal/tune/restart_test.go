package tune

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// How a service is controlled does not matter, only whether it can be: most
// name a unit and no method, and a process needs neither.
func TestEveryServiceIsRestartedThatCanBe(t *testing.T) {
	st := &stack.Stack{Services: []stack.Service{
		{Name: "db", Kind: stack.MariaDB, Control: stack.Control{Unit: "mariadb.service"}},
		{Name: "cache", Kind: stack.Redis, Control: stack.Control{Method: stack.MethodProcess, Start: []string{"redis-server"}}},
		{Name: "app", Kind: stack.App, Control: stack.Control{Program: "shop"}},
		{Name: "php", Kind: stack.PHPFPM},
		{Name: "pages", Kind: stack.App, RunsIn: "php"},
		{Name: "old", Kind: stack.App},
		{Name: "web", Kind: stack.Nginx, Control: stack.Control{Method: stack.MethodCommand}},
	}, Regulation: regulation.Regulation{NoRestart: []string{"web"}}}
	rights := &stack.Rights{All: []stack.Right{{Need: stack.NeedRestart, Service: "old", Object: "*", Why: "kasoku.yaml does not say how to start it"}}}
	tu := &Tuner{Stack: st, Rights: rights}
	restarts, not := tu.restartable()
	var names []string
	for _, c := range restarts {
		if c.Kind != change.KindRestart || c.Activate != change.Restart || c.Host == "" {
			t.Errorf("%+v", c)
		}
		names = append(names, c.Service)
	}
	if want := []string{"db", "cache", "app", "php"}; !slices.Equal(names, want) {
		t.Errorf("restarted are %v, want %v", names, want)
	}
	if len(not) != 2 || not[0].Service != "old" || !strings.Contains(not[0].Why, "how to start it") || not[1].Service != "web" || !strings.Contains(not[1].Why, "no_restart") {
		t.Errorf("not restarted: %+v", not)
	}
}

// counted is a Controller that counts restarts.
type counted struct {
	nothing
	n *int
}

func (c counted) Restart(context.Context) error { *c.n++; return nil }

// A session on a stack that names no control.method restarts at its end all the
// same; what it may not restart is stored, and the score after it only if
// something was restarted.
func TestTheEndRestartsWithoutAMethod(t *testing.T) {
	for _, forbidden := range []bool{false, true} {
		v := newVirtual(t, knob{name: "a", factor: 1.5, bound: 2})
		v.stack.Services = append(v.stack.Services, stack.Service{Name: "web", Kind: stack.Nginx, Control: stack.Control{Unit: "nginx.service"}})
		v.stack.Services[0].RunsIn = "" // it has processes of its own
		v.stack.Regulation.NoRestart = []string{"app"}
		if forbidden {
			v.stack.Regulation.NoRestart = append(v.stack.Regulation.NoRestart, "web")
		}
		n := 0
		v.control = counted{n: &n}
		tu := v.tuner()
		tu.Options.NoRestart, tu.course.workload = false, 8
		tu.session = &store.Session{Command: "tune", Started: time.Now()}
		if err := v.store.SaveSession(tu.session); err != nil {
			t.Fatal(err)
		}
		if err := tu.afterRestart(t.Context()); err != nil {
			t.Fatal(err)
		}
		session := tu.session
		want := []store.NotRestarted{{Service: "app", Why: "it restarts app, which regulation.no_restart lists"}}
		if forbidden {
			want = append(want, store.NotRestarted{Service: "web", Why: "it restarts web, which regulation.no_restart lists"})
		}
		if restarted := n == 1; restarted == forbidden || (session.AfterRestart > 0) == forbidden || !slices.Equal(session.NotRestarted, want) {
			t.Errorf("forbidden %v: %d restarts, %.0f points/s after it, not restarted %+v", forbidden, n, session.AfterRestart, session.NotRestarted)
		}
	}
}
