package diagnose

import (
	"fmt"
	"math"

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
	// threads is the utilization of each service's busiest thread, 0–1.
	threads map[string]float64
	// lockWait is the mean number of transactions that wait for a row lock, by
	// database; lockWaits how many waits there were per request.
	lockWait  map[string]float64
	lockWaits map[string]float64
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
		cpus: math.Max(1, float64(ev.System.CPUs)), perReq: map[string]float64{},
		threads: map[string]float64{}, lockWait: map[string]float64{}, lockWaits: map[string]float64{}}
	if c := ev.System.Cgroup; c != nil && c.CPUs > 0 && c.CPUs < m.cpus {
		m.cpus = c.CPUs // a quota is all that there is
	}
	ok := float64(ev.Load.Succeeded)
	m.x = ok / m.window
	for name, use := range ev.Services {
		m.perReq[name] = use.CPU / ok
		m.threads[name] = use.Busiest / m.window
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
	for _, svc := range in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		get := m.counters(svc.Name)
		ms, _ := get("Innodb_row_lock_time")
		waits, _ := get("Innodb_row_lock_waits")
		m.lockWait[svc.Name], m.lockWaits[svc.Name] = ms/1000/m.window, waits/ok
	}
	return m, nil
}

// latency is the mean time of a request, think the time that a user spends
// between two of them (response-time law: R = N/X − Z).
func (m *model) latency() float64 { return m.inSystem / m.x }

func (m *model) think() float64 { return math.Max(0, m.n/m.x-m.latency()) }

// interference is the part of all other work that may get cheaper when CPU
// work goes away: services on one host share caches, memory bandwidth and the
// scheduler. Measured on cases/login, where adding the indexes took 97 % of
// the CPU away and made the rest 30 % cheaper per request (make bench-bounds).
const interference = 0.35

// bound is the most that throughput could be multiplied by if saved seconds
// of CPU per request went away: X' ≤ min(C, N)/left, the asymptotic bounds of a
// closed system (Denning & Buzen 1978; Lazowska et al. 1984, Quantitative
// System Performance, ch. 5), where left is the demand D − s, made smaller by
// what less interference may bring: (D−s)·(1 − i·s/D). Never below 1.
func (m *model) bound(saved float64) (float64, string) {
	saved = math.Min(math.Max(saved, 0), m.allCPU)
	rest := m.allCPU - saved
	if m.allCPU > 0 {
		rest *= 1 - interference*saved/m.allCPU
	}
	left := math.Max(rest, m.allCPU*0.01)
	limit := math.Min(m.cpus/left, m.n/left)
	f := math.Max(1, limit/m.x)
	return f, fmt.Sprintf("min(%.3g CPUs, %.0f users) / (%s − %s CPU per request, the rest up to %.0f %% cheaper) = %.0f/s, against %.0f/s now",
		m.cpus, m.n, seconds(m.allCPU), seconds(saved), 100*interference*saved/math.Max(m.allCPU, 1e-12), limit, m.x)
}

// boundWait is the bound when waiting, not CPU, goes away: CPU stays what it
// is and becomes the limit, or another resource that is known.
func (m *model) boundWait() (float64, string) {
	limit := m.cpus / m.fullDemand()
	return math.Max(1, limit/m.x), fmt.Sprintf("%.3g CPUs / %s CPU per request, up to %.0f %% cheaper on full CPUs = %.0f/s, against %.0f/s now",
		m.cpus, seconds(m.allCPU), 100*interference*(1-m.busy), limit, m.x)
}

// fullDemand is the CPU per request that may be left when CPUs are full: where
// they are not, each request wakes processes and finds cold caches, which
// requests that queue up do not. It is the same kind of thrift as interference
// and measured with it.
func (m *model) fullDemand() float64 {
	return math.Max(m.allCPU*(1-interference*(1-m.busy)), 1e-9)
}

// boundDelay is the bound when each request waits for less by d seconds and
// CPU stays what it is: X' ≤ min(C/D, N/(R − d + Z)) (Lazowska et al., ch. 5).
func (m *model) boundDelay(d float64) (float64, string) {
	r, z := m.latency(), m.think()
	left := math.Max(math.Max(r-d, m.allCPU/math.Max(1, m.cpus)), 1e-6)
	limit := math.Min(m.cpus/m.fullDemand(), m.n/(left+z))
	return math.Max(1, limit/m.x), fmt.Sprintf("min(%.3g CPUs / %s CPU per request, %.0f users / (%s − %s latency + %s between requests)) = %.0f/s, against %.0f/s now",
		m.cpus, seconds(m.allCPU), m.n, seconds(r), seconds(d), seconds(z), limit, m.x)
}

// boundKernel is bound for work that saves only what the kernel spends on
// moving bytes and switching: share of the kernel's CPU.
func (m *model) boundKernel(share float64) (float64, string) { return m.bound(m.sysCPU * share) }

// counters returns a look-up of one service's counters in the window, whatever
// the case of their names.
func (m *model) counters(service string) func(string) (float64, bool) {
	c := m.in.Evidence.Counters[service]
	return func(key string) (float64, bool) { return fold(c.Delta, key) }
}

// values is counters for the values at the window's end.
func (m *model) values(service string) func(string) (float64, bool) {
	c := m.in.Evidence.Counters[service]
	return func(key string) (float64, bool) {
		text, ok := fold(c.Value, key)
		if !ok {
			return 0, false
		}
		return number(text)
	}
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
