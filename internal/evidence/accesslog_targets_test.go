package evidence

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/stack"
)

// Targets are those of GET that were answered, most time first, with all their
// requests; the digest of the log is the same beside them.
func TestTargetsOfALog(t *testing.T) {
	format, err := accesslog.ParseFormat(`$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $request_time`)
	if err != nil {
		t.Fatal(err)
	}
	line := func(request string, status, size, took string) string {
		return `127.0.0.1 - - [27/Nov/2026:10:00:00 +0000] "` + request + ` HTTP/1.1" ` + status + " " + size + " " + took + "\n"
	}
	text := line("GET /a.css?v=1", "200", "300", "0.010") + line("GET /a.css?v=1", "304", "0", "0.005") + line("POST /login", "302", "0", "0.500") +
		line("GET /", "200", "100", "0.200") + line("GET /none", "404", "10", "0.900")
	tg := newTargets()
	d, err := digestLog(t.Context(), "web", "log", int64(len(text)), func() io.Reader { return strings.NewReader(text) }, format, nil, tg.keep())
	if err != nil || d.Lines != 5 || len(d.Routes) != 4 {
		t.Fatalf("%+v, %v", d, err)
	}
	got := tg.most()
	if len(got) != 2 || got[0] != (Target{"/", 1, 200 * time.Millisecond, 100}) || got[1] != (Target{"/a.css?v=1", 2, 15 * time.Millisecond, 300}) {
		t.Errorf("%+v", got)
	}
}

// Addresses that are made for each request take all the time, and files none: both are
// kept.
func TestFilesAreKeptBesideManyTargets(t *testing.T) {
	tg := newTargets()
	keep := tg.keep()
	ask := func(target string, n int, took time.Duration) {
		for range n {
			keep(&accesslog.Entry{Method: []byte("GET"), Target: []byte(target), Status: 200, Request: took})
		}
	}
	for i := range 3 * keptTargets {
		ask(fmt.Sprintf("/api/items/%d", i), 1, time.Second)
	}
	ask("/app.js?v=1", 70, 0)
	ask("/style.css", 60, 0)
	got := tg.most()
	if len(got) != keptTargets+2 || got[keptTargets].Target != "/app.js?v=1" || got[keptTargets+1].Target != "/style.css" {
		t.Errorf("%d kept, the last %+v", len(got), got[len(got)-1])
	}
}

// A benchmark's own set-up asks once, waits, asks for a while, and adds up: only the
// while is time of the service.
func TestActivePartOfAWindow(t *testing.T) {
	format, err := accesslog.ParseFormat(`$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $request_time`)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	begin := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	at := func(second, n int) {
		for range n {
			fmt.Fprintf(&text, "127.0.0.1 - - [%s] \"GET / HTTP/1.1\" 200 10 0.010\n", begin.Add(time.Duration(second)*time.Second).Format("02/Jan/2006:15:04:05 -0700"))
		}
	}
	at(0, 1) // POST /initialize
	for second := 10; second < 70; second++ {
		at(second, 30+second%7)
	}
	at(75, 1)
	tg := newTargets()
	if _, err := digestLog(t.Context(), "web", "log", int64(text.Len()), func() io.Reader { return strings.NewReader(text.String()) }, format, nil, tg.keep()); err != nil {
		t.Fatal(err)
	}
	if got := tg.active(); got != time.Minute {
		t.Errorf("active %s, want 1m0s", got)
	}
	for _, c := range []struct {
		window time.Duration
		want   time.Duration
	}{{80 * time.Second, time.Minute}, {62 * time.Second, 0}} {
		ev := &Evidence{}
		x := &accessSource{svc: &stack.Service{Name: "web"}, targets: tg, begin: begin, over: begin.Add(c.window)}
		if x.tellActive(ev); ev.Active != c.want || (len(ev.Health) == 1) != (c.want > 0) {
			t.Errorf("window of %s: %s, %v", c.window, ev.Active, ev.Health)
		}
	}
	// The load came after ten seconds; a clock that tells whole seconds hides half of one.
	if got := tg.preparing(begin.Add(500 * time.Millisecond)); got != 9500*time.Millisecond {
		t.Errorf("it prepared for %s, want 9.5s", got)
	}
	if got := tg.preparing(begin.Add(20 * time.Second)); got != 0 {
		t.Errorf("within the load it prepared for %s", got)
	}
	if got := newTargets().preparing(begin); got != 0 {
		t.Errorf("a log without times: it prepared for %s", got)
	}
	if got := newTargets().active(); got != 0 {
		t.Errorf("a log without times: %s", got)
	}
}
