package web

import (
	"crypto/rand"
	"encoding/hex"
	"sync"

	"kasoku/internal/tune"
)

// Bounds of a Hub.
const (
	// mostViewers at a time: a team and its wall screen. Each costs a connection
	// and a goroutine.
	mostViewers = 32
	// mostSaid messages are kept for viewers that come or come back: about a
	// screen.
	mostSaid = 30
)

// Hub hands the newest moment of a session to all viewers. Publish never
// waits: a slow viewer misses moments, not messages (up to mostSaid), and nobody
// else notices.
type Hub struct {
	boot string // tells this hub's event IDs from those of an earlier process

	mu      sync.Mutex
	seq     uint64
	latest  *tune.Live
	said    []saidAt // newest last
	viewers map[*viewer]bool
}

// saidAt is a message with the number of the event that it came with.
type saidAt struct {
	seq  uint64
	said tune.Said
}

// viewer is woken when there is something newer; more wakes than it can follow
// are one.
type viewer struct{ wake chan struct{} }

// NewHub makes an empty one.
func NewHub() *Hub {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // it never fails (crypto/rand)
	return &Hub{boot: hex.EncodeToString(b), viewers: map[*viewer]bool{}}
}

// Publish makes l the newest moment.
func (h *Hub) Publish(l tune.Live) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	h.latest = &l
	if l.Said != nil {
		h.said = append(h.said, saidAt{h.seq, *l.Said})
		if len(h.said) > mostSaid {
			h.said = append([]saidAt{}, h.said[len(h.said)-mostSaid:]...)
		}
	}
	for v := range h.viewers {
		select {
		case v.wake <- struct{}{}:
		default: // it has not yet looked at an earlier wake
		}
	}
}

// Latest moment; false if there was none yet.
func (h *Hub) Latest() (tune.Live, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.latest == nil {
		return tune.Live{}, false
	}
	return *h.latest, true
}

// Viewers that are there now.
func (h *Hub) Viewers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.viewers)
}

// join adds a viewer; nil if there are too many.
func (h *Hub) join() *viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.viewers) >= mostViewers {
		return nil
	}
	v := &viewer{wake: make(chan struct{}, 1)}
	h.viewers[v] = true
	if h.latest != nil {
		v.wake <- struct{}{}
	}
	return v
}

func (h *Hub) leave(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.viewers, v)
}

// since returns the newest moment and the messages after event number after;
// seq 0 if nothing was published.
func (h *Hub) since(after uint64) (live tune.Live, said []tune.Said, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.latest == nil {
		return live, nil, 0
	}
	for _, s := range h.said {
		if s.seq > after {
			said = append(said, s.said)
		}
	}
	return *h.latest, said, h.seq
}
