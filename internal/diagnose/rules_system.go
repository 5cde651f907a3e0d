package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

const (
	// manyTimeWait sockets: each takes an address for a minute; a thousand are
	// some 17 connections a second that were not kept.
	manyTimeWait = 1000
	// nearPorts: from here on a burst finds no free port.
	nearPorts = 0.7
)

func judgeTimeWait(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		n := s.TimeWait
		if n < manyTimeWait {
			return nil
		}
		return []Finding{about("", fmt.Sprintf("%d sockets are in TIME_WAIT", n),
			fmt.Sprintf("%d closed connections wait out their minute; connections that are kept (keep-alive on both sides, persistent clients) or unix sockets leave none.", n),
			"/proc/net/sockstat").bounded(m.boundKernelOn(1, s.Host))}
	}), ""
}

func judgePorts(m *model) ([]Finding, string) {
	why := ""
	return m.eachHost(func(s *evidence.System) []Finding {
		t := s.TCP
		if t.PortRange <= 0 {
			why = "the local port range was not read"
			return nil
		}
		if float64(t.PortsUsed) < nearPorts*float64(t.PortRange) {
			return nil
		}
		return []Finding{about("", "Local ports run out",
			fmt.Sprintf("%d of %d ports (ip_local_port_range) are in use towards %s; without a free one a connection fails with \"Cannot assign requested address\".", t.PortsUsed, t.PortRange, t.PortsTo),
			"/proc/net/tcp, ip_local_port_range").
			asks(Setting{Name: "net.ipv4.ip_local_port_range", Now: fmt.Sprint(t.PortRange), Up: 1}).bounded(m.boundWait())}
	}), why
}

func judgeAcceptQueue(m *model) ([]Finding, string) {
	return m.eachHost(m.fullQueues), ""
}

func (m *model) fullQueues(sys *evidence.System) []Finding {
	var cites []string
	service := ""
	for _, q := range sys.TCP.Queues {
		if q.Limit > 0 && float64(q.Longest) >= nearLimit*float64(q.Limit) {
			cites = append(cites, fmt.Sprintf("%s (%s): %d of %d waited to be accepted", q.Listen, q.Service, q.Longest, q.Limit))
			service = q.Service
		}
	}
	if sys.ListenOverflows > 0 {
		cites = append(cites, fmt.Sprintf("%d connections came while an accept queue was full (ListenOverflows)", sys.ListenOverflows))
	}
	if len(cites) == 0 {
		return nil
	}
	return []Finding{about(service, "A listener's queue is full", strings.Join(cites, "; ")+". The backlog is the smaller of what the program asks for and net.core.somaxconn.", cites...).
		asks(Setting{Name: "net.core.somaxconn", Up: 1}).bounded(m.boundWait())}
}

func judgeRetransmits(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		t := s.TCP
		// One segment in a hundred: below it TCP's own recovery hides the loss.
		if t.Segments < 1000 || float64(t.Retransmits) < 0.01*float64(t.Segments) {
			return nil
		}
		return []Finding{about("", "TCP sends much again",
			fmt.Sprintf("%d of %d segments were sent again: packets are lost on the way or in a full queue.", t.Retransmits, t.Segments), "/proc/net/snmp").bounded(m.boundWait())}
	}), ""
}

func judgeFiles(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.Services {
		use, ok := m.in.Evidence.Services[svc.Name]
		if !ok || use.FileLimit <= 0 || float64(use.OpenFiles) < nearPorts*float64(use.FileLimit) {
			continue
		}
		out = append(out, about(svc.Name, svc.Name+" is near its limit of open files",
			fmt.Sprintf("a process of %s has %d of %d files and sockets open; at the limit it refuses connections (\"Too many open files\").", svc.Name, use.OpenFiles, use.FileLimit),
			"/proc/PID/fd, /proc/PID/limits").
			asks(Setting{Service: svc.Name, Name: "nofile", Now: fmt.Sprint(use.FileLimit), Up: 1}).bounded(m.boundWait()))
	}
	return append(out, m.eachHost(func(s *evidence.System) []Finding {
		if s.FileMax <= 0 || float64(s.OpenFiles) < nearPorts*float64(s.FileMax) {
			return nil
		}
		return []Finding{about("", "The host is near its limit of open files", fmt.Sprintf("%d of fs.file-max = %d", s.OpenFiles, s.FileMax), "/proc/sys/fs/file-nr").
			asks(Setting{Name: "fs.file-max", Now: fmt.Sprint(s.FileMax), Up: 1}).bounded(m.boundWait())}
	})...), ""
}

