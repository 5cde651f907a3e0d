package evidence

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

func TestOwnGroup(t *testing.T) {
	const v1 = "50 31 0:28 / /sys/fs/cgroup/cpuacct ro - cgroup cgroup rw,cpuacct\n"
	for name, c := range map[string]struct {
		files map[string]string
		dir   string // "": a whole machine
		spent groupTimes
	}{
		"container of version 2": {map[string]string{
			"/proc/self/mountinfo": mountV2, "/proc/1/cgroup": "0::/init.scope\n",
			"/sys/fs/cgroup/cgroup.type": "domain\n", "/sys/fs/cgroup/cpu.stat": "usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\n",
			"/sys/fs/cgroup/init.scope/cgroup.type": "domain\n", "/sys/fs/cgroup/init.scope/cpu.stat": "usage_usec 9\nuser_usec 9\nsystem_usec 0\n",
		}, "/sys/fs/cgroup", groupTimes{user: 3, sys: 0.5}},
		"machine of version 2": {map[string]string{
			"/proc/self/mountinfo": mountV2, "/proc/1/cgroup": "0::/init.scope\n",
			"/sys/fs/cgroup/cpu.stat":               "usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\n",
			"/sys/fs/cgroup/init.scope/cgroup.type": "domain\n", "/sys/fs/cgroup/init.scope/cpu.stat": "usage_usec 9\nuser_usec 9\nsystem_usec 0\n",
		}, "", groupTimes{}},
		"container of version 1": {map[string]string{
			"/proc/self/mountinfo": v1, "/proc/1/cgroup": "2:cpuacct:/\n",
			"/sys/fs/cgroup/cpuacct/cpuacct.stat": "user 300\nsystem 100\n", "/sys/fs/cgroup/cpuacct/cpuacct.usage": "8000000000\n",
		}, "/sys/fs/cgroup/cpuacct", groupTimes{user: 6, sys: 2}},
		"container that spent less than a tick": {map[string]string{
			"/proc/self/mountinfo": v1, "/proc/1/cgroup": "2:cpuacct:/\n",
			"/sys/fs/cgroup/cpuacct/cpuacct.stat": "user 0\nsystem 0\n", "/sys/fs/cgroup/cpuacct/cpuacct.usage": "5000000\n",
		}, "/sys/fs/cgroup/cpuacct", groupTimes{user: 0.005}},
		"machine of version 1": {map[string]string{
			"/proc/self/mountinfo": v1, "/proc/1/cgroup": "2:cpuacct:/\n", "/sys/fs/cgroup/cpuacct/release_agent": "\n",
			"/sys/fs/cgroup/cpuacct/cpuacct.stat": "user 300\nsystem 100\n", "/sys/fs/cgroup/cpuacct/cpuacct.usage": "8000000000\n",
		}, "", groupTimes{}},
		"container that sees the machine's groups": {map[string]string{
			"/proc/self/mountinfo": v1, "/proc/1/cgroup": "2:cpuacct:/lxc/c1/init.scope\n", "/sys/fs/cgroup/cpuacct/release_agent": "\n",
			"/sys/fs/cgroup/cpuacct/lxc/c1/cpuacct.stat": "user 1\nsystem 1\n", "/sys/fs/cgroup/cpuacct/lxc/c1/cpuacct.usage": "20000000\n",
		}, "/sys/fs/cgroup/cpuacct/lxc/c1", groupTimes{user: 0.01, sys: 0.01}},
		"nothing to read": {map[string]string{
			"/proc/self/mountinfo": v1, "/proc/1/cgroup": "2:cpuacct:/\n",
		}, "", groupTimes{}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, c.files)
			src, why := cgroupsOf(context.Background(), below{host.NewLocal(), dir}, "h", nil)
			if src == nil {
				t.Fatal(why)
			}
			if c.dir == "" {
				if src.own != nil {
					t.Fatalf("%s is taken for a container's group", src.own.dir)
				}
				return
			}
			if src.own == nil || src.own.dir != c.dir {
				t.Fatalf("%+v, want the group %s", src.own, c.dir)
			}
			src.start(context.Background())
			if got := src.own.begin; math.Abs(got.user-c.spent.user) > 1e-9 || math.Abs(got.sys-c.spent.sys) > 1e-9 {
				t.Errorf("%+v, want %+v", got, c.spent)
			}
		})
	}
}

// spender is a host of a made-up window of 10 s on a machine of 4 CPUs.
type spender struct {
	services, generator float64 // CPU seconds
	group               float64 // of the container; 0: a whole machine
	boot                int64
}

