package evidence

import (
	"context"
	"sync"
	"time"

	"kasoku/internal/host"
)

// sampleEvery: ten samples of a five-second window are enough for a mean run
// queue, and each costs 0.1 ms (BenchmarkSample), so 0.02 % of one CPU.
const sampleEvery = 500 * time.Millisecond

// sampleEveryRemote: a sample of another host is four small reads, side by
// side, in one round trip; half as often costs it no more than a local one.
const sampleEveryRemote = time.Second

func sampleInterval(h host.Host) time.Duration {
	if remote(h) {
		return sampleEveryRemote
	}
	return sampleEvery
}

// sampler reads what only moments show while the load runs.
type sampler struct {
	h     host.Host
	every time.Duration
	first *reading
	last  procStat

	mu      sync.Mutex
	samples []SystemSample
	total   int64
	err     error // the first

	cancel context.CancelFunc
	done   chan struct{}
}

func startSampler(ctx context.Context, h host.Host, first *reading, every time.Duration) *sampler {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &sampler{h: h, every: every, first: first, last: first.stat, cancel: cancel, done: make(chan struct{})}
	go again(ctx, every, s.done, s.take)
	return s
}

// again calls take every so often until ctx ends; then it closes done.
func again(ctx context.Context, every time.Duration, done chan<- struct{}, take func(context.Context)) {
	defer close(done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			take(ctx)
		}
	}
}

func (s *sampler) take(ctx context.Context) {
	one, total, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if s.err == nil {
			s.err = err
		}
	default:
		s.total = total
		s.samples = append(s.samples, one)
	}
}

func (s *sampler) read(ctx context.Context) (one SystemSample, total int64, err error) {
	one.At = time.Since(s.first.at)
	h := host.Gather(ctx, s.h, "/proc/uptime", "/proc/stat", "/proc/loadavg", "/proc/meminfo")
	if s.first.uptime > 0 {
		// A far host's own clock: what the way takes is no part of it.
		if data, err := h.ReadFile(ctx, "/proc/uptime"); err == nil {
			one.At = max(parseUptime(data)-s.first.uptime, 0)
		}
	}
	data, err := h.ReadFile(ctx, "/proc/loadavg")
	if err != nil {
		return one, 0, err
	}
	if one.Runnable, err = parseRunnable(data); err != nil {
		return one, 0, err
	}
	if total, one.MemoryAvailable, err = readMemory(ctx, h); err != nil {
		return one, 0, err
	}
	if data, err = h.ReadFile(ctx, "/proc/stat"); err != nil {
		return one, 0, err
	}
	now, err := parseStat(data)
	if err != nil {
		return one, 0, err
	}
	one.Busy = busyPart(s.last, now)
	s.last = now
	return one, total, nil
}

// busyPart is the part of CPU time between two readings that was not idle.
func busyPart(a, b procStat) float64 {
	busy := b.User + b.Sys + b.IRQ - a.User - a.Sys - a.IRQ
	all := busy + b.Idle + b.IOWait + b.Steal - a.Idle - a.IOWait - a.Steal
	if all <= 0 || busy <= 0 {
		return 0
	}
	return min(busy/all, 1)
}

// stop takes a last sample, so that a short window has one too, and ends. Right
// after another one it would say nothing: the kernel counts CPU time in ticks of
// 10 ms.
func (s *sampler) stop(ctx context.Context) {
	s.cancel()
	<-s.done
	if n := len(s.samples); n > 0 && time.Since(s.first.at)-s.samples[n-1].At < s.every/4 {
		return
	}
	s.take(ctx)
}

// into fills the sampled parts of System.
func (s *sampler) into(sys *System) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys.Samples, sys.MemoryTotal = s.samples, s.total
	for i, one := range s.samples {
		sys.RunQueue += float64(one.Runnable) / float64(len(s.samples))
		if i == 0 || one.MemoryAvailable < sys.MemoryAvailable {
			sys.MemoryAvailable = one.MemoryAvailable
		}
	}
	return s.err
}
