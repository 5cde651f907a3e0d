package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ParsePeak reads VmHWM, the most memory that was resident, in bytes, from a
// /proc/PID/status. It is used instead of rusage's maxrss, which begins with
// the parent's memory. A process that has just ended has none: 0.
func ParsePeak(r io.Reader) (int64, error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		rest, ok := strings.CutPrefix(s.Text(), "VmHWM:")
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("VmHWM: %w", err)
		}
		return n << 10, nil
	}
	return 0, s.Err()
}

// peakEvery is how often a child's memory is read: it is gone when it ends.
const peakEvery = 25 * time.Millisecond

// WatchPeak returns a Watch function and where it leaves the peak, in bytes.
func WatchPeak() (watch func(context.Context, int), peak *int64) {
	peak = new(int64)
	return func(ctx context.Context, pid int) {
		t := time.NewTicker(peakEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				return // it has ended
			}
			if n, err := ParsePeak(bytes.NewReader(b)); err == nil {
				*peak = max(*peak, n)
			}
		}
	}, peak
}

// RaiseFiles sets the limit of open files of this process, and so of its
// children, to want or as near as allowed, and returns what it is.
func RaiseFiles(want uint64) (uint64, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	raised := syscall.Rlimit{Cur: want, Max: max(l.Max, want)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
		return want, nil // root may raise the hard limit
	}
	l.Cur = min(want, l.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("raise the limit of open files to %d: %w", l.Cur, err)
	}
	return l.Cur, nil
}
