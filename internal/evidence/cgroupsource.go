package evidence

import (
	"context"
	"fmt"
	"path"

	"kasoku/internal/host"
)

// cgroupSource reads what control groups' limits did in the window: those
// around the machine or container (of process 1), and those of services.
type cgroupSource struct {
	h       host.Host
	name    string // of the host
	mounts  []cgroupMount
	machine *cgroupProbe // nil: no limits
	of      map[string]*cgroupProbe
	own     *ownGroup // nil: the host is a whole machine
}

// cgroupProbe is one process's groups. The limits were read when it was made;
// only their counters are read around the window.
type cgroupProbe struct {
	limits CgroupUse
	// Files of the tightest levels, "" if there is no such limit.
	cpuStat, memoryUsed, memoryEvents, pids string
	begin, end                              cgroupCounts
}

// findCgroups returns a source for every host.
func findCgroups(ctx context.Context, s setting) (out []source, health []Health) {
	for _, name := range sortedKeys(s.roots) {
		h := s.hosts[name]
		if h == nil {
			continue
		}
		src, why := cgroupsOf(ctx, h, name, s.roots[name])
		if src == nil {
			health = append(health, Health{Source: "control groups of " + name, OK: true, Text: "not judged: " + why})
			continue
		}
		out = append(out, src)
	}
	return out, health
}

func cgroupsOf(ctx context.Context, h host.Host, name string, roots map[string][]int) (src *cgroupSource, why string) {
	none := func(why string) (*cgroupSource, string) { return nil, why }
	data, err := h.ReadFile(ctx, "/proc/self/mountinfo")
	if err != nil {
		return none(err.Error())
	}
	src = &cgroupSource{h: h, name: name, mounts: parseCgroupMounts(data), of: map[string]*cgroupProbe{}}
	if len(src.mounts) == 0 {
		return none("no control groups are mounted (/sys/fs/cgroup)")
	}
	first, err := h.ReadFile(ctx, "/proc/1/cgroup")
	if err != nil {
		return none(err.Error())
	}
	outer := parseCgroups(first)
	src.machine, src.own = src.probe(ctx, outer, nil), src.findOwn(ctx, outer)
	for service, pids := range roots {
		if len(pids) == 0 {
			continue
		}
		data, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/cgroup", pids[0]))
		if err != nil {
			continue // it ended; said with its processes
		}
		if p := src.probe(ctx, parseCgroups(data), outer); p != nil {
			src.of[service] = p
		}
	}
	return src, ""
}

// probe looks for limits in a process's groups and those around them, but not
// in those of outer; nil if there are none.
func (s *cgroupSource) probe(ctx context.Context, groups, outer map[string]string) *cgroupProbe {
	p := &cgroupProbe{}
	read := func(dir, name string) []byte {
		data, err := s.h.ReadFile(ctx, path.Join(dir, name))
		if err != nil {
			return nil
		}
		return data
	}
	s.each("cpu", groups, outer, func(dir string, v2 bool) {
		cpus := parseCPUMax(read(dir, "cpu.max"))
		if !v2 {
			cpus = cpuQuota(string(read(dir, "cpu.cfs_quota_us")), string(read(dir, "cpu.cfs_period_us")))
		}
		if cpus > 0 && (p.limits.CPUs == 0 || cpus < p.limits.CPUs) {
			p.limits.CPUs, p.cpuStat = cpus, path.Join(dir, "cpu.stat")
		}
	})
	s.each("memory", groups, outer, func(dir string, v2 bool) {
		limit, used, events := "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"
		if v2 {
			limit, used, events = "memory.max", "memory.current", "memory.events"
		}
		if n := parseLimit(read(dir, limit)); n > 0 && (p.limits.MemoryLimit == 0 || n < p.limits.MemoryLimit) {
			p.limits.MemoryLimit, p.memoryUsed, p.memoryEvents = n, path.Join(dir, used), path.Join(dir, events)
		}
	})
	s.each("pids", groups, outer, func(dir string, _ bool) {
		if n := parseLimit(read(dir, "pids.max")); n > 0 && (p.limits.PidsLimit == 0 || n < p.limits.PidsLimit) {
			p.limits.PidsLimit, p.pids = n, path.Join(dir, "pids.current")
		}
	})
	if p.cpuStat == "" && p.memoryUsed == "" && p.pids == "" {
		return nil
	}
	return p
}

