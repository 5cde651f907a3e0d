package diagnose

import (
	"fmt"
	"math"
	"slices"

	"kasoku/internal/stack"
)

const (
	// saturatedCPU: above this utilization CPU is what binds. On two cores
	// under a closed load a fifth of the time is hand-over between processes,
	// not room: cases/login's own processes leave 8–17 % idle however many
	// users there are.
	saturatedCPU = 0.80
	// saturatedDisk: a disk with one request under way 80 % of the time makes
	// the next one wait five times its service time (M/M/1: 1/(1−U)).
	saturatedDisk = 0.80
	// saturatedThread: a thread that never waits is at 1; the kernel's
	// accounting and other work on its CPU take a tenth.
	saturatedThread = 0.85
	// saturatedNet: the same for an interface's speed, which frames and
	// acknowledgements never let be reached.
	saturatedNet = 0.85
	// lockedShare of the requests under way that wait for a row lock.
	lockedShare = 0.30
	// handOver is the kernel's share of the CPU per request from which a pool
	// that is too small may be what makes the CPU full: waking and switching
	// processes. On cases/login with one process it was 0.57 (make bench-bounds).
	handOver = 0.50
)

// bindsWorkers is how a service is named whose workers, all of them, are at work while
// requests wait.
const bindsWorkers = "workers: "

// WorkersBind reports whether the workers of a service are what binds.
func (d *Diagnosis) WorkersBind(service string) bool { return d.Binds == bindsWorkers+service }

// binds names the resource that limits throughput and says why. What is full
// comes first; what makes requests wait for each other next; a load that is
// too small to fill anything last.
func (m *model) binds() (string, string) {
	if svc, text := m.narrowPool(); svc != "" {
		return bindsWorkers + svc, text
	}
	if k := m.busiest(); k.busy >= saturatedCPU {
		who, most := m.heaviestOn(k)
		if k.genCPU > most {
			return "cpu: generator", fmt.Sprintf("CPU%s is %.0f %% busy and the load generator uses the largest part, %s of %s per request",
				m.on(k), 100*k.busy, seconds(k.genCPU), seconds(k.allCPU))
		}
		return "cpu: " + who, fmt.Sprintf("CPU%s is %.0f %% busy%s; %s uses %s of the %s per request",
			m.on(k), 100*k.busy, m.othersText(k), who, seconds(most), seconds(k.allCPU))
	}
	if name, text := m.fullMachine(); name != "" {
		return name, text
	}
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		if w := m.lockWait[svc.Name]; w >= lockedShare*m.inSystem && w >= 0.5 {
			return "locks: " + svc.Name, fmt.Sprintf("%.1f of the %.1f requests under way wait for a row lock in %s, while CPU is %.0f %% busy",
				w, m.inSystem, svc.Name, 100*m.busy)
		}
	}
	if svc, text := m.workerLimit(); svc != "" {
		return bindsWorkers + svc, text
	}
	if svc, text := m.connectionLimit(); svc != "" {
		return "connections: " + svc, text
	}
	if svc, use := m.busiestThread(); use >= saturatedThread {
		return "thread: " + svc, fmt.Sprintf("one thread of %s is busy %.0f %% of the time and cannot use a second CPU, while CPU is %.0f %% busy", svc, 100*use, 100*m.busy)
	}
	if m.timed && m.inSystem < fewUsers*m.cpus && m.in.Evidence.Load.UsersAssumed {
		return "load", fmt.Sprintf("%.1f requests are under way on average on %.3g CPUs: the load is too small to fill anything; CPU %.0f %%, disk %.0f %%",
			m.inSystem, m.cpus, 100*m.busy, 100*m.diskBusy())
	}
	if m.timed && m.inSystem < fewUsers*m.cpus {
		return "load", fmt.Sprintf("%.1f requests are under way on average on %.3g CPUs: the load of %.0f users is too small to fill anything; CPU %.0f %%, disk %.0f %%",
			m.inSystem, m.cpus, m.n, 100*m.busy, 100*m.diskBusy())
	}
	if m.in.Evidence.Load.UsersAssumed {
		return "nothing", fmt.Sprintf("no resource is saturated: CPU %.0f %%, disk %.0f %%; requests wait for each other or for something slow",
			100*m.busy, 100*m.diskBusy())
	}
	return "nothing", fmt.Sprintf("no resource is saturated: CPU %.0f %%, disk %.0f %%; %.0f users wait for each other or for something slow",
		100*m.busy, 100*m.diskBusy(), m.n)
}

