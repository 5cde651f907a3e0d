package evidence

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// thread is one thread of a service at one moment.
type thread struct {
	Service                string
	Started                uint64 // ticks since boot
	Ticks                  int64  // CPU time
	Voluntary, Involuntary int64  // context switches since it began
}

// maxThreads of one service are read. Each costs 30 µs (BenchmarkThreads), so
// that many 9 ms at either end of the window; a database with a connection a
// thread can have thousands.
const maxThreads = 300

// readThreads reads the threads of the services' processes. A process with one
// thread is in the table already, but for its context switches. unread names
// the services that have too many, with how many.
func readThreads(ctx context.Context, h host.Host, table processTable, roots map[string][]int) (threads map[int]thread, unread map[string]int) {
	threads, unread = map[int]thread{}, map[string]int{}
	count := map[string]int{}
	owners := table.owners(roots)
	for pid, service := range owners {
		count[service] += table[pid].Threads
	}
	if remote(h) {
		h = host.Gather(ctx, h, threadFiles(table, owners, count)...)
	}
	for pid, service := range owners {
		if count[service] > maxThreads {
			unread[service] = count[service]
			continue
		}
		p := table[pid]
		dir := "/proc/" + strconv.Itoa(pid)
		if p.Threads <= 1 {
			one := thread{Service: service, Started: p.Started, Ticks: p.Ticks}
			if one.readSwitches(ctx, h, dir) {
				threads[pid] = one
			}
			continue
		}
		tasks, err := h.List(ctx, dir+"/task")
		if err != nil {
			continue // it ended
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(path.Base(t.Path))
			if err != nil {
				continue
			}
			dir := fmt.Sprintf("/proc/%d/task/%d", pid, tid)
			data, err := h.ReadFile(ctx, dir+"/stat")
			if err != nil {
				continue
			}
			stat, err := parsePIDStat(data)
			one := thread{Service: service, Started: stat.Started, Ticks: stat.Ticks}
			if err == nil && one.readSwitches(ctx, h, dir) {
				threads[tid] = one
			}
		}
	}
	return threads, unread
}

// threadFiles are what readThreads reads, as patterns for a far host.
func threadFiles(table processTable, owners map[int]string, count map[string]int) []string {
	var out []string
	for pid, service := range owners {
		switch {
		case count[service] > maxThreads:
		case table[pid].Threads <= 1:
			out = append(out, fmt.Sprintf("/proc/%d/status", pid))
		default:
			out = append(out, fmt.Sprintf("/proc/%d/task/[0-9]*/stat", pid), fmt.Sprintf("/proc/%d/task/[0-9]*/status", pid))
		}
	}
	return out
}

func (t *thread) readSwitches(ctx context.Context, h host.Host, dir string) bool {
	data, err := h.ReadFile(ctx, dir+"/status")
	if err != nil {
		return false
	}
	t.Voluntary, t.Involuntary = parseSwitches(data)
	return true
}

// parseSwitches reads the context switches of /proc/PID/status or
// /proc/PID/task/TID/status; the first holds those of the main thread only.
func parseSwitches(data []byte) (voluntary, involuntary int64) {
	s := string(data)
	at := strings.LastIndex(s, "\nvoluntary_ctxt_switches:")
	if at < 0 {
		return 0, 0
	}
	for line := range strings.Lines(s[at+1:]) {
		key, rest, _ := strings.Cut(line, ":")
		switch n := firstNumber([]byte(strings.TrimLeft(rest, " \t"))); key {
		case "voluntary_ctxt_switches":
			voluntary = n
		case "nonvoluntary_ctxt_switches":
			involuntary = n
		}
	}
	return voluntary, involuntary
}

// threadUses adds context switches and the busiest thread to the services.
// Threads that ended in the window are not in it, so of a service whose
// processes come and go these are lower bounds.
func threadUses(begin, end *reading, uses map[string]ServiceUse) {
	seconds := span(begin, end).Seconds()
	if seconds <= 0 {
		return
	}
	for tid, now := range end.threads {
		use, ok := uses[now.Service]
		if !ok {
			continue
		}
		was := begin.threads[tid]
		if was.Started != now.Started {
			was = thread{}
		}
		use.Voluntary += float64(max(now.Voluntary-was.Voluntary, 0)) / seconds
		use.Involuntary += float64(max(now.Involuntary-was.Involuntary, 0)) / seconds
		use.Busiest = max(use.Busiest, float64(now.Ticks-was.Ticks)/ticksPerSecond)
		uses[now.Service] = use
	}
}
