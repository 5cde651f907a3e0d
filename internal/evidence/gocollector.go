package evidence

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/stack"
)

// mostGoProgram is the largest program that is read for its symbols, bytes. It
// comes over ssh from another host, and Go's own are 10 to 100 MB.
const mostGoProgram = 128 << 20

// collectorSource tells what the garbage collector of one Go program takes, by
// the counters that its runtime keeps in its memory: neither a profiler nor a
// page of the program is needed, only the right to read it (proc(5), mem).
type collectorSource struct {
	h       host.Host
	service string
	pid     int
	at      goapp.Counters
	used    [2]time.Duration
	err     error
}

// findCollectors returns a source for each Go program of the stack.
func findCollectors(ctx context.Context, s setting) ([]source, []Health) {
	if !s.opts.Diagnostic {
		return nil, nil
	}
	var out []source
	var health []Health
	for _, svc := range s.st.OfKind(stack.App) {
		h, pids := s.hosts[svc.HostName()], s.roots[svc.HostName()][svc.Name]
		if h == nil || len(pids) == 0 || svc.RunsIn != "" {
			continue
		}
		switch at, is, err := countersOf(ctx, h, pids[0]); {
		case err != nil:
			health = append(health, Health{Source: collectorOf(svc.Name), OK: true, Text: "not judged: " + err.Error()})
		case is:
			out = append(out, &collectorSource{h: h, service: svc.Name, pid: pids[0], at: at})
		}
	}
	return out, health
}

func collectorOf(service string) string { return "garbage collector of " + service }

// countersOf finds a process's counters; false if it is no Go program.
func countersOf(ctx context.Context, h host.Host, pid int) (at goapp.Counters, is bool, err error) {
	if build, err := goBuild(ctx, h, pid); err != nil || build == nil {
		return at, false, err
	}
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	info, err := h.Stat(ctx, exe)
	if err != nil {
		return at, true, err
	}
	if info.Size > mostGoProgram {
		return at, true, fmt.Errorf("the program has %d MiB, which is more than is read for its symbols", info.Size>>20)
	}
	program, err := h.ReadFile(ctx, exe)
	if err != nil {
		return at, true, err
	}
	at, err = goapp.FindCounters(bytes.NewReader(program))
	return at, true, err
}

func (c *collectorSource) start(ctx context.Context) { c.read(ctx, 0) }
func (c *collectorSource) end(ctx context.Context)   { c.read(ctx, 1) }
func (c *collectorSource) close()                    {}

// read takes nothing of the process's memory but the counters. dd(1) counts in
// blocks, so it begins where 8 divides the address.
func (c *collectorSource) read(ctx context.Context, i int) {
	if c.err != nil {
		return
	}
	from, count := c.at.Range()
	res, err := c.h.Run(ctx, host.Command{Argv: []string{"dd", fmt.Sprintf("if=/proc/%d/mem", c.pid), "bs=8",
		"skip=" + strconv.FormatUint(from/8, 10), "count=" + strconv.Itoa(count)}})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("read the memory of process %d: %s", c.pid, bytes.TrimSpace(res.Stderr))
	}
	if err == nil {
		c.used[i], err = c.at.Used(res.Stdout)
	}
	c.err = err
}

func (c *collectorSource) tell(_ context.Context, ev *Evidence) {
	use, known := ev.Services[c.service]
	switch {
	case c.err != nil:
		ev.Health = append(ev.Health, Health{Source: collectorOf(c.service), OK: true, Text: "not judged: " + c.err.Error()})
	case c.used[1] < c.used[0]:
		ev.Health = append(ev.Health, Health{Source: collectorOf(c.service), OK: true, Text: "not judged: the program was started again in the window"})
	case known:
		use.GC = (c.used[1] - c.used[0]).Seconds()
		ev.Services[c.service] = use
		ev.Health = append(ev.Health, Health{Source: collectorOf(c.service), OK: true, Text: fmt.Sprintf("%.2f CPU seconds, by the counters of its runtime", use.GC)})
	}
}
