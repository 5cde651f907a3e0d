package ssh

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kasoku/internal/host/agent"
)

// lock is one that this Host holds, or held until its connection was lost.
type lock struct {
	path   string
	unlock func() error
	holder int   // the helper's process number on the host
	lost   error // why it could not be taken again
}

// errFenced is told by writing methods after a lock has been lost for good.
var errFenced = errors.New("nothing is written without it")

// Lock takes a lock on the host. If the connection is lost and made again, the
// lock is taken again before anything else is done; if somebody else had it
// meanwhile, writing methods fail until unlock is called, which then tells
// ErrLost.
func (h *Host) Lock(ctx context.Context, path string) (func() error, error) {
	k := &lock{path: path}
	err := h.do(ctx, kind{writes: true}, func(c *agent.Client, _ bool) error {
		unlock, err := c.Lock(ctx, path, 0)
		if err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.link == nil || h.link.client != c {
			return fmt.Errorf("lock %s: %w", path, ErrLost)
		}
		k.unlock, k.holder = unlock, c.Hello().Helper.PID
		h.locks[k] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error { return h.giveBack(k) }), nil
}

func (h *Host) giveBack(k *lock) error {
	h.mu.Lock()
	delete(h.locks, k)
	unlock, lost := k.unlock, k.lost
	h.mu.Unlock()
	if lost != nil {
		return h.wrap(fmt.Errorf("unlock %s: %w: the lock went with it: %w", k.path, ErrLost, lost))
	}
	return h.wrap(unlock())
}

// relock takes the locks of the lost connection again. It is called by the one
// that connects, before the connection is used.
func (h *Host) relock(ctx context.Context, l *link) error {
	h.mu.Lock()
	var held []*lock
	for k := range h.locks {
		if k.lost == nil {
			held = append(held, k)
		}
	}
	h.mu.Unlock()
	for _, k := range held {
		unlock, err := l.client.Lock(ctx, k.path, k.holder)
		if errors.Is(err, ErrLost) || ctx.Err() != nil {
			return err
		}
		h.mu.Lock()
		if err != nil {
			k.lost = err
		} else {
			k.unlock, k.holder = unlock, l.client.Hello().Helper.PID
		}
		still := h.locks[k]
		h.mu.Unlock()
		if !still && err == nil {
			_ = unlock() // its user gave it back meanwhile
		}
	}
	return nil
}

// fence returns an error if a lock was lost that its user has not given back.
func (h *Host) fence() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.locks {
		if k.lost != nil {
			return h.wrap(fmt.Errorf("%w: the lock on %s went with it (%w); %w: give it back and start anew", ErrLost, k.path, k.lost, errFenced))
		}
	}
	return nil
}
