package stack

import (
	"fmt"
	"reflect"
)

// validateVariants: a service's implementations must differ in name and in
// control, and each must be told from the others while it runs.
func validateVariants(d *document, path string, svc *Service) {
	if len(svc.Variants) == 0 {
		return
	}
	switch {
	case svc.Kind != App:
		d.report(path+".variants", "belongs to an app, this one is %s", svc.Kind)
		return
	case svc.RunsIn != "":
		d.report(path+".variants", "the app runs in %q, whose processes are started and stopped for others too; variants need a control of their own", svc.RunsIn)
		return
	}
	unmistakable(d, path+".control", svc)
	seen := map[string]bool{Main: true}
	for i := range svc.Variants {
		v := &svc.Variants[i]
		p := fmt.Sprintf("%s.variants[%d]", path, i)
		switch {
		case v.Name == "":
			d.report(p+".name", `missing; write e.g. "name: perl"`)
		case !serviceName.MatchString(v.Name):
			d.report(p+".name", "%q: a variant's name may only have letters, digits, '-', '_' and '.'", v.Name)
		case v.Name == Main:
			d.report(p+".name", "%q is the service as it stands above; choose another name", Main)
		case seen[v.Name]:
			d.report(p+".name", "%q is already the name of another variant; names must differ", v.Name)
		}
		seen[v.Name] = true
		as := svc.As(v.Name)
		if as == nil || v.Name == Main {
			continue
		}
		as.Control, as.Build, as.PProf = v.Control, v.Build, v.PProf // of this one, also where names are the same
		if !as.hasControl() {
			d.report(p+".control", "missing; write how this one is started and stopped, e.g. \"control: {unit: login-%s.service}\"", v.Name)
			continue
		}
		for _, other := range append([]Control{svc.Control}, controls(svc.Variants[:i])...) {
			if sameControl(v.Control, other) {
				d.report(p+".control", "is the control of another implementation of %s; each needs its own", svc.Name)
				break
			}
		}
		validateControl(d, p+".control", as)
		validatePaths(d, p, as)
		validateBuild(d, p+".build", as)
		if v.PProf != "" {
			if msg := checkURL(v.PProf); msg != "" {
				d.report(p+".pprof", "%s", msg)
			}
		}
		unmistakable(d, p+".control", as)
	}
}

// unmistakable: all implementations listen at the same address, and may be the
// same program, so only a manager or a PID file tells which one runs.
func unmistakable(d *document, path string, svc *Service) {
	if m := svc.ControlMethod(); (m == MethodProcess || m == MethodCommand) && svc.Control.PIDFile == "" {
		d.report(path+".pid_file", "missing; a service with variants needs it with method %s, because all of them listen at the same address and only this file tells which one runs", m)
	}
	if svc.ControlMethod() == MethodProcess && len(svc.Control.Start) == 0 {
		d.report(path+".start", "missing; write [program, argument, …]")
	}
}

func controls(vs []Variant) []Control {
	var out []Control
	for _, v := range vs {
		out = append(out, v.Control)
	}
	return out
}

// sameControl reports whether two controls are of the same thing.
func sameControl(a, b Control) bool {
	return a.Unit != "" && a.Unit == b.Unit || a.Program != "" && a.Program == b.Program && a.Config == b.Config ||
		a.PIDFile != "" && a.PIDFile == b.PIDFile || reflect.DeepEqual(a, b)
}
