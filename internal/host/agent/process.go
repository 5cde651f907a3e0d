package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// thisProcess tells which process this is.
func thisProcess() (Process, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, fmt.Errorf("read the boot's id: %w", err)
	}
	st, err := readStat(os.Getpid())
	if err != nil {
		return Process{}, err
	}
	return Process{PID: os.Getpid(), Start: st.start, Boot: strings.TrimSpace(string(boot))}, nil
}

// stat is what is used of /proc/PID/stat (proc(5)).
type stat struct {
	state  byte
	parent int
	group  int
	start  uint64 // clock ticks after boot
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	// The name stands in parentheses and may hold any byte.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields after the name", pid, len(f))
	}
	st := stat{state: f[0][0]}
	st.parent, _ = strconv.Atoi(f[1])
	st.group, _ = strconv.Atoi(f[2])
	if st.start, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return stat{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return st, nil
}

// alive reports whether the process is still the one that is meant.
func (p Process) alive() bool {
	st, err := readStat(p.PID)
	if err != nil || st.start != p.Start || st.state == 'Z' || st.state == 'X' {
		return false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return err == nil && strings.TrimSpace(string(boot)) == p.Boot
}

// endPatience is how long a predecessor may take to end its commands.
const endPatience = 3 * time.Second

// end makes sure that an earlier helper does nothing any more: it is asked to
// end, and killed with the process groups of its commands if it does not. A
// controller that comes back must not race with its own past.
func (p Process) end(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the helper of the lost connection (process %d): %w", p.PID, err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	hard := time.Now().Add(endPatience)
	for p.alive() {
		if time.Now().After(hard) {
			p.endHard()
			hard = time.Now().Add(endPatience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// endHard kills a helper that does not answer, and its commands' groups first.
func (p Process) endHard() {
	_ = syscall.Kill(p.PID, syscall.SIGSTOP) // no new commands meanwhile
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(pid); err == nil && st.parent == p.PID && st.group == pid {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(p.PID, syscall.SIGKILL)
}
