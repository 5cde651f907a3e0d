package accesslog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

// escapeNginx writes a value as nginx does by default.
func escapeNginx(s string) string {
	if s == "" {
		return "-"
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 32 || c > 126 || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func drawText(t *rapid.T, name string) string {
	s := string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, name))
	if s == "-" { // how an empty value is written
		return ""
	}
	return s
}

// Rendering a line as nginx does and reading it gives the same values.
func TestRenderedLinesReadBack(t *testing.T) {
	f, err := Nginx(`$remote_addr - $remote_user [$time_local] $msec "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ` +
		`$request_time $upstream_response_time "$http_x_trace"`)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", 60*rapid.IntRange(-12*60, 14*60).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0).In(zone)
		target := "/" + strings.ReplaceAll(drawText(t, "target"), " ", "+")
		referer, agent, trace := drawText(t, "referer"), drawText(t, "agent"), drawText(t, "trace")
		status, size := rapid.IntRange(100, 599).Draw(t, "status"), rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		request := time.Duration(rapid.IntRange(0, 1e6).Draw(t, "request")) * time.Millisecond
		up := time.Duration(rapid.IntRange(0, 1e6).Draw(t, "upstream")) * time.Millisecond
		line := fmt.Sprintf(`10.0.0.1 - bob [%s] %d.000 "GET %s HTTP/1.1" %d %d "%s" "%s" %.3f %.3f, 0.001 "%s"`, at.Format("02/Jan/2006:15:04:05 -0700"), at.Unix(),
			strings.ReplaceAll(escapeNginx(target), " ", "+"), status, size, escapeNginx(referer), escapeNginx(agent), request.Seconds(), up.Seconds(), escapeNginx(trace))
		r := NewReader(strings.NewReader(line), f)
		if !r.Next() {
			t.Fatalf("%s: %+v", line, r.Bad())
		}
		e := r.Entry()
		same := func(name string, got, want any) {
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s is %q, want %q, in %s", name, got, want, line)
			}
		}
		same("time", e.Time.UnixNano(), at.UnixNano())
		same("method", string(e.Method), "GET")
		same("target", string(e.Target), target)
		same("referer", string(e.Referer), referer)
		same("agent", string(e.Agent), agent)
		same("trace", string(e.Get("http_x_trace")), trace)
		same("status", e.Status, status)
		same("bytes", e.Bytes, size)
		same("request time", e.Request, request)
		same("upstream", e.Upstream, up+time.Millisecond)
	})
}

// The clock agrees with the standard library.
func TestClockAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 9e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		var c clock
		for _, layout := range []string{time.RFC3339Nano, "02/Jan/2006:15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999"} {
			text := at.Format(layout)
			if got, ok := c.read([]byte(text)); !ok || !got.Equal(at) {
				t.Fatalf("%s read as %v", text, got)
			}
		}
		text := fmt.Sprintf("%d.%03d", at.Unix(), at.Nanosecond()/1e6)
		if got, ok := c.read([]byte(text)); !ok || !got.Equal(at.Truncate(time.Millisecond)) {
			t.Fatalf("%s read as %v", text, got)
		}
	})
}

// FuzzReader: no input makes a panic, a hang, or more entries than lines.
func FuzzReader(f *testing.F) {
	for _, s := range []string{benchLine, "time:2023-10-10T13:55:36Z\treq:GET / HTTP/1.1\tx:\\u00e9", `{"time":1700000000,"uri":"/\ud83d","a":{"b":[1,{"c":2}]}}`, "\\x4", `1 "\`} {
		f.Add([]byte(s), "combined")
		f.Add([]byte(s), "ltsv")
		f.Add([]byte(s), "json")
		f.Add([]byte(s), "")
	}
	captures, _ := filepath.Glob("testdata/programs/*.log")
	for _, name := range captures {
		if log, err := os.ReadFile(name); err == nil {
			f.Add(log, "")
		}
	}
	for _, log := range []string{w3cExample, `h2 2024-12-19T10:00:02.123456Z app/web/5 [::1]:7 - -1 -1 -1 503 - 34 366 "GET https://x:443/ HTTP/2.0" "curl" - - a "b"`,
		"192.0.2.9:1 [12/May/2024:09:50:40.001] f b/s -1/+2/3 77 -- 1/1/0/0/0 0/0", `{"level":"info","time":"x","duration":1e-5,"url":"/","httpRequest":{"latency":{"seconds":"1","nanos":-1}}}`} {
		f.Add([]byte(log), "")
	}
	for i := range products {
		f.Add([]byte(strings.NewReplacer("$", "").Replace(products[i].text)), products[i].name)
	}
	f.Add([]byte(`10/Oct/2023 13 x`), `%{%d/%b/%Y %I %p}t %{c}a`)
	f.Fuzz(func(t *testing.T, log []byte, format string) {
		var parsed *Format
		if format != "" {
			var err error
			if parsed, err = ParseFormat(format); err != nil {
				return
			}
		}
		r := NewReader(bytes.NewReader(log), parsed)
		n := int64(0)
		for r.Next() {
			n++
			_, _, _ = r.Entry().Path(), r.Entry().Query(), r.Entry().Begin()
		}
		if b := r.Bad(); n+b.Count != b.Lines {
			t.Errorf("%d entries and %d bad lines of %d", n, b.Count, b.Lines)
		}
	})
}
