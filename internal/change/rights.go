package change

import (
	"fmt"
	"io/fs"

	"kasoku/internal/stack"
)

// RightsError says which right a set of changes lacks. It is a kind of
// fs.ErrPermission.
type RightsError struct{ Why string }

func (e *RightsError) Error() string { return "not permitted: " + e.Why }

// Is makes it a kind of fs.ErrPermission.
func (*RightsError) Is(target error) bool { return target == fs.ErrPermission }

// Lacking says which right the changes need that is not there, with the
// command that grants it; nil if there is none, and for what nobody asked
// about (r is nil, a file that belongs to no service).
func Lacking(s *stack.Stack, r *stack.Rights, changes []Change) error {
	x := &Executor{options: Options{Stack: s}}
	for i := range changes {
		if why := lacks(r, &changes[i], x.runner(changes[i].Service)); why != "" {
			return fmt.Errorf("%s: %w", changes[i].Title(), &RightsError{why})
		}
	}
	return nil
}

// lacks looks at one change; runner is the service that takes it on.
func lacks(r *stack.Rights, c *Change, runner string) string {
	switch c.Kind {
	case KindFile:
		if why := r.Refuses(stack.NeedWrite, c.Service, c.Path); why != "" {
			return why
		}
		if why := r.Refuses(stack.NeedValidate, runner, ""); why != "" {
			return why
		}
	case KindDir:
		if dropinDir(c.Path) {
			if why := r.RefusesOn(stack.NeedUnits, c.hostName(), "*"); why != "" {
				return why
			}
		}
	case KindVariable:
		if why := r.Refuses(stack.NeedVariable, c.Service, ""); why != "" {
			return why
		}
	case KindReplica, KindTurn:
		if why := r.Refuses(stack.NeedVariable, c.Service, ""); why != "" {
			return why
		}
	case KindIndex:
		if c.Index != nil {
			if why := r.Refuses(stack.NeedIndex, c.Service, c.Index.Schema); why != "" {
				return why
			}
		}
	case KindSysctl:
		if why := r.RefusesOn(stack.NeedKernel, c.hostName(), "*"); why != "" {
			return why
		}
	case KindPackage:
		if why := r.RefusesOn(stack.NeedPackages, c.hostName(), "*"); why != "" {
			return why
		}
	case KindUnit:
		if why := lacksUnit(r, c); why != "" {
			return why
		}
	case KindProcess:
		if why := r.Refuses(stack.NeedRestart, runner, ""); why != "" {
			return why
		}
	case KindGit:
		if c.Git != nil {
			if why := r.RefusesOn(stack.NeedCheckout, c.hostName(), c.Git.Dir); why != "" {
				return why
			}
		}
	case KindReady:
		if c.Ready != nil {
			if why := r.RefusesOn(stack.NeedCheckout, c.hostName(), c.Ready.Dir); why != "" {
				return why
			}
		}
	case KindTable:
		if c.Table != nil {
			if why := r.Refuses(stack.NeedIndex, c.Service, c.Table.Schema); why != "" {
				return why
			}
		}
	case KindLink, KindExec, KindRestart: // no right of their own is looked up; what they activate is, below
	}
	switch c.Activate {
	case Reload:
		return r.Refuses(stack.NeedReload, runner, "")
	case Restart:
		return r.Refuses(stack.NeedRestart, runner, "")
	case None:
	}
	return ""
}

// lacksUnit: a supervisor's program is its service's, a unit is the machine's.
func lacksUnit(r *stack.Rights, c *Change) string {
	if c.Unit != nil && c.Unit.Supervisor != "" {
		return r.Refuses(stack.NeedRestart, c.Service, "")
	}
	return r.RefusesOn(stack.NeedUnits, c.hostName(), "*")
}
