package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Lines that have the status before the request, or joined to what a proxy did with it.
func TestStatusBeforeTheRequest(t *testing.T) {
	const stamp = "2024/05/12 09:50:40"
	for _, c := range []struct{ name, line, want string }{
		{"Squid", "1715507440.098     %d 192.0.2.7 TCP_MISS/500 503 GET http://shop.example/a - HIER_DIRECT/192.0.2.8 text/html", "GET http://shop.example/a 500 49000/-1 503 09:50:40"},
		{"Traffic Server, a denied one", `1715507440.098 %d 192.0.2.7 TCP_DENIED/403 404 GET http://shop.example/a - NONE/- text/html -`, "GET http://shop.example/a 403 49000/-1 404 09:50:40"},
		{"Squid's values in an order of one's own", `192.0.2.7 [12/May/2024:09:50:40 +0000] TCP_HIT/200 500 GET http://shop.example/a %d ms`, "GET http://shop.example/a 200 49000/-1 500 09:50:40"},
		{"Squid's combined", `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET http://shop.example/a HTTP/1.1" 304 71%d "-" "curl" TCP_MISS:HIER_DIRECT`, "GET http://shop.example/a 304 -1/-1 7149 09:50:40"},
		{"Hertz", `[2024-05-12T09:50:40.098] 503 - %d.250ms GET /a`, "GET /a 503 49250/-1 -1 09:50:40"},
		{"Iris", `[INFO] ` + stamp + ` 404 %d.250ms 192.0.2.7 GET /a`, "GET /a 404 49250/-1 -1 09:50:40"},
		{"Beego", stamp + `.098 [D] [router.go:1305]  |     192.0.2.7| 502 | %d.250ms|   match| GET      /a   r:/a`, "GET /a 502 49250/-1 -1 09:50:40"},
		{"Tornado", `[I 240512 09:50:40 web:2271] 304 GET /a (192.0.2.7) %d.25ms`, "GET /a 304 49250/-1 -1 00:00:00"},
		{"PHP's own server", `[Sun May 12 09:50:40 2024] 192.0.2.7:51%d [404]: GET /a`, "GET /a 404 -1/-1 -1 09:50:40"},
		{"status and size before the method", `1715507440.098 0.0%d 192.0.2.7 200 503 GET /a HTTP/1.1`, "GET /a 200 49000/-1 503 09:50:40"},
		{"a time before the status, and a size behind", `192.0.2.7 [12/May/2024:09:50:40 +0000] 200 302 "GET /a HTTP/1.1" 71%d 0.012`, "GET /a 302 12000/-1 7149 09:50:40"},
		{"a port behind the path", `2024-05-12T09:50:40Z SHOP GET /a X-ARR-LOG-ID=1 443 - 192.0.2.7 curl - - shop.example 404 0 0 7100 100 1%d`, "GET /a 404 -1/-1 -1 09:50:40"},
		{"Azure App Service's columns", `2024-05-12 09:50:40 SHOP GET /a - 443 - 192.0.2.7 curl - - shop.example 404 0 0 7100 100 %d`, "GET /a 404 49000/-1 7100 09:50:40"},
		{"443 alone is a status", `192.0.2.7 [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 443 71%d`, "GET /a 443 -1/-1 7149 09:50:40"},
		// What stands there is no status: two of them, a number without a time, a time's digits.
		{"two of them", stamp + ` 200 404 %d.250ms 192.0.2.7 GET /a`, "GET /a 0 49250/-1 -1 09:50:40"},
		{"none beside a time", stamp + ` 200 x 192.0.2.7 GET /a took=%dms`, "GET /a 0 49000/-1 -1 09:50:40"},
	} {
		got, f := reported(t, c.line)
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// Values that are empty, named otherwise, or of lines that name their level.
func TestNamedRequests(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"nothing where a variable of nginx has no value", `{"time":"2024-05-12T09:50:40Z","request":"GET /a HTTP/1.1","status":200,"bytes":7100,"request_time":0.0%d,"upstream_time":}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"… in the middle", `{"time":"2024-05-12T09:50:40Z","upstream_time":,"request":"GET /a HTTP/1.1","status":200,"bytes":7100,"request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a level before named values", `2024-05-12T09:50:40.098Z [info] state=set method=GET path=/a format=json status=200 duration=%d.25ms`, "GET /a 200 49250/-1 -1 09:50:40"},
		{"a proxy's object", `{"timestamp":1715507440098,"source":"lambda","proxy":{"method":"GET","host":"shop.example","path":"/a","statusCode":502},"took_ms":%d}`, "GET /a 502 49000/-1 -1 09:50:40"},
		{"HAProxy's Tt", `192.0.2.7 [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 Tq=0 Tw=0 Tc=1 Tr=44 Tt=%d web app/app1`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"semantic_logger", `2024-05-12 09:50:40.098123 I [4000:puma 001] {request_id: r1} (%d.0ms) ItemsController -- Completed #show -- { controller: "ItemsController", method: "GET", path: "/a", status: 200, view_runtime: 1.2 }`, "GET /a 200 49000/-1 -1 09:50:40"},
		{"Linkerd", `{"host":"shop.example","method":"GET","processing_ns":"34123","response_bytes":"7100","status":200,"timestamp":"2024-05-12T09:50:40Z","total_ns":"%d000000","uri":"http://shop.example/a","version":"HTTP/1.1"}`, "GET http://shop.example/a 200 49000/-1 7100 09:50:40"},
		{"Oracle Cloud's load balancer", `{"datetime":1715507440098,"logContent":{"data":{"backendProcessingTime":"0.044","backendStatusCode":"502","clientAddr":"192.0.2.7:5","lbStatusCode":"200","receivedBytes":"10","request":"GET http://shop.example/a HTTP/1.1","requestProcessingTime":"0.0%d","sentBytes":"7100","timestamp":"2024-05-12T09:50:40+00:00"},"time":"2024-05-12T09:50:41Z"}}`, "GET http://shop.example/a 200 49000/44000 7100 09:50:40"},
		{"the cost of a request", `{"eventTime":"1715507440098","httpMethod":"GET","url":"/a","httpCode":200,"costTime":"%dms"}`, "GET /a 200 49000/-1 -1 09:50:40"},
		{"a unit behind in", `{"timestamp":"2024-05-12T09:50:40Z","request":{"verb":"GET","uri":"/a"},"response":{"code":200},"responseTimeInMillis":%d}`, "GET /a 200 49000/-1 -1 09:50:40"},
		{"a total with its unit", `{"@t":"2024-05-12T09:50:40Z","http":{"request":{"method":"GET","path":"/a"},"response":{"status":200,"bytes":7100}},"timing":{"total_ms":%d}}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"Tyk", `{"api_id":"1","client_ip":"192.0.2.7","latency_gateway":1,"latency_total":%d,"latency_upstream":44,"level":"info","method":"GET","msg":"","path":"/a","prefix":"access-log","status":200,"time":"2024-05-12T09:50:40Z"}`, "GET /a 200 49000/44000 -1 09:50:40"},
	} {
		got, f := reported(t, c.line)
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// A number that is found to be the time is read as such where it is something else to the
// format that its line fits.
func TestTimesThatFitAnotherColumn(t *testing.T) {
	const line = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100`
	for _, c := range []struct{ name, line, want string }{
		{"in quotes, where the forwarded address may stand", line + ` "-" "curl" "%d017"`, "GET /a 200 49017/-1 7100 09:50:40"},
		{"before the client, where the host may stand", `%d017 ` + line, "GET /a 200 49017/-1 7100 09:50:40"},
		{"before Varnish's word for a hit and the client", `%d017 hit ` + line, "GET /a 200 49017/-1 7100 09:50:40"},
		{"a forwarded address", line + ` "-" "curl" "192.0.2.%d"`, "GET /a 200 -1/-1 7100 09:50:40"},
	} {
		got, f := reported(t, c.line)
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// The size before the status is told from all lines: 503 200 alone may be either.
func TestSizeBeforeTheStatus(t *testing.T) {
	const begin, end = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" `, ` "-" "curl"`
	read := func(numbers ...string) (string, *Format) {
		var log strings.Builder
		for _, n := range numbers {
			log.WriteString(begin + n + end + "\n")
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Fatal(err)
		}
		e, why := NewRows(f, false).Entry([]byte(begin + numbers[len(numbers)-1] + end))
		if why != "" {
			t.Fatal(why)
		}
		return fmt.Sprint(e.Status, " ", e.Bytes), f
	}
	for _, c := range []struct {
		numbers []string
		want    string
		told    bool
	}{
		{[]string{"7100 200", "15 304", "7100 404", "99120 200", "503 200"}, "200 503", true},
		{[]string{"200 7100", "304 15", "404 7100", "200 200", "503 200"}, "503 200", false},
		{[]string{"7100 200", "15 304", "7100 1404", "99120 200", "503 200"}, "503 200", false}, // neither
	} {
		if got, f := read(c.numbers...); got != c.want || slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "the second is read as the status") }) != c.told {
			t.Errorf("%v: %s by %s %q, want %s", c.numbers, got, f.Name, f.Notes, c.want)
		}
	}
}

// A size with a unit, and a date in two columns, do not keep a line from being read.
func TestSizesWithUnits(t *testing.T) {
	const line = `{"time":"2024-05-12T09:50:40Z","method":"GET","path":"/a","status":200,"size":"%s","latency_ms":%%d}`
	for _, c := range []struct{ name, line, want string }{
		{"rounded", fmt.Sprintf(line, "5KB"), "GET /a 200 49000/-1 -1 09:50:40"},
		{"bytes", fmt.Sprintf(line, "7100 B"), "GET /a 200 49000/-1 7100 09:50:40"},
		{"columns of a CDN", "2024-05-12\t09:50:40\t192.0.2.7\tGET\t/a\t200\t7100\t%dms\t\"-\"\t\"curl\"", "GET /a 200 49000/-1 7100 09:50:40"},
	} {
		got, f := reported(t, c.line)
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// A time in an object of something else than the request is not the request's.
func TestTimesOfParts(t *testing.T) {
	const line = `{"time":"2024-05-12T09:50:40Z","method":"GET","path":"/a","status":200,%s}`
	for _, c := range []struct{ values, want string }{
		{`"db":{"duration_ms":2}`, "GET /a 200 -1/-1 -1 09:50:40"},
		{`"db":{"duration_ms":2},"duration_ms":%d`, "GET /a 200 49000/-1 -1 09:50:40"},
		{`"cache":{"took_ms":1},"redis":{"latency_ms":1},"response_time_ms":%d`, "GET /a 200 49000/-1 -1 09:50:40"},
		{`"queue":{"duration":0.001},"duration":0.0%d`, "GET /a 200 49000/-1 -1 09:50:40"},
		{`"upstream":{"duration_ms":44},"duration_ms":%d`, "GET /a 200 49000/44000 -1 09:50:40"},
		{`"backend":{"response_time":0.044},"response_time":0.0%d`, "GET /a 200 49000/44000 -1 09:50:40"},
		{`"tls":{"handshake":{"duration_ms":3}},"sql":{"total_ms":2}`, "GET /a 200 -1/-1 -1 09:50:40"},
		{`"http":{"duration_ms":%d}`, "GET /a 200 49000/-1 -1 09:50:40"},
		{`"attributes":{"duration_ms":%d}`, "GET /a 200 49000/-1 -1 09:50:40"},
	} {
		got, f := reported(t, strings.ReplaceAll(line, "%s", c.values))
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.values, got, f.Name, f.Notes, c.want)
		}
	}
	for name, want := range map[string]kind{"db.duration_ms": kindOther, "http.db.took": kindOther, "app.duration_ms": kindRequestTime, "upstream.duration": kindUpstreamTime} {
		if p := timeName([]byte(name)); p.kind != want {
			t.Errorf("%s is %+v", name, p)
		}
	}
}
