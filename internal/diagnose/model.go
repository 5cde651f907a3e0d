package diagnose

import (
	"fmt"
	"math"
	"sort"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// Input of the diagnosis: one run and the configuration it ran on.
type Input struct {
	Stack    *stack.Stack
	Evidence *evidence.Evidence
	Snapshot *evidence.Snapshot
}

// model is the operational model of one run: what a request costs where.
// Everything is per right answer, in seconds.
type model struct {
	in       Input
	window   float64 // seconds
	x        float64 // right answers per second
	n        float64 // virtual users
	cpus     float64
	perReq   map[string]float64 // CPU seconds per request by service
	genCPU   float64            // of the generator
	sysCPU   float64            // kernel share of all CPU per request
	allCPU   float64            // everything the host spent per request
	busy     float64            // CPU utilization, 0–1
	inSystem float64            // mean number of requests under way (Little: Σ latency / window)
}

func newModel(in Input) (*model, error) {
	ev := in.Evidence
	if ev == nil || ev.Load == nil || ev.Load.Window <= 0 {
		return nil, fmt.Errorf("diagnose: the run holds no load result")
	}
	if ev.Load.Succeeded == 0 {
		return nil, fmt.Errorf("diagnose: no request was answered rightly, so nothing can be attributed (see `kasoku show` for the answers)")
	}
	m := &model{in: in, window: ev.Load.Window.Seconds(), n: float64(ev.Load.Workload),
		cpus: math.Max(1, float64(ev.System.CPUs)), perReq: map[string]float64{}}
	ok := float64(ev.Load.Succeeded)
	m.x = ok / m.window
	for name, use := range ev.Services {
		m.perReq[name] = use.CPU / ok
	}
	m.genCPU = ev.System.GeneratorCPU / ok
	spent := ev.System.User + ev.System.Sys
	// What other processes used is not demand of a request: it would make
	// every bound too low.
	m.allCPU = max(spent-ev.System.ForeignCPU, 0) / ok
	m.sysCPU = ev.System.Sys / ok
	if total := m.cpus * m.window; total > 0 {
		m.busy = math.Min(1, spent/total)
	}
	for _, r := range ev.Load.Routes {
		m.inSystem += r.Total.Seconds() / m.window
	}
	return m, nil
}

// saturatedCPU: above this utilization CPU is what binds. At 2 cores and a
// closed load the idle tenth is hand-over between processes, not room.
const saturatedCPU = 0.90

// bound is the most that throughput could be multiplied by if saved seconds
// of CPU per request went away: X' ≤ min(C/(D−d), N/(D−d)), the asymptotic
// bounds of a closed system (Denning & Buzen 1978; Lazowska et al. 1984,
// Quantitative System Performance, ch. 5). Never below 1.
func (m *model) bound(saved float64) (float64, string) {
	left := math.Max(m.allCPU-saved, m.allCPU*0.01)
	limit := math.Min(m.cpus/left, m.n/left)
	f := math.Max(1, limit/m.x)
	return f, fmt.Sprintf("min(%.0f CPUs, %.0f users) / (%s − %s CPU per request) = %.0f/s, against %.0f/s now",
		m.cpus, m.n, seconds(m.allCPU), seconds(math.Min(saved, m.allCPU)), limit, m.x)
}

// boundWait is the bound when waiting, not CPU, goes away: CPU stays what it
// is and becomes the limit.
func (m *model) boundWait() (float64, string) {
	limit := m.cpus / math.Max(m.allCPU, 1e-9)
	return math.Max(1, limit/m.x), fmt.Sprintf("%.0f CPUs / %s CPU per request = %.0f/s, against %.0f/s now",
		m.cpus, seconds(m.allCPU), limit, m.x)
}

// demands lists the service demand of every resource, D = U·T/X.
func (m *model) demands() []Demand {
	var out []Demand
	add := func(resource string, perRequest, capacity float64) {
		d := Demand{Resource: resource, PerRequest: perRequest, Utilization: perRequest * m.x / capacity}
		if perRequest > 0 {
			d.MaxThroughput = capacity / perRequest
		}
		out = append(out, d)
	}
	add("cpu", m.allCPU, m.cpus)
	for name, d := range m.perReq {
		add("cpu: "+name, d, m.cpus)
	}
	add("cpu: generator", m.genCPU, m.cpus)
	sys := m.in.Evidence.System
	if sys.ForeignCPU > 0 {
		add("cpu: other processes", sys.ForeignCPU/(m.x*m.window), m.cpus)
	}
	if sys.DiskBusy > 0 {
		add("disk", sys.DiskBusy/m.x, 1)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Utilization != out[j].Utilization {
			return out[i].Utilization > out[j].Utilization
		}
		return out[i].Resource < out[j].Resource
	})
	return out
}

// binds names the resource that limits throughput and says why.
func (m *model) binds() (string, string) {
	sys := m.in.Evidence.System
	if m.busy >= saturatedCPU {
		who, most := "", 0.0
		for name, d := range m.perReq {
			if d > most || (d == most && name < who) {
				who, most = name, d
			}
		}
		if m.genCPU > most {
			return "cpu: generator", fmt.Sprintf("CPU is %.0f %% busy and the load generator uses the largest part, %s of %s per request",
				100*m.busy, seconds(m.genCPU), seconds(m.allCPU))
		}
		return "cpu: " + who, fmt.Sprintf("CPU is %.0f %% busy; %s uses %s of the %s per request",
			100*m.busy, who, seconds(most), seconds(m.allCPU))
	}
	if sys.DiskBusy >= 0.8 {
		return "disk", fmt.Sprintf("the busiest disk is in use %.0f %% of the time", 100*sys.DiskBusy)
	}
	if svc, text := m.workerLimit(); svc != "" {
		return "workers: " + svc, text
	}
	return "nothing", fmt.Sprintf("no resource is saturated: CPU %.0f %%, disk %.0f %%; %.0f users wait for each other or for something slow",
		100*m.busy, 100*sys.DiskBusy, m.n)
}

// workerLimit finds a pool of PHP-FPM processes that is smaller than the
// number of requests inside.
func (m *model) workerLimit() (service, text string) {
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil {
			continue
		}
		for _, p := range pools {
			if p.MaxChildren > 0 && m.inSystem >= float64(p.MaxChildren) {
				return svc.Name, fmt.Sprintf("%.1f requests are under way on average and pool %s has %d processes, while CPU is %.0f %% busy",
					m.inSystem, p.Name, p.MaxChildren, 100*m.busy)
			}
		}
	}
	return "", ""
}

// seconds prints a short time with three digits.
func seconds(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.2f s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.2f ms", s*1e3)
	default:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
}
