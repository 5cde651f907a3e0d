package change

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/stack"
)

// unitStarter starts and stops a unit of the overlay, and writes it down.
type unitStarter struct {
	t     *testing.T
	o     overlay
	unit  string
	calls *[]string
	fail  *error
}

func (s unitStarter) order(verb string) error {
	*s.calls = append(*s.calls, verb+" "+s.unit)
	if *s.fail != nil && verb == "start" {
		return *s.fail
	}
	s.o.sh(s.t, "systemctl "+verb+" "+s.unit)
	return nil
}
func (s unitStarter) Start(context.Context) error { return s.order("start") }
func (s unitStarter) Stop(context.Context) error  { return s.order("stop") }
func (s unitStarter) State(context.Context) (stack.State, error) {
	return "", errors.New("systemctl tells a unit's state")
}

// A unit that is an implementation of a service is started and stopped as that
// (drained, until it is healthy), and what boot starts is handed on and back
// with every link. One that does not come up gives the place back.
func TestUnitsOfImplementations(t *testing.T) {
	await.SkipShort(t)
	l, o := unitLab(t)
	x := o.executor(t, l)
	var calls []string
	var fail error
	units := map[string]string{stack.Main: "kapp.service", "perl": "koff.service"}
	x.options.Variant = func(service, name string) (Starter, error) {
		return unitStarter{t, o, units[name], &calls, &fail}, nil
	}
	before := o.seenUnits(t)
	off, on := unit("kapp.service", UnitState{"disabled", "inactive"}), unit("koff.service", UnitState{"enabled", "active"})
	off.Unit.Variant, on.Unit.Variant = stack.Main, "perl"
	intent := Intent{Title: "t", Changes: []Change{off, on}}

	fail = errors.New("it does not answer")
	if _, err := x.Apply(t.Context(), intent); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Fatalf("error %v", err)
	}
	fail = nil
	if _, err := x.Recover(t.Context()); err != nil { // main could not be started either
		t.Fatal(err)
	}
	wantEqual(t, "after a failure", o.seenUnits(t), before)

	calls = nil
	tx, err := x.Apply(t.Context(), intent)
	must(t, err)
	if now := o.seenUnits(t); !strings.Contains(now, "kapp disabled inactive") || !strings.Contains(now, "koff enabled active") {
		t.Fatalf("it is:\n%s", now)
	}
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Undo(t.Context(), tx.ID, false))
	wantEqual(t, "undone", o.seenUnits(t), before)
	wantEqual(t, "orders", strings.Join(calls, ", "), "stop kapp.service, start koff.service, stop koff.service, start kapp.service")
}
