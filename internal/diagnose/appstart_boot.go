package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// HandOn has supervisord start the program of next by itself, and no longer
// this one, where both are in one configuration; Changed then has the edit.
// Nothing is edited for other ways to start.
//
// autostart is true where it is not set, and read as Python's supervisor does:
// true, yes, on, 1 (supervisor's manual, "[program:x] Section Values";
// supervisor/datatypes.py, boolean).
func (s *AppStart) HandOn(next *stack.Service) error {
	if s.super == nil || next.ControlMethod() != stack.MethodSupervisor || next.Control.Config != s.svc.Control.Config {
		return nil
	}
	name := next.Control.Program
	if _, of, grouped := strings.Cut(name, ":"); grouped {
		name = of
	}
	to := "program:" + name
	if !slices.Contains(s.super.Sections(), to) {
		return fmt.Errorf("%s: %s has no [%s]", next.Name, next.Control.Config, to)
	}
	if !s.autostart(s.section) {
		return nil // nothing is to be handed on
	}
	if _, err := s.super.Set(s.section, "autostart", "false"); err != nil {
		return err
	}
	if s.autostart(to) {
		return nil
	}
	_, err := s.super.Set(to, "autostart", "true")
	return err
}

func (s *AppStart) autostart(section string) bool {
	v, set := s.super.Get(section, "autostart")
	return !set || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(strings.TrimSpace(v.Text)))
}
