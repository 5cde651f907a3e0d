package prove

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// absent is a host that is not back after a reboot.
type absent struct {
	host, why string
	untold    bool // it was not told to reboot, and runs on
}

// reboots tells all hosts at once to reboot, and then, when each tells another
// boot id or its time is over, which are not back.
func (b *reboot) reboots(ctx context.Context, begun time.Time) <-chan []absent {
	done := make(chan []absent, 1)
	hosts := make([][]absent, len(b.names))
	var wg sync.WaitGroup
	for i, name := range b.names {
		wg.Go(func() { hosts[i] = b.oneReboots(ctx, name, begun) })
	}
	go func() {
		wg.Wait()
		done <- slices.Concat(hosts...)
	}()
	return done
}

const (
	// orderTime is how long the order may take: its answer rarely comes.
	orderTime = 10 * time.Second
	// askTime bounds asking a host or service that may be down. A host that has
	// just booted may need longer until it is logged in to, and Kasoku's helper
	// may have to be copied to it: it is given longer
	// each time, up to longestAsk.
	askTime    = 3 * time.Second
	longestAsk = 20 * askTime
)

// oneReboots tells one host to reboot and waits until it has.
func (b *reboot) oneReboots(ctx context.Context, name string, begun time.Time) []absent {
	ordering, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	ordered := make(chan error, 1)
	go func() { ordered <- b.o.order(ordering, b.hosts[name]) }()
	for patience := askTime; ; {
		select {
		case err := <-ordered:
			if err != nil && ctx.Err() == nil {
				return []absent{{host: name, untold: true, why: fmt.Sprintf("host %s could not be told to reboot: %v", name, err)}}
			}
		default:
		}
		booted, err := b.booted(ctx, name, &patience)
		switch {
		case ctx.Err() != nil || booted:
			return nil
		case time.Since(begun) > b.o.Back && err != nil:
			return []absent{{host: name, why: fmt.Sprintf("host %s cannot be reached %s after it was told to reboot: %v", name, ui.Duration(time.Since(begun)), err)}}
		case time.Since(begun) > b.o.Back:
			return []absent{{host: name, why: fmt.Sprintf("host %s did not reboot within %s", name, ui.Duration(b.o.Back))}}
		}
		_ = pause(ctx, 200*time.Millisecond) // the loop sees that ctx ended
	}
}

// booted asks a host once whether it has booted since. Where there is no answer
// in time, the next one is given longer.
func (b *reboot) booted(ctx context.Context, name string, patience *time.Duration) (bool, error) {
	asking, end := context.WithTimeout(ctx, *patience)
	defer end()
	id, err := b.hosts[name].ReadFile(asking, bootID)
	if errors.Is(err, context.DeadlineExceeded) || asking.Err() != nil {
		*patience = min(2**patience, longestAsk) // what was begun is lost with it
	}
	return err == nil && strings.TrimSpace(string(id)) != b.boots[name], err
}

// returned waits for the hosts for half of leaveTime, and returns those that are
// back.
func (b *reboot) returned(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, leaveTime/2)
	defer cancel()
	there := make([]bool, len(b.names))
	var wg sync.WaitGroup
	for i, name := range b.names {
		wg.Go(func() {
			for patience := askTime; !there[i] && ctx.Err() == nil; {
				if there[i], _ = b.booted(ctx, name, &patience); !there[i] {
					_ = pause(ctx, 200*time.Millisecond) // the loop sees that ctx ended
				}
			}
		})
	}
	wg.Wait()
	var up []string
	for i, name := range b.names {
		if there[i] {
			up = append(up, name)
		}
	}
	return up
}

// missing tells which hosts are not back, and keeps the others. Where none was
// told to reboot, nothing happened.
func (b *reboot) missing(all []absent) {
	b.up = slices.DeleteFunc(slices.Clone(b.names), func(name string) bool {
		return slices.ContainsFunc(all, func(a absent) bool { return a.host == name })
	})
	told := slices.ContainsFunc(all, func(a absent) bool { return !a.untold })
	if len(all) == len(b.names) && !told && len(b.scores) == 0 {
		b.r.notJudged("%s", all[0].why)
		return
	}
	for _, a := range all {
		b.r.problem(Problem{By: a.host, What: a.why})
	}
}

// orderReboot asks the kernel itself: no service is told, nothing is synced
// (reboot(8): -f twice, -n). That the connection goes with it is no error; that
// it happened is told by the boot id.
func orderReboot(ctx context.Context, h host.Host) error {
	res, err := h.Run(ctx, host.Command{Argv: []string{"reboot", "-f", "-f", "-n"}, Timeout: orderTime})
	if err == nil && res.ExitCode != 0 {
		return fmt.Errorf("reboot ended with %d: %s", res.ExitCode, strings.TrimSpace(string(res.Stderr)))
	}
	return nil
}

// back waits until all hosts have rebooted and the front door answers, and tells
// what does not. It is false if hosts are missing.
func (b *reboot) back(ctx context.Context, begun time.Time, hosts <-chan []absent) bool {
	down, rebooted, after := false, false, time.Duration(0)
	for {
		err := b.front(ctx)
		down = down || err != nil
		select {
		case away := <-hosts:
			rebooted = true
			if b.missing(away); len(away) > 0 {
				return false
			}
		default:
		}
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil && (down || rebooted) && after == 0:
			after = time.Since(begun)
			b.r.BackAfter = max(b.r.BackAfter, after) // the longest
		}
		if rebooted && after > 0 {
			return true
		}
		if rebooted && time.Since(begun) > b.o.Back {
			b.r.fail("", "the service did not come back within %s: %v", ui.Duration(b.o.Back), err)
			return true
		}
		_ = pause(ctx, 100*time.Millisecond) // the loop sees that ctx ended
	}
}

// front asks the front door once; an answer below 500 is one. Where there are
// writes, the first reader must see the first one. A service that takes the
// request and is slow, because all is cold, is given longer each time.
func (b *reboot) front(ctx context.Context) error {
	connected := false
	asking, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true }}), b.patience)
	defer cancel()
	v, _, err := load.ReplayWithin(asking, longestAsk, b.o.Opts, b.request, nil)
	if connected && asking.Err() != nil {
		b.patience = min(2*b.patience, longestAsk)
	}
	if err == nil && v.Status >= http.StatusInternalServerError {
		err = fmt.Errorf("status %d", v.Status)
	}
	if err != nil || len(b.deeds) == 0 {
		return err
	}
	s, err := b.deeds[0].Look(ctx, 0)
	if err != nil || s.Right {
		return err
	}
	err = fmt.Errorf("reader %q: %s", s.Reader, saw(s))
	if !s.Answered() || s.Status >= http.StatusInternalServerError {
		b.wrong = time.Time{}
		return err
	}
	if b.wrong.IsZero() {
		b.wrong = time.Now()
	}
	if time.Since(b.wrong) < wrongTime {
		return err
	}
	return nil // it is up, and the write is lost: that is told below
}

// wrongTime is how long a service may answer wrongly while it starts.
const wrongTime = 10 * time.Second

// hostOf is what stands in a Host header.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
