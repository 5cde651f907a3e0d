package evidence

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"strings"
	"time"

	"kasoku/internal/host"
)

// A container sees the CPU time of the whole machine in /proc/stat. What it
// spent itself is what its own control group did.

// ownGroup is the control group that a container is.
type ownGroup struct {
	dir        string
	v2         bool
	begin, end groupTimes
}

// groupTimes are a control group's CPU seconds since it was made.
type groupTimes struct {
	at        time.Time // zero: not read
	user, sys float64
}

// findOwn looks for the group that process 1 and all others are in; nil if that
// is the root, so that the host is a whole machine. Below systemd process 1 is
// in init.scope, beside the services. outer are the groups of process 1.
func (s *cgroupSource) findOwn(ctx context.Context, outer map[string]string) *ownGroup {
	for _, m := range s.mounts {
		if !m.controls("cpuacct") {
			continue
		}
		v2 := m.Controllers == nil
		name := "cpuacct"
		if v2 {
			name = ""
		}
		group, ok := outer[name]
		if !ok {
			continue
		}
		dir := m.levels(strings.TrimSuffix(group, "/init.scope"))[0]
		// Only the root of a hierarchy of version 1 has release_agent, and all
		// groups of version 2 but the root have cgroup.type (cgroups(7)).
		_, root := s.h.ReadFile(ctx, path.Join(dir, "release_agent"))
		_, inner := s.h.ReadFile(ctx, path.Join(dir, "cgroup.type"))
		g := &ownGroup{dir: dir, v2: v2}
		if v2 && inner == nil || !v2 && errors.Is(root, fs.ErrNotExist) {
			if !g.read(ctx, s.h).at.IsZero() {
				return g
			}
		}
	}
	return nil
}

// read takes a reading; a zero one if there is nothing to read.
func (g *ownGroup) read(ctx context.Context, h host.Host) groupTimes {
	files := []string{path.Join(g.dir, "cpuacct.stat"), path.Join(g.dir, "cpuacct.usage")}
	if g.v2 {
		files = []string{path.Join(g.dir, "cpu.stat")}
	}
	h = host.Gather(ctx, h, files...)
	t := groupTimes{at: time.Now()}
	stat, err := h.ReadFile(ctx, files[0])
	if err != nil {
		return groupTimes{}
	}
	t.parse(stat)
	if g.v2 {
		return t
	}
	usage, err := h.ReadFile(ctx, files[1])
	if err != nil {
		return groupTimes{}
	}
	// usage is exact, the two parts are counted by clock ticks.
	exact := float64(firstNumber(usage)) / 1e9
	if sum := t.user + t.sys; sum > 0 {
		t.user, t.sys = exact*t.user/sum, exact*t.sys/sum
	} else {
		t.user = exact
	}
	return t
}

// parse reads cpuacct.stat of version 1, in ticks, or cpu.stat of version 2, in
// microseconds (kernel Documentation/admin-guide/cgroup-v1/cpuacct.rst, cgroup-v2.rst).
func (t *groupTimes) parse(data []byte) {
	for line := range bytes.Lines(data) {
		name, rest, _ := bytes.Cut(line, []byte(" "))
		switch n := float64(firstNumber(rest)); string(name) {
		case "user":
			t.user = n / ticksPerSecond
		case "system":
			t.sys = n / ticksPerSecond
		case "user_usec":
			t.user = n / 1e6
		case "system_usec":
			t.sys = n / 1e6
		}
	}
}

// narrow makes what the machine spent in so many seconds what the container
// spent. The group's readings lie around those of the machine.
func (g *ownGroup) narrow(sys *System, seconds float64) bool {
	between := g.end.at.Sub(g.begin.at).Seconds()
	if g.begin.at.IsZero() || g.end.at.IsZero() || between <= 0 || seconds <= 0 {
		return false
	}
	part := math.Min(seconds/between, 1)
	user, system := math.Max(g.end.user-g.begin.user, 0)*part, math.Max(g.end.sys-g.begin.sys, 0)*part
	machine := sys.User + sys.Sys
	if own := user + system; own > machine {
		user, system = user*machine/own, system*machine/own
	}
	sys.User, sys.Sys = user, system
	sys.Outside = math.Max(machine-user-system, 0)
	sys.ForeignCPU = math.Max(user+system-sys.ServicesCPU-sys.GeneratorCPU, 0)
	return true
}

// container is the group that a host is; nil for a whole machine.
func (c *Collector) container(name string) *ownGroup {
	for _, x := range c.sources {
		if s, ok := x.(*cgroupSource); ok && s.name == name {
			return s.own
		}
	}
	return nil
}

// tellApart gives each container what it spent, and a machine that has some what
// they did not.
func (c *Collector) tellApart(hosts map[string]*System) {
	contained := map[string]bool{}
	for name, sys := range hosts {
		if g := c.container(name); g != nil {
			if g.narrow(sys, span(c.begin[name], c.end[name]).Seconds()) {
				contained[name] = true
			}
		}
	}
	for name := range contained {
		sys := hosts[name]
		explained := math.Max(c.end[name].stat.IRQ-c.begin[name].stat.IRQ, 0)
		for other, its := range hosts {
			switch {
			case other == name || !c.sameMachine(name, other):
			case contained[other]:
				explained += its.User + its.Sys
			default:
				explained += its.ServicesCPU + its.GeneratorCPU
				its.leave(sys.User, sys.Sys)
			}
		}
		sys.Neighbours = math.Max(sys.Outside-explained, 0)
	}
}

// leave takes what a container spent out of what its machine did.
func (s *System) leave(user, system float64) {
	user, system = math.Min(user, s.User), math.Min(system, s.Sys)
	s.User, s.Sys, s.Outside = s.User-user, s.Sys-system, s.Outside+user+system
	s.ForeignCPU = math.Max(s.ForeignCPU-user-system, 0)
}

// alikeSinceBoot is how much two readings of one kernel's counters may differ,
// as a share of what was counted since boot.
const alikeSinceBoot = 0.01

// sameMachine reports whether two hosts have one kernel: it was booted at the
// same second, and has counted as many switches, interrupts and processes since,
// but for what it counted between the two readings. Containers may have machine
// and boot IDs of their own.
func (c *Collector) sameMachine(a, b string) bool {
	first, second := c.begin[a].stat, c.begin[b].stat
	later := c.end[a].stat
	if first.BootTime == 0 || math.Abs(float64(first.BootTime-second.BootTime)) > 1 || first.CPUs != second.CPUs {
		return false
	}
	for _, n := range [][3]int64{
		{first.ContextSwitches, second.ContextSwitches, later.ContextSwitches},
		{first.Interrupts, second.Interrupts, later.Interrupts},
		{first.Forks, second.Forks, later.Forks},
	} {
		apart, counted := math.Abs(float64(n[0]-n[1])), float64(n[2]-n[0])
		if apart > math.Max(alikeSinceBoot*float64(n[0]), counted) {
			return false
		}
	}
	return true
}
