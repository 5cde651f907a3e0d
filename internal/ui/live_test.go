package ui

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// screen is a small terminal: it understands what Show, Progress and Clear
// send, and nothing else.
func screen(t *testing.T, out string) []string {
	t.Helper()
	lines, row, col := []string{""}, 0, 0
	for out != "" {
		var n int
		switch {
		case strings.HasPrefix(out, "\x1b[K"):
			lines[row] = string([]rune(lines[row])[:min(col, len([]rune(lines[row])))])
			out = out[3:]
		case strings.HasPrefix(out, "\x1b["):
			if _, err := fmt.Sscanf(out, "\x1b[%dA", &n); err != nil {
				t.Fatalf("unknown sequence in %q", out)
			}
			if row -= n; row < 0 {
				t.Fatalf("moved above the first line: %q", out)
			}
			out = out[strings.Index(out, "A")+1:]
		case out[0] == '\r':
			col, out = 0, out[1:]
		case out[0] == '\n':
			if row, col = row+1, 0; row == len(lines) {
				lines = append(lines, "")
			}
			out = out[1:]
		default:
			r := []rune(out)[0]
			line := []rune(lines[row])
			if col < len(line) {
				line[col] = r
			} else {
				line = append(line, r)
			}
			lines[row], col, out = string(line), col+1, out[len(string(r)):]
		}
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestShowRedrawsInPlace(t *testing.T) {
	t.Setenv("TERM", "xterm")
	u, out, _ := newTest(Options{TTY: true, NoColor: true})
	now := time.Unix(1000, 0)
	u.now = func() time.Time { return now }
	draw := func(lines ...string) {
		now = now.Add(250 * time.Millisecond)
		u.Show(lines, "plain")
	}
	want := func(lines ...string) {
		t.Helper()
		if got := screen(t, out.String()); strings.Join(got, "|") != strings.Join(lines, "|") {
			t.Fatalf("the screen shows %q, want %q\n%q", got, lines, out)
		}
	}
	u.Info("before")
	draw("one", "two is long", "three")
	want("   before", "   one", "   two is long", "   three")
	draw("1", "2", "3", "4")
	want("   before", "   1", "   2", "   3", "   4")
	draw("only\x1b[2J")
	want("   before", `   only\x1b[2J`)
	draw("a", "b")
	u.Info("message")
	want("   before", "   message")
	draw("a", "b", "c")
	u.Progress("line")
	want("   before", "   message", "   line")
	draw("a", "b")
	u.Clear()
	u.Info("end")
	want("   before", "   message", "   end")
	draw(strings.Split(strings.Repeat("x ", 20), " ")...)
	if got := screen(t, out.String()); len(got) != 3+maxBlock {
		t.Errorf("%d lines, want %d", len(got), 3+maxBlock)
	}
	draw(strings.Repeat("界", 100))
	for _, line := range screen(t, out.String()) {
		if Width(line) > 79 {
			t.Errorf("%d columns: %q", Width(line), line)
		}
	}
}

func TestShowIsCalm(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for name, c := range map[string]struct {
		o           Options
		term        string
		most, least int
	}{
		"terminal": {Options{TTY: true, NoColor: true}, "xterm", 50, 40},
		"pipe":     {Options{}, "xterm", 10, 10},
		"dumb":     {Options{TTY: true}, "dumb", 10, 10},
		"quiet":    {Options{TTY: true, Quiet: true}, "xterm", 0, 0},
	} {
		t.Setenv("TERM", c.term)
		u, out, _ := newTest(c.o)
		now := time.Unix(1000, 0)
		u.now = func() time.Time { return now }
		for range 100 {
			u.Show([]string{"drawn"}, "drawn")
			now = now.Add(100 * time.Millisecond)
		}
		if n := strings.Count(out.String(), "drawn"); n > c.most || n < c.least {
			t.Errorf("%s: drawn %d times in 10 s, want %d to %d", name, n, c.least, c.most)
		}
		if name != "terminal" && strings.ContainsAny(out.String(), "\x1b\r") {
			t.Errorf("%s: control sequences: %q", name, out)
		}
	}
}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 10, ""},
		{[]float64{0, 0}, 10, "▁▁"},
		{[]float64{0, 50, 100}, 10, "▁▅█"},
		{[]float64{900, 1, 2, 4}, 3, "▃▅█"}, // only what is seen scales
		{[]float64{math.NaN(), math.Inf(1), -3, 7}, 10, "  ▁█"},
		{[]float64{1}, 0, ""},
		{[]float64{1}, -1, ""},
	} {
		if got := Sparkline(c.values, c.width); got != c.want {
			t.Errorf("Sparkline(%v, %d) = %q, want %q", c.values, c.width, got, c.want)
		}
	}
}
