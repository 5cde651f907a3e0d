package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kasoku/internal/tune"
)

// TestHubNeverWaits: viewers that never look cost Publish nothing, and get the
// newest moment and the latest messages when they do.
func TestHubNeverWaits(t *testing.T) {
	h := NewHub()
	v := h.join()
	for i := range 10_000 {
		h.Publish(tune.Live{Counts: tune.Counts{Runs: i}, Said: &tune.Said{Text: fmt.Sprint("message ", i)}})
	}
	<-v.wake
	select {
	case <-v.wake:
		t.Error("woken twice for what is one look")
	default:
	}
	live, said, seq, first := h.since(0)
	if live.Runs != 9999 || seq != 10_000 || first != 10_000-mostSaid+1 || len(said) != mostSaid || said[len(said)-1].Text != "message 9999" {
		t.Errorf("%+v, %d messages, event %d", live, len(said), seq)
	}
	if _, said, _, _ = h.since(seq - 2); len(said) != 2 {
		t.Errorf("%d messages since the last but one", len(said))
	}
	h.leave(v)
	h.Publish(tune.Live{})
	if h.Viewers() != 0 || len(v.wake) != 0 {
		t.Error("somebody who left is woken")
	}
}

// TestHubGathers: what is published soon after a wake is one more wake for all.
func TestHubGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		v, w := h.join(), h.join()
		wakes := func() (n int) {
			for _, c := range []chan struct{}{v.wake, w.wake} {
				select {
				case <-c:
					n++
				default:
				}
			}
			return n
		}
		h.Publish(tune.Live{})
		if n := wakes(); n != 2 {
			t.Fatalf("the first moment woke %d of 2", n)
		}
		for range 10 {
			time.Sleep(leastBetween / 100)
			h.Publish(tune.Live{})
			if n := wakes(); n != 0 {
				t.Fatalf("%d were woken again at once", n)
			}
		}
		time.Sleep(leastBetween)
		if n := wakes(); n != 2 {
			t.Errorf("what came meanwhile woke %d of 2", n)
		}
		time.Sleep(10 * leastBetween)
		if n := wakes(); n != 0 {
			t.Errorf("%d were woken for nothing", n)
		}
		h.Publish(tune.Live{})
		if n := wakes(); n != 2 {
			t.Errorf("after a pause %d of 2 were woken at once", n)
		}
	})
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
	s.Publish(tune.Live{Session: 1, Doing: "measuring, password=" + secretValue, Counts: tune.Counts{Steps: 1}, Said: &tune.Said{Level: "info", Text: "one"}})
	st := b.stream(t, "")
	if m := st.next(); m.Steps != 1 || len(m.Said) != 1 || m.Said[0].Text != "one" || strings.Contains(m.Doing, secretValue) {
		t.Errorf("%+v", m)
	}
	first := st.id
	st.stop()
	s.Publish(tune.Live{Session: 1, Counts: tune.Counts{Steps: 2}, Said: &tune.Said{Level: "warning", Text: "two"}})
	if m := b.stream(t, first).next(); m.Steps != 2 || len(m.Said) != 1 || m.Said[0].Text != "two" {
		t.Errorf("after a break: %+v", m)
	}
	// An ID of an earlier process counts as none.
	if m := b.stream(t, "ffffffff-99").next(); len(m.Said) != 2 {
		t.Errorf("after a new start: %+v", m)
	}
}

// TestEventIsMadeOnce: viewers at the same point are sent the same bytes; one
// that lacks a message, and one that comes later, get an event of their own.
func TestEventIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		s.Publish(tune.Live{Said: &tune.Said{Text: "one"}})
		s.Publish(tune.Live{Deadline: time.Now().Add(time.Hour), Started: time.Now(), Doing: "two"})
		event := func(after uint64) []byte {
			text, seq, err := s.event(after)
			if err != nil || seq != 2 {
				t.Fatalf("event %d, %v", seq, err)
			}
			return text
		}
		first := event(1)
		if again := event(1); &first[0] != &again[0] {
			t.Error("it was made twice")
		}
		if late := event(0); !strings.Contains(string(late), "one") || strings.Contains(string(first), "one") {
			t.Errorf("who lacks the message gets %s, who had it %s", late, first)
		}
		first = event(1)
		time.Sleep(time.Minute)
		if later := event(1); string(later) == string(first) || !strings.Contains(string(later), `"left":3540`) {
			t.Errorf("a minute later it still says %s", later)
		}
	})
}

// TestCurve: as fine as the picture, and no longer.
func TestCurve(t *testing.T) {
	for _, x := range []struct{ in, want []float64 }{
		{nil, nil},
		{[]float64{0, 0}, []float64{0, 0}},
		{[]float64{0.123456789, 0.97654321}, []float64{0.123, 0.977}},
		{[]float64{0, 1800.123, 2811.987}, []float64{0, 1800, 2812}},
		{[]float64{3.14159}, []float64{3.14}},
		{[]float64{5e-324}, []float64{0}},
	} {
		if got := curve(x.in); !slices.Equal(got, x.want) {
			t.Errorf("%v became %v, not %v", x.in, got, x.want)
		}
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
		s.Publish(tune.Live{Doing: big, Counts: tune.Counts{Runs: i}})
	}
	s.Publish(tune.Live{Doing: "the last", Counts: tune.Counts{Runs: 1000}})
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
	if l.Session != p.session || l.Steps != 6 || l.Runs != 14 || l.Deadline.Sub(l.Started).Hours() != 1 || l.Trying != nil || l.Judged != 6 || l.Ended {
		t.Errorf("%+v", l)
	}
}
