package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kasoku/internal/host"
)

// processIO is what one process of a service, and those that it waited for,
// have had read from and written to disks since they began, bytes
// (proc_pid_io(5)). A write counts when a page in memory is changed, so for the
// process that wrote it and not for the kernel that stores it later.
type processIO struct {
	Service       string
	Started       uint64 // ticks since boot
	Read, Written int64
}

// parseProcessIO reads /proc/PID/io. What was written and deleted again before
// it reached the disk is taken off.
func parseProcessIO(data []byte) (read, written int64) {
	for line := range strings.Lines(string(data)) {
		key, rest, _ := strings.Cut(line, ":")
		switch n := firstNumber([]byte(strings.TrimLeft(rest, " "))); key {
		case "read_bytes":
			read = n
		case "write_bytes":
			written += n
		case "cancelled_write_bytes":
			written -= n
		}
	}
	return read, max(written, 0)
}

// readIO reads what the services' processes did to disks. It takes root, or
// the same user (ptrace(2)); a service with a process that cannot be read, or
// with more than maxThreads of them, is left out.
func readIO(ctx context.Context, h host.Host, table processTable, roots map[string][]int) map[int]processIO {
	owners := table.owners(roots)
	count := map[string]int{}
	for _, service := range owners {
		count[service]++
	}
	var files []string
	for pid, service := range owners {
		if count[service] <= maxThreads {
			files = append(files, fmt.Sprintf("/proc/%d/io", pid))
		}
	}
	if remote(h) {
		h = host.Gather(ctx, h, files...)
	}
	out, hidden := map[int]processIO{}, map[string]bool{}
	for pid, service := range owners {
		if count[service] > maxThreads {
			continue
		}
		data, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			// One that has ended is told by the next reading.
			hidden[service] = hidden[service] || table[pid].State != 'Z' && errors.Is(err, fs.ErrPermission)
			continue
		}
		one := processIO{Service: service, Started: table[pid].Started}
		one.Read, one.Written = parseProcessIO(data)
		out[pid] = one
	}
	for pid, one := range out {
		if hidden[one.Service] {
			delete(out, pid)
		}
	}
	return out
}

// ioUses adds bytes per second to the services:
//
//	Σ over processes alive at the end: bytes − bytes at the begin (0 if new)
//	− Σ over processes that ended: their bytes at the begin, which the one that
//	waited for them has now
func ioUses(begin, end *reading, uses map[string]ServiceUse) {
	seconds := span(begin, end).Seconds()
	if seconds <= 0 {
		return
	}
	sum := map[string]processIO{}
	add := func(p processIO, sign int64) {
		s := sum[p.Service]
		s.Read, s.Written = s.Read+sign*p.Read, s.Written+sign*p.Written
		sum[p.Service] = s
	}
	for pid, now := range end.io {
		add(now, 1)
		if was := begin.io[pid]; was.Started == now.Started {
			add(was, -1)
		}
	}
	for pid, was := range begin.io {
		if end.io[pid].Started != was.Started {
			add(was, -1)
		}
	}
	for service, p := range sum {
		if use, ok := uses[service]; ok {
			use.DiskRead, use.DiskWritten = float64(max(p.Read, 0))/seconds, float64(max(p.Written, 0))/seconds
			uses[service] = use
		}
	}
}
