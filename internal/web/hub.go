package web

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

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
	// leastBetween two wakes of the viewers. Numbers that change more often than
	// twice a second cannot be read, and the curves get a point a second. All are
	// woken together, so that one event is made for all of them.
	leastBetween = 500 * time.Millisecond
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
	woken   time.Time // when the viewers were woken last
	due     bool      // they will be, leastBetween after that
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
	if h.due {
		return
	}
	if wait := leastBetween - time.Since(h.woken); wait > 0 {
		h.due = true
		time.AfterFunc(wait, h.wakeDue)
		return
	}
	h.wakeAll()
}

// wakeDue wakes the viewers for all that was published since they were last.
func (h *Hub) wakeDue() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = false
	h.wakeAll()
}

// wakeAll viewers; h.mu is held.
func (h *Hub) wakeAll() {
	h.woken = time.Now()
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
// seq 0 if nothing was published. Two answers with the same seq and the same
// first, the number of the event that the first message came with (0: there is
// none), are equal.
func (h *Hub) since(after uint64) (live tune.Live, said []tune.Said, seq, first uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.latest == nil {
		return live, nil, 0, 0
	}
	for _, s := range h.said {
		if s.seq > after {
			if first == 0 {
				first = s.seq
			}
			said = append(said, s.said)
		}
	}
	return *h.latest, said, h.seq, first
}