// each visits the folders that may hold a controller's limits.
func (s *cgroupSource) each(controller string, groups, outer map[string]string, visit func(dir string, v2 bool)) {
	for _, m := range s.mounts {
		if !m.controls(controller) {
			continue
		}
		v2 := m.Controllers == nil
		name := controller
		if v2 {
			name = ""
		}
		group, ok := groups[name]
		if !ok {
			continue
		}
		around := map[string]bool{}
		if g, ok := outer[name]; ok {
			for _, dir := range m.levels(g) {
				around[dir] = true
			}
		}
		for _, dir := range m.levels(group) {
			if !around[dir] {
				visit(dir, v2)
			}
		}
	}
}

func (s *cgroupSource) probes() []*cgroupProbe {
	var out []*cgroupProbe
	if s.machine != nil {
		out = append(out, s.machine)
	}
	for _, name := range sortedKeys(s.of) {
		out = append(out, s.of[name])
	}
	return out
}

func (s *cgroupSource) counts(ctx context.Context, p *cgroupProbe) cgroupCounts {
	var c cgroupCounts
	if p.cpuStat != "" {
		if data, err := s.h.ReadFile(ctx, p.cpuStat); err == nil {
			c.parseCPUStat(data)
		}
	}
	if p.memoryEvents != "" {
		if data, err := s.h.ReadFile(ctx, p.memoryEvents); err == nil {
			c.parseOOM(data)
		}
	}
	return c
}

func (s *cgroupSource) start(ctx context.Context) {
	if s.own != nil {
		s.own.begin = s.own.read(ctx, s.h)
	}
	for _, p := range s.probes() {
		p.begin = s.counts(ctx, p)
	}
}

func (s *cgroupSource) end(ctx context.Context) {
	if s.own != nil {
		s.own.end = s.own.read(ctx, s.h)
	}
	for _, p := range s.probes() {
		p.end = s.counts(ctx, p)
		for _, one := range []struct {
			file string
			to   *int64
		}{{p.memoryUsed, &p.limits.MemoryUsed}, {p.pids, &p.limits.Pids}} {
			if one.file == "" {
				continue
			}
			if data, err := s.h.ReadFile(ctx, one.file); err == nil {
				*one.to = parseLimit(data)
			}
		}
	}
}

// use is what the limits did between the two readings.
func (p *cgroupProbe) use() *CgroupUse {
	u := p.limits
	u.Throttled = max(p.end.Throttled-p.begin.Throttled, 0)
	u.ThrottledPeriods = max(p.end.ThrottledPeriods-p.begin.ThrottledPeriods, 0)
	u.OOMKills = max(p.end.OOMKills-p.begin.OOMKills, 0)
	return &u
}

func (s *cgroupSource) tell(_ context.Context, ev *Evidence) {
	h := Health{Source: "control groups of " + s.name, OK: true, Text: "no limits hold for the machine"}
	if sys := ev.On(s.name); s.machine != nil && sys != nil {
		sys.Cgroup = s.machine.use()
		h.Text = "limits hold for the machine"
		s.judge(&h, "the machine", sys.Cgroup)
	}
	for _, name := range sortedKeys(s.of) {
		use := ev.Services[name]
		use.Cgroup = s.of[name].use()
		ev.Services[name] = use
		h.Text += "; " + name + " has limits of its own"
		s.judge(&h, name, use.Cgroup)
	}
	ev.Health = append(ev.Health, h)
}

// judge says what a limit did. Throttling is what the service does on this
// machine, so it is told but not called wrong; a kill makes the run worthless.
func (s *cgroupSource) judge(h *Health, who string, u *CgroupUse) {
	if u.ThrottledPeriods > 0 {
		h.Text += fmt.Sprintf(" (%s was held back %d times by its limit of %.2f CPUs)", who, u.ThrottledPeriods, u.CPUs)
	}
	if u.OOMKills > 0 {
		h.OK = false
		h.Text += fmt.Sprintf(" (the kernel killed %d processes of %s for memory, limit %d MiB)", u.OOMKills, who, u.MemoryLimit>>20)
	}
}

func (s *cgroupSource) close() {}
