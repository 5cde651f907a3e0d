package ui

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"
)

const (
	// maxBlock lines of Show; more is no longer calm.
	maxBlock = 8
	// blockEvery is the shortest time between two drawings of a block.
	blockEvery = 200 * time.Millisecond
	// plainBlockEvery is the time between two plain lines of Show elsewhere: a
	// load lasts seconds, so this is more often than Progress.
	plainBlockEvery = time.Second
)

// Show draws lines, at most eight, in place of those it drew before. Where
// nothing can be rewritten (no terminal, TERM=dumb) it prints plain instead, at
// most once a second. Clear takes the block away; other messages do so, too.
func (u *UI) Show(lines []string, plain string) {
	if u.opts.Quiet {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if !u.opts.TTY || os.Getenv("TERM") == "dumb" {
		if u.lastLine.IsZero() || now.Sub(u.lastLine) >= plainBlockEvery {
			u.lastLine = now
			fmt.Fprintln(u.out, "   "+strings.TrimRight(oneLine(plain), " "))
		}
		return
	}
	if u.shown > 0 && now.Sub(u.lastLine) < blockEvery {
		return
	}
	u.lastLine = now
	width := columns(u.out)
	if width == 0 {
		width = 80
	}
	var b strings.Builder
	b.WriteString(u.home())
	lines = lines[:min(len(lines), maxBlock)]
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\n")
		}
		// The last column stays free: some terminals wrap when it is filled.
		b.WriteString("\r\x1b[K" + Truncate("   "+oneLine(line), width-1))
	}
	for range u.shown - len(lines) { // lines of a taller block before
		b.WriteString("\n\r\x1b[K")
	}
	if surplus := u.shown - len(lines); surplus > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", surplus)
	}
	fmt.Fprint(u.out, b.String())
	u.shown = len(lines)
}

func oneLine(text string) string { return strings.ReplaceAll(Clean(text), "\n", " ") }

// home moves to the begin of the block that stands (ECMA-48, 8.3.22: cursor up).
func (u *UI) home() string {
	if u.shown < 2 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", u.shown-1)
}

// clearBlock takes a block of several lines away and stands where it began.
func (u *UI) clearBlock() {
	if u.shown < 2 {
		return
	}
	fmt.Fprint(u.out, u.home()+strings.Repeat("\x1b[K\n", u.shown-1)+"\x1b[K"+u.home())
	u.shown = 1
}

// sparks from lowest to highest (Unicode block elements).
var sparks = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws the last width values, each at least 0, as bars from 0 to
// the highest of them. A value that is no number is a space.
func Sparkline(values []float64, width int) string {
	values = values[max(0, len(values)-max(width, 0)):]
	top := 0.0
	for _, v := range values {
		if v > top && !math.IsInf(v, 0) { // false for NaN
			top = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteRune(' ')
		case top <= 0 || v <= 0:
			b.WriteRune(sparks[0])
		default:
			b.WriteRune(sparks[int(math.Round(v/top*float64(len(sparks)-1)))])
		}
	}
	return b.String()
}
