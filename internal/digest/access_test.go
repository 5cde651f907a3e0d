package digest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/accesslog"
	"kasoku/internal/await"
)

// textInput is a log in memory, as a file in parts or as a stream.
func textInput(name, text string, parts bool) Input {
	in := Input{Name: name, Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	if parts {
		in.At = func() (io.ReaderAt, io.Closer, error) {
			return strings.NewReader(text), io.NopCloser(nil), nil
		}
	}
	return in
}

func digestText(t *testing.T, text string, o AccessOptions) *Access {
	t.Helper()
	a, err := AccessLogs(context.Background(), []Input{textInput("access.log", text, true)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccessLogs(t *testing.T) {
	lines := []string{
		`10.0.0.1 - - [21/Nov/2026:10:00:00 +0000] "GET /users/1?token=hush&x HTTP/1.1" 200 100 "-" "curl" 0.100 0.090`,
		`10.0.0.1 - - [21/Nov/2026:10:00:01 +0000] "GET /users/2 HTTP/1.1" 404 50 "-" "curl" 0.300 0.100, 0.150`,
		`10.0.0.1 - - [21/Nov/2026:10:00:02 +0000] "GET /style.css HTTP/2.0" 304 0 "-" "curl" 0.000 -`,
		`10.0.0.1 - - [21/Nov/2026:10:00:02 +0000] "\x16\x03\x01" 400 157 "-" "-" 0.000 -`,
		`10.0.0.1 - - [21/Nov/2026:10:00:03 +0000] "BREW /pot HTTP/1.1" 405 0 "-" "-" 0.001 -`,
		`what is this?password=hush`,
		``,
		`10.0.0.1 - - [21/Nov/2026:10:00:04 +0000] "POST /users/3 HTTP/1.1" 499 0 "-" "curl" 2.500 2.400`,
	}
	a := digestText(t, strings.Join(lines, "\n")+"\n", AccessOptions{Service: "web"})
	if a.Format != "combined_times" || a.Lines != 7 || a.Bad != 1 || a.Skipped != 0 || !a.Timed || a.BadAt != "access.log:6" || a.FirstBad != "what is this?password=*" {
		t.Errorf("%+v", a)
	}
	if a.From.Format(time.RFC3339) != "2026-11-21T10:00:00Z" || a.To.Format(time.RFC3339) != "2026-11-21T10:00:04Z" {
		t.Errorf("from %v to %v", a.From, a.To)
	}
	var got []string
	for _, r := range a.Routes {
		got = append(got, fmt.Sprintf("%s %s %d %v %v %d %v/%d %v/%d %s", r.Method, r.Route, r.Count, r.Status, r.Codes, r.Bytes, r.Time.Total, r.Time.Count, r.Upstream.Total, r.Upstream.Count, r.Example))
	}
	want := `POST /users/:id 1 [0 0 0 0 1 0] map[499:1] 0 2.5s/1 2.4s/1 /users/3
GET /users/:id 2 [0 0 1 0 1 0] map[404:1] 150 400ms/2 340ms/2 /users/1?token=*&*
OTHER /pot 1 [0 0 0 0 1 0] map[405:1] 0 1ms/1 0s/0 /pot
OTHER (no request) 1 [0 0 0 0 1 0] map[400:1] 157 0s/1 0s/0 \x16\x03\x01
GET /style.css 1 [0 0 0 1 0 0] map[] 0 0s/1 0s/0 /style.css`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if r := a.Routes[1]; r.Service != "web" || r.Share < 0.137 || r.Share > 0.139 || r.Time.Max != 300*time.Millisecond || r.Time.Mean != 200*time.Millisecond {
		t.Errorf("%+v", r)
	}
}

func TestAccessFilters(t *testing.T) {
	var log strings.Builder
	for i := range 100 {
		fmt.Fprintf(&log, "time:2026-11-21T10:%02d:00Z\tmethod:GET\turi:/a\tstatus:%d\treqtime:0.%03d\n", i%60, 200+i%2*300, i)
	}
	since := time.Date(2026, 11, 21, 10, 10, 0, 0, time.UTC)
	a := digestText(t, log.String(), AccessOptions{Since: since, Until: since.Add(10 * time.Minute)})
	if a.Lines != 100 || a.Skipped != 80 || a.Routes[0].Count != 20 || !a.From.Equal(since) {
		t.Errorf("%+v", a)
	}
	a = digestText(t, log.String(), AccessOptions{Keep: func(e *accesslog.Entry) bool { return e.Status >= 500 }})
	if a.Skipped != 50 || a.Routes[0].Count != 50 || a.Routes[0].Codes[500] != 50 {
		t.Errorf("%+v", a)
	}
}

func TestAccessRoutesGiven(t *testing.T) {
	var log strings.Builder
	for i := range 100 {
		fmt.Fprintf(&log, "time:2026-11-21T10:00:00Z\tmethod:GET\turi:/%s/%d/x?y\tstatus:200\n", []string{"a", "b", "c"}[i%3], i)
	}
	a := digestText(t, log.String(), AccessOptions{Routes: accesslog.RouteOptions{Patterns: []string{"/a/:n/x", "^/b/[0-9]+/"}}, MaxRoutes: 2})
	var got []string
	for _, r := range a.Routes {
		got = append(got, fmt.Sprintf("%s %d", r.Route, r.Count))
	}
	if s := strings.Join(got, ", "); s != "/a/:n/x 34, /c/:id/x 33, (others) 33" {
		t.Error(s)
	}
	if a.Timed || len(a.Warnings) != 3 {
		t.Errorf("%q", a.Warnings)
	}
	_, err := AccessLogs(context.Background(), nil, AccessOptions{Routes: accesslog.RouteOptions{Patterns: []string{"^("}}})
	if err == nil {
		t.Error("a wrong expression is taken")
	}
}

// What is no log, or not whole, is said.
func TestAccessWrongInputs(t *testing.T) {
	good := strings.Repeat("time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a\tstatus:200\tsize:7\treqtime:0.1\n", 50)
	failing := Input{Name: "broken.gz", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(good), &failingReader{})), nil
	}}
	for _, c := range []struct {
		name   string
		in     Input
		format string
		err    string // part of the error
		warns  string // or of a warning
	}{
		{"empty", textInput("access.log", "", true), "", "", "access.log is empty"},
		{"empty stream", textInput("access.log", "", false), "", "", "access.log is empty"},
		{"blank", textInput("access.log", "\n\n", true), "", "", "access.log is empty"},
		{"compressed", textInput("access.log", "\x1f\x8b\x08\x00\n\n\n", true), "", "gzip", ""},
		{"zeros after a power loss", textInput("access.log", good+strings.Repeat("\x00", 4096), true), "", "", "the last line is cut"},
		{"binary", textInput("access.log", strings.Repeat("\x00\x01\x02a\n", 100), false), "", "control characters", ""},
		{"another text", textInput("access.log", strings.Repeat("hello?key=hush\n", 100), true), "", `hello?key=*`, ""},
		{"another format", textInput("access.log", good, true), "combined", "leave --format out", ""},
		{"a cut line", textInput("access.log", good+good[:40], true), "", "", "last line is cut"},
		{"a cut value", textInput("access.log", good+good[:len(good)/50-5], false), "", "", "last line is cut"},
		{"no end", textInput("access.log", good[:len(good)-1], false), "", "", ""},
		{"a broken stream", failing, "", "", "up to byte 3700 only"},
		{"mostly bad", textInput("access.log", good+strings.Repeat("x\n", 51), true), "", "most", ""},
	} {
		var o AccessOptions
		if c.format != "" {
			o.Format, _ = accesslog.ParseFormat(c.format)
		}
		a, err := AccessLogs(context.Background(), []Input{c.in}, o)
		switch {
		case c.name == "mostly bad": // half of the begin decides
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), c.in.Name) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			} else if strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: error shows a secret: %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.warns == "" && len(a.Warnings) > 0 || !strings.Contains(strings.Join(a.Warnings, "\n"), c.warns):
			t.Errorf("%s: warnings %q, want %q", c.name, a.Warnings, c.warns)
		case !strings.Contains(c.name, "empty") && c.name != "blank" && a.Routes[0].Count < 50:
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

// What no line has, and times of another unit, are told.
func TestAccessWarnsOfValues(t *testing.T) {
	const whole = `{"time":"2026-11-21T10:00:00Z","method":"GET","uri":"/a","status":200,"size":7,"duration":0.1}`
	for _, c := range []struct{ name, line, warns string }{
		{"all there", whole, ""},
		{"code for status", strings.Replace(whole, "status", "code", 1), ""},
		{"an answer of no bytes has a size", strings.Replace(whole, `"size":7`, `"size":0`, 1), ""},
		{"no status", strings.Replace(whole, `"status":200,`, "", 1), "no status codes"},
		{"no status, the code of an RPC", strings.Replace(whole, `"status":200`, `"code":"NOT_FOUND"`, 1), "no status codes"},
		{"no size", strings.Replace(whole, `"size":7,`, "", 1), "no sizes"},
		{"milliseconds", strings.Replace(whole, "0.1", "38.5", 1), ""},
		{"milliseconds by name", strings.Replace(whole, `"duration":0.1`, `"duration_ms":1400`, 1), ""},
		{"LTSV without a status", "time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a\tsize:7\treqtime:0.1", "no status codes"},
	} {
		a := digestText(t, strings.Repeat(c.line+"\n", 50), AccessOptions{})
		if got := strings.Join(a.Warnings, "\n"); c.warns == "" && got != "" || !strings.Contains(got, c.warns) || a.Bad > 0 {
			t.Errorf("%s: warnings %q, want %q; %d bad", c.name, got, c.warns, a.Bad)
		}
		if c.name == "milliseconds" && (a.Routes[0].Time.Max != 38500*time.Microsecond || !strings.Contains(strings.Join(a.Notes, "\n"), "milliseconds")) {
			t.Errorf("%s: %v, %q", c.name, a.Routes[0].Time.Max, a.Notes)
		}
	}
}

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAccessCancelled(t *testing.T) {
	await.SkipShort(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe() // never ends
	defer w.Close()
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := AccessLogs(ctx, []Input{{Name: "pipe", Open: func() (io.ReadCloser, error) { return r, nil }}}, AccessOptions{})
	if err == nil {
		t.Error("a digest that was cancelled succeeds")
	}
}

// asJSON compares all that a digest says but what depends on the split.
func asJSON(a *Access) string {
	b := *a
	b.BadAt, b.BadLines = "", nil // places are of the split
	b.Warnings = slices.DeleteFunc(slices.Clone(b.Warnings), func(s string) bool { return strings.HasSuffix(s, "is empty") })
	out, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		panic(err)
	}
	return string(out)
}

// The digest does not depend on the split into inputs, blocks and workers.
func TestAccessSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := drawLog(t)
		text := strings.Join(lines, "\n") + "\n"
		f, err := accesslog.ParseFormat("ltsv")
		if err != nil {
			t.Fatal(err)
		}
		o := AccessOptions{Format: f, Workers: 1}
		if rapid.Bool().Draw(t, "patterns") {
			o.Routes.Patterns = []string{"/a/:x", "^/b/[0-9]"}
		}
		whole, err := AccessLogs(context.Background(), []Input{textInput("x", text, true)}, o)
		if err != nil {
			t.Skip(err) // mostly garbage
		}
		var in []Input
		for rest := lines; len(rest) > 0; {
			n := rapid.IntRange(min(len(rest), 20), len(rest)).Draw(t, "input")
			in = append(in, textInput("x", strings.Join(rest[:n], "\n")+"\n", rapid.Bool().Draw(t, "parts")))
			rest = rest[n:]
		}
		o.Workers = rapid.IntRange(1, 4).Draw(t, "workers")
		patterns, _ := accesslog.NewRoutes(o.Routes)
		run := newAccessRun(in, o, patterns)
		run.segment = rapid.Int64Range(50, 1000).Draw(t, "segment")
		run.block = rapid.IntRange(500, 2000).Draw(t, "block")
		split, err := run.do(context.Background())
		if err != nil {
			t.Skip(err)
		}
		if a, b := asJSON(whole), asJSON(split); a != b {
			t.Fatalf("whole\n%s\nsplit into %d\n%s", a, len(in), b)
		}
	})
}

