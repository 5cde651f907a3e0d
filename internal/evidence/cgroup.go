package evidence

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"time"
)

// cgroupMount is one mounted hierarchy of control groups (cgroups(7)).
type cgroupMount struct {
	Point string // where it is mounted
	Root  string // the group that is seen there
	// Controllers of a version 1 hierarchy; nil: version 2.
	Controllers []string
}

// parseCgroupMounts reads them out of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
func parseCgroupMounts(data []byte) []cgroupMount {
	var out []cgroupMount
	for line := range bytes.Lines(data) {
		left, right, ok := strings.Cut(string(line), " - ")
		f, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(f) < 5 || len(kind) < 3 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			out = append(out, cgroupMount{Point: f[4], Root: f[3]})
		case "cgroup":
			out = append(out, cgroupMount{Point: f[4], Root: f[3], Controllers: strings.Split(kind[2], ",")})
		}
	}
	return out
}

// parseCgroups reads /proc/PID/cgroup: the group by controller, "" for
// version 2.
func parseCgroups(data []byte) map[string]string {
	out := map[string]string{}
	for line := range bytes.Lines(data) {
		f := strings.SplitN(strings.TrimRight(string(line), "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, c := range strings.Split(f[1], ",") {
			out[c] = f[2]
		}
	}
	return out
}

// levels are the folders of a group and of those around it, as far as this
// hierarchy shows them, the group first.
func (m cgroupMount) levels(group string) []string {
	rel := group
	if m.Root != "/" {
		rest, ok := strings.CutPrefix(group, m.Root)
		if !ok {
			// Another namespace's name for it; what is seen is the root.
			rest = ""
		}
		rel = rest
	}
	rel = path.Clean("/" + rel) // "/.." is above what is seen
	var out []string
	for ; rel != "/"; rel = path.Dir(rel) {
		out = append(out, path.Join(m.Point, rel))
	}
	return append(out, m.Point)
}

// controls reports whether the hierarchy may hold limits of this controller.
func (m cgroupMount) controls(controller string) bool {
	if m.Controllers == nil {
		return true
	}
	for _, c := range m.Controllers {
		if c == controller {
			return true
		}
	}
	return false
}

// parseCPUMax reads cpu.max of version 2, "200000 100000" or "max 100000": the
// CPUs that may be used, 0 without a limit.
func parseCPUMax(data []byte) float64 {
	f := strings.Fields(string(data))
	if len(f) == 1 {
		f = append(f, "100000") // the default period, 100 ms
	}
	if len(f) != 2 {
		return 0
	}
	return cpuQuota(f[0], f[1])
}

// cpuQuota divides a quota by its period, both in microseconds; "max" and -1
// are no limit.
func cpuQuota(quota, period string) float64 {
	q, err1 := strconv.ParseInt(strings.TrimSpace(quota), 10, 64)
	p, err2 := strconv.ParseInt(strings.TrimSpace(period), 10, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// parseLimit reads a limit or a count; 0 for "max" and for version 1's way to
// say that there is none, the highest number of whole pages.
func parseLimit(data []byte) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n < 0 || n >= 1<<62 {
		return 0
	}
	return n
}

// cgroupCounts is what a group's limits did since it began.
type cgroupCounts struct {
	Throttled        time.Duration
	ThrottledPeriods int64
	OOMKills         int64
}

// parseCPUStat reads cpu.stat: throttled_usec in version 2, throttled_time
// (nanoseconds) in version 1 (kernel Documentation/scheduler/sched-bwc.rst).
func (c *cgroupCounts) parseCPUStat(data []byte) {
	for line := range bytes.Lines(data) {
		name, rest, _ := bytes.Cut(line, []byte(" "))
		switch string(name) {
		case "nr_throttled":
			c.ThrottledPeriods = firstNumber(rest)
		case "throttled_usec":
			c.Throttled = time.Duration(min(firstNumber(rest), 1<<52)) * time.Microsecond
		case "throttled_time":
			c.Throttled = time.Duration(firstNumber(rest))
		}
	}
}

// parseOOM reads memory.events (version 2) or memory.oom_control (version 1).
func (c *cgroupCounts) parseOOM(data []byte) {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			c.OOMKills = firstNumber(rest)
		}
	}
}
