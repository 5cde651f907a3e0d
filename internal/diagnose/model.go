package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Input of the diagnosis: one run and the configuration it ran on.
type Input struct {
	Stack    *stack.Stack
	Evidence *evidence.Evidence
	Snapshot *evidence.Snapshot
	// Reboot is what a reboot did to the score; nil: none was checked.
	Reboot *Reboot
}

// model is the operational model of one run: what a request costs where.
// Everything is per right answer, in seconds.
type model struct {
	in       Input
	asked    *load.Result       // whose files and pages are known: their counts are parts of its requests
	window   float64            // seconds in which requests came
	x        float64            // right answers per second
	n        float64            // virtual users
	seen     bool               // nobody told n: it is what was under way, by access logs
	machines []*machine         // that do work for requests, the front host first
	cpus     float64            // of all machines together
	perReq   map[string]float64 // CPU seconds per request by service
	genCPU   float64            // of the generator, if it runs on one of the machines
	sysCPU   float64            // kernel share of all CPU per request
	allCPU   float64            // everything the machines spent per request
	busy     float64            // CPU utilization of the busiest machine, 0–1
	inSystem float64            // mean number of requests under way (Little: Σ latency / window)
	timed    bool               // inSystem is known
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
	m := &model{in: in, asked: cmp.Or(ev.Asked, ev.Load), window: ev.Load.Window.Seconds(), n: float64(ev.Load.Workload),
		perReq:  map[string]float64{},
		threads: map[string]float64{}, lockWait: map[string]float64{}, lockWaits: map[string]float64{}}
	if ev.Active > 0 { // the rest of somebody else's benchmark is not the service's time
		m.window = min(m.window, ev.Active.Seconds())
	}
	ok := float64(ev.Load.Succeeded)
	m.x = ok / m.window
	for name, use := range ev.Services {
		m.perReq[name] = use.CPU / ok
		m.threads[name] = use.Busiest / m.window
	}
	m.findMachines(ok)
	m.inSystem, m.timed = underWay(ev, m.asked, m.window)
	if ev.Load.UsersAssumed && m.inSystem > m.n {
		m.n, m.seen = m.inSystem, true
	}
	for _, svc := range in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		get := m.counters(svc.Name)
		ms, _ := get("Innodb_row_lock_time")
		waits, _ := get("Innodb_row_lock_waits")
		m.lockWait[svc.Name], m.lockWaits[svc.Name] = ms/1000/m.window, waits/ok
	}
	return m, nil
}

// underWay is the mean number of requests under way, by what the load saw of each
// request; where somebody else's benchmark is the load, by the web servers' access
// logs: those of the service that saw the most, as whoever stands in front waits for
// whoever stands behind. known is false where neither tells times.
func underWay(ev *evidence.Evidence, asked *load.Result, window float64) (n float64, known bool) {
	for _, r := range ev.Load.Routes {
		n += r.Total.Seconds() / window
	}
	if n > 0 || asked.Window <= 0 {
		return n, len(ev.Load.Routes) > 0
	}
	by := map[string]float64{}
	for _, r := range ev.Routes {
		by[r.Service] += r.Time.Total.Seconds() / window
	}
	for _, under := range by {
		n = math.Max(n, under)
	}
	return n, n > 0
}

// latency is the mean time of a request, think the time that a user spends
// between two of them (response-time law: R = N/X − Z).
func (m *model) latency() float64 { return m.inSystem / m.x }

// users are how many there were, in words: where nobody knows, as many as had a request
// under way, or as there are CPUs.
func (m *model) users() string {
	if m.seen {
		return fmt.Sprintf("%.0f requests under way", m.n)
	}
	text := fmt.Sprintf("%.0f users", m.n)
	if m.in.Evidence.Load.UsersAssumed {
		text += " (a guess: load.command does not tell)"
	}
	return text
}

func (m *model) think() float64 { return math.Max(0, m.n/m.x-m.latency()) }

