package evidence

import (
	"io"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
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
	tg := &targets{of: map[string]*Target{}}
	d, err := digestLog(t.Context(), "web", "log", int64(len(text)), func() io.Reader { return strings.NewReader(text) }, format, nil, tg.keep())
	if err != nil || d.Lines != 5 || len(d.Routes) != 4 {
		t.Fatalf("%+v, %v", d, err)
	}
	got := tg.most()
	if len(got) != 2 || got[0] != (Target{"/", 1, 200 * time.Millisecond, 100}) || got[1] != (Target{"/a.css?v=1", 2, 15 * time.Millisecond, 300}) {
		t.Errorf("%+v", got)
	}
}
