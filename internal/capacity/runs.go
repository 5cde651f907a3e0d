package capacity

import (
	"errors"
	"fmt"

	"kasoku/internal/diagnose"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// ErrNoRuns is in the error about runs of which none can be used.
var ErrNoRuns = errors.New("no stored run can be used")

// FromRuns takes levels from scored runs with different numbers of users, and
// costs from their CPU, disks and networks. All runs must be of one
// configuration: the caller chooses them. Those that are no evidence, have
// another scenario than the first one, many answers that failed or planned arrivals
// are dropped.
func FromRuns(runs []*store.Run, st *stack.Stack) (*Measured, error) {
	m := &Measured{Axis: Users}
	var rates []float64
	var demands [][]diagnose.HostDemand
	scenario := ""
	for _, run := range runs {
		source := fmt.Sprintf("run %d", run.ID)
		if run.Evidence == nil || run.Evidence.Load == nil {
			m.Dropped = append(m.Dropped, Dropped{Level{Source: source}, "it holds no load result"})
			continue
		}
		res := run.Evidence.Load
		l := LevelOf(res, source)
		if scenario == "" {
			scenario = res.Scenario
		}
		if why := unusable(run, scenario, l.Figures); why != "" {
			m.Dropped = append(m.Dropped, Dropped{l, why})
			continue
		}
		d, err := diagnose.HostDemands(diagnose.Input{Stack: st, Evidence: run.Evidence})
		if err != nil {
			m.Dropped = append(m.Dropped, Dropped{l, err.Error()})
			continue
		}
		rates, demands = append(rates, l.PerSecond), append(demands, d)
		if res.Open != nil {
			m.Dropped = append(m.Dropped, Dropped{l, "its arrivals were planned, so how many users there were does not say what was under way; what a request costs is taken from it"})
			continue
		}
		m.Levels = append(m.Levels, l)
	}
	services := map[string][]string{}
	for i := range st.Services {
		svc := &st.Services[i]
		services[svc.HostName()] = append(services[svc.HostName()], svc.Name)
	}
	m.Costs = costs(rates, demands, services)
	m.Hosts = machines(m.Costs)
	if len(m.Levels) == 0 {
		return m, fmt.Errorf("%w: %s", ErrNoRuns, m.reasons())
	}
	return m, nil
}

// unusable says why a run is no level and tells no costs; "" if it can be used.
func unusable(run *store.Run, scenario string, figures Figures) string {
	res := run.Evidence.Load
	switch {
	case run.Unfit != "":
		return "no evidence: " + run.Unfit
	case res.Saturated != "":
		return "the load generator was the limit: " + res.Saturated
	case res.Scenario != scenario:
		return fmt.Sprintf("its scenario is %s, not %s", res.Scenario, scenario)
	case res.Succeeded == 0:
		return "no request was answered rightly"
	case res.Workload < 1:
		return "how many users it had is not known"
	}
	return failing(figures)
}

// machines counts the hosts that costs are about.
func machines(costs []Cost) int {
	seen := map[string]bool{}
	for _, c := range costs {
		seen[c.Host] = true
	}
	return len(seen)
}

// reasons are those of the first dropped levels.
func (m *Measured) reasons() string {
	switch n := len(m.Dropped); n {
	case 0:
		return "there is none"
	case 1:
		return m.Dropped[0].Source + ": " + m.Dropped[0].Why
	default:
		return fmt.Sprintf("%s: %s (and %d more)", m.Dropped[0].Source, m.Dropped[0].Why, n-1)
	}
}