// othersText says that processes outside the stack use more of a machine's CPU
// than the stack itself: the run is then no evidence of what binds.
func (m *model) othersText(k *machine) string {
	others := k.sys.ForeignCPU / (m.x * m.window)
	if others <= k.allCPU {
		return ""
	}
	return fmt.Sprintf(", most of it (%.0f %%) by processes outside the stack", 100*others*m.x/k.cpus)
}

// fewUsers per CPU: with fewer requests under way than this some CPU is idle
// by arithmetic, whatever the service does.
const fewUsers = 1.25

// fullMachine finds a machine whose quota, disk or network is used up.
func (m *model) fullMachine() (name, text string) {
	for _, k := range m.machines {
		if c := k.sys.Cgroup; c != nil && c.CPUs > 0 && c.Throttled.Seconds() > 0.1*m.window {
			return "cpu: quota" + m.on(k), fmt.Sprintf("the control group's quota of %.2f CPUs%s held processes back for %.1f s of %.0f s", c.CPUs, m.on(k), c.Throttled.Seconds(), m.window)
		}
	}
	for _, k := range m.machines {
		if k.sys.DiskBusy >= saturatedDisk {
			return "disk" + m.on(k), fmt.Sprintf("the busiest disk%s is in use %.0f %% of the time", m.on(k), 100*k.sys.DiskBusy)
		}
	}
	for _, k := range m.machines {
		if net, use := k.busiestNetwork(); use >= saturatedNet {
			return "network: " + net + m.on(k), fmt.Sprintf("%s%s moves %.0f %% of what its speed allows", net, m.on(k), 100*use)
		}
	}
	return "", ""
}

// diskBusy is the busiest disk's utilization on any machine.
func (m *model) diskBusy() (most float64) {
	for _, k := range m.machines {
		most = max(most, k.sys.DiskBusy)
	}
	return most
}

// heaviestOn is the service with the largest CPU demand on a machine.
func (m *model) heaviestOn(k *machine) (who string, most float64) {
	for name, d := range m.perReq {
		if len(m.machines) > 1 && m.hostOf(name) != k.name {
			continue
		}
		if d > most || d == most && name < who {
			who, most = name, d
		}
	}
	return who, most
}

func (m *model) busiestThread() (who string, most float64) {
	for name, use := range m.threads {
		if use > most || use == most && name < who {
			who, most = name, use
		}
	}
	return who, most
}

// busiestNetwork is the interface that is nearest to its speed, each way.
func (k *machine) busiestNetwork() (name string, most float64) {
	for _, n := range k.sys.Networks {
		if n.SpeedBytes <= 0 {
			continue
		}
		if use := math.Max(n.ReceiveBytes, n.SendBytes) / n.SpeedBytes; use > most {
			name, most = n.Name, use
		}
	}
	return name, most
}

// narrowPool finds a pool of fewer processes than its machine has CPUs that
// requests wait for, where most of the machine's CPU goes to handing over: each
// request wakes everyone on its way, because it is alone on it. The CPU may then
// look full, and another process makes it cheaper.
func (m *model) narrowPool() (service, text string) {
	name, pool, queued := m.fullPool()
	if name == "" {
		return "", ""
	}
	k := m.at(name)
	if float64(pool.MaxChildren) >= k.cpus || m.inSystem < 2*float64(pool.MaxChildren) || k.sysCPU < handOver*k.allCPU {
		return "", ""
	}
	return name, fmt.Sprintf("%s on %.3g CPUs; the kernel uses %s of the %s per request, most of it for handing over from one process to the next",
		queued, k.cpus, seconds(k.sysCPU), seconds(k.allCPU))
}

