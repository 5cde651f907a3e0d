package diagnose

import (
	"math"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// machine is one host's part in answering a request. CPU seconds are per right
// answer.
type machine struct {
	name   string
	sys    *evidence.System
	cpus   float64
	allCPU float64 // everything it spent, but for other processes
	sysCPU float64 // the kernel's part
	genCPU float64 // the generator's part
	busy   float64 // CPU utilization, 0–1
}

// findMachines fills in the machines and what they are together. A host that
// only makes the load is none of them: its CPU is no limit of the service, and
// a run that it limited is no evidence.
func (m *model) findMachines(ok float64) {
	ev := m.in.Evidence
	works := map[string]bool{ev.System.Host: true}
	for i := range m.in.Stack.Services {
		works[m.in.Stack.Services[i].HostName()] = true
	}
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		if !works[name] || sys == nil {
			continue
		}
		k := &machine{name: name, sys: sys, cpus: math.Max(1, float64(sys.CPUs))}
		if c := sys.Cgroup; c != nil && c.CPUs > 0 && c.CPUs < k.cpus {
			k.cpus = c.CPUs // a quota is all that there is
		}
		spent := sys.User + sys.Sys
		// What other processes used is not demand of a request: it would make
		// every bound too low.
		k.allCPU, k.genCPU = max(spent-sys.ForeignCPU, 0)/ok, sys.GeneratorCPU/ok
		if total := k.cpus * m.window; total > 0 {
			k.busy = math.Min(1, spent/total)
		}
		// A container's CPUs may be full of what others spend on them.
		if total := float64(sys.CPUs) * m.window; total > 0 {
			k.busy = math.Min(1, max(k.busy, (spent+sys.Outside)/total))
		}
		m.machines = append(m.machines, k)
		m.cpus += k.cpus
		m.allCPU += k.allCPU
		m.genCPU += k.genCPU
		m.busy = max(m.busy, k.busy)
	}
	for _, k := range m.machines {
		k.sysCPU = m.kernelCPU(k) / ok
		m.sysCPU += k.sysCPU
	}
}

// kernelCPU is what a machine's kernel spent on requests, seconds: without its
// part in what other processes used, which is taken to be as large as in the
// whole, but at least what the services' own processes spent there.
func (m *model) kernelCPU(k *machine) float64 {
	sys := k.sys
	spent := sys.User + sys.Sys
	if spent <= 0 {
		return 0
	}
	services := 0.0
	for name, use := range m.in.Evidence.Services {
		if m.hostOf(name) == k.name {
			services += use.Sys
		}
	}
	ours := math.Max(spent-sys.ForeignCPU, 0)
	return math.Min(math.Max(sys.Sys*ours/spent, services), ours)
}

// fullDemand is the CPU per request that may be left when CPUs are full: where
// they are not, each request wakes processes and finds cold caches, which
// requests that queue up do not. It is the same kind of thrift as interference
// and measured with it.
func (k *machine) fullDemand() float64 {
	return math.Max(k.allCPU*(1-interference*(1-k.busy)), 1e-9)
}

// narrowest is the machine whose CPU allows least throughput.
func (m *model) narrowest() *machine {
	var out *machine
	for _, k := range m.machines {
		if out == nil || k.cpus/k.fullDemand() < out.cpus/out.fullDemand() {
			out = k
		}
	}
	return out
}

// alike in CPU utilization are machines that differ by at most this.
const alike = 0.05

// busiest is the machine with the highest CPU utilization; of several alike the
// one that spends most of its CPU on requests. Containers of one machine all see
// its CPU.
func (m *model) busiest() *machine {
	var out *machine
	for _, k := range m.machines {
		if k.busy >= m.busy-alike && (out == nil || k.allCPU/k.cpus > out.allCPU/out.cpus) {
			out = k
		}
	}
	return out
}

// hostOf is the host of a service.
func (m *model) hostOf(service string) string {
	if svc := m.in.Stack.Service(service); svc != nil && len(m.machines) > 1 {
		return svc.HostName()
	}
	return m.machines[0].name // also of runs stored before hosts had names
}

// machineOf is the machine that a service runs on; nil if it was not read.
func (m *model) machineOf(service string) *machine {
	host := m.hostOf(service)
	for _, k := range m.machines {
		if k.name == host {
			return k
		}
	}
	return nil
}

// at is machineOf with the front host for a service whose machine was not read.
func (m *model) at(service string) *machine {
	if k := m.machineOf(service); k != nil {
		return k
	}
	return m.machines[0]
}

// online is how many CPUs programs count on a service's machine (nginx's
// worker_processes auto): a quota does not change it.
func (m *model) online(service string) int { return max(m.at(service).sys.CPUs, 1) }

// on says " of HOST" where there are several.
func (m *model) on(k *machine) string {
	if len(m.machines) < 2 {
		return ""
	}
	return " of " + k.name
}

// memoryOf is what the configuration knows of a service's host.
func (m *model) memoryOf(svc *stack.Service) int64 { return m.in.Snapshot.On(svc.HostName()).Memory }

// eachHost calls judge for every host of the run, that of the generator too.
// With several hosts, findings name theirs.
func (m *model) eachHost(judge func(s *evidence.System) []Finding) []Finding {
	var out []Finding
	ev := m.in.Evidence
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		if sys == nil {
			continue
		}
		found := judge(sys)
		for i := range found {
			if len(ev.Hosts) == 0 {
				break
			}
			f := &found[i]
			f.Host = name
			f.Title += " (" + name + ")"
			for j := range f.Settings {
				if f.Settings[j].Service == "" {
					f.Settings[j].Host = name
				}
			}
		}
		out = append(out, found...)
	}
	return out
}

// boundKernelOn is boundKernelOf for one host.
func (m *model) boundKernelOn(share float64, host string) (ceiling, string) {
	at := map[string]float64{}
	for _, k := range m.machines {
		if k.name == host {
			at[host] = share * k.sysCPU
		}
	}
	return m.boundAt(at)
}
