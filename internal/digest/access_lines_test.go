package digest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
)

// lineAt is the i-th line of a log in the combined form; tail follows it.
func lineAt(i int, tail string) string {
	return fmt.Sprintf(`203.0.113.%d - - [03/Mar/2025:08:00:%02d +0100] "GET /p/%d HTTP/1.1" 200 %d "-" "agent/1.0 (x; y)"%s`, i%200, i%60, i, 100+i, tail)
}

// linesOf n lines, made by line.
func linesOf(n int, line func(i int) string) []string {
	var out []string
	for i := range n {
		out = append(out, line(i))
	}
	return out
}

// sumUp tells what a digest has of its times, in one line.
func sumUp(a *Access) string {
	n, timed, upstream := int64(0), int64(0), int64(0)
	var total, behind time.Duration
	for _, r := range a.Routes {
		n += r.Count
		timed += r.Time.Count
		upstream += r.Upstream.Count
		total += r.Time.Total
		behind += r.Upstream.Total
	}
	return fmt.Sprintf("%d requests, %d bad, %d with %v, upstream %d with %v", n, a.Bad, timed, total, upstream, behind)
}

// Lines are read one by one: a line of another form, or a form that changes,
// takes nothing from the others.
func TestAccessOddLines(t *testing.T) {
	traefik := func(i int) string {
		return lineAt(i, fmt.Sprintf(` %d "web@docker" "http://10.1.0.2:80" 30ms`, i+1))
	}
	gained := linesOf(60, func(i int) string {
		if i < 20 {
			return lineAt(i, "")
		}
		return lineAt(i, " 0.025 0.020")
	})
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"the begin of a log before a reload", gained, "60 requests, 0 bad, 40 with 1s, upstream 40 with 800ms"},
		{"one line of Traefik without quotes", append(linesOf(99, traefik), `203.0.113.9 - - [03/Mar/2025:08:00:49 +0100] "GET /p HTTP/1.1" 404 19 - "x y" 100 "-" "-" 2ms`),
			"100 requests, 0 bad, 100 with 2.972s, upstream 0 with 0s"},
		{"messages of the error log among them", append(linesOf(50, func(i int) string { return lineAt(i, " 0.010") }),
			`2025/03/03 08:00:01 [error] 9#9: *1 upstream timed out (110: Operation timed out), client: 203.0.113.1, server: x, request: "GET /p/1 HTTP/1.1", host: "x"`),
			"50 requests, 1 bad, 50 with 500ms, upstream 0 with 0s"},
		{"LTSV and JSON among combined", append(linesOf(50, func(i int) string { return lineAt(i, " 0.010") }),
			"time:2025-03-03T08:00:00+01:00\tmethod:GET\turi:/l\tstatus:200\treqtime:0.500", `{"time":"2025-03-03T08:00:00+01:00","method":"GET","uri":"/j","status":200,"request_time":0.250}`),
			"52 requests, 0 bad, 52 with 1.25s, upstream 0 with 0s"},
		{"a line that rotation cut", append([]string{`025:08:00:01 +0100] "GET /p/1 HTTP/1.1" 200 5 "-" "agent/1`}, linesOf(50, func(i int) string { return lineAt(i, " 0.010") })...),
			"50 requests, 1 bad, 50 with 500ms, upstream 0 with 0s"},
		{"quotes that are not escaped", linesOf(20, func(i int) string {
			return fmt.Sprintf(`203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] "GET /q"%d" HTTP/1.1" 200 5 "-" "a "b" c" 0.010`, i)
		}), "20 requests, 0 bad, 20 with 200ms, upstream 0 with 0s"},
	} {
		for _, parts := range []bool{true, false} {
			a, err := AccessLogs(t.Context(), []Input{textInput("access.log", strings.Join(c.lines, "\n")+"\n", parts)}, AccessOptions{})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if got := sumUp(a); got != c.want {
				t.Errorf("%s: %s, want %s (format %s)", c.name, got, c.want, a.Format)
			}
		}
	}
}