// fullPool finds a pool of PHP-FPM that requests wait for, with a text that says so.
func (m *model) fullPool() (service string, pool Pool, text string) {
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil || m.unused(svc) {
			continue
		}
		for _, p := range pools {
			queue, _ := m.values(svc.Name)(p.Name + ".max_listen_queue")
			if p.MaxChildren > 0 && (m.inSystem >= 0.95*float64(p.MaxChildren) || queue >= math.Max(1, float64(p.MaxChildren)/2)) {
				return svc.Name, p, fmt.Sprintf("%.1f requests are under way on average and pool %s has %d processes", m.inSystem, p.Name, p.MaxChildren)
			}
		}
	}
	return "", Pool{}, ""
}

// limits are all resources by the throughput that each allows at most.
func (m *model) limits() []Demand {
	out := m.demands()
	for name, use := range m.threads {
		if use = math.Min(1, use); use > 0 { // ticks of 10 ms may add up to more
			out = append(out, Demand{Resource: "thread: " + name, Utilization: use, PerRequest: use / m.x, MaxThroughput: m.x / use})
		}
	}
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM) {
		pools, err := FPMPools(m.in.Snapshot, svc)
		if err != nil || m.inSystem <= 0 || m.unused(svc) {
			continue
		}
		room := 0
		for _, p := range pools {
			room += p.MaxChildren
		}
		if room > 0 {
			// Requests beyond the number of processes wait for one and use none:
			// the latency holds that wait, so it is no service time.
			busy := math.Min(m.inSystem, float64(room))
			out = append(out, Demand{Resource: bindsWorkers + svc.Name, Utilization: busy / float64(room),
				PerRequest: busy / m.x, MaxThroughput: m.x * float64(room) / busy})
		}
	}
	for name, w := range m.lockWait {
		if w > 0 && m.inSystem > 0 {
			// Transactions that hold the lock one after another: the lock is in
			// use whenever somebody waits for it.
			use := math.Min(1, w)
			out = append(out, Demand{Resource: "locks: " + name, Utilization: use, PerRequest: use / m.x, MaxThroughput: m.x / use})
		}
	}
	return out
}

// next lists what would bind one after another. Parts of the CPU are left
// out: they are no resource of their own.
func (m *model) next() []Next {
	var out []Next
	for _, d := range m.limits() {
		if d.MaxThroughput <= 0 || len(d.Resource) > 5 && d.Resource[:5] == "cpu: " {
			continue
		}
		out = append(out, Next{Resource: d.Resource, MaxThroughput: d.MaxThroughput, Factor: d.MaxThroughput / m.x, PerRequest: d.PerRequest,
			Text: fmt.Sprintf("%s allows %.0f/s: %s per request, %.0f %% in use", d.Resource, d.MaxThroughput, seconds(d.PerRequest), 100*d.Utilization)})
	}
	slices.SortFunc(out, func(a, b Next) int {
		if a.MaxThroughput != b.MaxThroughput {
			return int(math.Copysign(1, a.MaxThroughput-b.MaxThroughput))
		}
		if a.Resource < b.Resource {
			return -1
		}
		return 1
	})
	return out
}

// knee is N* = (D + Z)/D_max: the users at which the two asymptotes of a closed
// system meet (Lazowska et al. 1984, ch. 5). D is what a request takes when it
// waits for nobody, at least its CPU time on one core.
func (m *model) knee() *Knee {
	if m.allCPU <= 0 || m.x <= 0 {
		return nil
	}
	total, worst := m.allCPU-m.genCPU, 0.0
	for _, k := range m.machines {
		disk := k.sys.DiskBusy / m.x
		total += disk
		worst = max(worst, k.allCPU/k.cpus, disk)
	}
	if total <= 0 || worst <= 0 {
		return nil
	}
	users := (total + m.think()) / worst
	return &Knee{Users: users, Throughput: 1 / worst, Formula: fmt.Sprintf("N* = (D + Z)/Dmax = (%s + %s) / %s = %.1f users; 1/Dmax = %.0f/s; the run had %s and %.0f/s",
		seconds(total), seconds(m.think()), seconds(worst), users, 1/worst, m.users(), m.x)}
}