// drawLog draws lines of LTSV, some of them bad.
func drawLog(t *rapid.T) []string {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var lines []string
	word := rapid.SampledFrom([]string{"a", "b", "c", "7", "12", "x.css", "2026-11-21", "d41d8cd98f00b204e9800998ecf8427e", "日本", "%E3%81%82", "", "\\x41b", "a?b=c&d", "a\x01b"})
	n := rapid.IntRange(20, 60).Draw(t, "lines")
	for range n {
		at = at.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "gap")) * time.Second)
		path := "/" + strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "path"), "/")
		method := rapid.SampledFrom([]string{"GET", "GET", "POST", "-", "BREW"}).Draw(t, "method")
		line := fmt.Sprintf("time:%s\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.3f\tapptime:%s\tcache:%s", at.Format(time.RFC3339), method, path,
			rapid.SampledFrom([]int{200, 304, 404, 500}).Draw(t, "status"), rapid.IntRange(0, 1000).Draw(t, "size"), rapid.Float64Range(0, 3).Draw(t, "time"),
			rapid.SampledFrom([]string{"-", "0.1", "0.1, 0.2", "0.5 : 0.5"}).Draw(t, "upstream"), rapid.SampledFrom([]string{"-", "HIT", "MISS"}).Draw(t, "cache"))
		switch rapid.IntRange(0, 15).Draw(t, "bad") {
		case 0:
			line = rapid.SampledFrom([]string{"garbage", "a:b", "", "x", "time:x\turi:/"}).Draw(t, "garbage")
		case 1:
			line = line[:rapid.IntRange(0, len(line)).Draw(t, "cut")]
		case 2:
			line += "\r"
		}
		lines = append(lines, line)
	}
	return lines
}

