package apps

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planVariant plans each other implementation of the application that a finding
// is about; of every application, if it is about a database that requests
// connect to.
func planVariant(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var out []planning.Plan
	var failed error
	for _, svc := range in.Stack.OfKind(stack.App) {
		if svc.InUse() == "" || f.Rule == "app.variant" && svc.Name != f.Service {
			continue
		}
		for _, name := range svc.Implementations() {
			if name == svc.InUse() {
				continue
			}
			p, err := switchTo(in, svc, name, f.Text)
			if err != nil {
				failed = err
				continue
			}
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, failed
}

// variantPlan is the ID of the plan that makes a service run as an
// implementation.
func variantPlan(svc *stack.Service, name string) string {
	return "app.variant:" + svc.Name + ":" + name
}

// switchTo stops the implementation in use and starts the named one. Both
// listen at the same address, so one ends before the other begins.
func switchTo(in planning.Input, svc *stack.Service, name, why string) (planning.Plan, error) {
	states := in.Snapshot.Variants[svc.Name]
	next := svc.As(name)
	// What is not enabled now (generated, static) stays with its state; what
	// starts at boot is handed on where both are units that can be enabled.
	hand := states[svc.InUse()].Boot == "enabled" && states[name].Boot == "disabled"
	if states[name].State == stack.Running {
		return planning.Plan{}, fmt.Errorf("%s: %s and %s both run; stop one", svc.Name, svc.InUse(), name)
	}
	off, err := turn(svc, states[svc.InUse()], false, hand)
	if err != nil {
		return planning.Plan{}, err
	}
	on, err := turn(next, states[name], true, hand)
	if err != nil {
		return planning.Plan{}, err
	}
	off.Why, on.Why = why, why
	edits, err := autostart(in, svc, next, why)
	if err != nil {
		return planning.Plan{}, err
	}
	return planning.Plan{ID: variantPlan(svc, name), Back: variantPlan(svc, svc.InUse()),
		Title: fmt.Sprintf("Run %s as %s instead of %s", svc.Name, name, svc.InUse()), Changes: append([]change.Change{off, on}, edits...)}, nil
}

// autostart edits supervisord's configuration so that it starts the next
// implementation by itself. It comes last and is read at the next restart:
// what runs is as it should be by then.
func autostart(in planning.Input, svc, next *stack.Service, why string) ([]change.Change, error) {
	if svc.ControlMethod() != stack.MethodSupervisor {
		return nil, nil
	}
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err == nil {
		err = start.HandOn(next)
	}
	if err != nil {
		return nil, err
	}
	return planning.FileChanges(in.Snapshot, svc, start.Changed(), change.None, why)
}

// turn starts or stops the implementation that svc stands for; boot also
// enables or disables its unit.
func turn(svc *stack.Service, now stack.VariantState, on, boot bool) (change.Change, error) {
	c := change.Change{Host: planning.HostOf(svc), Service: svc.Name}
	after := "inactive"
	if on {
		after = "active"
	}
	switch svc.ControlMethod() {
	case stack.MethodSystemd:
		name := svc.Control.Unit
		if !strings.Contains(name, ".") {
			name += ".service"
		}
		c.Kind, c.Unit = change.KindUnit, &change.Unit{Name: name, Variant: svc.InUse(), After: change.UnitState{Active: after}}
		if boot {
			c.Unit.Before.Enabled, c.Unit.After.Enabled = now.Boot, "disabled"
			if on {
				c.Unit.After.Enabled = "enabled"
			}
		}
	case stack.MethodSupervisor:
		if svc.Control.Config == "" || strings.HasSuffix(svc.Control.Program, "*") {
			return c, fmt.Errorf("%s as %s: to start and stop it under supervisor, name supervisord's configuration and one program (control.config, control.program)", svc.Name, svc.InUse())
		}
		c.Kind, c.Unit = change.KindUnit, &change.Unit{Name: svc.Control.Program, Supervisor: svc.Control.Config, Variant: svc.InUse(), After: change.UnitState{Active: after}}
	default:
		c.Kind = change.KindProcess
		c.Process = &change.Process{Name: svc.InUse(), After: after, Starting: starting(svc), Stopping: stopping(svc)}
	}
	return c, nil
}

// starting and stopping are what a person would type.
func starting(svc *stack.Service) string {
	line := strings.Join(svc.Control.Start, " ")
	if svc.ControlMethod() == stack.MethodProcess {
		line += " &"
	}
	if svc.Root != "" {
		line = "cd " + svc.Root + " && " + line
	}
	return line
}

func stopping(svc *stack.Service) string {
	if len(svc.Control.Stop) > 0 {
		return strings.Join(svc.Control.Stop, " ")
	}
	return fmt.Sprintf(`kill "$(cat %s)"`, svc.Control.PIDFile)
}
