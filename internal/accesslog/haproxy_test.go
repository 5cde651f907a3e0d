package accesslog

import (
	"strings"
	"testing"
)

// The lines are those of HAProxy's manual, and of Varnish's and Traefik's.
func TestProxyFormats(t *testing.T) {
	for _, c := range []struct{ name, format, line, want string }{
		{"HAProxy", "haproxy", `Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html?a=b HTTP/1.1"`,
			`2009-02-06T12:14:14.655Z|10.0.1.2||GET|/index.html?a=b|HTTP/1.1||200|2750|109000|99000||||frontend=http-in backend=static server=srv1 timers=10/0/30/69/109 termination=----`},
		{"a refused request", "haproxy", `10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in http-in/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>"`,
			`2009-02-06T12:14:14.655Z|10.0.1.2||||||400|0|0|-1||||frontend=http-in backend=http-in server=<NOSRV> timers=-1/-1/-1/-1/0 termination=PR--`},
		{"option logasap", "haproxy", `::1:33317 [06/Feb/2009:12:14:14.655] in~ b/s 0/0/1/2/+3 200 +2750 - - ---- 1/1/1/1/0 0/0 "POST / HTTP/1.1"`,
			`2009-02-06T12:14:14.655Z|::1||POST|/|HTTP/1.1||200|2750|3000|3000||||frontend=in~ backend=b server=s timers=0/0/1/2/+3 termination=----`},
		{"the time first, and more timers", "haproxy", `[06/Feb/2009:12:14:14.655] [0A00:1F90_0A00:0050_5ADF:0001] 10.0.1.2:33317 fe~ be/web1 0/1/0/30/69/109 200 2750 - - ---- 10/9/3/1/0 0/0 {shop} {} "GET /a HTTP/1.1"`,
			`2009-02-06T12:14:14.655Z|10.0.1.2||GET|/a|HTTP/1.1||200|2750|109000|-1||||frontend=fe~ backend=be server=web1 timers=0/1/0/30/69/109 termination=----`},
		{"the time first", "haproxy", `[06/Feb/2009:12:14:14.655] 2001:db8::1:33317 fe be/web1 0/1/30/69/-1 503 0 - - SH-- 10/9/3/1/0 0/0 "GET /a HTTP/1.1"`,
			`2009-02-06T12:14:14.655Z|2001:db8::1||GET|/a|HTTP/1.1||503|0|-1|99000||||frontend=fe backend=be server=web1 timers=0/1/30/69/-1 termination=SH--`},
		{"Varnish", `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D %{Varnish:time_firstbyte}x %{Varnish:handling}x`,
			`10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET http://shop/a HTTP/1.1" 200 5 "-" "curl" 1500 0.001234 miss`,
			`2023-10-10T13:55:36Z|10.0.0.1||GET|http://shop/a|HTTP/1.1||200|5|1500|1234||curl|miss|`},
		{"Traefik's common format", "traefik", `10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl" 17 "web@docker" "http://10.0.0.2:80" 12ms`,
			`2023-10-10T13:55:36Z|10.0.0.1||GET|/a|HTTP/1.1||200|5|12000|-1||curl||requests=17 router=web@docker server=http://10.0.0.2:80`},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(strings.NewReader(c.line+"\n"), f)
		if !r.Next() {
			t.Errorf("%s: not read: %v %+v", c.name, r.Err(), r.Bad())
			continue
		}
		if got := show(r.Entry()); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
		if c.name == "Varnish" {
			continue
		}
		if found, err := Detect([]byte(strings.Repeat(c.line+"\n", 3))); err != nil || found.Name != c.format {
			t.Errorf("%s: recognised as %+v, %v", c.name, found, err)
		}
	}
	for _, bad := range []string{"", "x [y] z", "-  [21/Nov/2026:10:00:00 +0000]T0", `10.0.1.2:1 [06/Feb/2009:12:14:14.655] a b 1/2/3 200 5 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"`,
		`10.0.1.2:1 [06/Feb/2009:12:14:14.655] a b/c 0/0/0/0/0 200 5 - - ---- 1/1/1/1/0 0/0 "GET`,
		`[x] 10.0.1.2:1 a b/c 0/0/0/0/0 200 5 "GET / HTTP/1.1"`, `[06/Feb/2009:12:14:14.655] host a b/c 0/0/0/0/0 200 5 "GET / HTTP/1.1"`, "[06/Feb/2009:12:14:14.655"} {
		var e Entry
		if why := parseHAProxy(nil, []byte(bad), &e, &clock{}); why == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}