// judgeLowMemory: the host has too little left; something must take less.
func judgeLowMemory(m *model) ([]Finding, string) {
	if m.in.Evidence.System.MemoryTotal <= 0 {
		return nil, "the host's memory was not read"
	}
	return m.eachHost(m.lowMemory), ""
}

func (m *model) lowMemory(s *evidence.System) []Finding {
	if s.MemoryTotal <= 0 {
		return nil
	}
	var cites []string
	// A twentieth is what the kernel needs for its own bursts.
	if float64(s.MemoryAvailable) < 0.05*float64(s.MemoryTotal) {
		cites = append(cites, fmt.Sprintf("%s of %s were available at the least", size(s.MemoryAvailable), size(s.MemoryTotal)))
	}
	if s.SwapIn+s.SwapOut >= 10 {
		cites = append(cites, fmt.Sprintf("%.0f pages a second came from swap and %.0f went there", s.SwapIn, s.SwapOut))
	}
	if s.PressureMemory > 10 {
		cites = append(cites, fmt.Sprintf("tasks waited for memory %.0f %% of the time (PSI)", s.PressureMemory))
	}
	if len(cites) == 0 {
		return nil
	}
	who, most := "", int64(0)
	for name, use := range m.in.Evidence.Services {
		if m.hostOf(name) != s.Host && len(m.machines) > 1 {
			continue
		}
		if use.RSS > most || use.RSS == most && name < who {
			who, most = name, use.RSS
		}
	}
	text := strings.Join(cites, "; ") + "."
	f := about("", "The host has too little memory", text, "/proc/meminfo, /proc/vmstat, /proc/pressure/memory")
	if who != "" {
		f.Text += fmt.Sprintf(" %s takes most, %s: smaller buffers or fewer processes there.", who, size(most))
		f = f.asks(m.memorySetting(who)...)
	}
	return []Finding{f.bounded(m.boundWait())}
}

// memorySetting is the one that takes a service's memory down.
func (m *model) memorySetting(service string) []Setting {
	svc := m.in.Stack.Service(service)
	if svc == nil {
		return nil
	}
	switch svc.Kind {
	case stack.MariaDB, stack.MySQL:
		if db := m.in.Snapshot.Databases[service]; db != nil {
			return []Setting{{Service: service, Name: "innodb_buffer_pool_size", Now: db.Variables["innodb_buffer_pool_size"], Up: -1}}
		}
	case stack.PHPFPM:
		return []Setting{{Service: service, Name: "pm.max_children", Up: -1}}
	case stack.Memcached:
		return []Setting{{Service: service, Name: "-m", Up: -1}}
	case stack.Redis:
		return []Setting{{Service: service, Name: "maxmemory", Up: -1}}
	default: // has no one setting that takes memory
	}
	return nil
}

func judgeSteal(m *model) ([]Finding, string) {
	return m.eachHost(func(s *evidence.System) []Finding {
		all := s.CPUTime()
		if all <= 0 || s.Steal < 0.05*all {
			return nil
		}
		return []Finding{about("", "The hypervisor takes CPU away",
			fmt.Sprintf("%.1f of %.1f CPU seconds (%s) went to other guests; no setting here gets them back.", s.Steal, all, percent(s.Steal/all)), "/proc/stat: steal").
			bounded(m.boundWait())}
	}), ""
}

func judgeQuota(m *model) ([]Finding, string) {
	var out []Finding
	tell := func(service, who string, quota float64, throttled float64, oom int64) {
		if throttled > 0.05*m.window {
			out = append(out, about(service, who+" is held back by a CPU quota",
				fmt.Sprintf("the control group allows %.2f CPUs; its processes were stopped for %.1f s of %.0f s.", quota, throttled, m.window), "cpu.max, cpu.stat").
				asks(Setting{Service: service, Name: "cpu.max", Now: fmt.Sprint(quota), Up: 1}).bounded(m.boundWait()))
		}
		if oom > 0 {
			out = append(out, about(service, who+" was killed for lack of memory",
				fmt.Sprintf("%d processes of the control group were killed in the run.", oom), "memory.events").bounded(m.boundWait()))
		}
	}
	for _, k := range m.machines {
		if c := k.sys.Cgroup; c != nil {
			who := "The whole service"
			if len(m.machines) > 1 {
				who = "Host " + k.name
			}
			tell("", who, c.CPUs, c.Throttled.Seconds(), c.OOMKills)
		}
	}
	for _, svc := range m.in.Stack.Services {
		if c := m.in.Evidence.Services[svc.Name].Cgroup; c != nil {
			tell(svc.Name, svc.Name, c.CPUs, c.Throttled.Seconds(), c.OOMKills)
		}
	}
	return out, ""
}