// The format changes far behind what is looked at first.
func TestAccessFormatChangesLate(t *testing.T) {
	lines := append(linesOf(3000, func(i int) string { return lineAt(i, "") }), linesOf(3000, func(i int) string { return lineAt(i, " 0.025") })...)
	text := strings.Join(lines, "\n") + "\n"
	for _, parts := range []bool{true, false} {
		a, err := AccessLogs(t.Context(), []Input{textInput("access.log", text, parts)}, AccessOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sumUp(a); got != "6000 requests, 0 bad, 3000 with 1m15s, upstream 0 with 0s" || a.Untimed != 3000 || a.first != 1 {
			t.Errorf("%s; %d untimed, %q", got, a.Untimed, a.Warnings)
		}
	}
}

// What is around a line is taken off.
func TestAccessEnvelopes(t *testing.T) {
	plain := func(i int) string { return lineAt(i, " 0.015 0.010") }
	ltsv := func(int) string {
		return "time:2025-03-03T08:00:00+01:00\tmethod:GET\turi:/l\tstatus:200\treqtime:0.015\tupstream_response_time:0.010"
	}
	for name, around := range map[string]func(string) string{
		"docker": func(s string) string {
			return fmt.Sprintf(`{"log":%q,"stream":"stdout","time":"2025-03-03T07:00:00Z"}`, s+"\n")
		},
		"journald JSON": func(s string) string {
			return fmt.Sprintf(`{"__REALTIME_TIMESTAMP":"1740985200000000","PRIORITY":"6","MESSAGE":%q}`, s)
		},
		"journald's bytes": func(s string) string {
			return fmt.Sprintf(`{"MESSAGE":%s}`, strings.ReplaceAll(fmt.Sprint([]byte(s)), " ", ","))
		},
		"GELF": func(s string) string { return fmt.Sprintf(`{"version":"1.1","short_message":%q,"timestamp":1}`, s) },
		"filebeat": func(s string) string {
			return fmt.Sprintf(`{"@timestamp":"2025-03-03T07:00:00Z","message":%q,"log":{"file":"x"}}`, s)
		},
		"CRI":             func(s string) string { return "2025-03-03T08:00:00.123456789+01:00 stdout F " + s },
		"compose":         func(s string) string { return "front-2   | " + s },
		"compose, colour": func(s string) string { return "\x1b[36mfront-2   | \x1b[0m" + s },
		"compose -t":      func(s string) string { return "front-2  | 2025-03-03T07:00:00.123456789Z " + s },
		"docker logs -t":  func(s string) string { return "2025-03-03T07:00:00.123456789Z " + s },
		"kubectl":         func(s string) string { return "[pod/front-5d9c-abcde/nginx] " + s },
		"stern":           func(s string) string { return "front-5d9c-abcde nginx " + s },
		"RFC 3164":        func(s string) string { return "<190>Mar  3 08:00:00 host1 nginx[123]: " + s },
		"RFC 3164, nginx": func(s string) string { return "Mar  3 08:00:00 nginx: " + s },
		"rsyslog":         func(s string) string { return "2025-03-03T08:00:00.123456+01:00 host1 nginx: " + s },
		"RFC 5424":        func(s string) string { return "<190>1 2025-03-03T08:00:00.1Z host1 nginx 12 - [a b=\"c d\"] " + s },
		"short-iso":       func(s string) string { return "2025-03-03T08:00:00+0100 host1 nginx[12]: " + s },
		"short-precise":   func(s string) string { return "Mar 03 08:00:00.123456 host1 nginx[12]: " + s },
		"short-full":      func(s string) string { return "Mon 2025-03-03 08:00:00 CET host1 nginx[12]: " + s },
		"short-unix":      func(s string) string { return "1740985200.123456 host1 nginx[12]: " + s },
		"syslog in CRI":   func(s string) string { return "2025-03-03T08:00:00.1Z stderr F <190>Mar  3 08:00:00 h nginx: " + s },
	} {
		for form, line := range map[string]func(int) string{"combined": plain, "ltsv": ltsv} {
			lines := linesOf(20, func(i int) string { return around(line(i)) })
			a := digestText(t, strings.Join(lines, "\n")+"\n", AccessOptions{})
			if got := sumUp(a); got != "20 requests, 0 bad, 20 with 300ms, upstream 20 with 200ms" || a.From.Unix() < 1740985200 || a.From.Unix() > 1740985260 {
				t.Errorf("%s, %s: %s, from %v (format %s)", name, form, got, a.From, a.Format)
			}
		}
	}
	for name, around := range map[string]func(string) string{
		"host":          func(s string) string { return "shop.example.com " + s },
		"host and port": func(s string) string { return "shop.example.com:443 " + s },
	} {
		lines := linesOf(20, func(i int) string { return around(plain(i)) })
		if got := sumUp(digestText(t, strings.Join(lines, "\n")+"\n", AccessOptions{})); got != "20 requests, 0 bad, 20 with 300ms, upstream 20 with 200ms" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Units come from names, forms and values; a second reading is an error.
func TestAccessUnits(t *testing.T) {
	json := func(field string, value func(i int) string) func(int) string {
		return func(i int) string {
			return fmt.Sprintf(`{"time":"2025-03-03T08:00:00Z","method":"GET","uri":"/p","status":200,"size":1,%q:%s}`, field, value(i))
		}
	}
	fixed := func(s string) func(int) string { return func(int) string { return s } }
	for _, c := range []struct {
		name  string
		line  func(int) string
		times accesslog.Times
		total time.Duration // of ten; -1: in doubt
		note  string
	}{
		{"seconds with nine decimals", json("duration", fixed("0.012345678")), accesslog.Times{}, 123456780, "seconds"},
		{"milliseconds by values", json("elapsed", func(i int) string { return fmt.Sprint(20 + i) }), accesslog.Times{}, 245 * time.Millisecond, "milliseconds"},
		{"nanoseconds by values", json("latency", func(i int) string { return fmt.Sprint(20_000_000 + i) }), accesslog.Times{}, 200_000_045, "nanoseconds"},
		{"both", json("latency", func(i int) string { return fmt.Sprint(500 + 400*i) }), accesslog.Times{}, -1, ""},
		{"both, decided", json("latency", func(i int) string { return fmt.Sprint(500 + 400*i) }), accesslog.Times{Unit: time.Microsecond}, 23 * time.Millisecond, ""},
		{"nanoseconds by name", json("latency_ns", fixed("2000000")), accesslog.Times{}, 20 * time.Millisecond, ""},
		{"milliseconds by name", json("durationMs", fixed("7")), accesslog.Times{}, 70 * time.Millisecond, ""},
		{"Go's durations", json("duration", fixed(`"1.5ms"`)), accesslog.Times{}, 15 * time.Millisecond, ""},
		{"Go's long durations", json("took", fixed(`"1m2.5s"`)), accesslog.Times{}, 625 * time.Second, ""},
		{"a word", json("service", fixed(`"checkout"`)), accesslog.Times{}, 0, ""},
		{"named by the user, not there", json("t_app", fixed("3.5")), accesslog.Times{Field: "app_t"}, -2, ""},
		{"named by the user", json("t_app", fixed("3.5")), accesslog.Times{Field: "t_app", Unit: time.Millisecond}, 35 * time.Millisecond, ""},
		{"request_time of nginx", json("request_time", fixed("0.010")), accesslog.Times{}, 100 * time.Millisecond, ""},
		{"request_time in quotes", json("request_time", fixed(`"0.010"`)), accesslog.Times{}, 100 * time.Millisecond, ""},
		{"%D", func(i int) string { return lineAt(i, fmt.Sprint(" ", 400+i*300)) }, accesslog.Times{}, -1, ""},
		{"%D, decided", func(i int) string { return lineAt(i, fmt.Sprint(" ", 400+i*300)) }, accesslog.Times{Unit: time.Microsecond}, 17500 * time.Microsecond, ""},
		{"%D of a slow site", func(i int) string { return lineAt(i, fmt.Sprint(" ", 400_000+i*300)) }, accesslog.Times{}, 4_013_500 * time.Microsecond, "microseconds"},
		{"no time", func(i int) string { return lineAt(i, fmt.Sprint(" ", 400+i*300)) }, accesslog.Times{Field: "none"}, 0, ""},
		{"the last but one", func(i int) string { return lineAt(i, fmt.Sprintf(" %d %d", 30+i, 443)) }, accesslog.Times{Field: "-2", Unit: time.Millisecond}, 345 * time.Millisecond, ""},
		{"Go's durations at the end", func(i int) string { return lineAt(i, " 1.25ms") }, accesslog.Times{}, 12500 * time.Microsecond, ""},
		{"before the request", func(i int) string { return "0.012 " + lineAt(i, "") }, accesslog.Times{}, 120 * time.Millisecond, "decimals"},
		{"the upstream's first", func(i int) string {
			return lineAt(i, fmt.Sprintf(" 0.0%d0 0.0%d5", i+1, i+1))[:0] + lineAt(i, fmt.Sprintf(" 0.01%d 0.02%d", i, i))
		}, accesslog.Times{}, 245 * time.Millisecond, "never the shorter"},
		{"none is the longest", func(i int) string { return lineAt(i, []string{" 0.010 0.090", " 0.090 0.010"}[i%2]) }, accesslog.Times{}, 500 * time.Millisecond, "the first is read"},
		{"named values", func(int) string {
			return `time=2025-03-03T08:00:00Z method=GET path=/x status=200 bytes=5 duration=12.5ms`
		}, accesslog.Times{}, 125 * time.Millisecond, ""},
		{"milliseconds with a fraction", func(i int) string { return lineAt(i, fmt.Sprintf(" %d.25", 40+i)) }, accesslog.Times{}, 447500 * time.Microsecond, "milliseconds"},
		{"seconds with six decimals", func(i int) string { return lineAt(i, fmt.Sprintf(" 0.04%d345", i)) }, accesslog.Times{}, 448450 * time.Microsecond, "seconds"},
		{"seconds of a slow site, or milliseconds", func(i int) string { return lineAt(i, fmt.Sprintf(" 4%d.250", i)) }, accesslog.Times{}, -1, ""},
		{"the same, decided", func(i int) string { return lineAt(i, fmt.Sprintf(" 4%d.250", i)) }, accesslog.Times{Unit: time.Millisecond}, 447500 * time.Microsecond, ""},
		{"the last of four", func(i int) string { return lineAt(i, fmt.Sprintf(" 0.001 0.002 0.05%d 0.06%d", i, i)) }, accesslog.Times{}, 645 * time.Millisecond, "never the shorter"},
		{"nothing quoted", func(i int) string {
			return fmt.Sprintf("203.0.113.1 [03/Mar/2025:08:00:00 +0000] GET /x/%d HTTP/1.1 200 5 0.012", i)
		}, accesslog.Times{}, 120 * time.Millisecond, ""},
		{"tabs", func(i int) string { return fmt.Sprintf("2025-03-03T08:00:00Z\tGET\t/x/%d\t200\t5\t0.012", i) }, accesslog.Times{}, 120 * time.Millisecond, ""},
		{"named by a colon", func(int) string { return `[03/Mar/2025:08:00:00 +0000] "GET /x HTTP/1.1" 200 5 rt: 0.012 urt: 0.010` }, accesslog.Times{}, 120 * time.Millisecond, ""},
	} {
		a, err := AccessLogs(t.Context(), []Input{textInput("access.log", strings.Join(linesOf(10, c.line), "\n")+"\n", true)}, AccessOptions{Times: c.times})
		var doubt *accesslog.UnitDoubt
		switch {
		case c.total == -2:
			if err == nil || !strings.Contains(err.Error(), "app_t") {
				t.Errorf("%s: %v, want an error", c.name, err)
			}
			continue
		case c.total < 0:
			if !errors.As(err, &doubt) || len(doubt.Readings) < 2 {
				t.Errorf("%s: %v, want two readings", c.name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		total := time.Duration(0)
		for _, r := range a.Routes {
			total += r.Time.Total
		}
		if len(a.Routes) != 1 || a.Routes[0].Method != "GET" || total != c.total || a.Bad > 0 || !strings.Contains(strings.Join(a.Notes, "\n"), c.note) {
			t.Errorf("%s: %v of %d lines, %d bad, notes %q; want %v", c.name, total, a.Lines, a.Bad, a.Notes, c.total)
		}
	}
}

// Where nobody can be asked, times in doubt are left out, and that is said.
func TestAccessUnasked(t *testing.T) {
	lines := linesOf(10, func(i int) string { return lineAt(i, fmt.Sprint(" ", 400+i*300)) })
	a := digestText(t, strings.Join(lines, "\n")+"\n", AccessOptions{Unasked: true})
	if a.Timed || a.Routes[0].Count != 10 || !strings.Contains(strings.Join(a.Warnings, "\n"), "left out") {
		t.Errorf("%+v", a)
	}
}

// Lines that are not understood are shown, three of them, and warned of first
// if they are more than one in a hundred.
func TestAccessBadLines(t *testing.T) {
	lines := linesOf(95, func(i int) string { return lineAt(i, "") })
	lines = append(lines, linesOf(5, func(i int) string { return fmt.Sprintf("what %d?password=hush", i) })...)
	a := digestText(t, strings.Join(lines, "\n")+"\n", AccessOptions{})
	if len(a.BadLines) != 3 || a.BadLines[2].At != "access.log:98" || a.BadLines[2].Text != "what 2?password=*" || a.first != 1 || !strings.Contains(a.Warnings[0], "5.0 %") {
		t.Errorf("%+v", a)
	}
	var b strings.Builder
	if err := WriteText(&b, a.View([]string{"access.log"}, 0), 0); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "warning: 5.0 % of 100 lines") || strings.Count(b.String(), "what ") != 3 {
		t.Error(b.String())
	}
}

// Lines that are not understood are shown without secrets.
func TestAccessBadLinesMasked(t *testing.T) {
	const entry = `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8"` + "\n"
	for _, bad := range []string{
		`{"req":{"headers":{"authorization":"Bearer s3cret"}},"msg":"starting"}`, `level=info token=s3cret`, `Bearer s3cret`, `password: s3cret`, `starting /x?code=s3cret`,
		`{"password":"s3cret` + strings.Repeat("s3cret", 200),
	} {
		a := digestText(t, strings.Repeat(entry, 10)+bad+"\n"+entry, AccessOptions{})
		if a.Bad != 1 || len(a.BadLines) != 1 {
			t.Errorf("%s: %d bad lines, %d shown", bad, a.Bad, len(a.BadLines))
		}
		if text := asJSON(a) + fmt.Sprint(a.BadLines, a.FirstBad); strings.Contains(text, "s3cret") {
			t.Errorf("%s is shown:\n%s", bad, text)
		}
		_, err := AccessLogs(context.Background(), []Input{textInput("x.log", bad+"\n", true)}, AccessOptions{})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error of %s is %v", bad, err)
		}
	}
}

// A LogFormat that is Tomcat's says by its %T what its %D is.
func TestTomcatsFormat(t *testing.T) {
	f, err := accesslog.ParseFormat(`%h %l %u %t "%r" %s %b %D %T`)
	if err != nil {
		t.Fatal(err)
	}
	line := `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 49 0.049` + "\n"
	a := digestText(t, strings.Repeat(line, 3), AccessOptions{Format: f})
	if len(a.Routes) != 1 || a.Routes[0].Time.Total != 147*time.Millisecond || len(a.Notes) != 1 {
		t.Errorf("%+v, notes %q; want 147 ms", a.Routes, a.Notes)
	}
}

// Whether %D is Apache's or Tomcat's, nothing tells of times that may be both: where
// nobody can be asked they are left out, as those of a format that is recognised.
func TestTomcatsDoubtWithoutAnyoneToAsk(t *testing.T) {
	for _, format := range []string{`%h %l %u %t "%r" %s %b %D %I`, `%h %l %u %t &quot;%r&quot; %s %b %D %I`} {
		f, err := accesslog.ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		log := ""
		for i := range 9 {
			log += fmt.Sprintf(`192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 %d http-nio-8080-exec-3`+"\n", 1200+100*i)
		}
		if _, err := digestOf(log, AccessOptions{Format: f}); err == nil || !strings.Contains(err.Error(), "--time-unit") {
			t.Errorf("asked: %v", err)
		}
		a, err := digestOf(log, AccessOptions{Format: f, Unasked: true})
		if err != nil || len(a.Routes) != 1 || a.Routes[0].Count != 9 || a.Routes[0].Time.Count != 0 || !strings.Contains(strings.Join(a.Warnings, " "), "times are left out") {
			t.Errorf("not asked: %v %+v", err, a)
		}
	}
}

func digestOf(log string, o AccessOptions) (*Access, error) {
	return AccessLogs(context.Background(), []Input{textInput("log", log, true)}, o)
}
