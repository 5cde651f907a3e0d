package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"kasoku/internal/tune"
)

// TestHubNeverWaits: viewers that never look cost Publish nothing, and get the
// newest moment and the latest messages when they do.
func TestHubNeverWaits(t *testing.T) {
	h := NewHub()
	v := h.join()
	for i := range 10_000 {
		h.Publish(tune.Live{Runs: i, Said: &tune.Said{Text: fmt.Sprint("message ", i)}})
	}
	<-v.wake
	select {
	case <-v.wake:
		t.Error("woken twice for what is one look")
	default:
	}
	live, said, seq := h.since(0)
	if live.Runs != 9999 || seq != 10_000 || len(said) != mostSaid || said[len(said)-1].Text != "message 9999" {
		t.Errorf("%+v, %d messages, event %d", live, len(said), seq)
	}
	if _, said, _ = h.since(seq - 2); len(said) != 2 {
		t.Errorf("%d messages since the last but one", len(said))
	}
	h.leave(v)
	h.Publish(tune.Live{})
	if h.Viewers() != 0 || len(v.wake) != 0 {
		t.Error("somebody who left is woken")
	}
}

func TestHubLimit(t *testing.T) {
	h := NewHub()
	for range mostViewers {
		if h.join() == nil {
			t.Fatal("too few viewers are let in")
		}
	}
	if h.join() != nil {
		t.Error("there is no limit")
	}
}

// stream reads events of a dashboard.
type stream struct {
	t    *testing.T
	in   *bufio.Scanner
	id   string
	stop context.CancelFunc
}

func (b *browser) stream(t *testing.T, last string) *stream {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", b.url+"/events", nil)
	must(t, err)
	r.Header.Set("Last-Event-ID", last)
	res, err := b.client.Do(r)
	must(t, err)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	t.Cleanup(func() { stop(); res.Body.Close() })
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, 4<<20)
	return &stream{t: t, in: in, stop: stop}
}

// next event's data.
func (s *stream) next() moment {
	s.t.Helper()
	for s.in.Scan() {
		line := s.in.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			s.id = id
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var m moment
			must(s.t, json.Unmarshal([]byte(data), &m))
			return m
		}
	}
	s.t.Fatalf("the stream ended: %v", s.in.Err())
	return moment{}
}

// TestEvents: the newest moment at once, messages once, also over a new
// connection.
func TestEvents(t *testing.T) {
	p := newSample(t)
	s := New(Options{Store: p.store, Dir: p.dir, OpenReading: true})
	t.Cleanup(s.Close)
	b := serveHandler(t, s)
	s.Publish(tune.Live{Session: 1, Doing: "measuring, password=" + secretValue, Steps: 1, Said: &tune.Said{Level: "info", Text: "one"}})
	st := b.stream(t, "")
	if m := st.next(); m.Steps != 1 || len(m.Said) != 1 || m.Said[0].Text != "one" || strings.Contains(m.Doing, secretValue) {
		t.Errorf("%+v", m)
	}
	first := st.id
	st.stop()
	s.Publish(tune.Live{Session: 1, Steps: 2, Said: &tune.Said{Level: "warning", Text: "two"}})
	if m := b.stream(t, first).next(); m.Steps != 2 || len(m.Said) != 1 || m.Said[0].Text != "two" {
		t.Errorf("after a break: %+v", m)
	}
	// An ID of an earlier process counts as none.
	if m := b.stream(t, "ffffffff-99").next(); len(m.Said) != 2 {
		t.Errorf("after a new start: %+v", m)
	}
}

// TestSlowViewer: one that never reads does not keep others from their events,
// nor Publish from returning.
func TestSlowViewer(t *testing.T) {
	p := newSample(t)
	s := New(Options{Store: p.store, Dir: p.dir, OpenReading: true})
	t.Cleanup(s.Close)
	b := serveHandler(t, s)
	c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.(*net.TCPConn).SetReadBuffer(4096))
	fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(b.url, "http://"))
	quick := b.stream(t, "")
	big := strings.Repeat("x", 1<<20) // more than the kernel's buffers take in a few events
	for i := range 30 {
		s.Publish(tune.Live{Doing: big, Runs: i})
	}
	s.Publish(tune.Live{Doing: "the last", Runs: 1000})
	for {
		if m := quick.next(); m.Runs == 1000 {
			break
		}
	}
}

// TestWatch: what another process stores arrives without its help.
func TestWatch(t *testing.T) {
	p := newSample(t)
	l, err := stored(p.store, begun)
	must(t, err)
	if l.Session != p.session || l.Steps != 6 || l.Runs != 14 || l.Deadline.Sub(l.Started).Hours() != 1 || l.Trying != nil {
		t.Errorf("%+v", l)
	}
}
