package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// took is what the last line of a log of n lines is read as: request/upstream in
// µs and the size. %d in the line is 40 and more, of each line another.
func took(t *testing.T, line string, n int, times Times) (string, *Format) {
	t.Helper()
	var log strings.Builder
	last := ""
	for i := range n {
		last = strings.ReplaceAll(line, "%d", fmt.Sprint(40+i))
		log.WriteString(last + "\n")
	}
	f, err := DetectTimes([]byte(log.String()), times)
	if err != nil {
		return err.Error(), &Format{}
	}
	if f.Doubt != nil {
		return "doubt", f
	}
	r := NewRows(f, true)
	var row Row
	why := ""
	for line := range strings.Lines(log.String()) { // the short way, too
		why = r.Parse([]byte(strings.TrimSpace(line)), &row)
	}
	e, long := NewRows(f, true).Entry([]byte(last))
	if why != "" || long != "" {
		return why + long, f
	}
	if e.Request != row.Request || e.Upstream != row.Upstream || e.Bytes != row.Bytes {
		return fmt.Sprintf("two ways: %+v, %+v", e, row), f
	}
	return fmt.Sprintf("%d/%d %d", micros(e.Request), micros(e.Upstream), e.Bytes), f
}

// Numbers without a name between and behind the values that all servers log: what
// they are, their form tells, not the order that one program has.
func TestBareNumbers(t *testing.T) {
	const (
		begin  = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "POST /cart/7 HTTP/1.1" `
		agents = ` "https://shop.example/" "curl/8.5"`
	)
	for _, c := range []struct{ name, line, want string }{
		{"length and time before the referer", begin + `200 7100 611 0.0%d` + agents, "49000/-1 7100"},
		{"… and the upstream's", begin + `200 7100 611 0.0%d 0.012` + agents, "49000/12000 7100"},
		{"… with dashes", begin + `200 7100 611 0.0%d "-" "-"`, "49000/-1 7100"},
		{"… and nothing behind", begin + `200 7100 611 0.0%d -`, "49000/-1 7100"},
		{"size and time before the referer", begin + `200 7100 0.0%d` + agents, "49000/-1 7100"},
		{"time before the size", begin + `200 0.0%d 7100` + agents, "49000/-1 7100"},
		{"time, then length", begin + `200 7100 0.0%d 611` + agents, "49000/-1 7100"},
		{"three whole numbers", begin + `200 71%d 611 9%d` + agents, "-1/-1 7149"},
		{"slow by seconds, fast by milliseconds", begin + `200 7100 611 23.1%d` + agents, "doubt"},
		{"length and time behind", begin + `200 7100` + agents + ` 611 0.0%d`, "49000/-1 7100"},
		{"length, time and upstream behind", begin + `200 7100` + agents + ` 611 0.0%d 0.012`, "49000/12000 7100"},
		{"port and time", begin + `200 7100` + agents + ` 8443 0.0%d`, "49000/-1 7100"},
		{"status and time", begin + `200 7100` + agents + ` 200 0.0%d`, "49000/-1 7100"},
		{"length, time and a word of a cache", begin + `200 7100` + agents + ` 611 0.0%d hit`, "49000/-1 7100"},
		{"a ratio and the time", begin + `200 7100` + agents + ` 2.75 0.0%d`, "49000/-1 7100"},
		{"two times and a ratio", begin + `200 7100` + agents + ` 0.0%d 0.012 2.7`, "49000/12000 7100"},
		{"a dash and the time", begin + `200 7100` + agents + ` - 0.0%d`, "49000/-1 7100"},
		{"an address and the time", begin + `200 7100` + agents + ` 198.51.100.4 0.0%d`, "49000/-1 7100"},
		{"request, upstream, connect", begin + `200 7100` + agents + ` 0.0%d 0.030 0.002`, "49000/30000 7100"},
		{"request, upstream, connect, header", begin + `200 7100` + agents + ` 0.0%d 0.030 0.002 0.029`, "49000/30000 7100"},
		{"request, connect, header, upstream", begin + `200 7100` + agents + ` 0.0%d 0.002 0.029 0.030`, "49000/30000 7100"},
		{"of several servers", begin + `200 7100` + agents + ` 0.0%d 0.011, 0.020 : 0.001`, "49000/32000 7100"},
		{"upstream first, with units", begin + `200 7100` + agents + ` 12ms 8%dms`, "849000/12000 7100"},
		{"common and three decimals", begin + `200 7100 0.0%d`, "49000/-1 7100"},
		{"common and four decimals", begin + `200 7100 0.0%d7`, "49700/-1 7100"},
		{"common and slow", begin + `200 7100 15.3%d`, "doubt"},
		{"common and slow, six decimals", begin + `200 7100 15.3%d000`, "doubt"},
		{"the time first", `0.0%d ` + begin + `200 7100`, "49000/-1 7100"},
		{"in docker's JSON", `{"log":"` + strings.ReplaceAll(begin+`200 7100 611 0.0%d`+agents, `"`, `\"`) + `\n","stream":"stdout","time":"2024-05-12T09:50:40Z"}`, "49000/-1 7100"},
		{"Varnish", begin + `200 7100` + agents + ` 61%d 0.0012%d hit`, "6149/1249 7100"},
		{"PHP-FPM", `192.0.2.7 - bob 12/May/2024:09:50:40 +0000 "GET /a.php" 200 /srv/a.php 1.2%d 2048 99.01%`, "1249/-1 -1"},
	} {
		if got, f := took(t, c.line, 10, Times{}); got != c.want {
			t.Errorf("%s: %s by %s %q, want %s", c.name, got, f.Name, f.Notes, c.want)
		}
	}
}

// What the user says goes before a program that numbers alone tell.
func TestTimesBeforeGuess(t *testing.T) {
	const begin = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "POST /cart/7 HTTP/1.1" 200 7100 `
	for _, c := range []struct{ name, line, unit, field, want string }{
		{"Rack's decimals in ms", begin + `3.1%d7`, "ms", "", "3149/-1 7100"},
		{"a word of Varnish's", begin + `"-" "curl" 61%d 0.0012%d hit`, "", "-3", "6149/-1 7100"},
		{"milliseconds with three decimals", begin + `3.1%d`, "ms", "", "3149/-1 7100"},
	} {
		times := Times{Field: c.field, Unit: unitNames[c.unit]}
		if c.field != "" {
			times.Unit = unitNames["us"]
		}
		if got, f := took(t, c.line, 10, times); got != c.want {
			t.Errorf("%s: %s by %s, want %s", c.name, got, f.Name, c.want)
		}
	}
}

// Of several times in a line the one of the surer name counts, whatever the order.
func TestSurerTime(t *testing.T) {
	const begin = `{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":200,"body_bytes":51,`
	for _, c := range []struct{ name, line, want string }{
		{"request_time first", begin + `"request_time":0.0%d,"response_time":77}`, "49000/-1 51"},
		{"request_time last", begin + `"response_time":77,"request_time":0.0%d}`, "49000/-1 51"},
		{"a unit in the name", begin + `"took":77,"took_ms":"%d.5"}`, "49500/-1 51"},
		{"LTSV", "time:12/May/2024:09:50:40 +0000\treq:GET /a HTTP/1.1\tstatus:200\tsize:51\tresponse_time:77\treqtime:0.0%d", "49000/-1 51"},
	} {
		if got, f := took(t, c.line, 10, Times{}); got != c.want {
			t.Errorf("%s: %s by %s %q, want %s", c.name, got, f.Name, f.Notes, c.want)
		} else if len(f.Notes) > 0 {
			t.Errorf("%s: %q tells of a field that is not used", c.name, f.Notes)
		}
	}
}

// Lines that are no requests do not tell whose the requests are.
func TestDialectOfRequests(t *testing.T) {
	const (
		request = `{"time":"2024-05-12T09:50:40Z","method":"GET","path":"/a","status":200,"request_time":0.0%d}`
		logrus  = `{"time":"2024-05-12T09:50:40Z","level":"warning","msg":"queue is full","duration":812}`
		slog    = `{"time":"2024-05-12T09:50:40Z","level":"INFO","msg":"started"}`
	)
	for _, other := range []string{logrus, slog} {
		format, lines := reads(t, strings.ReplaceAll(request+"\n"+other+"\n"+request+"\n", "%d", "41"))
		if format != "json" || !strings.Contains(lines[0], "41000/-1") {
			t.Errorf("%s: %s %q, want json with 41 ms", other, format, lines)
		}
	}
}

// The format of a log may change within it: what its lines then have is told.
func TestTimesChange(t *testing.T) {
	const begin = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 "-" "curl" `
	const ltsv = "time:12/May/2024:09:50:40 +0000\treq:GET /a HTTP/1.1\tstatus:200\tsize:51\treqtime:"
	for _, c := range []struct {
		name, first, second, want, note string
	}{
		{"a longer value behind", begin + "0.01%d\n", begin + "0.01%d 0.48%d\n", "489000/19000", "the request's time is number 1 from the end"},
		{"the other order", begin + "0.48%d 0.01%d\n", begin + "0.01%d 0.48%d\n", "19000/489000", "the order may have changed"},
		{"another unit", ltsv + "0.01%d\n", ltsv + "1%d\n", "19000000/-1", "its unit may have changed"},
	} {
		var log strings.Builder
		for _, line := range []string{c.first, c.second} {
			for i := range 10 {
				log.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
			}
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		e, why := NewRows(f, false).Entry([]byte(lines[len(lines)-1]))
		if why != "" {
			t.Errorf("%s: %s", c.name, why)
			continue
		}
		if got := fmt.Sprintf("%d/%d", micros(e.Request), micros(e.Upstream)); got != c.want || !strings.Contains(strings.Join(f.Notes, "\n"), c.note) {
			t.Errorf("%s: %s %q, want %s and that %s", c.name, got, f.Notes, c.want, c.note)
		}
	}
}

// A line that was cut leaves a whole number where others have three decimals: that is
// no change of the unit, however short the log is.
func TestCutTimesAreNoChange(t *testing.T) {
	const whole = "time:12/May/2024:09:50:40 +0000\treq:GET /a HTTP/1.1\tstatus:200\tsize:51\treqtime:1.01"
	cut := strings.TrimSuffix(whole, ".01")
	log := whole + "0\n" + cut + "\n" + whole + "9\n" + cut + "\n"
	f, err := Detect([]byte(log))
	if err != nil || len(f.Notes) > 0 {
		t.Errorf("%q, %v", f.Notes, err)
	}
}
