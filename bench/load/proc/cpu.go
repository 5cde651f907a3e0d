package proc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the kernel's CPU times in /proc: USER_HZ is 100 on every
// Linux that Go runs on.
const tick = time.Second / 100

// Machine is CPU time of all processors since boot, from /proc/stat.
type Machine struct {
	Processes  time.Duration // user, nice, system
	Interrupts time.Duration // irq, softirq
	Stolen     time.Duration // by the hypervisor
}

// ParseMachine reads the first line of /proc/stat.
func ParseMachine(r io.Reader) (Machine, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return Machine{}, fmt.Errorf("read /proc/stat: %w", err)
	}
	f := strings.Fields(line)
	// cpu user nice system idle iowait irq softirq steal …
	if len(f) < 9 || f[0] != "cpu" {
		return Machine{}, fmt.Errorf("/proc/stat begins with %q, not with the processors' times", strings.TrimSpace(line))
	}
	var t [9]time.Duration
	for i := 1; i < len(t); i++ {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return Machine{}, fmt.Errorf("read /proc/stat: %w", err)
		}
		t[i] = time.Duration(n) * tick
	}
	return Machine{Processes: t[1] + t[2] + t[3], Interrupts: t[6] + t[7], Stolen: t[8]}, nil
}

// ReadMachine is ParseMachine of this machine.
func ReadMachine() (Machine, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Machine{}, err
	}
	return ParseMachine(bytes.NewReader(b))
}

// Stat is what is used of /proc/PID/stat.
type Stat struct {
	Parent int
	// CPU is the process's own time and that of children it has waited for.
	CPU time.Duration
}

// ParseStat reads a /proc/PID/stat. The name in it may hold blanks and
// brackets; what follows its last bracket is regular.
func ParseStat(b []byte) (Stat, error) {
	end := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[end+1:]))
	// state ppid …, utime stime cutime cstime are fields 14 to 17 of proc(5)
	if end < 0 || len(f) < 15 {
		return Stat{}, fmt.Errorf("not a /proc/PID/stat: %q", b)
	}
	var s Stat
	var err error
	if s.Parent, err = strconv.Atoi(f[1]); err != nil {
		return Stat{}, fmt.Errorf("/proc/PID/stat: parent: %w", err)
	}
	for _, x := range f[11:15] {
		n, err := strconv.ParseInt(x, 10, 64)
		if err != nil {
			return Stat{}, fmt.Errorf("/proc/PID/stat: CPU time: %w", err)
		}
		s.CPU += time.Duration(n) * tick
	}
	return s, nil
}

// Tree is the CPU time of a process and its direct children, such as nginx's
// master and workers. A process that ends meanwhile is left out.
func Tree(pid int) (time.Duration, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, name := range names {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return 0, err
		}
		s, err := ParseStat(b)
		if err != nil {
			return 0, err
		}
		if s.Parent == pid || name == fmt.Sprintf("/proc/%d/stat", pid) {
			sum += s.CPU
		}
	}
	return sum, nil
}

// Self is the CPU time of this process, without its children.
func Self() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// Meter tells what others used of the machine beside processes that are known.
type Meter struct {
	server int // process id of the target's master
	apart  bool
	began  time.Time
	at     snapshot
}

type snapshot struct {
	machine Machine
	known   time.Duration
}

// NewMeter begins to measure; server is the target's master process.
func NewMeter(server int) (*Meter, error) {
	m := &Meter{server: server, apart: interruptsApart(), began: time.Now()}
	var err error
	m.at, err = m.snapshot()
	return m, err
}

func (m *Meter) snapshot() (snapshot, error) {
	machine, err := ReadMachine()
	if err != nil {
		return snapshot{}, err
	}
	self, err := Self()
	if err != nil {
		return snapshot{}, err
	}
	tree, err := Tree(m.server)
	return snapshot{machine, self + tree}, err
}

// Foreign is what others had of all processors, each as a share from 0 to 1.
type Foreign struct {
	Used   float64 `json:"used"`   // by processes that are neither tool nor target
	Stolen float64 `json:"stolen"` // by the hypervisor, for other machines
}

// Sum of both.
func (f Foreign) Sum() float64 { return f.Used + f.Stolen }

// Foreign since NewMeter; tools is CPU time of children that have ended since.
func (m *Meter) Foreign(tools time.Duration, processors int) (Foreign, error) {
	now, err := m.snapshot()
	if err != nil {
		return Foreign{}, err
	}
	return foreign(m.at, now, tools, m.apart, time.Since(m.began)*time.Duration(processors)), nil
}

// foreign computes Foreign. Where interrupt time is apart, it is in nobody's
// account and the loopback's work is all interrupts, so it is left out;
// elsewhere the kernel gives it to the process that it interrupted.
func foreign(a, b snapshot, tools time.Duration, apart bool, capacity time.Duration) Foreign {
	if capacity <= 0 {
		return Foreign{}
	}
	busy := b.machine.Processes - a.machine.Processes
	if !apart {
		busy += b.machine.Interrupts - a.machine.Interrupts
	}
	share := func(d time.Duration) float64 { return max(0, float64(d)/float64(capacity)) }
	return Foreign{share(busy - tools - (b.known - a.known)), share(b.machine.Stolen - a.machine.Stolen)}
}

// interruptsApart says whether the kernel keeps interrupt time out of the
// processes' accounts (CONFIG_IRQ_TIME_ACCOUNTING). Unknown counts as no, as
// in Debian's kernels.
func interruptsApart() bool {
	if f, err := os.Open("/proc/config.gz"); err == nil {
		defer f.Close()
		if z, err := gzip.NewReader(f); err == nil {
			if config, err := io.ReadAll(z); err == nil {
				return bytes.Contains(config, irqTime)
			}
		}
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	config, err := os.ReadFile("/boot/config-" + strings.TrimSpace(string(release)))
	return err == nil && bytes.Contains(config, irqTime)
}

var irqTime = []byte("\nCONFIG_IRQ_TIME_ACCOUNTING=y")
