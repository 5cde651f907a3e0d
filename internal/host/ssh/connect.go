package ssh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kasoku/internal/host/agent"
)

const (
	// tries of connecting again, and of an operation that can be repeated.
	tries = 3
	// patience for all of that. A target that reboots takes longer; whoever
	// waits for that does it by itself.
	patience = 10 * time.Second
	// pause before the second try; the third waits four times as long.
	pause = 200 * time.Millisecond
)

// connected returns the live connection, and makes one if there is none.
func (h *Host) connected(ctx context.Context) (*link, error) {
	if l, err := h.current(); l != nil || err != nil {
		return l, err
	}
	select {
	case <-h.connecting:
		defer func() { h.connecting <- struct{}{} }()
	case <-ctx.Done():
		return nil, h.wrap(fmt.Errorf("%s: %w", stageLogin, ctx.Err()))
	}
	if l, err := h.current(); l != nil || err != nil {
		return l, err
	}
	h.mu.Lock()
	after := h.last
	h.mu.Unlock()
	l, err := h.dial(ctx, after)
	for n := 1; n < tries && errors.Is(err, errVanished); n++ {
		l, err = h.dial(ctx, after)
	}
	if err != nil {
		return nil, h.wrap(err)
	}
	if err := h.relock(ctx, l); err != nil {
		l.end()
		return nil, h.wrap(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	helper := l.client.Hello().Helper
	h.link, h.last = l, &helper
	return l, nil
}

// current is the connection if there is a live one; nil if there is none.
func (h *Host) current() (*link, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, h.wrap(ErrClosed)
	case h.link != nil && h.link.client.Alive():
		return h.link, nil
	}
	return nil, nil
}

// kind says how a method may be treated.
type kind struct {
	again  bool // it may be done again after a lost connection
	writes bool // it must not go on without a lock that its user thinks he has
}

// do calls act with a live connection. lost tells act that an earlier try may
// have happened.
func (h *Host) do(ctx context.Context, k kind, act func(c *agent.Client, lost bool) error) error {
	var since time.Time
	lost := false
	for n := 1; ; n++ {
		err := h.try(ctx, k, since, &lost, act)
		if err == nil {
			return nil
		}
		curable := errors.Is(err, ErrLost) && !errors.Is(err, errFenced) && (k.again || !lost) || errors.Is(err, ErrUnreachable)
		if lost && !errors.Is(err, ErrLost) && !curable && errors.As(err, new(*connectError)) {
			return fmt.Errorf("%w; %w", err, ErrLost)
		}
		if lost && !k.again || !curable || ctx.Err() != nil {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		wait := pause << (2 * (n - 1))
		if n >= tries || time.Since(since)+wait > patience {
			if errors.Is(err, ErrLost) {
				return err
			}
			return fmt.Errorf("%w (tried %d times in %s; %w)", err, n, time.Since(since).Round(time.Millisecond), ErrLost)
		}
		select {
		case <-ctx.Done():
			return h.wrap(fmt.Errorf("%s: %w", stageLogin, ctx.Err()))
		case <-time.After(wait):
		}
	}
}

// connectError is an error of connecting, not of an operation.
type connectError struct{ error }

func (e *connectError) Unwrap() error { return e.error }

// seen reports whether there was a connection before.
func (h *Host) seen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last != nil
}

// try is one try of do. Connecting again is bounded by what is left of patience.
func (h *Host) try(ctx context.Context, k kind, since time.Time, lost *bool, act func(*agent.Client, bool) error) error {
	connecting := ctx
	if h.seen() {
		if since.IsZero() {
			since = time.Now()
		}
		var cancel context.CancelFunc
		connecting, cancel = context.WithDeadline(ctx, since.Add(patience))
		defer cancel()
	}
	l, err := h.connected(connecting)
	if err != nil {
		err = &connectError{err}
		if ctx.Err() == nil && connecting.Err() != nil {
			// Our own patience ended, not the caller's.
			return fmt.Errorf("%w: not back within %s: %v", ErrLost, patience, err)
		}
		return err
	}
	if k.writes {
		if err := h.fence(); err != nil {
			return err
		}
	}
	err = act(l.client, *lost)
	if errors.Is(err, ErrLost) {
		*lost = true
		return h.wrap(fmt.Errorf("%w%s", err, l.said()))
	}
	return h.wrap(err)
}
