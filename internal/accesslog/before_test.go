package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// timesOf the lines that are read, and what was said of them.
func timesOf(t *testing.T, text string) (times []time.Duration, f *Format) {
	t.Helper()
	f, err := Detect([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r := NewRows(f, false)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			r.Header([]byte(line))
			continue
		}
		e, why := r.Entry([]byte(line))
		if why != "" {
			t.Fatalf("%s: %s", line, why)
		}
		if e.Status != 200 || string(e.Method) != "GET" || !strings.HasPrefix(string(e.Target), "/p/") || strings.Contains(string(e.Target), " ") {
			t.Errorf("%s: %s %s with status %d", line, e.Method, e.Target, e.Status)
		}
		times = append(times, e.Request)
	}
	return times, f
}

// linesWith are eight lines; {i} is their number, {us} and {ms} different times.
func linesWith(form string) string {
	var b strings.Builder
	for i, us := range []int{12301, 45012, 7903, 1130444, 33100, 9020, 250777, 61123} {
		b.WriteString(strings.NewReplacer("{i}", fmt.Sprint(i), "{us}", fmt.Sprint(us), "{ms}", fmt.Sprint(us/1000), "{s}", fmt.Sprint(us/1000000)).Replace(form) + "\n")
	}
	return b.String()
}

// Times in front of the line, or between the time of day and the request.
func TestTimesBeforeTheRequest(t *testing.T) {
	for form, note := range map[string]string{
		`{us} 192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} HTTP/1.1" 200 51{i} "-" "agent"`:     "value 1 of the line are read as microseconds",
		`192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] {us} "GET /p/{i} HTTP/1.1" 200 51{i} "-" "agent"`:     "value 5 of the line are read as microseconds",
		`192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] {s}/{us} "GET /p/{i} HTTP/1.1" 200 51{i} "-" "agent"`: "Apache's %T/%D",
		`192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} HTTP/1.1" 200 51{i} D={us} t=174090{i}`:   "",
	} {
		times, f := timesOf(t, linesWith(form))
		if times[0] != 12301*time.Microsecond || times[3] != 1130444*time.Microsecond {
			t.Errorf("%s: %v", form, times)
		}
		if note != "" && !strings.Contains(fmt.Sprint(f.Notes), note) {
			t.Errorf("%s: the notes are %q, want %q", form, f.Notes, note)
		}
	}
	for _, form := range []string{
		`{ms} 192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} HTTP/1.1" 200 51{i}`,
		`192.0.2.{i} - - [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} HTTP/1.1" 200 - {ms}`,
		`192.0.2.{i} -  -  [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} HTTP/1.1" 200 51{i} "-" "agent"  {ms}`, // Jetty's
	} {
		f, err := Detect([]byte(linesWith(form)))
		if err != nil || f.Doubt == nil {
			t.Errorf("%s: %+v, %v; want that it is asked what the numbers are", form, f, err)
		}
	}
}

// What stands behind a number is its unit, also for a status.
func TestNumbersWithWords(t *testing.T) {
	const uwsgi = `[pid: 28|app: 0|req: {i}/{i}] 192.0.2.{i} () {48 vars in 900 bytes} [Sun Mar  2 10:00:0{i} 2025] GET /p/{i} => generated 512 bytes in {ms} msecs (HTTP/1.1 200) 4 headers in 120 bytes (1 switches on core 0)`
	times, _ := timesOf(t, linesWith(uwsgi))
	if times[0] != 12*time.Millisecond || times[6] != 250*time.Millisecond {
		t.Errorf("uWSGI: %v", times)
	}
	timesOf(t, linesWith(`[2025-03-02 10:00:0{i} +0000] [12] [INFO] 192.0.2.{i}:44410 - - [02/Mar/2025:10:00:0{i} +0000] "GET /p/{i} 1.1" 200 51{i} "-" "agent"`))
}

// Lines of IIS that lack a size keep what else they have; those that lack another
// value are not understood.
func TestW3CLinesWithoutASize(t *testing.T) {
	const fields = "#Fields: date time cs-method cs-uri-stem cs-username c-ip sc-status sc-win32-status sc-bytes cs-bytes time-taken\n"
	times, _ := timesOf(t, fields+"2025-03-02 10:00:00 GET /p/1 - 192.0.2.1 200 0 512 30 47\n2025-03-02 10:00:00 GET /p/2 - 192.0.2.1 200 0 30 48\n2025-03-02 10:00:00 GET /p/3 - 192.0.2.1 200 0 49\n")
	if fmt.Sprint(times) != "[47ms 48ms 49ms]" {
		t.Errorf("%v", times)
	}
	f, err := Detect([]byte(fields + "2025-03-02 10:00:00 GET /p/1 - 192.0.2.1 200 0 512 30 47\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e, why := NewRows(f, false).Entry([]byte("2025-03-02 10:00:00 GET /p/2 192.0.2.1 200 0 512 30 48")); why == "" {
		t.Errorf("a line without the user is %+v", e)
	}
}

// Programs and exports whose keys tell what they mean.
func TestKeysOfExports(t *testing.T) {
	for name, line := range map[string]string{
		"cloudflare": `{"ClientRequestMethod":"GET","ClientRequestURI":"/p/{i}","EdgeResponseStatus":200,"EdgeResponseBytes":5,"EdgeStartTimestamp":"2025-03-02T10:00:0{i}Z","EdgeTimeToFirstByteMs":{ms},"OriginResponseDurationMs":1}`,
		"athena":     `{"time":"2025-03-02T10:00:0{i}Z","elb_status_code":"200","request_processing_time":"0.001","target_processing_time":"0.{i}","response_processing_time":"0.0","request_verb":"GET","request_url":"/p/{i}","request_creation_time":"2025-03-02T10:00:00Z"}`,
		"filebeat":   `{"time":"2025-03-02T10:00:0{i}Z","nginx":{"access":{"method":"GET","url":"/p/{i}","response_code":200,"body_sent":{"bytes":5},"request_time_ms":{ms}}}}`,
		"google":     `{"timestamp":"2025-03-02T10:00:0{i}Z","jsonPayload":{"method":"GET","path":"/p/{i}","status":200,"latency_ms":{ms}}}`,
		"kibana":     `{"@timestamp":"Mar 2, 2025 @ 10:00:0{i}.000","http.request.method":"GET","url.original":"/p/{i}","http.response.status_code":"200","event.duration":"{us}000"}`,
	} {
		times, f := timesOf(t, linesWith(line))
		if want := 12 * time.Millisecond; name != "athena" && times[0]/want != 1 || name == "athena" && times[3] != 301*time.Millisecond {
			t.Errorf("%s (%s): %v", name, f.Name, times)
		}
		if e, why := NewRows(f, true).Entry([]byte(strings.Split(linesWith(line), "\n")[1])); why != "" || e.Time.Format(time.DateTime) != "2025-03-02 10:00:01" {
			t.Errorf("%s: the time is %v (%s)", name, e, why)
		}
	}
}