// ceiling is the most that a remedy could bring.
type ceiling struct {
	most float64 // factor of throughput, ≥ 1
	// spares is the part (0–1) of a request's CPU that would go, on the machine whose CPU
	// allows least throughput, without what it may make cheaper besides (interference);
	// 0: it is not of CPU, or of another machine's.
	spares float64
}

// interference is the part of all other work that may get cheaper when CPU
// work goes away: services on one host share caches, memory bandwidth and the
// scheduler. Measured on cases/login, where adding the indexes took 97 % of
// the CPU away and made the rest 30 % cheaper per request (make bench-bounds).
const interference = 0.35

// bound is the most that throughput could be multiplied by if saved seconds
// of CPU per request went away, on all machines in proportion to what each
// spends: the asymptotic bounds of a closed system (Denning & Buzen 1978;
// Lazowska et al. 1984, Quantitative System Performance, ch. 5),
//
//	X' ≤ min over machines k of Ck/leftk, N/Σ leftk, X·max over k of Dk/leftk
//
// where left is the demand D − s of a machine, made smaller by what less
// interference may bring: (D−s)·(1 − i·s/D). The last is of machines that are not
// full: what answers wait for there is CPU in part at most, so they cannot get
// shorter by a larger part than their CPU does. It does not hold where requests queue
// for something that is held while CPU is used (handedOn). Never below 1.
func (m *model) bound(saved float64) (ceiling, string) {
	part := math.Min(math.Max(saved, 0)/math.Max(m.allCPU, 1e-12), 1)
	at := map[string]float64{}
	for _, k := range m.machines {
		at[k.name] = part * k.allCPU
	}
	return m.boundAt(at)
}

// boundOf is bound for CPU that services would save, by their names: each on
// its own machine.
func (m *model) boundOf(saved map[string]float64) (ceiling, string) {
	at := map[string]float64{}
	for name, s := range saved {
		at[m.hostOf(name)] += s
	}
	return m.boundAt(at)
}

// boundBy is boundOf for one service.
func (m *model) boundBy(service string, saved float64) (ceiling, string) {
	return m.boundOf(map[string]float64{service: saved})
}

// boundAt is bound for CPU that is saved on machines, by their names.
func (m *model) boundAt(saved map[string]float64) (ceiling, string) {
	limit, sum, shorter, spares := math.Inf(1), 0.0, 1.0, 0.0
	narrowest := m.narrowest()
	var text string
	for _, k := range m.machines {
		s := math.Min(math.Max(saved[k.name], 0), k.allCPU)
		rest, thrift := k.allCPU-s, 0.0
		if k.allCPU > 0 {
			thrift = interference * s / k.allCPU
		}
		if k == narrowest && k.allCPU > 0 {
			spares = s / k.allCPU
		}
		left := math.Max(rest*(1-thrift), k.allCPU*0.01)
		sum += left
		shorter = math.Max(shorter, k.allCPU/math.Max(left, 1e-12))
		if most := k.cpus / math.Max(left, 1e-12); most < limit {
			limit = most
			text = fmt.Sprintf("min(%.3g CPUs, %s) / (%s − %s CPU per request%s, the rest up to %.0f %% cheaper)",
				k.cpus, m.users(), seconds(k.allCPU), seconds(s), m.on(k), 100*thrift)
		}
	}
	if users := m.n / math.Max(sum, 1e-12); users < limit {
		limit = users
	}
	if len(m.machines) > 1 {
		text = fmt.Sprintf("the least of each host's bound, %s, and %s / %s", text, m.users(), seconds(sum))
	}
	if less := m.x * shorter; less < limit && !m.handedOn() {
		limit = less
		text += fmt.Sprintf(", but no CPU is full, and answers get shorter by what their CPU does at most: %.0f/s × %.3g", m.x, shorter)
	}
	return ceiling{most: math.Max(1, limit/m.x), spares: spares}, fmt.Sprintf("%s = %.0f/s, against %.0f/s now", text, limit, m.x)
}