// judgeSwitching: a full CPU of which the kernel takes much, with very many
// switches, is work of handing over (I20).
func judgeSwitching(m *model) ([]Finding, string) {
	var out []Finding
	for _, k := range m.machines {
		out = append(out, m.switching(k)...)
	}
	return out, ""
}

func (m *model) switching(k *machine) []Finding {
	s := k.sys
	spent := s.User + s.Sys
	if k.busy < saturatedCPU || spent <= 0 || s.Sys < 0.35*spent {
		return nil
	}
	perCPU := s.ContextSwitches / k.cpus
	// 10,000 a second and CPU is one every 100 µs, about what a switch with its
	// cold caches costs ten times over.
	if perCPU < 10000 {
		return nil
	}
	return []Finding{about("", "Much of the CPU"+m.on(k)+" goes to switching between processes",
		fmt.Sprintf("the kernel takes %s of the CPU time in use (us %.0f / sy %.0f) and switches %.0f times a second on each CPU, %.1f times per request. Fewer processes, kept connections and fewer round trips switch less.",
			percent(s.Sys/spent), 100*s.User/(k.cpus*m.window), 100*s.Sys/(k.cpus*m.window), perCPU, s.ContextSwitches/m.x), "/proc/stat: ctxt").
		bounded(m.boundKernelOn(1, k.name))}
}

func judgeDisk(m *model) ([]Finding, string) { return m.eachHost(m.busyDisks), "" }

func (m *model) busyDisks(s *evidence.System) []Finding {
	var out []Finding
	for _, d := range s.Disks {
		slow := max(d.WriteLatency, d.ReadLatency).Seconds()
		if d.Busy < 0.5 && (slow < 0.02 || d.Reads+d.Writes < 10) {
			continue
		}
		out = append(out, about("", "Disk "+d.Name+" is busy",
			fmt.Sprintf("in use %s of the time, %.0f reads/s (%s each) and %.0f writes/s (%s each), %.1f requests under way.", percent(d.Busy), d.Reads, seconds(d.ReadLatency.Seconds()), d.Writes, seconds(d.WriteLatency.Seconds()), d.Queue),
			"/proc/diskstats").bounded(m.boundWait()))
	}
	return out
}

func judgeNetwork(m *model) ([]Finding, string) { return m.eachHost(m.fullNetworks), "" }

func (m *model) fullNetworks(s *evidence.System) []Finding {
	var out []Finding
	for _, n := range s.Networks {
		use := 0.0
		if n.SpeedBytes > 0 {
			use = max(n.ReceiveBytes, n.SendBytes) / n.SpeedBytes
		}
		if use < 0.7 && n.Dropped+n.Errors < 10 {
			continue
		}
		out = append(out, about("", "Network "+n.Name+" is near its limit",
			fmt.Sprintf("%s in and %s out a second, %s of its speed; %d packets dropped, %d errors. Smaller answers (compression, caching at the client) move less.",
				size(int64(n.ReceiveBytes)), size(int64(n.SendBytes)), percent(use), n.Dropped, n.Errors), "/proc/net/dev").bounded(m.boundWait()))
	}
	return out
}

// judgeSerial: one thread is full while CPUs are idle (W13).
func judgeSerial(m *model) ([]Finding, string) {
	who, use := m.busiestThread()
	if use < saturatedThread || m.at(who).busy >= saturatedCPU {
		return nil, ""
	}
	return []Finding{about(who, who+" has one thread that does all the work",
		fmt.Sprintf("it is busy %s of the time while CPU is %s busy: more processes or threads of it, or another instance, use the other CPUs.", percent(use), percent(m.at(who).busy)),
		"/proc/PID/task").bounded(m.boundWait())}, ""
}
