package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	iisHead = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method cs-uri-stem sc-status sc-win32-status time-taken s-reason\n"
	iisLine = "2024-05-12 22:06:00 GET /a 200 0 15 7\n"

	// The usual columns, of a log whose begin is lost.
	iisLost = "2024-05-12 22:06:00 10.0.0.2 GET /a - 80 - 10.0.0.1 curl/8 - 200 0 0 15\n"

	albLine = `https 2024-05-12T22:06:00.123456Z app/web/50dc6c495c0c9188 10.0.0.1:2817 10.0.0.2:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/a HTTP/1.1" "curl/8" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1" "-" "-" 0 2024-05-12T22:06:00.0Z "forward" "-" "-"` + "\n"

	istioLine = `[2024-05-12T22:06:00.123Z] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 135 15 11 "-" "curl/8" "b3c8" "web:8000" "10.0.0.2:80" outbound|8000||web 10.0.0.1:1 10.0.0.3:80 10.0.0.4:1 - default` + "\n"

	ginLine     = `[GIN] 2024/05/12 - 22:06:00 | 200 |    15.5ms |       10.0.0.1 | GET      "/a"` + "\n"
	morganLine  = "GET /a 200 12 - 15.000 ms\n"
	haproxyLine = `haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"` + "\n"
	ltsvLine    = "time:2024-05-12T22:06:00Z\tmethod:GET\turi:/a\tstatus:200\tduration_ms:15\tt_app:3.5\n"
	jsonLine    = `{"time":"2024-05-12T22:06:00Z","method":"GET","uri":"/a","status":200,"Duration":15000000,"t_app":3.5}` + "\n"
	keyedLine   = `time=2024-05-12T22:06:00Z method=GET path=/a status=200 duration_ms=15 t_app=3.5` + "\n"
	traefikLine = `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8" 7 "web@docker" "http://10.0.0.2:80" 15ms` + "\n"
)

// What the user says of the times counts in every format, or is refused.
func TestTimesOfEveryFormat(t *testing.T) {
	const none, refused = -1, -2
	for _, c := range []struct {
		name, head, line string
		times            Times
		want             time.Duration
	}{
		{"iis", iisHead, iisLine, Times{}, 15 * time.Millisecond},
		{"iis", iisHead, iisLine, Times{Unit: time.Second}, 15 * time.Second},
		{"iis", iisHead, iisLine, Times{Field: noTimes}, none},
		{"iis", iisHead, iisLine, Times{Field: "nosuch"}, refused},
		{"iis", iisHead, iisLine, Times{Field: "9"}, refused},
		{"iis", iisHead, iisLine, Times{Field: "s-reason"}, 7 * time.Second},
		{"iis", iisHead, iisLine, Times{Field: "-1", Unit: time.Millisecond}, 7 * time.Millisecond},
		{"iis", iisHead, iisLine, Times{Field: "Time-Taken"}, 15 * time.Millisecond},
		{"iis without its begin", "", iisLost, Times{}, 15 * time.Millisecond},
		{"iis without its begin", "", iisLost, Times{Unit: time.Second}, 15 * time.Second},
		{"iis without its begin", "", iisLost, Times{Field: noTimes}, none},
		{"aws-alb", "", albLine, Times{}, 171 * time.Millisecond},
		{"aws-alb", "", albLine, Times{Field: noTimes}, none},
		{"aws-alb", "", albLine, Times{Unit: time.Millisecond}, 171 * time.Microsecond},
		{"istio", "", istioLine, Times{}, 15 * time.Millisecond},
		{"istio", "", istioLine, Times{Field: noTimes}, none},
		{"istio", "", istioLine, Times{Unit: time.Second}, 15 * time.Second},
		{"gin", "", ginLine, Times{Field: noTimes}, none},
		{"gin", "", ginLine, Times{Unit: time.Second}, 15500 * time.Microsecond}, // they have one
		{"gin", "", ginLine, Times{Field: "nosuch"}, refused},
		{"morgan", "", morganLine, Times{Unit: time.Second}, 15 * time.Millisecond},
		{"morgan", "", morganLine, Times{Field: noTimes}, none},
		{"traefik", "", traefikLine, Times{Unit: time.Second}, 15 * time.Millisecond},
		{"haproxy", "", haproxyLine, Times{}, 109 * time.Millisecond},
		{"haproxy", "", haproxyLine, Times{Field: noTimes}, none},
		{"haproxy", "", haproxyLine, Times{Unit: time.Microsecond}, 109 * time.Microsecond},
		{"haproxy", "", haproxyLine, Times{Field: "nosuch"}, refused},
		{"haproxy", "", haproxyLine, Times{Field: "-1"}, refused},
		{"ltsv", "", ltsvLine, Times{Field: noTimes}, none},
		{"ltsv", "", ltsvLine, Times{Field: "t_app"}, 3500 * time.Millisecond},
		{"ltsv", "", ltsvLine, Times{Field: "duration_ms"}, 15 * time.Millisecond},
		{"json", "", jsonLine, Times{Field: noTimes}, none},
		{"json", "", jsonLine, Times{Field: "t_app", Unit: time.Millisecond}, 3500 * time.Microsecond},
		{"json", "", jsonLine, Times{Field: "Duration"}, 15 * time.Millisecond},
		{"named values", "", keyedLine, Times{Field: noTimes}, none},
		{"named values", "", keyedLine, Times{Field: "t_app"}, 3500 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%s,%v,%s", c.name, c.times.Unit, c.times.Field), func(t *testing.T) {
			f, err := DetectTimes([]byte(c.head+strings.Repeat(c.line, 5)), c.times)
			if c.want == refused {
				if err == nil {
					t.Error("it is read all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var row Row
			r := NewRows(f, true)
			first, _, _ := bytes.Cut([]byte(c.line), []byte("\n"))
			for range 3 { // also the short way
				if why := r.Parse(bytes.Clone(first), &row); why != "" || row.Request != c.want || c.want == none && row.Upstream != none {
					t.Fatalf("%s: %v (upstream %v) %s, want %v", f.Name, row.Request, row.Upstream, why, c.want)
				}
			}
		})
	}
}

// The same with a format that the user named.
func TestTimesOfNamedFormats(t *testing.T) {
	for _, name := range []string{"gin", "haproxy", "aws-alb", "combined"} {
		f, err := ParseFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		var field *FieldError
		if _, err := f.WithTimes(Times{Field: "nosuch"}); !errors.As(err, &field) || field.Format != f.Name {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	f, err := ParseFormat(`%h %t "%r" %>s %b %D`)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.WithTimes(Times{Field: "%D"}); err != nil {
		t.Fatal(err)
	}
	var row Row
	if why := NewRows(f, true).Parse([]byte(`10.0.0.1 [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 1500`), &row); why != "" || row.Request != 1500*time.Microsecond {
		t.Errorf("%%D that is named is read as %v (%s)", row.Request, why)
	}
}
