package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
)

func judgeWorkload(m *model) ([]Finding, string) {
	if m.busy >= saturatedCPU {
		return nil, ""
	}
	name, text := m.binds()
	for _, full := range []string{bindsWorkers, "connections: ", "locks: "} {
		if strings.HasPrefix(name, full) {
			return nil, "more users would only wait longer: " + text
		}
	}
	f := Finding{Title: "The load may be too small to show what the service can do",
		Text: fmt.Sprintf("%.0f users keep CPU only %.0f %% busy. A larger workload may raise the score without any change to the service.",
			m.n, 100*m.busy),
		Evidence: []string{"system counters", "load result"}}
	f = f.bounded(m.boundWait())
	return []Finding{f}, ""
}

// generatorShare of all CPU above which the load itself is the main cost.
const generatorShare = 0.4

func judgeGenerator(m *model) ([]Finding, string) {
	if m.allCPU == 0 || m.genCPU/m.allCPU < generatorShare {
		return nil, ""
	}
	f := Finding{Title: "The load generator uses much of the machine",
		Text: fmt.Sprintf("It takes %s of the %s of CPU per request (%.0f %%); what is left of the service cannot gain more than the rest. Drive the load from another machine to see further.",
			seconds(m.genCPU), seconds(m.allCPU), 100*m.genCPU/m.allCPU),
		Evidence: []string{"generator's own CPU time"}}
	f = f.bounded(m.bound(m.genCPU))
	return []Finding{f}, ""
}

// judgeUnsaturated looks for what else makes requests wait, and says of each
// cause what was seen (W13).
func judgeUnsaturated(m *model) ([]Finding, string) {
	name, text := m.binds()
	if name != "nothing" {
		return nil, ""
	}
	f := Finding{Title: "No resource is saturated", Text: text + ". " + strings.Join(m.causes(), "; ") + ".",
		Evidence: []string{"system counters", "load result"}}
	f = f.bounded(m.boundWait())
	return []Finding{f}, ""
}

// causes of waiting without a full resource, likeliest first, each with its
// numbers.
func (m *model) causes() []string {
	var out []string
	r, z := m.latency(), m.think()
	cpu := m.allCPU - m.genCPU
	if r > 0 {
		out = append(out, fmt.Sprintf("latency × concurrency: %.0f users / (%s latency + %s between requests) = %.0f/s, of each %s only %s are CPU time, the rest is waiting",
			m.n, seconds(r), seconds(z), m.n/(r+z), seconds(r), seconds(min(cpu, r))))
	}
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		if pools, err := FPMPools(m.in.Snapshot, svc); err == nil {
			for _, p := range pools {
				out = append(out, fmt.Sprintf("workers: pool %s has %d processes for %.1f requests under way", p.Name, p.MaxChildren, m.inSystem))
			}
		}
	}
	out = append(out, m.otherWorkers()...)
	_, _ = m.eachDB(func(v dbView) []Finding {
		if limit, used, refused, ok := v.connectionUse(); ok {
			out = append(out, fmt.Sprintf("connections: %s had %.0f of max_connections = %.0f open at most since its start, %.0f were refused in the run", v.svc.Name, used, limit, refused))
		}
		return nil
	})
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		running, _ := m.values(svc.Name)("Threads_running")
		out = append(out, fmt.Sprintf("locks: %.2f transactions of %s wait for rows on average, %.0f threads run at the end", m.lockWait[svc.Name], svc.Name, running))
	}
	if who, use := m.busiestThread(); who != "" && use > 0 {
		out = append(out, fmt.Sprintf("serial sections: the busiest thread is of %s, %s in use", who, percent(use)))
	}
	for _, k := range m.machines {
		if all := k.cpus * m.window; k.sys.IOWait > 0.05*all {
			out = append(out, fmt.Sprintf("disk%s: %s of the time CPUs were idle while something waited for a disk", m.on(k), percent(k.sys.IOWait/all)))
		}
		if k.sys.ListenOverflows > 0 {
			out = append(out, fmt.Sprintf("connections%s: %d came while an accept queue was full", m.on(k), k.sys.ListenOverflows))
		}
	}
	if m.n > 0 && m.inSystem < 0.5*m.n {
		out = append(out, fmt.Sprintf("the load: of %.0f users %.1f have a request under way, the others pause", m.n, m.inSystem))
	}
	if sat := m.in.Evidence.Load.Saturated; sat != "" {
		out = append(out, "the generator: "+sat)
	}
	return out
}