// FuzzAccess: no log of any format makes a panic; each line is an entry, bad
// or skipped.
func FuzzAccess(f *testing.F) {
	for _, s := range []string{"time:2026-11-21T10:00:00Z\tmethod:GET\turi:/a/1\tstatus:200\treqtime:0.1\n", `{"time":"2026-11-21T10:00:00Z","uri":"/a/1","request_time":"0.1","status":200}`,
		`1.1.1.1 - - [21/Nov/2026:10:00:00 +0000] "GET /a/1 HTTP/1.1" 200 5 "-" "-" 0.1` + "\n"} {
		for _, format := range []string{"", "ltsv", "json", "combined_times", "haproxy"} {
			f.Add([]byte(strings.Repeat(s, 3)), format)
		}
	}
	f.Fuzz(func(t *testing.T, log []byte, format string) {
		o := AccessOptions{Workers: 1}
		if format != "" {
			var err error
			if o.Format, err = accesslog.ParseFormat(format); err != nil {
				return
			}
		}
		patterns, _ := accesslog.NewRoutes(o.Routes)
		in := []Input{{Name: "x", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }}}
		run := newAccessRun(in, o, patterns)
		run.block = maxLine + 1<<10 // the least
		hang := time.AfterFunc(20*time.Second, func() { panic(fmt.Sprintf("hangs on %q as %q", log, format)) })
		defer hang.Stop()
		a, err := run.do(context.Background())
		if err != nil {
			return
		}
		n := a.Bad + a.Skipped
		for _, r := range a.Routes {
			n += r.Count
		}
		if n != a.Lines || a.Bytes != int64(len(log)) {
			t.Errorf("%d requests and bad lines of %d lines, %d bytes of %d", n, a.Lines, a.Bytes, len(log))
		}
	})
}

