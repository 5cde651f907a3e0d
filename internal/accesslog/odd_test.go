package accesslog

import (
	"strings"
	"testing"
	"time"
)

// A line without its end counts only if no value of it can be cut.
func TestWholeWithoutLayout(t *testing.T) {
	for _, c := range []struct {
		format, line string
		want         bool
	}{
		{"morgan", "GET /a 200 12 - 15.000 ms", true},
		{"morgan", "GET /a 200 12 - 15.000 m", true}, // no entry, and so refused
		{"haproxy", strings.TrimSuffix(haproxyLine, "\n"), true},
		{"istio", strings.TrimSuffix(istioLine, "\n"), false},
		{"chi", `2024/05/12 22:06:00 "GET http://a/a HTTP/1.1" from 10.0.0.1:80 - 200 12B in 1.52345ms`, false}, // 1.52345m is one, too
		{"chi", `2024/05/12 22:06:00 "GET http://a/a HTTP/1.1" from 10.0.0.1:80 - 200 12B in 1m2s`, true},
		{"django", `[12/May/2024 22:06:00] "GET /a HTTP/1.1" 200 12`, false},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewRows(f, false).Whole([]byte(c.line)); got != c.want {
			t.Errorf("%s: %q is whole: %v", c.format, c.line, got)
		}
	}
	iis := w3cFormat([]byte("#Fields: date time cs-method cs-uri-stem sc-status sc-win32-status time-taken"), draftWriter, Times{})
	if NewRows(iis, false).Whole([]byte("2024-05-12 22:06:00 GET /a 200 0 15")) {
		t.Error("a line of IIS whose time may be cut is whole")
	}
}

// A level in brackets makes a message of a line only if it has no request and
// status of its own.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
	}{
		{"[info] GET /x 200 5.1ms", ""},
		{"2024/05/12 22:06:00 [warn] POST /x 500 5.1ms", ""},
		{`2024/05/12 22:06:00 [error] 12#12: *1 connect() failed (111: Connection refused) while connecting to upstream, client: 10.0.0.1, server: a, request: "GET /x HTTP/1.1", upstream: "http://127.0.0.1:80/x", host: "a"`, whyError},
		{"[Sun May 12 22:06:00.123456 2024] [core:error] [pid 12] [client 10.0.0.1:80] AH00126: Invalid URI in request GET /../x HTTP/1.1", whyError},
		{"[info] server started", whyError},
	} {
		var e Entry
		e.reset()
		if why := parseLine(Line(), []byte(c.line), &e, &clock{}); why != c.want {
			t.Errorf("%q: %q, want %q", c.line, why, c.want)
		}
		if c.want == "" && e.Request != 5100*time.Microsecond {
			t.Errorf("%q takes %v", c.line, e.Request)
		}
	}
}

func TestJSONArrays(t *testing.T) {
	var e Entry
	e.reset()
	line := `{"time":"2024-05-12T22:06:00Z","method":["GET","POST"],"uri":["/a",{"uri":"/b"}],"status":[200,500],"host":[{"x":1},"b"],"user":[["x"],"y"]}`
	if why := parseJSON(JSON(), []byte(line), &e, &clock{}); why != "" || string(e.Method) != "GET" || string(e.Target) != "/a" || e.Status != 200 || e.Host != nil || e.User != nil {
		t.Errorf("%s: %s %s %d %s %s", why, e.Method, e.Target, e.Status, e.Host, e.User)
	}
}

func TestStampOfManyDays(t *testing.T) {
	line := strings.Repeat("aaa -aa ", 1<<17) // once a call for each of them
	if _, ok := afterStamp([]byte(line)); ok {
		t.Error("it is a stamp")
	}
}
