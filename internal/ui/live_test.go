package ui

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/ui/uitest"
)

// drawing is a UI on a terminal, with a clock that is far enough between two
// drawings.
type drawing struct {
	*UI
	t        *testing.T
	terminal *uitest.Terminal
	clock    time.Time
}

// strict fails the test where the terminal does not understand.
type strict struct {
	t *testing.T
	*uitest.Terminal
}

func (s strict) Write(p []byte) (int, error) {
	n, err := s.Terminal.Write(p)
	if err != nil {
		s.t.Fatalf("%v: %q", err, p)
	}
	return n, err
}

func newDrawing(t *testing.T, columns, rows int) *drawing {
	t.Setenv("TERM", "xterm")
	d := &drawing{t: t, terminal: uitest.New(columns, rows), clock: time.Unix(1000, 0)}
	w := strict{t, d.terminal}
	d.UI = New(w, w, Options{TTY: true, NoColor: true, Size: d.terminal.Size})
	d.now = func() time.Time { return d.clock }
	return d
}

func (d *drawing) draw(lines ...string) {
	d.clock = d.clock.Add(250 * time.Millisecond)
	d.Show(lines, "plain")
}

func (d *drawing) want(lines ...string) {
	d.t.Helper()
	if got := d.terminal.Lines(); strings.Join(got, "|") != strings.Join(lines, "|") {
		d.t.Fatalf("the screen shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func TestShowRedrawsInPlace(t *testing.T) {
	d := newDrawing(t, 80, 24)
	d.Info("before")
	d.draw("one", "two is long", "three")
	d.want("   before", "   one", "   two is long", "   three")
	d.draw("1", "2", "3", "4")
	d.want("   before", "   1", "   2", "   3", "   4")
	d.draw("only\x1b[2J")
	d.want("   before", `   only\x1b[2J`)
	d.draw("a", "b")
	d.Info("message") // above the block
	d.want("   before", "   message", "   a", "   b")
	d.Warn("careful", "wait")
	d.want("   before", "   message", "warning: careful", "  try: wait", "   a", "   b")
	d.Clear()
	d.want("   before", "   message", "warning: careful", "  try: wait")
	d.Info("without a block")
	d.draw("a", "b", "c")
	d.Progress("line")
	d.want("   before", "   message", "warning: careful", "  try: wait", "   without a block", "   line")
	d.draw("a", "b")
	d.Error(fmt.Errorf("the end"))
	d.Info("after")
	d.want("   before", "   message", "warning: careful", "  try: wait", "   without a block", "error: the end", "   after")
}

func TestShowStaysWithinTheTerminal(t *testing.T) {
	for _, c := range []struct{ columns, rows, want int }{
		{80, 24, maxBlock}, {40, 10, maxBlock}, {40, 6, 4}, {20, 3, 1}, {5, 2, 1}, {80, 1, 0},
	} {
		d := newDrawing(t, c.columns, c.rows)
		for range 3 {
			d.draw(strings.Repeat("界", 100), "2", "👨‍👩‍👧 が", "4", "5", "6", "7", "8", "9", "10")
		}
		got := d.terminal.Lines()
		if len(got) != c.want {
			t.Errorf("%d×%d: %d lines, want %d: %q", c.columns, c.rows, len(got), c.want, got)
		}
		if c.want > 0 && (Width(got[0]) >= c.columns || Width(got[0]) < c.columns-3) {
			t.Errorf("%d×%d: the first line has %d columns", c.columns, c.rows, Width(got[0]))
		}
	}
}

// TestShowAfterResizing: a terminal wraps lines anew when it is made narrower.
func TestShowAfterResizing(t *testing.T) {
	d := newDrawing(t, 80, 24)
	long := strings.Repeat("速い ", 30)
	d.Info("before")
	d.draw("one "+long, "two", "three "+long)
	for _, columns := range []int{40, 25, 60, 120, 33, 80} {
		d.terminal.Resize(columns, 24)
		d.draw("one "+long, "two", "three "+long)
		d.want("   before", Truncate("   one "+long, columns-1), "   two", Truncate("   three "+long, columns-1))
	}
	d.terminal.Resize(30, 24)
	d.Info("message")
	d.Clear()
	d.want("   before", "   message")
}

// TestInterruptLeavesACleanLine: the terminal echoes ^C where the cursor is.
func TestInterruptLeavesACleanLine(t *testing.T) {
	d := newDrawing(t, 40, 24)
	d.draw(strings.Repeat("x", 80), strings.Repeat("y", 80))
	fmt.Fprint(d.terminal, "^C")
	d.Step("3. Something")
	d.Info("not finished")
	d.Clear()
	d.Warn("interrupted", "")
	d.want("== 3. Something", "   not finished", "warning: interrupted")
}

// TestMessagesBreakBetweenWords, and a command that is to be copied does not.
func TestMessagesBreakBetweenWords(t *testing.T) {
	d := newDrawing(t, 20, 24)
	d.Step("one two three four five")
	d.Info("六七八 九十 十一十二\nnext /a/path/longer/than/that")
	d.Warn("a problem of some length", "kasoku undo --all 12 13")
	d.want("== one two three", "   four five", "   六七八 九十", "   十一十二", "   next", "   /a/path/longer/th", "an/that",
		"warning: a problem", "         of some", "         length", "  try: kasoku undo -", "-all 12 13")
	d.draw("block")
	d.Clear()
	var out bytes.Buffer
	New(&out, &out, Options{}).Info(strings.Repeat("word ", 40))
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("a log has %d lines of one", n)
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
		u.Progress("drawn")
		u.Clear()
		if n := strings.Count(out.String(), "drawn"); n > c.most+1 || n < c.least {
			t.Errorf("%s: drawn %d times in 10 s, want %d to %d", name, n, c.least, c.most)
		}
		if name != "terminal" && strings.ContainsAny(out.String(), "\x1b\r") {
			t.Errorf("%s: control sequences: %q", name, out)
		}
		if draws := name == "terminal"; u.Draws() != draws || (u.Columns() > 0) != draws {
			t.Errorf("%s: draws %v in %d columns", name, u.Draws(), u.Columns())
		}
	}
}

// TestWidthIsThatOfATerminal: what the table of East Asian Width and emoji
// sequences say, in words that an application may show.
func TestWidthIsThatOfATerminal(t *testing.T) {
	for s, want := range map[string]int{
		"ログイン": 8, "ﾛｸﾞｲﾝ": 5, "が": 2, "か\u3099": 2, "한\u1100\u1161": 4, "ｅ": 2, "«»±": 3, "①→─": 3,
		"👍🏽": 2, "👨‍👩‍👧": 2, "🇯🇵": 2, "e\u0301\u0323": 1, "ไทย": 3, "ที่": 1, "नि": 1, "a\u200db": 2, "\u00ad": 0,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]string{"ログイン": "ログ…", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧": "👨‍👩‍👧👨‍👩‍👧…", "abcdef": "abcd…", "abcde": "abcde", "": ""} {
		if got := Truncate(s, 5); got != want {
			t.Errorf("Truncate(%q, 5) = %q, want %q", s, got, want)
		}
		if got := Pad(s, 5); Width(got) != 5 || !strings.HasPrefix(got, want) {
			t.Errorf("Pad(%q, 5) = %q", s, got)
		}
	}
}

// TestTableOnATerminal: the second column begins where it should, whatever is
// in the first.
func TestTableOnATerminal(t *testing.T) {
	var b bytes.Buffer
	cells := []string{"/login", "/ログイン", "/가나다", "/👨‍👩‍👧/🇯🇵", "/e\u0301te\u0301", "/ﾊﾝｶｸ"}
	var rows [][]string
	for _, c := range cells {
		rows = append(rows, []string{c, "|"})
	}
	if err := Table(&b, []string{"経路", "|"}, rows); err != nil {
		t.Fatal(err)
	}
	term := uitest.New(80, 24)
	if _, err := term.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	for _, line := range term.Lines() {
		if before, _, _ := strings.Cut(line, "|"); Width(before) != 11 {
			t.Errorf("the bar is in column %d: %q", Width(before), line)
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
	if got := Bars([]float64{9, 0, 0.5, 1, 7}, 4, 1); got != "▁▅██" {
		t.Errorf("Bars = %q", got)
	}
}
