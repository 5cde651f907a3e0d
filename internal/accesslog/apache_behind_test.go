package accesslog

import (
	"testing"
	"time"
)

// TestApacheBehind: the time to the first byte is that of a server behind only
// if a proxy handler served the request; also on the short way of rows.
func TestApacheBehind(t *testing.T) {
	format, err := Apache(`%h %t "%r" %>s %D %>R %^FB`)
	if err != nil {
		t.Fatal(err)
	}
	const begin = `127.0.0.1 [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 9000 `
	const labelled = "time:1700000000.123\treq:GET /a HTTP/1.1\tstatus:200\tsize:5\treqtime_microsec:9000\tcache:-\t"
	for _, c := range []struct {
		name   string
		format *Format
		line   string
		want   time.Duration
	}{
		{"handed to PHP-FPM", format, begin + "proxy:unix:/run/php.sock|fcgi://localhost 7000", 7 * time.Millisecond},
		{"a file", format, begin + "- 400", -1},
		{"mod_php", format, begin + "application/x-httpd-php 400", -1},
		{"no first byte", format, begin + "proxy-server -", -1},
		{"labelled, handed on", LTSV(), labelled + "handler:proxy-server\tttfb_microsec:7000", 7 * time.Millisecond},
		{"labelled, a file", LTSV(), labelled + "handler:-\tttfb_microsec:400", -1},
		{"labelled, no handler", LTSV(), labelled + "ttfb_microsec:400", -1},
	} {
		rows := NewRows(c.format, false)
		for i := range 3 { // a layout may be learnt from the first
			var row Row
			if why := rows.Parse([]byte(c.line), &row); why != "" || row.Upstream != c.want || row.Request != 9*time.Millisecond || string(row.Target) != "/a" {
				t.Errorf("%s, line %d: %q, %+v", c.name, i, why, row)
			}
		}
	}
}
