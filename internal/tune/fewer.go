package tune

import (
	"math"
	"slices"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

const (
	// fullCPU of all CPUs of a host: more users only wait there.
	fullCPU = 0.9
	// usersPerCPU keep a CPU busy while some of them wait for a disk or a lock.
	usersPerCPU = 2
)

// fewer users are asked for where nobody said how many, the CPUs are full, and sessions are
// too long for a window: with half of them each takes half as long, and as much is done. 0:
// they stay.
func (b *Bench) fewer(run *store.Run) int {
	l := run.Evidence.Load
	switch {
	case b.Foreign() || b.Scenario == nil || !b.Scenario.WorkloadAssumed || b.Stack.Load.Workload > 0:
		return 0
	case run.Kind != store.Scored || run.Side != "" || l.Unreached == 0 || l.LeastWindow() <= longestWindow || !busy(run.Evidence):
		return 0
	}
	share := longestWindow.Seconds() / l.LeastWindow().Seconds()
	n := max(usersPerCPU*serviceCPUs(run.Evidence), int(math.Ceil(float64(l.Workload)*share)))
	if n >= l.Workload {
		return 0
	}
	return n
}

// busy says whether the CPUs of a host with services are full.
func busy(ev *evidence.Evidence) bool {
	return slices.ContainsFunc(ev.HostNames(), func(name string) bool {
		sys, sum := ev.On(name), 0.0
		for _, share := range sys.PerCPU {
			sum += share
		}
		return sys.ServicesCPU > 0 && sum >= fullCPU*float64(len(sys.PerCPU))
	})
}