// Who reads a stream ends with the digest that was cancelled: nobody takes the
// blocks any more, and the stream goes on and on.
func TestAccessCancelledStopsReading(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	line := `192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	const size = 64 << 20
	g := &endless{left: size, line: func(int) string { return line }}
	patterns, err := accesslog.NewRoutes(accesslog.RouteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := newAccessRun([]Input{{Name: "endless", Open: func() (io.ReadCloser, error) { return g, nil }}}, AccessOptions{Workers: 1}, patterns)
	if err := run.feed(ctx); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
	if read := size - g.left; read > (ahead+2)*blockSize {
		t.Errorf("%d MiB were read", read>>20)
	}
}

// What is no log is told apart by its first bytes; zeros around text are no
// reason.
func TestNotText(t *testing.T) {
	for head, want := range map[string]string{
		"":                               "",
		"a":                              "",
		"a\n":                            "",
		"\x00\x00a\x00":                  "",
		"\x00":                           "it holds zeros only",
		"\x00\x00\x00":                   "it holds zeros only",
		"\x1f\x8b\x08":                   "it is a gzip file",
		"\x01" + strings.Repeat("a", 19): "",
		"\x01" + strings.Repeat("a", 18): "it is binary, 1 of its first 19 bytes are control characters",
	} {
		if got := notText([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

// A line that is longer than any entry is one entry that is not understood,
// wherever the file is cut.
func TestAccessLongLine(t *testing.T) {
	good := `192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"` + "\n"
	text := strings.Repeat(good, 3) + strings.Repeat("x", 3*maxLine) + "\n" + strings.Repeat(good, 2)
	for _, parts := range []bool{true, false} {
		a, err := AccessLogs(t.Context(), []Input{textInput("access.log", text, parts)}, AccessOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if a.Lines != 6 || a.Bad != 1 || a.BadAt != "access.log:4" || len(a.Routes) != 1 || a.Routes[0].Count != 5 {
			t.Errorf("in parts %v: %d lines, %d bad, the first at %s, %+v", parts, a.Lines, a.Bad, a.BadAt, a.Routes)
		}
	}
}
