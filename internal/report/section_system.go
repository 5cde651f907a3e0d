package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// services: what each used, most CPU first; then who else used the machine.
func services(run *store.Run) Section {
	s := Section{ID: "services", Title: "Services", Note: "of CPU: of all CPUs; busiest thread: of one",
		Columns: []string{"service", ">of CPU", ">user", ">system", ">busiest thread", ">processes", ">threads", ">memory", ">files", ">of", ">waits/s", ">preempted/s"}}
	ev := run.Evidence
	window := 0.0
	if ev.Load != nil {
		window = ev.Load.Window.Seconds()
	}
	var all evidence.System // of all hosts together
	for _, h := range ev.HostNames() {
		sys := ev.On(h)
		all.CPUs += sys.CPUs
		all.GeneratorCPU += sys.GeneratorCPU
		all.ForeignCPU += sys.ForeignCPU
		all.Idle += sys.Idle + sys.IOWait
	}
	total := float64(all.CPUs) * window
	names := slices.SortedFunc(maps.Keys(ev.Services), func(a, b string) int {
		return cmp.Or(cmp.Compare(ev.Services[b].CPU, ev.Services[a].CPU), cmp.Compare(a, b))
	})
	for _, n := range names {
		u := ev.Services[n]
		files, limit := "–", "–"
		if u.FileLimit > 0 {
			files, limit = number(int64(u.OpenFiles)), number(int64(u.FileLimit))
		}
		s.Rows = append(s.Rows, []string{n, share(u.CPU, total), partOf(u.User, total), partOf(u.Sys, total), partOf(u.Busiest, window), number(int64(u.Processes)), countOrDash(int64(u.Threads)),
			ui.Bytes(u.RSS), files, limit, rate(u.Voluntary), rate(u.Involuntary)})
	}
	if len(names) == 0 && total <= 0 {
		return s
	}
	for _, o := range []struct {
		name string
		cpu  float64
	}{{"(generator)", all.GeneratorCPU}, {"(others)", all.ForeignCPU}, {"(idle)", all.Idle}} {
		s.Rows = append(s.Rows, []string{o.name, share(o.cpu, total)})
	}
	return s
}

// partOf is a share, "–" where nothing was measured.
func partOf(part, of float64) string {
	if part <= 0 {
		return "–"
	}
	return share(part, of)
}

func rate(v float64) string {
	if v <= 0 {
		return "–"
	}
	return ui.Count(v)
}

// on names a host's part where there are several.
func on(ev *evidence.Evidence, host, name string) string {
	if len(ev.Hosts) == 0 {
		return name
	}
	return host + ": " + name
}

// system: each host that the run is about, one fact a line.
func system(run *store.Run) Section {
	s := Section{ID: "system", Title: "The machine", Columns: []string{"what", "value"}}
	ev := run.Evidence
	if len(ev.Hosts) > 0 {
		s.Title = "The machines"
	}
	for _, host := range ev.HostNames() {
		addSystem(*ev.On(host), func(is bool, name, format string, args ...any) {
			if is {
				s.Rows = append(s.Rows, []string{on(ev, host, name), fmt.Sprintf(format, args...)})
			}
		})
	}
	return s
}

func addSystem(sys evidence.System, add func(is bool, name, format string, args ...any)) {
	all := sys.CPUTime()
	if all <= 0 {
		return
	}
	add(true, "CPU", "%d CPUs: user %s, system %s, waiting for disks %s, stolen %s, idle %s", sys.CPUs, share(sys.User, all), share(sys.Sys, all), share(sys.IOWait, all), share(sys.Steal, all), share(sys.Idle, all))
	add(sys.Outside > 0, "CPU beside this container", "%s of its machine's", share(sys.Outside, all))
	add(sys.SoftIRQ > 0, "soft interrupts", "%s of CPU", share(sys.SoftIRQ, all))
	add(len(sys.PerCPU) > 0, "each CPU", "%s", perCPU(sys.PerCPU))
	add(true, "run queue", "%s tasks, %s context switches/s%s", ui.Number(sys.RunQueue), ui.Count(sys.ContextSwitches), optional(sys.Interrupts > 0, ", %s interrupts/s", ui.Count(sys.Interrupts)))
	add(sys.PressureCPU >= 0, "pressure (PSI, some)", "CPU %.1f %%, disks %.1f %%, memory %.1f %%", sys.PressureCPU, sys.PressureIO, sys.PressureMemory)
	add(sys.MemoryTotal > 0, "memory", "%s, at least %s available, page cache %s, dirty %s", ui.Bytes(sys.MemoryTotal), ui.Bytes(sys.MemoryAvailable), ui.Bytes(sys.PageCache), ui.Bytes(sys.Dirty))
	add(sys.SwapUsed > 0 || sys.SwapIn+sys.SwapOut > 0, "swap", "%s in use, %s pages/s in, %s out", ui.Bytes(sys.SwapUsed), ui.Count(sys.SwapIn), ui.Count(sys.SwapOut))
	add(sys.MajorFaults > 0, "pages read from disk", "%s/s", ui.Count(sys.MajorFaults))
	add(sys.FileMax > 0, "open files", "%d of %s", sys.OpenFiles, ui.Count(float64(sys.FileMax)))
	addTCP(sys, add)
	if c := sys.Cgroup; c != nil {
		addCgroup(*c, add)
	}
}

