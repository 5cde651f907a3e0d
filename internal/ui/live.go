package ui

import (
	"fmt"
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

// Control sequences: erase to the end of the line and of the screen (ECMA-48,
// 8.3.41 and 8.3.39), and what keeps a terminal that takes a character for wider
// than we do from wrapping (DEC private mode 7, DECAWM).
const (
	eraseLine = "\x1b[K"
	eraseRest = "\x1b[J"
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// Draws reports whether Show draws: lines can be rewritten, and are wanted.
func (u *UI) Draws() bool {
	return u.opts.TTY && !u.opts.Quiet && os.Getenv("TERM") != "dumb"
}

// Columns that a line of Show may have: the terminal's (80 where it does not
// tell) without the margin and the last one; 0: Show does not draw.
func (u *UI) Columns() int {
	if !u.Draws() {
		return 0
	}
	columns, _ := u.size()
	return max(1, columns-1-len(margin))
}

// margin of messages and blocks.
const margin = "   "

// Show draws lines, at most eight, in place of those it drew before. Messages
// appear above them; Clear and Error take them away. Where nothing can be
// rewritten (no terminal, TERM=dumb) it prints plain instead, at most once a second.
func (u *UI) Show(lines []string, plain string) {
	if u.opts.Quiet {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if !u.Draws() {
		if u.lastLine.IsZero() || now.Sub(u.lastLine) >= plainBlockEvery {
			u.lastLine = now
			fmt.Fprintln(u.out, margin+strings.TrimRight(oneLine(plain), " "))
		}
		return
	}
	u.block = nil
	for _, line := range lines[:min(len(lines), maxBlock)] {
		u.block = append(u.block, oneLine(line))
	}
	if len(u.drawn) > 0 && now.Sub(u.lastLine) < blockEvery {
		return
	}
	u.lastLine = now
	fmt.Fprint(u.out, u.redraw())
}

func oneLine(text string) string { return strings.ReplaceAll(Clean(text), "\n", " ") }

// redraw is what draws the block over the one that stands. The cursor ends on
// the empty line below it: there the terminal's echo of Ctrl-C, and the shell if
// we are killed, harm nothing.
func (u *UI) redraw() string {
	if len(u.block) == 0 {
		return ""
	}
	columns, rows := u.size()
	var b strings.Builder
	b.WriteString(u.home() + wrapOff)
	u.drawn, u.line = u.drawn[:0], false
	for _, line := range u.block[:min(len(u.block), max(1, rows-2), rows-1)] {
		// The last column stays free: some terminals wrap when it is filled.
		line = strings.TrimRight(Truncate(margin+line, columns-1), " ")
		b.WriteString(line + eraseLine + "\n")
		u.drawn = append(u.drawn, Width(line))
	}
	if len(u.drawn) > 0 {
		b.WriteString(eraseRest)
	}
	b.WriteString(wrapOn)
	return b.String()
}

// home moves to the begin of what stands (ECMA-48, 8.3.22: cursor up).
func (u *UI) home() string {
	up := u.standing()
	switch {
	case up > 0:
		return fmt.Sprintf("\r%s\x1b[%dA", eraseLine, up)
	case u.line:
		return "\r" + eraseLine
	}
	return ""
}

// standing is how many rows the block takes. A terminal that was made narrower
// since has wrapped the longer lines.
func (u *UI) standing() int {
	columns, _ := u.size()
	n := 0
	for _, width := range u.drawn {
		n += max(1, (width+columns-1)/columns)
	}
	return n
}

// away takes the block or the progress line off the terminal.
func (u *UI) away() string {
	home := u.home()
	if rows := u.standing(); rows > 0 {
		// Line by line: tmux keeps what is erased at once from the top of the
		// screen in its history (scroll-on-clear).
		home += strings.Repeat(eraseLine+"\n", rows) + fmt.Sprintf("\x1b[%dA", rows)
	}
	u.drawn, u.line = nil, false
	return home
}
