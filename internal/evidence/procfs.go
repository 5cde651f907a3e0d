package evidence

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
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
	ContextSwitches                     int64
}

func parseStat(data []byte) (procStat, error) {
	var s procStat
	seen := false
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		switch {
		case len(f) >= 8 && f[0] == "cpu":
			var v [9]float64
			for i := 1; i < len(f) && i <= 8; i++ {
				n, err := strconv.ParseUint(f[i], 10, 64)
				if err != nil {
					return s, fmt.Errorf("parse /proc/stat: %q is not a number", f[i])
				}
				v[i] = float64(n) / ticksPerSecond
			}
			s.User, s.Sys, s.Idle, s.IOWait = v[1]+v[2], v[3], v[4], v[5]
			s.IRQ, s.Steal = v[6]+v[7], v[8]
			seen = true
		case len(f) > 1 && strings.HasPrefix(f[0], "cpu"):
			s.CPUs++
		case len(f) == 2 && f[0] == "ctxt":
			s.ContextSwitches, _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	if !seen || s.CPUs == 0 {
		return s, fmt.Errorf("parse /proc/stat: no cpu line")
	}
	return s, nil
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

// disk is one line of /proc/diskstats (kernel Documentation/admin-guide/iostats.rst).
type disk struct {
	Writes int64 // completed
	BusyMS int64 // time with a request under way
}

// partition matches names of parts of a disk, which would count twice.
var partition = regexp.MustCompile(`^((sd|vd|hd|xvd)[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+)p\d+)$`)

// notDisk matches devices without a medium of their own.
var notDisk = regexp.MustCompile(`^(loop|ram|zram|fd|sr)\d+$`)

// stacked reports a device whose writes another device counts too.
func stacked(name string) bool {
	return strings.HasPrefix(name, "dm-") || strings.HasPrefix(name, "md")
}

func parseDiskstats(data []byte) map[string]disk {
	out := map[string]disk{}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 14 || partition.MatchString(f[2]) || notDisk.MatchString(f[2]) {
			continue
		}
		writes, err1 := strconv.ParseInt(f[7], 10, 64)
		busy, err2 := strconv.ParseInt(f[12], 10, 64)
		if err1 == nil && err2 == nil {
			out[f[2]] = disk{Writes: writes, BusyMS: busy}
		}
	}
	return out
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

// parseNetstat reads the TcpExt counters of /proc/net/netstat.
func parseNetstat(data []byte) map[string]int64 {
	out := map[string]int64{}
	var names []string
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) == 0 || f[0] != "TcpExt:" {
			continue
		}
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
