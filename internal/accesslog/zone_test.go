package accesslog

import (
	"testing"
	"time"
)

// A time without a zone is of the reader's, however it is written; one that has
// a zone is of that.
func TestZone(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	local, utc := time.Date(2024, 5, 12, 13, 6, 0, 0, time.UTC), time.Date(2024, 5, 12, 22, 6, 0, 0, time.UTC)
	for _, c := range []struct {
		format, line string
		want         time.Time
	}{
		{"gin", `[GIN] 2024/05/12 - 22:06:00 | 200 |    15.5ms |       10.0.0.1 | GET      "/a"`, local},
		{"django", `[12/May/2024 22:06:00] "GET /a HTTP/1.1" 200 12`, local},
		{"werkzeug", `10.0.0.1 - - [12/May/2024 22:06:00] "GET /a HTTP/1.1" 200 -`, local},
		{"chi", `2024/05/12 22:06:00 "GET http://a/a HTTP/1.1" from 10.0.0.1:80 - 200 12B in 1.5ms`, local},
		{`%{%Y-%m-%d %H:%M:%S}t "%r" %>s`, `2024-05-12 22:06:00 "GET /a HTTP/1.1" 200`, local},
		{`%{%Y-%m-%d %I:%M:%S %p}t "%r" %>s`, `2024-05-12 10:06:00 PM "GET /a HTTP/1.1" 200`, local},
		{`%{%Y-%m-%d %H:%M:%S %z}t "%r" %>s`, `2024-05-12 22:06:00 +0000 "GET /a HTTP/1.1" 200`, utc},
		{`%{sec}t "%r" %>s`, `1715551560 "GET /a HTTP/1.1" 200`, utc},
		{"combined", `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8"`, utc},
		{"ltsv", "time:2024-05-12T22:06:00\tmethod:GET\turi:/a\tstatus:200", local},
		{"ltsv", "time:2024-05-12T22:06:00Z\tmethod:GET\turi:/a\tstatus:200", utc},
		{"json", `{"time":"2024-05-12 22:06:00","method":"GET","uri":"/a","status":200}`, local},
		{`$time_iso8601 "$request" $status`, `2024-05-12T22:06:00 "GET /a HTTP/1.1" 200`, local},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		r := NewRows(f, true)
		r.Zone = tokyo
		var row Row
		for range 3 { // also the short way
			if why := r.Parse([]byte(c.line), &row); why != "" || !row.Time.Equal(c.want) {
				t.Errorf("%s: %q is of %v %s, want %v", c.format, c.line, row.Time, why, c.want)
			}
		}
	}
}
