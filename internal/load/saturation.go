package load

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// When the generator is the limit. Two signs count, each alone:
//
// It has nearly all the processors that it may use, or an event loop has
// nearly all of its one (ownLimit): what the
// service could do with more requests cannot be seen. On a machine shared with
// the target the rest is too little for any target.
//
// Its own queue is a large part of what it measures: half of its wake-ups wait
// for a processor longer than lateLimit of the latency (typical). Where the target
// is on the same machine, its processes may be what the generator waits for,
// and that is the service's own cost; so there it counts only if the generator
// used more than half of the CPU time spent on the machine (biggerShare).
const (
	ownLimit    = 0.90
	lateLimit   = 0.25
	biggerShare = 0.50
)

// schedulerMetric is the time goroutines spent runnable before they ran (Go's
// runtime/metrics); a virtual user waits that long with its answer at hand.
const schedulerMetric = "/sched/latencies:seconds"

// generator is what this process used.
type generator struct {
	own   time.Duration // CPU, user and system
	all   time.Duration // CPU spent on the whole machine; 0: not known
	waits *metrics.Float64Histogram
	late  time.Duration // typical wait for a processor, after since

	threads []thread      // of event loops
	busiest time.Duration // CPU time of the busiest thread, after since
}

// thread is what the kernel knows of one thread: /proc/PID/task/TID/schedstat
// (Documentation/scheduler/sched-stats.rst).
type thread struct {
	ran    time.Duration // on a processor
	waited time.Duration // for one, with work to do
	slices int64         // how often it got one
}

func readGenerator() generator {
	var g generator
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		g.own = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	if text, err := os.ReadFile("/proc/stat"); err == nil {
		g.all = parseBusy(string(text))
	}
	sample := []metrics.Sample{{Name: schedulerMetric}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindFloat64Histogram {
		g.waits = sample[0].Value.Float64Histogram()
	}
	return g
}

// readThread of this process; the zero value if it is gone.
func readThread(id int) thread {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", id))
	if err != nil {
		return thread{}
	}
	return parseSchedstat(string(text))
}

// parseSchedstat reads "ran waited slices", the first two in nanoseconds.
func parseSchedstat(text string) thread {
	f := strings.Fields(text)
	if len(f) != 3 {
		return thread{}
	}
	n := make([]int64, 3)
	for i := range f {
		var err error
		if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
			return thread{}
		}
	}
	return thread{time.Duration(n[0]), time.Duration(n[1]), n[2]}
}

// parseBusy reads the first line of /proc/stat (proc(5)): user nice system
// idle iowait irq softirq steal, in ticks of 10 ms (USER_HZ is 100 on every
// Linux that Go runs on). Idle, iowait and steal are not busy. 0 if unreadable.
func parseBusy(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0
	}
	ticks := int64(0)
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// since is what was used between two readings.
func (g generator) since(before generator) generator {
	out := generator{own: g.own - before.own}
	if g.all > 0 && before.all > 0 {
		out.all = g.all - before.all
	}
	if g.waits != nil && before.waits != nil {
		out.late = medianWait(g.waits, before.waits)
	}
	if len(g.threads) == 0 || len(g.threads) != len(before.threads) {
		return out
	}
	var sum thread
	for i, t := range g.threads {
		b := before.threads[i]
		out.busiest = max(out.busiest, t.ran-b.ran)
		sum.waited += t.waited - b.waited
		sum.slices += t.slices - b.slices
	}
	out.late = sum.waited / time.Duration(max(sum.slices, 1))
	return out
}

// medianWait of the waits added between two readings of the histogram: the
// lower bound of the bucket that holds the median, so rather too short.
func medianWait(now, before *metrics.Float64Histogram) time.Duration {
	if len(now.Counts) != len(before.Counts) {
		return 0
	}
	total := uint64(0)
	for i, n := range now.Counts {
		total += n - before.Counts[i]
	}
	seen := uint64(0)
	for i, n := range now.Counts {
		if seen += n - before.Counts[i]; total > 0 && 2*seen >= total {
			return time.Duration(max(now.Buckets[i], 0) * float64(time.Second))
		}
	}
	return 0
}

// maxProcs is how many processors Go uses: those the process may run on, or
// fewer by the cgroup's quota or GOMAXPROCS. One that withSpare added is none.
func maxProcs() int {
	if spared.Load() {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// readGenerator reads what this process and its loops used.
func (r *run) readGenerator() generator {
	g := readGenerator()
	for _, l := range r.loops {
		g.threads = append(g.threads, readThread(l.thread))
	}
	return g
}

// latePart of the planned times' lateness that is no fault: the slack, and a
// scheduler's usual turn on a busy machine (a few milliseconds).
const latePart = 5 * time.Millisecond

// fewSessions have no 99th percentile.
const fewSessions = 100

// saturated says why the generator was the limit; "" if it was not.
func (r *run) saturated(res *Result, used generator) string {
	if why := r.exhausted.Load(); why != nil {
		return *why
	}
	if o := res.Open; o != nil && o.Begun >= fewSessions && o.Lateness.P99 > r.slack+latePart && o.Lateness.P99 > res.Latency.P50/4 {
		return fmt.Sprintf("one of a hundred sessions began %s or more after its planned time although a user was free; lower the rate, or drive the load from another machine",
			o.Lateness.P99.Round(100*time.Microsecond))
	}
	return used.saturated(r.opts.Window, typical(res.Latency), r.target.onMachine)
}

// typical is the latency that lateness is held against: the mean, as that is what users
// spend on a request, but no more than the slowest twentieth makes of it; the median
// where that is more. Where most requests are small files and the pages take the time,
// the median is of a file.
func typical(l Percentiles) time.Duration { return max(l.P50, min(l.Mean, l.P95)) }

// saturated says why the generator was the limit; "" if it was not.
func (g generator) saturated(window, latency time.Duration, onMachine bool) string {
	cores := float64(maxProcs())
	if share := g.own.Seconds() / (window.Seconds() * cores); share >= ownLimit {
		return fmt.Sprintf("the generator used %.0f %% of the %.0f processors it may use; lower the workload, or drive the load from another machine", 100*share, cores)
	}
	if share := g.busiest.Seconds() / window.Seconds(); share >= ownLimit && maxProcs() > 1 {
		return fmt.Sprintf("the load engine's event loop used %.0f %% of its processor; use more loops, lower the workload, or drive the load from another machine", 100*share)
	}
	if latency <= 0 || float64(g.late) < lateLimit*float64(latency) {
		return ""
	}
	share := 0.0
	if onMachine {
		// Where the machine cannot be read, the lateness stands alone.
		if share = g.own.Seconds() / g.all.Seconds(); g.all > 0 && share <= biggerShare {
			return ""
		}
	}
	text := fmt.Sprintf("answers waited typically %s for the generator, of a latency of %s", g.late.Round(time.Microsecond), latency.Round(time.Microsecond))
	if onMachine && g.all > 0 {
		text += fmt.Sprintf(", and it used %.0f %% of the CPU time spent", 100*share)
	}
	return text + "; lower the workload, or drive the load from another machine"
}
