package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is USER_HZ, the unit of CPU times in /proc: 100 on every
// architecture that Kasoku runs on (proc(5), sysconf(3) _SC_CLK_TCK).
const ticksPerSecond = 100

// procStat is /proc/stat: CPU seconds since boot over all CPUs (proc_stat(5)).
type procStat struct {
	CPUs int
	// User includes nice and guests; Sys is the kernel on behalf of processes;
	// IRQ is hard and soft interrupts, which belong to no process.
	User, Sys, IRQ, Idle, IOWait, Steal float64
	// SoftIRQ is part of IRQ, Guest part of User.
	SoftIRQ, Guest  float64
	ContextSwitches int64
	Interrupts      int64 // hard ones
	Forks           int64 // processes made since boot
	BootTime        int64 // seconds since 1970
}

func parseStat(data []byte) (procStat, error) {
	var s procStat
	seen := false
	for line := range bytes.Lines(data) {
		switch {
		case bytes.HasPrefix(line, []byte("cpu ")):
			f := strings.Fields(string(line))
			if len(f) < 8 {
				continue
			}
			var v [11]float64
			for i := 1; i < len(f) && i < len(v); i++ {
				n, err := strconv.ParseUint(f[i], 10, 64)
				if err != nil {
					return s, fmt.Errorf("parse /proc/stat: %q is not a number", f[i])
				}
				v[i] = float64(n) / ticksPerSecond
			}
			s.User, s.Sys, s.Idle, s.IOWait = v[1]+v[2], v[3], v[4], v[5]
			s.IRQ, s.SoftIRQ, s.Steal, s.Guest = v[6]+v[7], v[7], v[8], v[9]+v[10]
			seen = true
		case bytes.HasPrefix(line, []byte("cpu")):
			s.CPUs++
		case bytes.HasPrefix(line, []byte("ctxt ")):
			s.ContextSwitches = firstNumber(line[5:])
		case bytes.HasPrefix(line, []byte("intr ")):
			// The sum; one number for each interrupt follows, some hundreds.
			s.Interrupts = firstNumber(line[5:])
		case bytes.HasPrefix(line, []byte("processes ")):
			s.Forks = firstNumber(line[10:])
		case bytes.HasPrefix(line, []byte("btime ")):
			s.BootTime = firstNumber(line[6:])
		}
	}
	if !seen || s.CPUs == 0 {
		return s, fmt.Errorf("parse /proc/stat: no cpu line")
	}
	return s, nil
}

// firstNumber reads the digits that b begins with; 0 if there are none or too
// many.
func firstNumber(b []byte) int64 {
	b = bytes.TrimLeft(b, " ")
	end := 0
	for end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(b[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// cpuTime is one CPU's ticks since boot.
type cpuTime struct{ Busy, All int64 }

// parseCPUs reads the lines of single CPUs of /proc/stat by their name. A CPU
// that is switched off has none, so a list would shift.
func parseCPUs(data []byte) map[string]cpuTime {
	out := map[string]cpuTime{}
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("cpu")) {
			break // they come first
		}
		f := strings.Fields(string(line))
		if len(f) < 8 || f[0] == "cpu" {
			continue
		}
		var one cpuTime
		for i := 1; i < len(f) && i <= 8; i++ { // guests are in user already
			n, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil || n < 0 || n > 1<<53 {
				break
			}
			one.All += n
			// Idle and waiting for a disk are not work; steal is not ours.
			if i != 4 && i != 5 && i != 8 {
				one.Busy += n
			}
		}
		out[f[0]] = one
	}
	return out
}

// perCPU is each CPU's utilization between two readings, in order of number.
func perCPU(begin, end map[string]cpuTime) []float64 {
	var names []string
	for name := range end {
		if _, ok := begin[name]; ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var out []float64
	for _, name := range names {
		busy, all := end[name].Busy-begin[name].Busy, end[name].All-begin[name].All
		part := 0.0
		if all > 0 {
			part = min(max(float64(busy)/float64(all), 0), 1)
		}
		out = append(out, part)
	}
	return out
}

// parseMeminfo reads MemTotal and MemAvailable of /proc/meminfo in bytes.
func parseMeminfo(data []byte) (total, available int64, err error) {
	total, available = -1, -1
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 2 || f[0] != "MemTotal:" && f[0] != "MemAvailable:" {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return 0, 0, fmt.Errorf("parse /proc/meminfo: %q is not a size", f[1])
		}
		if f[0] == "MemTotal:" {
			total = n << 10
		} else {
			available = n << 10
		}
	}
	if total < 0 || available < 0 {
		return 0, 0, fmt.Errorf("parse /proc/meminfo: MemTotal or MemAvailable is missing")
	}
	return total, available, nil
}

// parseRunnable reads the number of runnable tasks out of /proc/loadavg. The
// reader itself is one of them, so it is taken off.
func parseRunnable(data []byte) (int, error) {
	f := strings.Fields(string(data))
	if len(f) < 4 {
		return 0, fmt.Errorf("parse /proc/loadavg: %q has no fourth field", data)
	}
	running, _, ok := strings.Cut(f[3], "/")
	n, err := strconv.Atoi(running)
	if !ok || err != nil {
		return 0, fmt.Errorf("parse /proc/loadavg: cannot read %q", f[3])
	}
	return max(n-1, 0), nil
}

// parseTimeWait reads the number of TIME_WAIT sockets of /proc/net/sockstat.
func parseTimeWait(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) == 0 || f[0] != "TCP:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			if f[i] == "tw" {
				return strconv.Atoi(f[i+1])
			}
		}
	}
	return 0, fmt.Errorf("parse /proc/net/sockstat: no TCP line with tw")
}

// parseNetstat reads the counters of one protocol ("TcpExt:", "Tcp:") of
// /proc/net/netstat or /proc/net/snmp: a line of names, then one of values.
func parseNetstat(data []byte, protocol string) map[string]int64 {
	out := map[string]int64{}
	var names []string
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte(protocol)) {
			continue
		}
		f := strings.Fields(string(line))
		if names == nil {
			names = f
			continue
		}
		for i := 1; i < len(f) && i < len(names); i++ {
			if n, err := strconv.ParseInt(f[i], 10, 64); err == nil {
				out[names[i]] = n
			}
		}
		break
	}
	return out
}

// parseUptime reads the first number of /proc/uptime: seconds since boot, to a
// hundredth (proc_uptime(5)). 0 if it is none.
func parseUptime(data []byte) time.Duration {
	first, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	s, err := strconv.ParseFloat(first, 64)
	if err != nil || s < 0 || s > 1e9 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// parsePressure reads the "some" total of /proc/pressure/*: microseconds
// during which at least one task waited (kernel Documentation/accounting/psi.rst).
func parsePressure(data []byte) (micros int64, err error) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) == 0 || f[0] != "some" {
			continue
		}
		for _, kv := range f[1:] {
			if v, ok := strings.CutPrefix(kv, "total="); ok {
				return strconv.ParseInt(v, 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("parse /proc/pressure: no \"some\" line with a total")
}
