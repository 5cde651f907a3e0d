package change

import (
	"context"
	"fmt"

	"kasoku/internal/stack"
)

// Process says whether one implementation of a service (stack.Variant) is to
// run. It is for those that are plain processes or have commands of their own;
// a unit or supervisor's program is a Unit.
type Process struct {
	// Name of the implementation; stack.Main is what the service's own keys say.
	Name string `json:"name"`
	// Before is what prepare found, After what it is to be: active or inactive.
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
	// Starting and Stopping are the commands that a person would type.
	Starting string `json:"starting,omitempty"`
	Stopping string `json:"stopping,omitempty"`
}

func (p *Process) what(service string) string {
	if p == nil {
		return "implementation (none given) of " + service
	}
	return "implementation " + p.Name + " of " + service
}

func (p *Process) title(service string) string {
	verb := "start "
	if p != nil && p.After == "inactive" {
		verb = "stop "
	}
	return verb + p.what(service)
}

// shell leads there and back.
func (p *Process) shell() (do, undo []string) {
	if p.After == "inactive" {
		return []string{p.Stopping}, []string{p.Starting}
	}
	return []string{p.Starting}, []string{p.Stopping}
}

// processAct starts or stops one implementation of a service.
type processAct struct{ work }

func (a *processAct) prepare(ctx context.Context) ([][]byte, error) {
	p := a.c.Process
	if p == nil || p.Name == "" || a.c.Service == "" || p.After != "active" && p.After != "inactive" {
		return nil, fmt.Errorf("%s: it needs a service, the name of an implementation, and active or inactive", a.c.Title())
	}
	n := *p // the plan's own stays as it is
	p, a.c.Process = &n, &n
	now, err := a.running(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	if p.Before != "" && p.Before != now {
		return nil, fmt.Errorf("%s: %w: it is %s, the plan saw %s", a.subject(), ErrChanged, now, p.Before)
	}
	if p.Before = now; p.Before == p.After {
		return nil, fmt.Errorf("%s: %w: it is %s already", a.subject(), ErrChanged, now)
	}
	return nil, nil
}

func (a *processAct) look(ctx context.Context) (sight, error) {
	now, err := a.running(ctx, a.c.Process.Name)
	return sight{got: now, before: now == a.c.Process.Before, after: now == a.c.Process.After}, err
}

func (a *processAct) write(ctx context.Context) (string, error) {
	return "", a.turn(ctx, a.c.Process.Name, a.c.Process.After == "active")
}

func (a *processAct) restore(ctx context.Context) error {
	return a.turn(ctx, a.c.Process.Name, a.c.Process.Before == "active")
}

func (a *processAct) conflict(s sight) *ConflictError {
	return a.differs(a.c.Process.Before, a.c.Process.After, s.got)
}

// starter is what acts on an implementation of the change's service.
func (w *work) starter(name string) (Starter, error) {
	if w.x.options.Variant == nil {
		return nil, fmt.Errorf("%s: no control over a service's implementations was given", w.c.Service)
	}
	return w.x.options.Variant(w.c.Service, name)
}

// running is active or inactive.
func (w *work) running(ctx context.Context, name string) (string, error) {
	s, err := w.starter(name)
	if err != nil {
		return "", err
	}
	state, err := s.State(ctx)
	if err != nil {
		return "", err
	}
	if state == stack.Running {
		return "active", nil
	}
	return "inactive", nil
}

// turn starts an implementation or stops it. Connections to the service are
// another process's after that.
func (w *work) turn(ctx context.Context, name string, on bool) error {
	s, err := w.starter(name)
	if err != nil {
		return err
	}
	defer w.x.forget(w.c.Service)
	if on {
		return s.Start(ctx)
	}
	return s.Stop(ctx)
}

// prefer tells a Controller which implementation the journal started last, so
// that one that ended is started again and not the one before it.
func (x *Executor) prefer(c Controller, service string) {
	p, ok := c.(interface{ Prefer(name string) })
	if !ok {
		return
	}
	last := ""
	for _, t := range x.journal.txs {
		if t.State == StateReverted || t.State == StateUndone {
			continue
		}
		for i := range t.Changes {
			c, done := &t.Changes[i], t.progress[i]
			if c.Service != service || !done.intent || done.skipped {
				continue
			}
			if name, on := c.turns(); name != "" && on != done.restored {
				last = name
			}
		}
	}
	p.Prefer(last)
}

// turns is the implementation that a change starts (on) or stops; "" for
// other changes.
func (c *Change) turns() (name string, on bool) {
	switch {
	case c.Kind == KindProcess && c.Process != nil:
		return c.Process.Name, c.Process.After == "active"
	case c.Kind == KindUnit && c.Unit != nil && c.Unit.After.Active != c.Unit.Before.Active:
		return c.Unit.Variant, c.Unit.After.Active == "active"
	}
	return "", false
}

// Restarts reports whether a change ends processes of its service: it restarts
// it, or has another implementation take over.
func (c *Change) Restarts() bool {
	name, _ := c.turns()
	return c.Activate == Restart || name != "" || c.Unit != nil && c.Unit.Variant != ""
}
