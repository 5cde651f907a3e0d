package accesslog

import (
	"strings"
	"testing"
)

// What nginx and Apache take in their configurations, --format takes, escapes
// and all (ngx_http_log_module, mod_log_config).
func TestServersFormats(t *testing.T) {
	for _, c := range []struct{ name, format, line, want string }{
		{"statement with escaped quotes", `log_format kv '[$time_local] a=$remote_addr r=\"$request\" s=$status t=$request_time u=\"$upstream_response_time\"';`,
			`[03/Mar/2025:08:00:00 +0000] a=10.0.0.1 r="GET /a HTTP/1.1" s=200 t=0.016 u="0.004, 0.012"`,
			`2025-03-03T08:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|16000||||`},
		{"the text as a shell escapes it", `$remote_addr \"$request\" $status $request_time`, `10.0.0.1 "GET /a HTTP/1.1" 200 0.016`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"several strings over lines, escape=none", "log_format x escape=none '$remote_addr'\n\t' \"$request\"' \" $status\";", `10.0.0.1 "GET /\x41 HTTP/1.1" 200`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/\x41|HTTP/1.1||200|-1|-1|-1||||`},
		{"escape=default", `log_format x escape=default '$remote_addr "$request" $status'`, `10.0.0.1 "GET /\x41 HTTP/1.1" 200`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/A|HTTP/1.1||200|-1|-1|-1||||`},
		{"tabs", `log_format x '$remote_addr\t$request\t$status\t$request_time'`, "10.0.0.1\tGET /a HTTP/1.1\t200\t0.016",
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"a request between bars", `$remote_addr | $scheme $request | rt: $request_time s | $status`, `10.0.0.1 | https GET /a HTTP/1.1 | rt: 0.016 s | 200`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||scheme=https`},
		{"a time without brackets before a quote", `$time_local "$request" $status`, `03/Mar/2025:08:00:00 +0000 "GET /a HTTP/1.1" 200`,
			`2025-03-03T08:00:00Z|||GET|/a|HTTP/1.1||200|-1|-1|-1||||`},
		{"Apache, statuses in front of a header", `LogFormat "%h %l %u %t \"%r\" %>s %b \"%400,501{User-Agent}i\" %!200,304,302{Referer}i %D" odd`,
			`10.0.0.1 - - [03/Mar/2025:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" - 16000`,
			`2025-03-03T08:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|5|16000|-1||||`},
		{"Apache, the final request", `%a %>s %<s %>r %T`, `10.0.0.1 200 301 GET /a HTTP/1.1 2`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|2000000|-1||||`},
		{"Apache, seconds and microseconds", `%h \"%r\" %>s %T/%D`, `10.0.0.1 "GET /a HTTP/1.1" 200 0/16000`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"Apache, microseconds and seconds", `%h \"%r\" %>s **%D/%T**`, `10.0.0.1 "GET /a HTTP/1.1" 200 **16000/0**`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"Apache, CustomLog", `CustomLog "logs/access_log" "%h \"%r\" %>s %{us}T"`, `10.0.0.1 "GET /a HTTP/1.1" 200 16000`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"Apache, CustomLog with a condition", `CustomLog ${APACHE_LOG_DIR}/a.log "%h \"%r\" %>s %{ms}T" env=!no`, `10.0.0.1 "GET /a HTTP/1.1" 200 16`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"Apache, single quotes", `LogFormat '%h "%r" %>s %{ms}T' a`, `10.0.0.1 "GET /a HTTP/1.1" 200 16`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|16000|-1||||`},
		{"Apache, headers and cookies", `%h \"%r\" %>s %{X-Request-Id}i %{Content-Type}o %{sid}C %{UNIQUE_ID}e %{note}n %p %P %k %X`,
			`10.0.0.1 "GET /a HTTP/1.1" 200 r1 text/html s e n 80 99 0 +`,
			`0001-01-01T00:00:00Z|10.0.0.1||GET|/a|HTTP/1.1||200|-1|-1|-1||||X-Request-Id=r1 Content-Type=text/html sid=s UNIQUE_ID=e note=n %p=80 %P=99 %k=0 %X=+`},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r := NewReader(strings.NewReader(c.line+"\n"), f)
		if !r.Next() {
			t.Errorf("%s: not read: %v %+v", c.name, r.Err(), r.Bad())
			continue
		}
		if got := show(r.Entry()); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
