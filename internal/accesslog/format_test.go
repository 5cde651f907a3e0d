package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// show prints an entry in one line for comparisons.
func show(e *Entry) string {
	var other []string
	for _, f := range e.Other {
		other = append(other, fmt.Sprintf("%s=%s", f.Name, f.Value))
	}
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%d|%d|%d|%d|%s|%s|%s|%s", e.Time.Format(time.RFC3339Nano), e.Client, e.User, e.Method, e.Target,
		e.Protocol, e.Host, e.Status, e.Bytes, micros(e.Request), micros(e.Upstream), e.Referer, e.Agent, e.Cache, strings.Join(other, " "))
}

func micros(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Microseconds()
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ name, format, line, want string }{
		{"combined", "combined", `10.0.0.1 - bob [10/Oct/2023:13:55:36 +0200] "GET /a?b=c HTTP/1.1" 200 2326 "http://x/" "Mozilla \x22q\x22"`,
			`2023-10-10T11:55:36Z|10.0.0.1|bob|GET|/a?b=c|HTTP/1.1||200|2326|-1|-1|http://x/|Mozilla "q"||`},
		{"a user with a space", "combined", `10.0.0.1 - a b [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`,
			`2023-10-10T13:55:36Z|10.0.0.1|a b|GET|/|HTTP/1.1||200|1|-1|-1||||`},
		{"TLS sent to a plain port", "combined", `10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "\x16\x03\x01" 400 157 "-" "-"`,
			"2023-10-10T13:55:36Z|10.0.0.1|||\x16\x03\x01|||400|157|-1|-1||||"},
		{"an empty request", "combined", `10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "" 400 0 "-" "-"`,
			`2023-10-10T13:55:36Z|10.0.0.1||||||400|0|-1|-1||||`},
		{"Apache's escaped quotes", `%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"`,
			`::1 - - [10/Oct/2023:13:55:36 -0700] "GET /\"x HTTP/1.0" 304 - "-" "a \\ b"`,
			`2023-10-10T20:55:36Z|::1||GET|/"x|HTTP/1.0||304|0|-1|-1||a \ b||`},
		{"Apache with milliseconds and a header", `%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t %a %m %U%q %s %B %D %{X-Trace}i`,
			`10/Oct/2023 13:55:36.123 +0100 10.0.0.1 POST /a?x=1 201 5 1500 t1`,
			`2023-10-10T12:55:36.123Z|10.0.0.1||POST|/a?x=1|||201|5|1500|-1||||X-Trace=t1`},
		{"Apache's directive, ms and microseconds since 1970", `LogFormat "%{usec}t %v %h \"%r\" %>s %{ms}T" mine`,
			`1700000000123456 shop 10.0.0.1 "GET / HTTP/1.1" 200 12`,
			`2023-11-14T22:13:20.123456Z|10.0.0.1||GET|/|HTTP/1.1|shop|200|-1|12000|-1||||`},
		{"upstreams", `$msec $remote_addr $request_method $scheme://$host$request_uri $status $request_time $upstream_response_time $upstream_cache_status ${request_length}`,
			`1700000000.123 10.0.0.1 GET http://shop/a 200 0.250 0.100, 0.050 : 0.001 MISS 99`,
			`2023-11-14T22:13:20.123Z|10.0.0.1||GET|/a||shop|200|-1|250000|151000|||MISS|scheme=http request_length=99`},
		{"two times", `[$time_local] $msec "$request"`, `[10/Oct/2023:13:55:36 +0000] 1696946136.789 "GET / HTTP/2.0"`,
			`2023-10-10T13:55:36.789Z|||GET|/|HTTP/2.0||0|-1|-1|-1||||`},
		{"no upstream", `$time_iso8601 "$request" $status $upstream_response_time $bytes_sent`, `2023-10-10T13:55:36+09:00 "GET / HTTP/2.0" 200 - 7`,
			`2023-10-10T04:55:36Z|||GET|/|HTTP/2.0||200|7|-1|-1||||`},
		{"nothing quoted", `$time_local $request $status`, `10/Oct/2023:13:55:36 +0000 GET / HTTP/1.1 200`,
			`2023-10-10T13:55:36Z|||GET|/|HTTP/1.1||200|-1|-1|-1||||`},
		{"nginx's directive", "log_format x escape=json '{\"t\":\"$time_iso8601\",'\n  '\"r\":\"$request\"}';", `{"t":"2023-10-10T13:55:36Z","r":"GET /\" HTTP/1.1"}`,
			`2023-10-10T13:55:36Z|||GET|/"|HTTP/1.1||0|-1|-1|-1||||`},
		{"LTSV", "ltsv", "time:2023-10-10T13:55:36Z\thost:10.0.0.1\treq:GET /a HTTP/1.1\tstatus:200\tsize:5\treqtime:1.5\tapptime:1\tua:x:y\tvhost:shop\tk:v",
			`2023-10-10T13:55:36Z|10.0.0.1||GET|/a|HTTP/1.1|shop|200|5|1500000|1000000||x:y||k=v`},
		{"JSON", "json", `{"time_local": "10/Oct/2023:13:55:36 +0000", "remote_addr":"10.0.0.1","request_method":"GET","uri":"/a","args":"b=c","status":200,"request_time":0.5,"tags":["x"],"n":null}`,
			`2023-10-10T13:55:36Z|10.0.0.1||GET|/a?b=c|||200|-1|500000|-1||||tags=x n=`},
		{"JSON, duration_ms", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"duration_ms":12.5}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12500|-1||||`},
		{"JSON, latency_ms", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"latency_ms":12}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12000|-1||||`},
		{"JSON, elapsed_ms", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"elapsed_ms":12}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12000|-1||||`},
		{"JSON, response_time_ms", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"response_time_ms":12}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12000|-1||||`},
		{"JSON, latency_us", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"latency_us":12}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12|-1||||`},
		{"JSON, latency", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","code":404,"latency":0.012}`,
			`2023-10-10T13:55:36Z|||GET|/a|||404|-1|12000|-1||||`},
		{"JSON, another code", "json", `{"time":"2023-10-10T13:55:36Z","method":"GET","path":"/a","status":200,"code":"abc"}`,
			`2023-10-10T13:55:36Z|||GET|/a|||200|-1|-1|-1||||`},
		{"Caddy", "json", `{"ts":1700000000.5,"request":{"remote_ip":"10.0.0.1","method":"GET","uri":"/a?b","host":"shop","headers":{"User-Agent":["Mozilla é \u00e9 \ud83d\ude00"]}},"duration":0.001,"size":9,"status":404}`,
			`2023-11-14T22:13:20.5Z|10.0.0.1||GET|/a?b||shop|404|9|1000|-1||Mozilla é é 😀||`},
		{"Traefik", "json", `{"ClientHost":"10.0.0.1","DownstreamStatus":200,"Duration":1500000,"RequestMethod":"GET","RequestPath":"/","StartUTC":"2023-10-10T13:55:36.123456789Z","time":"2023-10-10T13:55:37Z"}`,
			`2023-10-10T13:55:36.123456789Z|10.0.0.1||GET|/|||200|-1|1500|-1||||`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ParseFormat(c.format)
			if err != nil {
				t.Fatal(err)
			}
			r := NewReader(strings.NewReader(c.line+"\n"), f)
			if !r.Next() {
				t.Fatalf("not read: %v %+v", r.Err(), r.Bad())
			}
			if got := show(r.Entry()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBeginOfRequest(t *testing.T) {
	f, err := Nginx(`$msec $request_time "$request"`)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(strings.NewReader(`1700000000.500 0.200 "GET / HTTP/1.1"`), f)
	if !r.Next() || r.Entry().Begin().UnixMilli() != 1700000000300 {
		t.Errorf("begin is %v", r.Entry().Begin())
	}
}

func TestDetect(t *testing.T) {
	const c = `10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 5`
	for line, want := range map[string]string{
		c:                              "common",
		c + ` "-" "curl"`:              "combined",
		c + ` "-" "curl" "-"`:          "main",
		c + ` "-" "curl" 0.005`:        "combined_time",
		c + ` "-" "curl" 1234`:         "combined and more",
		c + ` "-" "curl" 0.005 -`:      "combined_times",
		c + ` "-" "c" "-" 1.500 0.100`: "main_times",
		c + ` "-" "c" x y z`:           "combined and more",
		c + ` whatever`:                "common and more",
		`shop:80 10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "curl"`: "vhost_combined",
		"time:2023-10-10T13:55:36Z\treq:GET / HTTP/1.1":                                       "ltsv",
		`{"time":"2023-10-10T13:55:36Z","request":"GET / HTTP/1.1"}`:                          "json",
	} {
		garbage := strings.Repeat("garbage\n", 2)
		r := NewReader(strings.NewReader("\xef\xbb\xbf"+strings.Repeat(line+"\r\n\n", 3)+garbage), nil)
		n := 0
		for r.Next() {
			n++
		}
		if r.Err() != nil || r.Format().Name != want || n != 3 || r.Bad().Count != 2 || r.Bad().Lines != 5 {
			t.Errorf("%s: format %v, want %s; %d read, %v, %+v", line, r.Format(), want, n, r.Err(), r.Bad())
		}
	}
	r := NewReader(strings.NewReader("what\nis this\n"), nil)
	if r.Next() || r.Err() == nil || !strings.Contains(r.Err().Error(), "LogFormat") {
		t.Errorf("no format is an error that says what to do: %v", r.Err())
	}
	if r := NewReader(strings.NewReader("\n"), nil); r.Next() || r.Err() != nil {
		t.Errorf("an empty log: %v", r.Err())
	}
}

func TestWrongFormats(t *testing.T) {
	for _, s := range []string{"", "nonsense", "$a$b", "$", "%", "%{x", "%{%Q}t", "log_format x 'open", "%{hours}T"} {
		if f, err := ParseFormat(s); err == nil {
			t.Errorf("%q is taken as %+v", s, f)
		}
	}
}

func TestBadLines(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	good := `10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`
	lines := []string{good, long, strings.Replace(good, "Oct", "Okt", 1), strings.Replace(good, "10/Oct", "31/Sep", 1), strings.Replace(good, "200", "2000", 1),
		good + "x", good[:30], good}
	f, _ := ParseFormat("combined")
	r := NewReader(strings.NewReader(strings.Join(lines, "\n")), f)
	n := 0
	for r.Next() {
		n++
	}
	if b := r.Bad(); n != 2 || b.Count != 6 || len(b.Samples) != maxBadLines || r.Err() != nil {
		t.Errorf("%d read, %+v", n, b)
	} else if b.Samples[0].Line != 2 || len(b.Samples[0].Text) > 300 || b.Samples[1].Why != whyTime {
		t.Errorf("samples: %+v", b.Samples)
	}
}

func TestZoneOfTimesWithout(t *testing.T) {
	r := NewReader(strings.NewReader(`{"time":"2023-07-10 13:55:36","uri":"/"}`), JSON())
	r.Zone = time.FixedZone("", 7200)
	if !r.Next() || r.Entry().Time.Format(time.RFC3339) != "2023-07-10T11:55:36Z" {
		t.Errorf("%v %+v", r.Entry().Time, r.Bad())
	}
}

const benchLine = `203.0.113.195 - - [10/Oct/2023:13:55:36 +0000] "GET /products/1234?ref=home HTTP/1.1" 200 23260 "https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36"` + "\n"

func TestNoAllocationPerLine(t *testing.T) {
	for format, line := range map[string]string{"combined": benchLine,
		"ltsv": "time:2023-10-10T13:55:36Z\thost:10.0.0.1\treq:GET /a HTTP/1.1\tstatus:200\tx:1\n",
		"json": `{"time":"2023-10-10T13:55:36Z","uri":"/a","args":"b=1","request":{"method":"GET"},"x":"\n"}` + "\n"} {
		f, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(strings.NewReader(strings.Repeat(line, 2000)), f)
		r.Next()
		if n := testing.AllocsPerRun(1000, func() {
			if !r.Next() {
				t.Fatal(r.Bad())
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations per line", format, n)
		}
	}
}

func BenchmarkCombined(b *testing.B) { benchmark(b, "combined", benchLine) }

func BenchmarkJSON(b *testing.B) {
	benchmark(b, "json", `{"time":"2023-10-10T13:55:36Z","remote_addr":"10.0.0.1","request":"GET /products/1234?ref=home HTTP/1.1","status":200,"body_bytes_sent":23260,"http_referer":"https://shop.example/","http_user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}`+"\n")
}

func benchmark(b *testing.B, format, line string) {
	f, err := ParseFormat(format)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(line, 10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := NewReader(strings.NewReader(text), f)
		for r.Next() {
		}
	}
}
