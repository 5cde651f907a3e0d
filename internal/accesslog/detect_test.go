package accesslog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// detectSeeds are lines of all the forms that are recognised.
var detectSeeds = []string{
	`203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] "GET /p/1 HTTP/1.1" 200 5 "-" "agent" 0.012 0.010, 0.001 : -`,
	`203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] "GET /p/1 HTTP/1.1" 200 5 "-" "agent" 1234`,
	`203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] "GET /p/1 HTTP/1.1" 200 5 "-" "agent" rt=0.012 urt="0.010"`,
	`time=2025-03-03T08:00:00Z method=GET path=/x status=200 duration=12.5ms`,
	`{"log":"203.0.113.1 - - [03/Mar/2025:08:00:01 +0100] \"GET /p/1 HTTP/1.1\" 200 5 0.012\n","stream":"stdout"}`,
	`{"time":"2025-03-03T08:00:00Z","method":"GET","uri":"/p","status":200,"latency":123456,"latency_human":"123.456µs"}`,
	`<190>1 2025-03-03T08:00:00.1Z host1 nginx 12 - [a b="c d"] time:2025-03-03T08:00:00Z	uri:/x	status:200	apptime:0.010`,
	`2025-03-03T08:00:00.1Z stdout F 03/Mar/2025:08:00:00 +0000 GET /a b HTTP/1.1 200 [::1]:80 [x] '`,
	"\x1b[36mfront-2 | \x1b[0m[pod/a/b] front-5d9c nginx <1>Mar  3 08:00:00 h t: x",
}

// FuzzDetect: whatever the lines are, a format is found or an error is told, and
// each line is read by the short way as by the long one, with its times.
func FuzzDetect(f *testing.F) {
	for _, s := range detectSeeds {
		f.Add([]byte(strings.Repeat(s+"\n", 3)+detectSeeds[0]+"\n"), "", uint8(0))
		f.Add([]byte(strings.Repeat(s+"\n", 3)), "-1", uint8(2))
	}
	f.Add([]byte(strings.Repeat(detectSeeds[5]+"\n", 3)), "latency", uint8(3))
	f.Fuzz(func(t *testing.T, log []byte, field string, unit uint8) {
		times := Times{Field: field}
		if unit > 0 {
			times.Unit = allUnits[int(unit)%len(allUnits)]
		}
		format, err := DetectTimes(log, times)
		if err != nil {
			return
		}
		if format.Doubt != nil && len(format.Doubt.Readings) < 2 {
			t.Errorf("in doubt with %d readings", len(format.Doubt.Readings))
		}
		short, long := NewRows(format, true), NewRows(format, true)
		for line := range bytes.Lines(log) {
			line = bytes.TrimRight(line, "\r\n")
			var row Row
			why := short.Parse(bytes.Clone(line), &row)
			e, whyLong := long.Entry(bytes.Clone(line))
			if why == "" && whyLong == "" && (row.Request != e.Request || row.Status != e.Status || !bytes.Equal(row.Target, e.Target)) {
				t.Errorf("%q: the short way reads %v, %d, %q, the long way %v, %d, %q (format %s)", line, row.Request, row.Status, row.Target, e.Request, e.Status, e.Target, format.Name)
			}
		}
	})
}

// All forms of the seeds are recognised, and their times read.
func TestDetectSeeds(t *testing.T) {
	for i, s := range detectSeeds[:len(detectSeeds)-1] {
		format, err := Detect([]byte(strings.Repeat(s+"\n", 3)))
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		e, why := NewRows(format, true).Entry([]byte(s))
		if why != "" || e.Status != 200 || e.Time.IsZero() || i != 1 && i != 7 && e.Request <= 0 {
			t.Errorf("%q: %s, %+v", s, why, e)
		}
	}
}

// BenchmarkLine tells what reading value by value takes.
func BenchmarkLine(b *testing.B) {
	line := strings.TrimSuffix(benchLine, "\n") + ` [x] 10.0.0.1:80 0.012 0.010`
	format, err := Detect([]byte(strings.Repeat(line+"\n", 3)))
	if err != nil || format.Name != "combined and more" {
		b.Fatal(fmt.Sprint(format, err))
	}
	rows := NewRows(format, false)
	var row Row
	text := make([]byte, 0, len(line))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if why := rows.Parse(append(text[:0], line...), &row); why != "" {
			b.Fatal(why)
		}
	}
}
