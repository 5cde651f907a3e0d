package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// What the keys leave open is a program's only if the values can be: the same
// keys with another unit are read by their values, with a note, or are in doubt.
func TestAssumedUnits(t *testing.T) {
	const (
		logrus  = `{"level":"info","time":"2024-05-12T09:50:40Z","msg":"req","status":200,"method":"GET","path":"/a","latency":%v}`
		zerolog = `{"level":"info","time":"2024-05-12T09:50:40Z","message":"req","status":200,"method":"GET","url":"/a","duration":%v}`
		zap     = `{"level":"info","ts":1795858187.99,"caller":"x.go:1","msg":"req","status":200,"method":"GET","path":"/a","latency":%v}`
		caddy   = `{"level":"info","ts":1795858262.47,"logger":"http.log.access","request":{"proto":"HTTP/2.0","method":"GET","uri":"/a"},"duration":%v,"status":200}`
		varnish = `192.0.2.9 - - [12/May/2024:09:50:40 +0000] "GET http://shop/a HTTP/1.1" 200 300 "-" "curl" %v hit`
	)
	for _, c := range []struct {
		name, line string
		values     []string
		format     string
		last       int64 // µs; -1: refused, as there is a doubt
	}{
		{"logrus: ns", logrus, []string{"3015", "45221720", "812000"}, "json (logrus)", 812},
		{"logrus with ms of one's own", logrus, []string{"12", "45", "120"}, "json", 120_000},
		{"zerolog: ms", zerolog, []string{"12.25", "0.019939", "45.5"}, "json (zerolog)", 45_500},
		{"zerolog with seconds of one's own", zerolog, []string{"0.012", "0.045", "0.12"}, "json", 120_000},
		{"zerolog with seconds of nine decimals", zerolog, []string{"1.012345678", "0.045123456", "0.120000001"}, "json", 120_000},
		{"zap: s", zap, []string{"0.000731", "0.045", "0.12"}, "json (zap)", 120_000},
		{"zap with whole ms", zap, []string{"12", "45", "120"}, "json", 120_000},
		{"Caddy: s", caddy, []string{"0.00128003", "0.090410952", "0.12"}, "json (caddy)", 120_000},
		{"Caddy, duration_format ms", caddy, []string{"12", "45", "120"}, "json", 120_000},
		{"Caddy, duration_format string", caddy, []string{`"1.105641ms"`, `"45ms"`, `"1m2.5s"`}, "json (caddy)", 62_500_000},
		{"Varnish, %D", varnish, []string{"1500", "90", "3000120"}, "varnish", 3_000_120},
		{"Varnish, %T", varnish, []string{"0", "1", "2"}, "", -1},
	} {
		var log strings.Builder
		for _, v := range c.values {
			fmt.Fprintf(&log, c.line+"\n", v)
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.last < 0 {
			if f.Doubt == nil {
				t.Errorf("%s: there is no doubt of %s", c.name, f.Name)
			}
			continue
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		e, why := NewRows(f, false).Entry([]byte(lines[len(lines)-1]))
		if why != "" || f.Name != c.format || micros(e.Request) != c.last {
			t.Errorf("%s: %s: %+v %s, want %s with %d µs", c.name, f.Name, e, why, c.format, c.last)
			continue
		}
		if len(f.Notes) == 0 && c.format != "varnish" {
			t.Errorf("%s: nothing says that the unit is assumed", c.name)
		}
	}
}

// A program's other lines are no requests, nor do they hide its own: errors of
// Caddy tell of a request again, and most lines of a service are no requests.
func TestOtherLinesOfProgram(t *testing.T) {
	const (
		access  = `{"level":"info","ts":1795858262.47,"logger":"http.log.access.log0","request":{"proto":"HTTP/2.0","method":"GET","uri":"/a"},"duration":0.0125,"status":502}`
		failure = `{"level":"error","ts":1795858262.47,"logger":"http.log.error.log0","msg":"dial tcp","request":{"proto":"HTTP/2.0","method":"GET","uri":"/a"},"duration":0.0124,"status":502}`
		pino    = `{"level":30,"time":1795858214339,"req":{"method":"GET","url":"/a"},"res":{"statusCode":200},"responseTime":12.5,"msg":"request completed"}`
		plain   = `{"level":50,"time":1795858214339,"err":{"message":"x"},"status":500,"msg":"failed"}`
	)
	for _, c := range []struct {
		name, format string
		lines        []string
		requests     int
	}{
		{"Caddy", "json (caddy)", []string{access, failure, access}, 2},
		{"pino-http", "json (pino-http)", []string{plain, plain, plain, pino, plain, plain}, 1},
	} {
		format, lines := reads(t, strings.Join(c.lines, "\n")+"\n")
		n := 0
		for _, l := range lines {
			if !strings.HasPrefix(l, "refused") {
				n++
			}
		}
		if format != c.format || n != c.requests {
			t.Errorf("%s: %s, %d requests, want %d: %q", c.name, format, n, c.requests, lines)
		}
	}
}