func addTCP(sys evidence.System, add func(is bool, name, format string, args ...any)) {
	t := sys.TCP
	var states []string
	for _, k := range slices.Sorted(maps.Keys(t.States)) {
		states = append(states, fmt.Sprintf("%s %d", k, t.States[k]))
	}
	add(len(states) > 0, "TCP sockets", "%s", strings.Join(states, ", "))
	add(len(states) == 0 && sys.TimeWait > 0, "TCP sockets", "TIME-WAIT %d", sys.TimeWait)
	add(t.ActiveOpens+t.PassiveOpens > 0, "TCP connections", "%d made, %d taken, %d reset", t.ActiveOpens, t.PassiveOpens, t.Resets)
	add(t.Segments > 0, "TCP segments", "%s sent, %d sent again", ui.Count(float64(t.Segments)), t.Retransmits)
	add(t.PortsUsed > 0, "local ports", "%d of %d to %s", t.PortsUsed, t.PortRange, cmp.Or(t.PortsTo, "one address"))
	add(sys.ListenOverflows+t.ListenDrops+t.TimeWaitOverflow > 0, "refused", "%d for a full accept queue, %d connection requests dropped, %d TIME-WAIT sockets dropped", sys.ListenOverflows, t.ListenDrops, t.TimeWaitOverflow)
}

func addCgroup(c evidence.CgroupUse, add func(is bool, name, format string, args ...any)) {
	add(c.CPUs > 0, "limit of CPU", "%s CPUs, throttled %s in %d periods", ui.Number(c.CPUs), ui.Duration(c.Throttled), c.ThrottledPeriods)
	add(c.MemoryLimit > 0, "limit of memory", "%s of %s used, %d processes killed", ui.Bytes(c.MemoryUsed), ui.Bytes(c.MemoryLimit), c.OOMKills)
	add(c.PidsLimit > 0, "limit of processes", "%d of %d", c.Pids, c.PidsLimit)
}

func optional(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func perCPU(use []float64) string {
	out := make([]string, len(use))
	for i, u := range use {
		out[i] = fmt.Sprintf("%.0f %%", 100*u)
	}
	return strings.Join(out, ", ")
}

// disks, and behind them which service had them read and written.
func disks(run *store.Run) Section {
	s := Section{ID: "disks", Title: "Disks", Note: "by a service: what its processes had read and written, when they did",
		Columns: []string{"disk", ">busy", ">reads/s", ">bytes/s", ">latency", ">writes/s", ">bytes/s ", ">latency ", ">queue"}}
	for _, host := range run.Evidence.HostNames() {
		for _, d := range run.Evidence.On(host).Disks {
			s.Rows = append(s.Rows, []string{on(run.Evidence, host, d.Name), ui.Share(d.Busy), rate(d.Reads), rateBytes(d.ReadBytes), orDash(d.ReadLatency), rate(d.Writes), rateBytes(d.WriteBytes), orDash(d.WriteLatency), ui.Number(d.Queue)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(run.Evidence.Services)) {
		if u := run.Evidence.Services[name]; u.DiskRead >= 1 || u.DiskWritten >= 1 {
			s.Rows = append(s.Rows, []string{"by " + name, "–", "–", rateBytes(u.DiskRead), "–", "–", rateBytes(u.DiskWritten)})
		}
	}
	return s
}

func rateBytes(v float64) string {
	if v < 1 {
		return "–"
	}
	return ui.Bytes(int64(v))
}

func networks(run *store.Run) Section {
	s := Section{ID: "networks", Title: "Networks", Note: "by a service: as it counts itself, sockets of every kind, or by the interfaces of its own network namespace",
		Columns: []string{"interface", ">in/s", ">packets/s", ">out/s", ">packets/s ", ">of its speed", ">dropped", ">errors"}}
	for _, host := range run.Evidence.HostNames() {
		for _, n := range run.Evidence.On(host).Networks {
			s.Rows = append(s.Rows, []string{on(run.Evidence, host, n.Name), rateBytes(n.ReceiveBytes), rate(n.ReceivePackets), rateBytes(n.SendBytes), rate(n.SendPackets), share(max(n.ReceiveBytes, n.SendBytes), n.SpeedBytes), number(n.Dropped), number(n.Errors)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(run.Evidence.Services)) {
		if u := run.Evidence.Services[name]; u.NetReceived >= 1 || u.NetSent >= 1 {
			s.Rows = append(s.Rows, []string{"by " + name, rateBytes(u.NetReceived), "–", rateBytes(u.NetSent)})
		}
	}
	return s
}

func queues(run *store.Run) Section {
	s := Section{ID: "queues", Title: "Accept queues", Columns: []string{"listens on", "service", ">longest seen", ">limit"}}
	for _, host := range run.Evidence.HostNames() {
		for _, q := range run.Evidence.On(host).TCP.Queues {
			s.Rows = append(s.Rows, []string{on(run.Evidence, host, q.Listen), q.Service, number(int64(q.Longest)), number(int64(q.Limit))})
		}
	}
	return s
}

// processes: who used CPU, by process.
func processes(run *store.Run) Section {
	s := Section{ID: "processes", Title: "Processes", Columns: []string{"process", ">PID", "service", ">of one CPU"}}
	ev := run.Evidence
	var all []evidence.ProcessUse
	for name, u := range ev.Services {
		for _, p := range u.Top {
			p.Service = name
			all = append(all, p)
		}
	}
	for _, host := range ev.HostNames() {
		for _, p := range ev.On(host).Others {
			p.Service = on(ev, host, "(others)")
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b evidence.ProcessUse) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.PID, b.PID))
	})
	for _, p := range all {
		window := 0.0
		if ev.Load != nil {
			window = ev.Load.Window.Seconds()
		}
		s.Rows = append(s.Rows, []string{p.Name, fmt.Sprint(p.PID), p.Service, share(p.CPU, window)})
	}
	return s
}
