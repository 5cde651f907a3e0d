package units

import (
	"errors"
	"fmt"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planAgent stops an agent and keeps it from starting at the next boot.
func planAgent(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	unit := f.Subject["unit"]
	if unit == "" {
		return nil, errors.New("the finding names no unit")
	}
	host := f.Host
	if host == "" {
		host = in.Stack.FrontHost()
	}
	return []planning.Plan{{ID: "host.agents:" + host + ":" + unit, Title: "Stop " + f.Subject["agent"] + " (" + unit + ") on " + host,
		Changes: []change.Change{{Kind: change.KindUnit, Host: host, Unit: &change.Unit{Name: unit, After: change.UnitState{Enabled: "disabled", Active: "inactive"}},
			Why: f.Text, Command: "systemctl disable --now " + unit}}}}, nil
}

// mostTasks is the kernel's own limit of process numbers on 64-bit machines
// (sysctl/kernel.rst, pid_max).
const mostTasks = 1 << 22

// planTasks lets a unit have four times as many processes and threads, as the
// limit of open files is raised.
func planTasks(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	use := in.Evidence.Services[f.Service].Cgroup
	if svc == nil || use == nil {
		return nil, errors.New("the finding names no service with a limit")
	}
	if svc.ControlMethod() != stack.MethodSystemd {
		return nil, fmt.Errorf("%s is not started by a unit of systemd; whoever made its control group says the limit (pids.max)", svc.Name)
	}
	n := min(4*use.PidsLimit, mostTasks)
	if n <= use.PidsLimit {
		return nil, fmt.Errorf("%s may have %d tasks already", svc.Name, use.PidsLimit)
	}
	cs, err := planning.SetUnit(in, svc, f.Text, [2]string{"TasksMax", strconv.FormatInt(n, 10)})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("unit.tasks:%s:%d", svc.Name, n), Title: fmt.Sprintf("Let %s have %d processes and threads instead of %d", svc.Name, n, use.PidsLimit), Changes: cs}}, nil
}