// window is what a Collector has of such hosts, all of which see a machine that
// spent 20 CPU seconds, 1 of them on interrupts.
func (s spender) window(c *Collector, name string) *System {
	at := time.Unix(0, 0)
	c.begin[name] = &reading{at: at, stat: procStat{CPUs: 4, BootTime: s.boot, ContextSwitches: 1e6 + s.boot*3e4, Interrupts: 1e6, Forks: 1e4}}
	c.end[name] = &reading{at: at.Add(10 * time.Second), stat: procStat{CPUs: 4, BootTime: s.boot, User: 16, Sys: 3, IRQ: 1, Idle: 20,
		ContextSwitches: 1e6 + s.boot*3e4 + 5000, Interrupts: 1e6 + 5000, Forks: 1e4 + 10}}
	if s.group > 0 {
		// Its readings are a second around the window, in which it goes on alike.
		c.sources = append(c.sources, &cgroupSource{name: name, own: &ownGroup{
			begin: groupTimes{at: at.Add(-500 * time.Millisecond), user: 5},
			end:   groupTimes{at: at.Add(10500 * time.Millisecond), user: 5 + s.group*1.1*0.75, sys: s.group * 1.1 * 0.25}}})
	}
	sys := used(c.begin[name], c.end[name])
	sys.ServicesCPU, sys.GeneratorCPU = s.services, s.generator
	sys.ForeignCPU = sys.User + sys.Sys - 1 - s.services - s.generator
	return &sys
}

func apart(hosts map[string]spender) map[string]*System {
	c := &Collector{begin: map[string]*reading{}, end: map[string]*reading{}}
	out := map[string]*System{}
	for name, h := range hosts {
		out[name] = h.window(c, name)
	}
	c.tellApart(out)
	return out
}

func TestContainersOfOneMachine(t *testing.T) {
	hosts := apart(map[string]spender{
		"h1":    {services: 7, group: 8, boot: 1000},
		"h2":    {services: 4, group: 4, boot: 1001}, // rounded otherwise
		"local": {generator: 2, boot: 1000},
	})
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s, want %g", what, got, want)
		}
	}
	h1, h2, local := hosts["h1"], hosts["h2"], hosts["local"]
	near("user of h1", h1.User, 6)
	near("kernel of h1", h1.Sys, 2)
	near("beside h1", h1.Outside, 12)
	near("foreign on h1", h1.ForeignCPU, 1)
	// 20 − 8 of its own, 4 of h2, 2 of the generator, 1 of interrupts.
	near("neighbours of h1", h1.Neighbours, 5)
	near("CPU of h2", h2.User+h2.Sys, 4)
	near("neighbours of h2", h2.Neighbours, 5)
	near("CPU of the machine without its containers", local.User+local.Sys, 8)
	near("what they spent", local.Outside, 12)
	near("foreign on the machine", local.ForeignCPU, 20-1-2-12)
	for name, sys := range hosts {
		near("CPU time of "+name, sys.CPUTime(), 40)
	}
	h := systemHealth("h1", *h1, 10*time.Second, nil)
	if h.OK || !strings.Contains(h.Text, "beside this container used 12 % of the machine") {
		t.Errorf("%+v", h)
	}
}

// What another machine spends explains nothing here.
func TestContainersOfOtherMachines(t *testing.T) {
	hosts := apart(map[string]spender{
		"h1":    {services: 8, group: 8, boot: 1000},
		"h2":    {services: 4, group: 4, boot: 2000},
		"local": {generator: 2, boot: 3000},
	})
	if n := hosts["h1"].Neighbours; math.Abs(n-11) > 1e-9 {
		t.Errorf("neighbours of h1: %g s, want 20 − 8 of its own, 1 of interrupts", n)
	}
	if l := hosts["local"]; l.Outside != 0 || math.Abs(l.User+l.Sys-20) > 1e-9 {
		t.Errorf("local: %+v", l)
	}
}

// A group that was made anew or could not be read says nothing.
func TestContainerThatIsNotRead(t *testing.T) {
	at := time.Unix(0, 0)
	sys := System{CPUs: 2, User: 4, Sys: 1}
	for _, g := range []ownGroup{{begin: groupTimes{at: at}}, {end: groupTimes{at: at}}, {begin: groupTimes{at: at}, end: groupTimes{at: at}}} {
		if is := sys; g.narrow(&is, 5) || is.User != 4 || is.Outside != 0 {
			t.Errorf("%+v made it %+v", g, is)
		}
	}
}
