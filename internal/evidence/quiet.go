package evidence

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/host"
)

// quietSample is how long one look at the idle machine takes: long enough for
// 50 clock ticks a CPU, short beside a run.
const quietSample = 500 * time.Millisecond

// Busy tells which share of the host's CPU, 0–1, was used over half a second.
// Called while no load runs, it is what other processes use.
func Busy(ctx context.Context, h host.Host) (float64, error) {
	first, err := readStat(ctx, h)
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(quietSample):
	}
	last, err := readStat(ctx, h)
	if err != nil {
		return 0, err
	}
	busy := last.User + last.Sys + last.IRQ + last.Steal - first.User - first.Sys - first.IRQ - first.Steal
	idle := last.Idle + last.IOWait - first.Idle - first.IOWait
	if busy+idle <= 0 {
		return 0, nil
	}
	return busy / (busy + idle), nil
}

// CPUTimes reads how many CPU seconds the host has spent working and in all
// since it started, over all its CPUs.
func CPUTimes(ctx context.Context, h host.Host) (busy, all float64, err error) {
	s, err := readStat(ctx, h)
	if err != nil {
		return 0, 0, err
	}
	busy = s.User + s.Sys + s.IRQ + s.Steal
	return busy, busy + s.Idle + s.IOWait, nil
}

func readStat(ctx context.Context, h host.Host) (procStat, error) {
	data, err := h.ReadFile(ctx, "/proc/stat")
	if err != nil {
		return procStat{}, fmt.Errorf("read CPU times: %w", err)
	}
	return parseStat(data)
}
