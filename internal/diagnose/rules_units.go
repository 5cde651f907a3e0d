package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"kasoku/internal/evidence"
)

var unitRules = []Rule{
	{"system.agents", []string{"W14", "I09"}, needSystem, judgeAgents},
	{"system.log-output", []string{"W14"}, needSystem, judgeJournal},
	{"system.tasks", []string{"L12"}, "control groups", judgeTasks},
}

// visibleAgent is the share of a host's CPU from which an agent is told of: as
// much as the least effect that is worth keeping (tune.smallest_effect, 0.01).
const visibleAgent = 0.01

// judgeAgents: a program that watches the host takes CPU from those that serve
// (W14).
func judgeAgents(m *model) ([]Finding, string) {
	return m.eachHost(m.agentsOn), ""
}

func (m *model) agentsOn(s *evidence.System) []Finding {
	cpu, names := map[string]float64{}, map[string]string{}
	for _, p := range s.Others {
		if agentOf(p.Unit) != "" && !m.ofStack(p.Unit) {
			cpu[p.Unit] += p.CPU
			if names[p.Unit] == "" {
				names[p.Unit] = p.Name // the busiest comes first
			}
		}
	}
	var out []Finding
	for _, unit := range slices.Sorted(maps.Keys(cpu)) {
		share := cpu[unit] / (float64(s.CPUs) * m.window)
		if s.CPUs <= 0 || share < visibleAgent {
			continue
		}
		bound, formula := m.boundAt(map[string]float64{m.nameOf(s): cpu[unit] / (m.x * m.window)})
		out = append(out, about("", agentOf(unit)+" takes a visible share of the CPU",
			fmt.Sprintf("%s (%s) used %.2f s of CPU in %.0f s, %s of the host's. It watches the host and answers no request.", names[unit], unit, cpu[unit], m.window, percent(share)),
			"/proc/PID/stat, /proc/PID/cgroup").with("unit", unit).with("agent", agentOf(unit)).bounded(bound, formula))
	}
	return out
}

// nameOf is the name of a host's machine in the model.
func (m *model) nameOf(s *evidence.System) string {
	for _, k := range m.machines {
		if k.sys == s {
			return k.name
		}
	}
	return s.Host
}

// ofStack reports whether a unit is a service's of the stack.
func (m *model) ofStack(unit string) bool {
	for _, svc := range m.in.Stack.Services {
		if svc.Control.Unit != "" && evidence.UnitName(svc.Control.Unit) == unit {
			return true
		}
	}
	return false
}

// judgeTasks: at TasksMax of its unit a service can start no more processes
// and threads ("Resource temporarily unavailable").
func judgeTasks(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.Services {
		c := m.in.Evidence.Services[svc.Name].Cgroup
		if c == nil || c.PidsLimit <= 0 || float64(c.Pids) < nearPorts*float64(c.PidsLimit) {
			continue
		}
		out = append(out, about(svc.Name, svc.Name+" is near its limit of tasks",
			fmt.Sprintf("%d of %d processes and threads are there; at the limit no more can be started (\"Resource temporarily unavailable\").", c.Pids, c.PidsLimit),
			"pids.current, pids.max").
			asks(Setting{Service: svc.Name, Name: "TasksMax", Now: fmt.Sprint(c.PidsLimit), Up: 1}).bounded(m.boundWait()))
	}
	return out, ""
}
