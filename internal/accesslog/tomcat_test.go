package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Tomcat took Apache's letters over, with another unit.
func TestTomcatsD(t *testing.T) {
	const apache, tomcat = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 `, `%h %l %u %t "%r" %s %b `
	for _, c := range []struct {
		name, format, line string
		want               int64 // microseconds; -1: it is asked
		note               string
		times              Times
	}{
		{name: "Apache's", format: tomcat + "%D", line: apache + "49000", want: 49000},
		{name: "beside Apache's whole seconds", format: tomcat + "%T %D", line: apache + "0 49000", want: 49000},
		{name: "beside Tomcat's seconds", format: tomcat + "%D %T", line: apache + "49 0.049", want: 49000, note: "milliseconds, as Tomcat's %T"},
		{name: "… with microseconds, as of Tomcat 10", format: tomcat + "%D %T", line: apache + "49000 0.049", want: 49000},
		{name: "beside a thread's name", format: tomcat + "%D %I", line: apache + "9 http-nio-8080-exec-1", want: 9000, note: "milliseconds, by their values"},
		{name: "… where both may be", format: tomcat + "%D %I", line: apache + "1900 http-nio-8080-exec-1", want: -1},
		{name: "beside Apache's received bytes", format: tomcat + "%D %I", line: apache + "1900 412", want: 1900},
		{name: "too fast for microseconds", format: tomcat + "%D", line: apache + "9", want: -1},
		{name: "fast", format: tomcat + "%D", line: apache + "149", want: 149, note: "--time-unit ms"},
		{name: "… where it is said", format: tomcat + "%D", line: apache + "9", want: 9000, times: Times{Unit: time.Millisecond}},
		{name: "its unit behind it", format: tomcat + "(%D ms)", line: apache + "(49 ms)", want: 49000},
		{name: "quotes of server.xml", format: strings.ReplaceAll(tomcat, `"`, "&quot;") + "%D", line: apache + "49000", want: 49000},
		{name: "seconds since 1970", format: tomcat + "%{%s}t %D", line: apache + "1715507440 49000", want: 49000},
		{name: "no times at all", format: tomcat + "%D", line: apache + "0", want: 0},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if f, err = f.WithTimes(c.times); err != nil {
			t.Fatal(err)
		}
		f = f.TomcatIn([]byte(strings.Repeat(c.line+"\n", 5)), c.times)
		e, why := NewRows(f, false).Entry([]byte(c.line))
		notes := fmt.Sprint(f.Notes)
		if got := micros(e.Request); why != "" || f.Doubt == nil && got != c.want || (f.Doubt != nil) != (c.want < 0) || !strings.Contains(notes, c.note) || (c.note == "") != (len(f.Notes) == 0) {
			t.Errorf("%s: %d µs %s %s %v, want %d", c.name, got, why, notes, f.Doubt, c.want)
		}
	}
}
