package evidence

import (
	"path"
	"strings"

	"kasoku/internal/confedit/unit"
	"kasoku/internal/confedit/vcl"
	"kasoku/internal/stack"
)

// varnishFiles reads a Varnish's VCL with what it includes, and the unit whose
// ExecStart holds varnishd's arguments, or the script that control.start names.
func varnishFiles(svc *stack.Service, r *fileReader) error {
	if svc.Config != "" {
		var dirs []string
		if p, ok := vcl.ParseArgs(svc.Control.Start).Param("vcl_path"); ok {
			dirs = strings.Split(p, ":")
		}
		if _, err := vcl.Load(svc.Config, dirs, r.read, r.glob); err != nil {
			return err
		}
	}
	if svc.ControlMethod() != stack.MethodSystemd {
		for _, arg := range svc.Control.Start {
			if !path.IsAbs(arg) || arg == svc.Binary || path.Base(arg) == "varnishd" || path.Base(arg) == "sh" || path.Base(arg) == "bash" {
				continue
			}
			if _, err := r.read(arg); err != nil {
				return err
			}
		}
		return nil
	}
	name := svc.Control.Unit
	if path.Ext(name) == "" {
		name += ".service"
	}
	_, err := unit.Load(name, r.read, r.glob)
	return err
}
