package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"strings"
	"time"

	"kasoku/internal/host"
)

// reading is the host's cumulative counters at one moment.
type reading struct {
	at time.Time
	// uptime of another host: what lies between two readings is told by its own
	// clock, whatever time they took on the way. 0: at tells it.
	uptime    time.Duration
	stat      procStat
	cpus      map[string]cpuTime
	disks     map[string]disk
	nets      map[string]netDevice
	tcp       map[string]int64 // counters of /proc/net/snmp (Tcp) and netstat (TcpExt)
	timeWait  int
	memory    memory
	vm        vmCounts
	files     [2]int64         // open, limit
	pressure  map[string]int64 // by "cpu", "io", "memory"; absent if the kernel has none
	table     processTable
	benchmark time.Duration     // CPU time of CollectorOptions.Benchmark so far
	threads   map[int]thread    // of the services, by TID
	io        map[int]processIO // of the services, by PID
	kernel    kernelReading
	unread    map[string]int // threads of services that have too many to read
	release   string         // of the kernel
	self      int            // PID of Kasoku's agent on another host; 0: there is none
}

// span is the time between two readings.
func span(begin, end *reading) time.Duration {
	if begin.uptime > 0 && end.uptime > begin.uptime {
		return end.uptime - begin.uptime
	}
	return end.at.Sub(begin.at)
}

// remote reports whether reading from the host takes a round trip.
func remote(h host.Host) bool {
	_, is := h.(*host.Local)
	return !is
}

// systemFiles are all that readSystem reads, in the order in which a far host
// reads them: what is compared with each other comes first.
var systemFiles = []string{"/proc/uptime", "/proc/stat", "/proc/[0-9]*/stat", "/proc/diskstats", "/proc/net/dev", "/proc/net/snmp", "/proc/net/netstat",
	"/proc/net/sockstat", "/proc/meminfo", "/proc/vmstat", "/proc/sys/fs/file-nr",
	"/proc/net/softnet_stat", "/proc/sys/net/netfilter/nf_conntrack_count", "/proc/sys/net/netfilter/nf_conntrack_max", "/proc/sys/kernel/osrelease", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory"}

// readSystem takes one reading. /proc/stat and the process table come first,
// beside each other, because they are compared.
//
// Cost on a 2-CPU virtual machine with 130 processes: 2.7 ms, most of it the
// process table (go test -bench ReadSystem ./internal/evidence/).
func readSystem(ctx context.Context, h host.Host) (*reading, error) {
	r := &reading{at: time.Now(), pressure: map[string]int64{}}
	if remote(h) {
		r.self = agentOf(ctx, h)
	}
	h = host.Gather(ctx, h, systemFiles...)
	if remote(h) {
		if data, err := h.ReadFile(ctx, "/proc/uptime"); err == nil {
			r.uptime = parseUptime(data)
		}
	}
	stat, err := h.ReadFile(ctx, "/proc/stat")
	if err != nil {
		return nil, fmt.Errorf("read CPU times of %s: %w", h.Name(), err)
	}
	if r.stat, err = parseStat(stat); err != nil {
		return nil, err
	}
	if r.table, err = readProcesses(ctx, h); err != nil {
		return nil, err
	}
	r.cpus = parseCPUs(stat)
	r.readCounters(ctx, h)
	for _, name := range []string{"cpu", "io", "memory"} {
		data, err := h.ReadFile(ctx, "/proc/pressure/"+name)
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("read pressure of %s: %w", h.Name(), ctx.Err())
			}
			continue // no PSI in this kernel, or switched off
		}
		if total, err := parsePressure(data); err == nil {
			r.pressure[name] = total
		}
	}
	return r, nil
}

// agentOf is the PID of whoever reads files on another host. Where each is read by a
// program of its own, another one is told each time.
func agentOf(ctx context.Context, h host.Host) int {
	data, err := h.ReadFile(ctx, "/proc/self/stat")
	if err != nil {
		return 0
	}
	p, err := parsePIDStat(data)
	if err != nil {
		return 0
	}
	return p.PID
}

// readCounters reads what a kernel may lack: a file that is not there leaves
// its part empty.
func (r *reading) readCounters(ctx context.Context, h host.Host) {
	r.tcp = map[string]int64{}
	for _, one := range []struct {
		path  string
		parse func(data []byte)
	}{
		{"/proc/diskstats", func(data []byte) { r.disks = parseDiskstats(data) }},
		{"/proc/net/dev", func(data []byte) { r.nets = parseNetDev(data) }},
		{"/proc/net/snmp", func(data []byte) { maps.Copy(r.tcp, parseNetstat(data, "Tcp:")) }},
		{"/proc/net/netstat", func(data []byte) { maps.Copy(r.tcp, parseNetstat(data, "TcpExt:")) }},
		{"/proc/net/sockstat", func(data []byte) { r.timeWait, _ = parseTimeWait(data) }},
		{"/proc/meminfo", func(data []byte) { r.memory = parseMemory(data) }},
		{"/proc/vmstat", func(data []byte) { r.vm, r.kernel.stalls = parseVMStat(data), counterOf(data, "compact_stall") }},
		{"/proc/net/softnet_stat", func(data []byte) { r.kernel.softnet[0], r.kernel.softnet[1] = parseSoftnet(data) }},
		{"/proc/sys/net/netfilter/nf_conntrack_count", func(data []byte) { r.kernel.tracked[0] = firstNumber(data) }},
		{"/proc/sys/net/netfilter/nf_conntrack_max", func(data []byte) { r.kernel.tracked[1] = firstNumber(data) }},
		{"/proc/sys/kernel/osrelease", func(data []byte) { r.release = strings.TrimSpace(string(data)) }},
		{"/proc/sys/fs/file-nr", func(data []byte) { r.files[0], r.files[1] = parseFileNr(data) }},
	} {
		if data, err := h.ReadFile(ctx, one.path); err == nil {
			one.parse(data)
		}
	}
}

