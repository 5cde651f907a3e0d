package accesslog

import (
	"strings"
	"testing"
	"time"
)

// Lines in the envelopes of Papertrail's archives and screen, of Heroku's drains, and of
// syslog without a year; what was within is read, and dated by the envelope.
func TestSyslogEnvelopes(t *testing.T) {
	const (
		router  = `at=info method=GET path="/a" host=shop.example request_id=ab fwd="192.0.2.7" dyno=web.1 connect=1ms service=49ms status=200 bytes=7100`
		object  = `{"method":"GET","path":"/a","status":200,"size":7100,"duration_ms":49}`
		short   = `192.0.2.7 "GET /a HTTP/1.1" 200 7100 0.049`
		words   = `GET /a 200 7100 49ms`
		labels  = "method:GET\turi:/a\tstatus:200\tsize:7100\treqtime:0.049"
		archive = "1234567890123456789\t2024-05-12T09:50:41Z\t2024-05-12T09:50:40Z\t9001\tweb1\t192.0.2.1\tLocal7\tInfo\t"
		written = "987654321098\t2024-05-12T11:50:40+02:00\t2024-05-12T11:50:43+02:00\t9001\tweb1\t192.0.2.1\tLocal7\tInfo\t"
	)
	for _, before := range []string{
		archive + "nginx\t", archive + "app/web.1\t", archive + "\t", written + "heroku/router\t",
		"May 12 09:50:40 web1 nginx[12]: ", "May 12 09:50:40 web1 app: ", "<190>May 12 09:50:40 web1 app: ", "May 12 09:50:40 2024 web1 app: ", "May 12 09:50:40.123 web1 app: ",
		"May 12 09:50:40 shop heroku/router ", "May 12 09:50:40 shop app/web.1: ", "May 12 09:50:40 nginx ", "May 12 09:50:40 web1 nginx ",
		"<190>1 2024-05-12T09:50:40.123456+00:00 host heroku router - ", "<190>1 2024-05-12T09:50:40+00:00 host app web.1 - ", "131 <190>1 2024-05-12T09:50:40Z web1 app 12 - - ",
	} {
		for _, inner := range []string{router, object, short, words, labels} {
			line := before + inner
			f, err := Detect([]byte(strings.Repeat(line+"\n", 5)))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			f = f.NotAfter(time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC))
			e, why := NewRows(f, true).Entry([]byte(line))
			if why != "" {
				t.Errorf("%s: %s", line, why)
				continue
			}
			if at := e.Time.Format("2006-01-02 15:04:05"); string(e.Method) != "GET" || string(e.Target) != "/a" || e.Status != 200 || e.Bytes != 7100 || micros(e.Request) != 49_000 || at != "2024-05-12 09:50:40" {
				t.Errorf("%s: %s %s %d, %d B, %v, %s by %s", line, e.Method, e.Target, e.Status, e.Bytes, e.Request, at, f.Name)
			}
		}
	}
}

// The year is the last that is not after the newest line, by a day of clocks that differ.
func TestDatesWithoutAYear(t *testing.T) {
	tokyo := time.FixedZone("", 9*3600)
	for _, c := range []struct {
		text   string
		newest string
		zone   *time.Location
		want   string
	}{
		{"May 12 09:50:40", "2024-06-01T00:00:00Z", nil, "2024-05-12T09:50:40Z"},
		{"May 12 09:50:40", "2024-05-12T09:50:40Z", nil, "2024-05-12T09:50:40Z"},
		{"May 12 20:50:40", "2024-05-12T09:50:40Z", nil, "2024-05-12T20:50:40Z"},
		{"May 14 09:50:40", "2024-05-12T09:50:40Z", nil, "2023-05-14T09:50:40Z"},
		{"Dec 31 23:59:59", "2024-01-01T00:00:10Z", nil, "2023-12-31T23:59:59Z"},
		{"Jan  1 00:00:05", "2024-01-01T00:00:10Z", nil, "2024-01-01T00:00:05Z"},
		{"Jan  1 00:00:05", "2023-12-31T23:59:50Z", nil, "2024-01-01T00:00:05Z"},
		{"Jan  1 08:00:05", "2023-12-31T23:00:10Z", tokyo, "2023-12-31T23:00:05Z"},
		{"Feb 29 09:50:40", "2027-06-01T00:00:00Z", nil, "2024-02-29T09:50:40Z"},
		{"Feb 29 09:50:40", "2100-06-01T00:00:00Z", nil, "2096-02-29T09:50:40Z"},
		{"Feb 30 09:50:40", "2024-06-01T00:00:00Z", nil, ""},
		{"May 12 09:50:40", "", nil, ""},
	} {
		clock := clock{zone: c.zone}
		if c.newest != "" {
			clock.newest, _ = time.Parse(time.RFC3339, c.newest)
		}
		got := ""
		if at, ok := clock.read([]byte(c.text)); ok {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s, newest %s: %q, want %q", c.text, c.newest, got, c.want)
		}
	}
}