// handedOn reports whether requests queue for something that is held while CPU is used,
// so that each second less of CPU spares all who wait that second: a thread that is at
// work fullLoop of the time, or locks on rows.
func (m *model) handedOn() bool {
	for _, busy := range m.threads {
		if busy >= fullLoop {
			return true
		}
	}
	for _, waiting := range m.lockWait {
		if waiting >= lockedShare*m.inSystem && waiting > 0 {
			return true
		}
	}
	return false
}

// boundWait is the bound when waiting, not CPU, goes away: CPU stays what it
// is and becomes the limit, or another resource that is known.
func (m *model) boundWait() (ceiling, string) {
	k := m.narrowest()
	limit := k.cpus / k.fullDemand()
	return ceiling{most: math.Max(1, limit/m.x)}, fmt.Sprintf("%.3g CPUs / %s CPU per request%s, up to %.0f %% cheaper on full CPUs = %.0f/s, against %.0f/s now",
		k.cpus, seconds(k.allCPU), m.on(k), 100*interference*(1-k.busy), limit, m.x)
}

// boundDelay is the bound when each request waits for less by d seconds and
// CPU stays what it is: X' ≤ min(C/D, N/(R − d + Z)) (Lazowska et al., ch. 5).
func (m *model) boundDelay(d float64) (ceiling, string) {
	k := m.narrowest()
	r, z := m.latency(), m.think()
	left := math.Max(math.Max(r-d, k.allCPU/math.Max(1, k.cpus)), 1e-6)
	limit := math.Min(k.cpus/k.fullDemand(), m.n/(left+z))
	return ceiling{most: math.Max(1, limit/m.x)}, fmt.Sprintf("min(%.3g CPUs / %s CPU per request%s, %s / (%s − %s latency + %s between requests)) = %.0f/s, against %.0f/s now",
		k.cpus, seconds(k.allCPU), m.on(k), m.users(), seconds(r), seconds(d), seconds(z), limit, m.x)
}

// boundKernelOf is bound for work that saves only what the kernel spends on
// moving bytes and switching: share of the kernel's CPU, on the machines of these
// services.
func (m *model) boundKernelOf(share float64, services ...string) (ceiling, string) {
	at := map[string]float64{}
	for _, name := range services {
		if k := m.machineOf(name); k != nil {
			at[k.name] = share * k.sysCPU
		}
	}
	return m.boundAt(at)
}

// boundKernelIn is boundKernelOf for work that the kernel does for these services
// alone: what it spends in their processes, and in soft interrupts, which are
// nobody's. What it spends on another one, e.g. to start programs, stays. The whole
// is taken where a service's part is not known.
func (m *model) boundKernelIn(share float64, services ...string) (ceiling, string) {
	at := map[string]float64{}
	for _, name := range services {
		k := m.machineOf(name)
		if k == nil {
			continue
		}
		own := m.in.Evidence.Services[name].Sys / float64(m.in.Evidence.Load.Succeeded)
		if own <= 0 {
			return m.boundKernelOf(share, services...)
		}
		if _, counted := at[k.name]; !counted {
			at[k.name] = share * k.sys.SoftIRQ / float64(m.in.Evidence.Load.Succeeded)
		}
		at[k.name] += share * own
	}
	for _, k := range m.machines {
		at[k.name] = math.Min(at[k.name], share*k.sysCPU)
	}
	return m.boundAt(at)
}

// boundKernelBetween is boundKernelIn for connections that a service makes, at
// both of their ends.
func (m *model) boundKernelBetween(svc *stack.Service) (ceiling, string) {
	if len(svc.TalksTo) == 0 {
		return m.boundKernelOf(1, svc.Name) // who takes them is not known
	}
	return m.boundKernelIn(1, append([]string{svc.Name}, svc.TalksTo...)...)
}

// counters returns a look-up of one service's counters in the window, whatever
// the case of their names.
func (m *model) counters(service string) func(string) (float64, bool) {
	c := m.in.Evidence.Counters[service]
	return func(key string) (float64, bool) { return fold(c.Delta, key) }
}

// tells reports whether a service has counters whose names begin so.
func (m *model) tells(service, prefix string) bool {
	c := m.in.Evidence.Counters[service]
	for name := range c.Delta {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for name := range c.Value {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
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
