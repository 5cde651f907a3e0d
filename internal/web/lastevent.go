package web

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// lastEvent is the event that was made last, for the viewers that are sent the
// same one: they are woken together.
type lastEvent struct {
	mu         sync.Mutex
	seq, first uint64 // see Hub.since
	at         time.Time
	text       []byte
}

// get the event, made at now if the last one is another or so old that what is
// left of the budget is no longer right.
func (l *lastEvent) get(seq, first uint64, now time.Time, build func(time.Time) ([]byte, error)) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text != nil && l.seq == seq && l.first == first && now.Sub(l.at) < leastBetween {
		return l.text, nil
	}
	text, err := build(now)
	if err == nil {
		l.seq, l.first, l.at, l.text = seq, first, now, text
	}
	return text, err
}

// event is what a viewer is sent that had event number after.
func (s *Server) event(after uint64) (text []byte, seq uint64, err error) {
	live, said, seq, first := s.hub.since(after)
	text, err = s.sent.get(seq, first, time.Now(), func(now time.Time) ([]byte, error) {
		data, err := json.Marshal(s.shown(live, said, now))
		return fmt.Appendf(nil, "id: %s-%d\nevent: live\ndata: %s\n\n", s.hub.boot, seq, data), err
	})
	return text, seq, err
}