// readMemory reads total and available memory in bytes.
func readMemory(ctx context.Context, h host.Host) (total, available int64, err error) {
	data, err := h.ReadFile(ctx, "/proc/meminfo")
	if err != nil {
		return 0, 0, fmt.Errorf("read memory of %s: %w", h.Name(), err)
	}
	return parseMeminfo(data)
}

// used computes what happened between two readings, without the parts that
// are sampled in between and without the split by service.
func used(begin, end *reading) System {
	seconds := span(begin, end).Seconds()
	positive := func(v float64) float64 { return math.Max(v, 0) } // iowait may run backwards (proc(5))
	a, b := begin.stat, end.stat
	s := System{
		Release: end.release, CPUs: b.CPUs,
		User: positive(b.User - a.User), Sys: positive(b.Sys + b.IRQ - a.Sys - a.IRQ),
		Idle: positive(b.Idle - a.Idle), IOWait: positive(b.IOWait - a.IOWait), Steal: positive(b.Steal - a.Steal),
		SoftIRQ: positive(b.SoftIRQ - a.SoftIRQ), Guest: positive(b.Guest - a.Guest), PerCPU: perCPU(begin.cpus, end.cpus),
		PageCache: end.memory.PageCache, Dirty: end.memory.Dirty, SwapUsed: end.memory.SwapUsed,
		OpenFiles: end.files[0], FileMax: end.files[1],
		TimeWait: end.timeWait, TCP: tcpUse(begin.tcp, end.tcp),
		PressureCPU: -1, PressureIO: -1, PressureMemory: -1,
	}
	s.Kernel = kernelUse(begin, end, seconds)
	s.ListenOverflows = max(end.tcp["ListenOverflows"]-begin.tcp["ListenOverflows"], 0)
	if seconds <= 0 {
		return s
	}
	per := func(now, was int64) float64 { return positive(float64(now-was) / seconds) }
	s.Forks = max(b.Forks-a.Forks, 0)
	s.ContextSwitches, s.Interrupts = per(b.ContextSwitches, a.ContextSwitches), per(b.Interrupts, a.Interrupts)
	s.SwapIn, s.SwapOut = per(end.vm.SwapIn, begin.vm.SwapIn), per(end.vm.SwapOut, begin.vm.SwapOut)
	s.MajorFaults = per(end.vm.MajorFaults, begin.vm.MajorFaults)
	s.Networks = networkUses(begin.nets, end.nets, seconds)
	s.Disks = diskUses(begin.disks, end.disks, seconds)
	for _, d := range s.Disks {
		s.DiskBusy = max(s.DiskBusy, d.Busy)
		if !stacked(d.Name) {
			s.DiskWrites += d.Writes
		}
	}
	for name, to := range map[string]*float64{"cpu": &s.PressureCPU, "io": &s.PressureIO, "memory": &s.PressureMemory} {
		now, ok1 := end.pressure[name]
		was, ok2 := begin.pressure[name]
		if ok1 && ok2 {
			*to = math.Min(100, positive(float64(now-was)/1e6/seconds*100))
		}
	}
	return s
}

