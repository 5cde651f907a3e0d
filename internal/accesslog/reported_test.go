package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// Forms that people log, as they asked about them in public, and what was read wrong
// of them: %d is another number in each line.
func TestReportedForms(t *testing.T) {
	const agent = `"Mozilla/5.0 (X11; Linux x86_64)"`
	for _, c := range []struct{ name, line, want string }{
		{"a dash for no time before a list that begins with one", `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 "-" ` + agent + ` "0.0%d" "-" "-, 0.040"`, "GET /a 200 49000/40000 7100 09:50:40"},
		{"ut for the upstream's time", `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 "-" ` + agent + ` 1715507440.098 rt=0.0%d ut="0.040"`, "GET /a 200 49000/40000 7100 09:50:40"},
		{"names of Splunk's add-ons", `time_local="12/May/2024:09:50:40 +0000" http_method="GET" site="*.shop.example" src="192.0.2.7" status="200" bytes_out="7100" uri_path="/a" uri_query="b=c" request_time="0.0%d"`, "GET /a?b=c 200 49000/-1 7100 09:50:40"},
		{"names of Grok's patterns", `{"clientip":"192.0.2.7","timestamp":"12/May/2024:09:50:40 +0000","verb":"GET","request":"/a","httpversion":"1.1","response":"200","bytes":"7100","request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"response beside a status", `{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":200,"response":404,"bytes":7100,"request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"W3C's names in JSON", `{"EventTime":"x","time":"2024-05-12T09:50:40Z","cs-method":"GET","cs-uri-stem":"/a","sc-status":200,"sc-bytes":7100,"time-taken":%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"padding within quotes", `[2024-05-12 09:50:40] status=200 latency="   %dms" method=GET path=/a bytes=7100`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a time with its unit in parentheses", `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 (%d ms)`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"… as one word", `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 (%dms)`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"date and time of day as two words", `2024/05/12 09:50:40 192.0.2.7 GET /a 200 7100 0.0%d`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"… with a zone", `2024-05-12 11:50:40.123 +0200 192.0.2.7 GET /a 200 7100 0.0%d`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a host before the path", `{"timestamp":"2024-05-12T09:50:40Z","httpRequest":{"requestMethod":"GET","requestUrl":"shop.example/a","status":200,"responseSize":"7100","latency":"0.0%d s"}}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a time in brackets", `[12/May/2024:09:50:40 +0000] 192.0.2.7 - - "shop.example" "GET /a HTTP/1.1" "200" 7100 [0.0%d s] "-" ` + agent, "GET /a 200 49000/-1 7100 09:50:40"},
		{"env_logger's brackets", `[2024-05-12T09:50:40Z INFO  actix_web::middleware::logger] 192.0.2.7 "GET /a HTTP/1.1" 200 7100 "-" "curl" 0.0%d000`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a status behind an address and a comma", `2024/05/12 09:50:40 ...eb/routing/logger.go:102:func1() [I] router: completed GET /a for 192.0.2.7:0, 200 OK in %d.0ms @ auth/auth.go:147(auth.SignIn)`, "GET /a 200 49000/-1 -1 09:50:40"},
		{"Emissary's prefix", `ACCESS [2024-05-12T09:50:40.160Z] "GET /a HTTP/1.1" 200 - 0 7100 %d 11 "192.0.2.7" "curl" "f88e" "h:80" "192.0.2.8:80"`, "GET /a 200 49000/11000 7100 09:50:40"},
		{"names without underscores", `{"timestamp":"2024-05-12T09:50:40+00:00","clientip":"192.0.2.7","size":7100,"responsetime":0.0%d,"upstreamtime":"0.011","request":"GET /a HTTP/1.1","status":"200"}`, "GET /a 200 49000/11000 7100 09:50:40"},
		{"a request under a name of its own", `{"lan_ip":"192.0.2.7","log_time":"2024-05-12T09:50:40+00:00","user_req":"GET /a HTTP/1.1","http_code":"200","bytes":"7100","req_time":"0.0%d"}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"nested names", `{"ts":1715507440000,"http":{"method":"GET","path":"/a","status":200},"elapsed_ms":%d.0}`, "GET /a 200 49000/-1 -1 09:50:40"},
		{"log15", `t=2024-05-12T09:50:40.123456Z lvl=info msg="Request Completed" method=GET path=/a status=200 time_ms=%d duration=%d.1ms size=7100`, "GET /a 200 49100/-1 7100 09:50:40"},
		{"RoadRunner", "2024-05-12T09:50:40+0000\tINFO\thttp        \thttp log\t" + `{"status":200,"method":"GET","URI":"/a","remote_address":"192.0.2.7:5","read_bytes":0,"write_bytes":7100,"elapsed":"%dms"}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"Caddy's console", "2024/05/12 09:50:40.098\tINFO\thttp.log.access.log0\thandled request\t" + `{"request":{"remote_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/a"},"duration":0.0%d,"size":7100,"status":200}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"zap's console", "2024-05-12T09:50:40.098Z\tINFO\tzap@v1.1.4/zap.go:117\t/a\t" + `{"status":200,"method":"GET","path":"/a","size":7100,"latency":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"Monolog's lines", `[2024-05-12T09:50:40.123456+00:00] request.INFO: request {"method":"GET","uri":"/a","status":200,"bytes":7100,"duration_ms":%d} []`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"OpenLiteSpeed's quotes", `"192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/2" 200 71%d "-" ` + agent + `"`, "GET /a 200 -1/-1 7149 09:50:40"},
	} {
		got, f := reported(t, c.line)
		if got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// reported is what the last of ten lines is read as.
func reported(t *testing.T, line string) (string, *Format) {
	t.Helper()
	var log strings.Builder
	last := ""
	for i := range 10 {
		last = strings.ReplaceAll(line, "%d", fmt.Sprint(40+i))
		log.WriteString(last + "\n")
	}
	f, err := Detect([]byte(log.String()))
	if err != nil {
		return err.Error(), &Format{}
	}
	if f.Doubt != nil {
		return "doubt", f
	}
	e, why := NewRows(f, true).Entry([]byte(last))
	if why != "" {
		return why, f
	}
	return fmt.Sprintf("%s %s %d %d/%d %d %s", e.Method, e.Target, e.Status, micros(e.Request), micros(e.Upstream), e.Bytes, e.Time.Format("15:04:05")), f
}

// A number of three digits that no server answers with is no status.
func TestNoStatus(t *testing.T) {
	for _, c := range []struct {
		line string
		want int
	}{
		{`192.0.2.7 "GET /a HTTP/1.1" 174 0.012`, 0},
		{`192.0.2.7 "GET /a HTTP/1.1" 350 0.012`, 0},
		{`192.0.2.7 "GET /a HTTP/1.1" 103 0.012`, 103},
		{`192.0.2.7 "GET /a HTTP/1.1" 226 0.012`, 226},
		{`192.0.2.7 "GET /a HTTP/1.1" 350 499 0.012`, 499},
		{`192.0.2.7 "GET /a HTTP/1.1" 598 0.012`, 598},
	} {
		var e Entry
		e.reset()
		if why := parseLine(Line(), []byte(c.line), &e, &clock{}); why != "" || e.Status != c.want {
			t.Errorf("%s: status %d %s, want %d", c.line, e.Status, why, c.want)
		}
	}
}

// IIS Advanced Logging writes texts in quotes and the time of day with a fraction.
func TestW3CQuotes(t *testing.T) {
	log := "#Software: IIS Advanced Logging Module\n#Version: 1.0\n#Start-Date: 2024-05-12 09:50:40.191\n" +
		"#Fields:  date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status time-taken\n" +
		`2024-05-12 09:50:40.190 GET /a - 192.0.2.7 "Mozilla/5.0 (Windows NT 6.2; WOW64)" 200 49` + "\n" +
		`2024-05-12 09:50:41.190 GET /b q=1 192.0.2.7 - 404 51` + "\n"
	format, lines := reads(t, log)
	want := []string{"09:50:40.190 192.0.2.7 GET /a 200 -1 49000/-1 ", "09:50:41.190 192.0.2.7 GET /b?q=1 404 -1 51000/-1 "}
	if format != "iis" || fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%s %q, want iis %q", format, lines, want)
	}
}

// Where no time is known, what may be one is told, with the flag that takes it.
func TestUnknownTimesAreTold(t *testing.T) {
	for line, want := range map[string]string{
		`[12/May/2024:09:50:40 +0000] 192.0.2.7 shop 1204%d - - "GET /a HTTP/1.1" 200 7100 "-" "curl"`:                  "between the time and the request",
		`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":200,"backend_cost":%d,"uptime":%d}`:          `may be in "backend_cost", by the name`,
		"time:2024-05-12T09:50:40Z\treq:GET /a HTTP/1.1\tstatus:200\tsize:7100\tphp_time:0.0%d":                         `may be in "php_time", by the name`,
		`{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":200,"backend_cost":%d,"request_time":0.0%d}`: "",
	} {
		got, f := reported(t, line)
		if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, want) || (want == "") != (notes == "") {
			t.Errorf("%s: %s by %s %q, want %q", line, got, f.Name, notes, want)
		}
	}
}

// Times that the words beside them name, and other values of forms that people posted.
func TestReportedNames(t *testing.T) {
	const head = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 `
	for _, c := range []struct{ name, line, want string }{
		{"words before times, the upstream's first", head + `"-" "curl" to: 192.0.2.8:80: upstream_response_time 0.0%d request_time 0.060`, "GET /a 200 60000/49000 7100 09:50:40"},
		{"… without quotes", `[12/May/2024:09:50:40 +0000] 192.0.2.7 - h h to: 192.0.2.8:80: GET /a HTTP/1.1 200 upstream_response_time 0.020, 0.0%d msec 1715507440.1 request_time 0.090`, "GET /a 200 90000/69000 -1 09:50:40"},
		{"… with a dash", head + `upstream_response_time - request_time 0.0%d`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"… with whole numbers", head + `request_time %d upstream_response_time 12`, "GET /a 200 49000/12000 7100 09:50:40"},
		{"a unit behind a named number", head + `duration: %d microseconds`, "GET /a 200 49/-1 7100 09:50:40"},
		{"… behind an equals sign", head + `took=%d.5 ms`, "GET /a 200 49500/-1 7100 09:50:40"},
		{"… with three decimals", head + `duration: %d.125 ms`, "GET /a 200 49125/-1 7100 09:50:40"},
		{"… where nginx's seconds are called msec", head + `rt: 0.0%d msec`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"gunicorn's JSON", `{"remote_address":"192.0.2.7","date":"[12/May/2024:09:50:40 +0000]","status":"200","method":"GET","url_path":"/a","query_string":"?b=c","response_length":"7100","request_time_seconds":"0.0%d000"}`, "GET /a?b=c 200 49000/-1 7100 09:50:40"},
		{"W3C's names with underscores", `{"time_micros":"1715507440000000","c_ip":"192.0.2.7","cs_method":"GET","cs_uri":"/a","sc_status":"200","sc_bytes":"7100","time_taken_micros":"%d000"}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"Caddy's client that is a text", `{"ts":1715507440.5,"logger":"http.log.access","request":{"remote_ip":"edge id=7, name=x","proto":"HTTP/1.1","method":"GET","uri":"/a"},"duration":0.0%d,"size":7100,"status":200}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a client that is a text", `{"time":"2024-05-12T09:50:40Z","remote":"edge id=7","method":"GET","uri":"/a","status":200,"bytes":7100,"request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"nginx's times without quotes", `{"time":"2024-05-12T09:50:40Z","request_method":"GET","request_uri":"/a","status":200,"bytes":7100,"upstream_response_time":0.002, - : 0.001,"request_time":0.0%d}`, "GET /a 200 49000/3000 7100 09:50:40"},
		{"escape=json written out", `escape=json{"time":"2024-05-12T09:50:40Z","request_method":"GET","request_uri":"/a","status":200,"bytes":7100,"upstream_response_time":-,"request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"an array beside them", `{"time":"2024-05-12T09:50:40Z","ids":[1, 2, 3],"request_method":"GET","request_uri":"/a","status":200,"bytes":7100,"upstream_response_time":-,"request_time":0.0%d}`, "GET /a 200 49000/-1 7100 09:50:40"},
		{"a message of JSON in JSON that has a path", `{"level":"INFO","timestamp":"2024-05-12T09:50:40Z","path":"/usr/lib/glogging.py","message":"{\"request\": \"GET /a HTTP/1.1\", \"http_status_code\": \"200\", \"http_verb\": \"-\", \"request_time\": \"0.0%d\", \"time\": \"2024-05-12T09:50:40Z\"}"}`, "GET /a 200 49000/-1 -1 09:50:40"},
	} {
		if got, f := reported(t, c.line); got != c.want {
			t.Errorf("%s: %s by %s %q\nwant %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// Of two whole numbers behind the agent one is Apache's %D, where the other one is its
// whole seconds in every line.
func TestMicrosBesideSeconds(t *testing.T) {
	const head = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 "-" "curl" `
	for _, c := range []struct {
		name, tail string
		micros     []int
		want       int64 // of the last line; -1: no time
	}{
		{"%D %T", "%[1]d %[2]d", []int{34209, 131690, 1017544, 2300100}, 2300100},
		{"%T %D", "%[2]d %[1]d", []int{34209, 131690, 1017544, 2300100}, 2300100},
		{"with a process before", "8123 %[1]d %[2]d", []int{34209, 131690, 1017544, 2300100}, 2300100},
		{"never a second", "%[1]d %[2]d", []int{34209, 131690, 17544}, -1},
		{"other numbers", "%[1]d 1", []int{34209, 131690, 1017544, 2300100}, -1},
	} {
		var log strings.Builder
		last := ""
		for _, d := range c.micros {
			last = head + fmt.Sprintf(c.tail, d, d/1e6)
			last, _, _ = strings.Cut(last, "%!(EXTRA")
			log.WriteString(last + "\n")
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Fatal(err)
		}
		e, why := NewRows(f, true).Entry([]byte(last))
		if got := micros(e.Request); why != "" || got != c.want || (got > 0) != strings.Contains(fmt.Sprint(f.Notes), "whole seconds") {
			t.Errorf("%s: %d µs %s %q, want %d", c.name, got, why, f.Notes, c.want)
		}
	}
}
