package evidence

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

const (
	// clockTries: the quickest of three says most, because an answer lies
	// somewhere between question and reply.
	clockTries = 3
	// clockSkew between this machine and another from which on times in logs and
	// traces of several hosts cannot be put together: logs tell whole seconds.
	clockSkew = time.Second
)

// findClocks compares the clocks of other hosts with this machine's. It has no
// source: clocks do not drift noticeably within a window.
func findClocks(ctx context.Context, s setting) ([]source, []Health) {
	var out []Health
	for _, name := range sortedKeys(s.roots) {
		h := s.hosts[name]
		if name == stack.LocalHost || h == nil {
			continue
		}
		off, sure, err := clockOffset(ctx, h)
		out = append(out, clockHealth(name, off, sure, err))
	}
	return nil, out
}

// clockOffset is how much the host's clock is ahead of this machine's, and
// within what that is sure: half of the round trip.
func clockOffset(ctx context.Context, h host.Host) (off, sure time.Duration, err error) {
	for i := range clockTries {
		asked := time.Now()
		res, err := h.Run(ctx, host.Command{Argv: []string{"date", "+%s.%N"}, Timeout: 5 * time.Second})
		if err != nil {
			return 0, 0, err
		}
		trip := time.Since(asked)
		theirs, digit, err := parseClock(string(res.Stdout))
		if err != nil {
			return 0, 0, err
		}
		if half := trip/2 + digit; i == 0 || half < sure {
			off, sure = theirs.Sub(asked.Add(trip/2)), half
		}
	}
	return off, sure, nil
}

// parseClock reads seconds since 1970, with nanoseconds where date(1) knows
// them; digit is half of the last place that is told.
func parseClock(text string) (at time.Time, digit time.Duration, err error) {
	whole, part, _ := strings.Cut(strings.TrimSpace(text), ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return at, 0, fmt.Errorf("date told %q, not seconds since 1970", shorten(text, 40))
	}
	n, err := strconv.ParseInt(part, 10, 64)
	if err != nil || len(part) != 9 {
		return time.Unix(s, int64(time.Second/2)), time.Second / 2, nil // no %N there
	}
	return time.Unix(s, n), 0, nil
}

func clockHealth(name string, off, sure time.Duration, err error) Health {
	h := Health{Source: "clock of " + name, OK: true}
	way := "ahead"
	if off < 0 {
		way = "behind"
	}
	switch {
	case err != nil:
		h.Text = "not judged: " + err.Error()
	case off.Abs()-sure > clockSkew:
		h.OK, h.Text = false, fmt.Sprintf("it is %s %s of this machine's (± %s), so times in its logs and traces fit nothing else; set the clocks right (NTP: chrony, systemd-timesyncd)",
			off.Abs().Round(time.Millisecond), way, sure.Round(time.Millisecond))
	default:
		h.Text = fmt.Sprintf("%s %s of this machine's (± %s)", off.Abs().Round(time.Millisecond), way, sure.Round(time.Millisecond))
	}
	return h
}
