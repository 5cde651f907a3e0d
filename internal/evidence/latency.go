package evidence

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/stack"
)

// probeEvery: ten small commands a second are 50 in a window of 5 s. They cost
// 0.37 % of one CPU, of which the cache's part is 0.02 (BenchmarkLatencyProbe,
// on a 2-CPU virtual machine with ten times as much other work as CPUs: nearly
// all of it is waking up; one after the other they take 21 µs each).
const probeEvery = 100 * time.Millisecond

// probeKey does not exist; a get of it takes the path of every get through the
// server's threads and locks, and no item's.
const probeKey = "kasoku:probe:absent"

// latencySource times one small command to a cache over the window (C07).
type latencySource struct {
	conn    *cacheConn
	command string
	request string
	answer  func(r *bufio.Reader) error
	every   time.Duration
	counted []string // where the cache counts the probes
	told    *counterSource

	took   []time.Duration
	sent   int
	failed int
	err    error // the last
	cancel context.CancelFunc
	done   chan struct{}
}

// newProbe makes the source for one cache; told is the source of its counters,
// from which the probes are taken off.
func newProbe(conn *cacheConn, told *counterSource) *latencySource {
	s := &latencySource{conn: conn, told: told, every: probeEvery, command: "get", request: "get " + probeKey + "\r\n",
		counted: []string{"cmd_get", "get_misses"}}
	s.answer = func(r *bufio.Reader) error {
		line, err := readLine(r)
		if err == nil && line != "END" {
			err = fmt.Errorf("unexpected answer %q to get", shorten(line, 40))
		}
		return err
	}
	if conn.svc.Kind == stack.Redis {
		s.command, s.request, s.counted = "PING", stack.RedisCommand("PING"), []string{"cmdstat_ping.calls", "total_commands_processed"}
		s.answer = func(r *bufio.Reader) error {
			_, err := readRESP(r)
			return err
		}
	}
	return s
}

func (s *latencySource) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.loop(ctx)
	}()
}

func (s *latencySource) loop(ctx context.Context) {
	// Connecting is not what is timed.
	s.sent++
	if err := s.conn.ask(ctx, s.request, s.answer); err != nil && ctx.Err() == nil {
		s.failed, s.err = s.failed+1, err
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		fresh := s.conn.conn == nil
		began := time.Now()
		s.sent++
		err := s.conn.ask(ctx, s.request, s.answer)
		took := time.Since(began)
		switch {
		case ctx.Err() != nil: // the window ended meanwhile
			return
		case err != nil:
			s.failed, s.err = s.failed+1, err
			if isTimeout(err) {
				s.took = append(s.took, took)
			}
		case !fresh:
			s.took = append(s.took, took)
		}
	}
}

func (s *latencySource) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
		s.cancel = nil
	}
}

// end also tells the source of the counters what is not the service's.
func (s *latencySource) end(context.Context) {
	s.stop()
	s.told.own = map[string]float64{}
	for _, name := range s.counted {
		s.told.own[name] = float64(s.sent)
	}
}

func (s *latencySource) close() {
	s.stop()
	s.conn.close()
}

func (s *latencySource) tell(_ context.Context, ev *Evidence) {
	s.stop()
	h := Health{Source: "latency of " + s.conn.svc.Name}
	if len(s.took) == 0 {
		h.Text = "not judged: the window was too short for one probe"
		h.OK = s.err == nil
		if s.err != nil {
			h.Text = s.err.Error()
		}
		ev.Health = append(ev.Health, h)
		return
	}
	probe := probeOf(s.took, s.every)
	probe.Service, probe.Command = s.conn.svc.Name, s.command
	ev.Latencies = append(ev.Latencies, probe)
	h.OK, h.Text = s.failed == 0, fmt.Sprintf("%d times %s", len(s.took), s.command)
	if s.failed > 0 {
		h.Text += fmt.Sprintf(", %d failed; the last: %v", s.failed, s.err)
	}
	ev.Health = append(ev.Health, h)
}

// probeOf sums up latencies in the order in which they were measured. While
// one probe waits those that were due meanwhile are not sent; they would have
// waited too, each one interval less, and are added to the percentiles (the
// correction of HdrHistogram for coordinated omission).
func probeOf(took []time.Duration, every time.Duration) LatencyProbe {
	p := LatencyProbe{Count: int64(len(took))}
	var all []time.Duration
	for _, d := range took {
		all = append(all, d)
		for missed := d - every; missed > 0; missed -= every {
			all = append(all, missed)
		}
	}
	third := max(len(took)/3, 1)
	p.First, p.Last = quantile(took[:third], 0.5), quantile(took[len(took)-third:], 0.5)
	p.P50, p.P99, p.Max = quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1)
	return p
}

// quantile is the smallest value that the part q of all values is not above
// (nearest rank). d is not empty.
func quantile(d []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(d))
	at := int(q*float64(len(s))+0.999999) - 1
	return s[min(max(at, 0), len(s)-1)]
}
