package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"kasoku/internal/host"
)

// Waits for processes and endpoints look every pollInterval, short against a restart
// (some 100 ms), and the longer they last the less often, up to mostPollInterval: one
// look at the processes and sockets of a host takes some 10 ms of CPU, which the server
// that starts needs itself.
const (
	pollInterval     = 20 * time.Millisecond
	mostPollInterval = 100 * time.Millisecond
)

// poll calls done until it says true, returns an error, or the time is over
// (false, nil).
func poll(ctx context.Context, limit time.Duration, done func() (bool, error)) (bool, error) {
	deadline := time.Now().Add(limit)
	for pause := pollInterval; ; pause = min(pause*5/4, mostPollInterval) {
		ok, err := done()
		if ok || err != nil {
			return ok, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// identity names one process for its whole life: PIDs are used again, a PID
// with its start time is not.
type identity struct {
	pid     int
	started uint64
}

// alive reports whether that very process still runs.
func (id identity) alive(ctx context.Context, h host.Host) (bool, error) {
	p, err := readProcess(ctx, h, id.pid)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		return false, nil // ESRCH: it ended between open and read
	}
	return p.started == id.started && !p.dead(), nil
}

// waitGone waits until all the processes have ended and returns those that
// have not.
func waitGone(ctx context.Context, h host.Host, ids []identity, limit time.Duration) ([]identity, error) {
	left := ids
	_, err := poll(ctx, limit, func() (bool, error) {
		var still []identity
		for _, id := range left {
			ok, err := id.alive(ctx, h)
			if err != nil {
				return false, err
			}
			if ok {
				still = append(still, id)
			}
		}
		left = still
		return len(left) == 0, nil
	})
	return left, err
}

// signal sends a signal to that very process; nothing if it has ended.
func (id identity) signal(ctx context.Context, h host.Host, name string) error {
	ok, err := id.alive(ctx, h)
	if err != nil || !ok {
		return err
	}
	_, err = run(ctx, h, "", 0, "sh", "-c", `kill -s "$1" "$2"`, "sh", name, strconv.Itoa(id.pid))
	if err == nil {
		return nil
	}
	if ok, _ := id.alive(ctx, h); !ok {
		return nil // it ended meanwhile
	}
	return fmt.Errorf("send SIG%s to process %d: %w; run Kasoku as root or as the service's user", name, id.pid, err)
}