// split attributes CPU time to services, the generator and others.
//
//	Foreign = User + Sys − interrupts − services − generator, never below 0
//
// The generator is Kasoku itself (on another host its agent) with everything that it
// started (perf, readers of files), but for services; and, where there is one, the
// benchmark that it runs, with everything that the benchmark started.
//
// It is a remainder, so a process that begins and ends within the window is in
// it. Interrupts are left out: the packets of the load itself cause them, and
// some kernels do not charge them to the process that they interrupt.
func split(s *System, begin, end *reading, roots map[string][]int, generator int) map[string]ServiceUse {
	ownBegin, ownEnd := begin.table.owners(roots), end.table.owners(still(roots, begin.table, end.table))
	delete(ownBegin, generator)
	delete(ownEnd, generator)
	uses := map[string]ServiceUse{}
	for service := range roots {
		uses[service] = ServiceUse{}
	}
	user := serviceTicks(begin.table, end.table, ownBegin, ownEnd, userTicks)
	for service, ticks := range serviceTicks(begin.table, end.table, ownBegin, ownEnd, allTicks) {
		use := uses[service]
		use.CPU, use.User = float64(ticks)/ticksPerSecond, float64(min(user[service], ticks))/ticksPerSecond
		use.Sys = use.CPU - use.User
		use.ProgramsCPU = math.Min(float64(programTicks(begin.table, end.table, ownEnd, service))/ticksPerSecond, use.CPU)
		uses[service] = use
		s.ServicesCPU += use.CPU
	}
	for pid, service := range ownEnd {
		use := uses[service]
		now := end.table[pid]
		use.Processes++
		use.Threads += now.Threads
		if was, same := begin.table[pid]; !same || was.Started != now.Started {
			use.Started++
		}
		uses[service] = use
	}
	for service, use := range uses {
		use.Top = top(begin.table, end.table, func(pid int) bool { return ownEnd[pid] == service })
		for i := range use.Top {
			use.Top[i].Service = service
		}
		uses[service] = use
	}
	s.Others = others(begin.table, end.table, roots, generator)
	threadUses(begin, end, uses)
	ioUses(begin, end, uses)
	own, children := generatorTicks(begin.table, end.table, roots, generator)
	// The benchmark is among the children, unless it left itself to init.
	benchmark := math.Max((end.benchmark - begin.benchmark).Seconds(), 0)
	s.GeneratorCPU = own + math.Max(children, benchmark)
	interrupts := math.Max(end.stat.IRQ-begin.stat.IRQ, 0)
	s.ForeignCPU = math.Max(0, s.User+s.Sys-interrupts-s.ServicesCPU-s.GeneratorCPU)
	return uses
}

// generatorTicks is CPU time, in seconds, that Kasoku used itself between two
// readings, and what it started beside the services.
func generatorTicks(begin, end processTable, roots map[string][]int, generator int) (own, children float64) {
	if _, ok := end[generator]; !ok {
		return 0, 0
	}
	at := func(t processTable, roots map[string][]int) map[int]string {
		return t.owners(withRoots(map[string][]int{generatorOwner: {generator}}, roots))
	}
	all := serviceTicks(begin, end, at(begin, roots), at(end, still(roots, begin, end)), allTicks)[generatorOwner]
	ticks := max(end[generator].Ticks-begin[generator].Ticks, 0)
	return float64(ticks) / ticksPerSecond, float64(max(all-ticks, 0)) / ticksPerSecond
}

// still leaves out roots that ended: their number may belong to another now.
func still(roots map[string][]int, begin, end processTable) map[string][]int {
	out := map[string][]int{}
	for service, pids := range roots {
		for _, pid := range pids {
			if was, ok := begin[pid]; ok && end[pid].Started == was.Started {
				out[service] = append(out[service], pid)
			}
		}
	}
	return out
}

// finish adds memory and open files of each service's processes.
func finish(ctx context.Context, h host.Host, begin, end *reading, roots map[string][]int, uses map[string]ServiceUse) {
	fullest := map[string]float64{}
	owners := end.table.owners(still(roots, begin.table, end.table))
	if remote(h) {
		h = host.Gather(ctx, h, processFiles(owners)...)
	}
	for pid, service := range owners {
		use := uses[service]
		dir := fmt.Sprintf("/proc/%d", pid)
		use.RSS += memoryOf(ctx, h, dir)
		if open, limit, ok := filesOf(ctx, h, dir); ok {
			if part := float64(open) / float64(max(limit, 1)); part > fullest[service] {
				fullest[service], use.OpenFiles, use.FileLimit = part, open, limit
			}
		}
		uses[service] = use
	}
}

// processFiles are what finish reads.
func processFiles(owners map[int]string) []string {
	var out []string
	for pid := range owners {
		for _, name := range []string{"smaps_rollup", "status", "limits"} {
			out = append(out, fmt.Sprintf("/proc/%d/%s", pid, name))
		}
	}
	return out
}

func memoryOf(ctx context.Context, h host.Host, dir string) int64 {
	if data, err := h.ReadFile(ctx, dir+"/smaps_rollup"); err == nil {
		if pss, err := parsePss(data); err == nil {
			return pss
		}
	}
	if data, err := h.ReadFile(ctx, dir+"/status"); err == nil {
		if rss, err := parseRSS(data); err == nil {
			return rss
		}
	}
	return 0
}

// filesOf counts open files. Since Linux 6.2 the size of /proc/PID/fd is their
// number (proc_pid_fd(5)); before, its entries are counted.
func filesOf(ctx context.Context, h host.Host, dir string) (open, limit int, ok bool) {
	data, err := h.ReadFile(ctx, dir+"/limits")
	if err != nil {
		return 0, 0, false
	}
	if limit, err = parseFileLimit(data); err != nil {
		return 0, 0, false
	}
	info, err := h.Stat(ctx, dir+"/fd")
	if err == nil && info.Size > 0 {
		return int(info.Size), limit, true
	}
	list, err := h.List(ctx, dir+"/fd")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, false
	}
	return len(list), limit, true
}
