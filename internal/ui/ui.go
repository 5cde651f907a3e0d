// Package ui is what a person or a script sees of Kasoku on a terminal:
// messages, the progress line, tables, numbers, hints and exit codes.
//
// Rules
//   - Results go to the first writer, or as JSON to standard output; warnings
//     and errors go to the second. A pipe never receives a control sequence.
//   - Say what happened, to which object, and what to do. A problem without
//     a hint is a problem half told.
//   - Colour repeats what the words say and never replaces them. NO_COLOR,
//     --no-color and TERM=dumb turn it off. No emoji, no spinners.
//   - Only the progress line and the block of Show are ever rewritten, and only
//     on a terminal. Elsewhere they become an occasional plain line.
//   - Text that came from a target (an answer's body, an error message) cannot
//     steer the terminal: control characters are printed as escapes.
//   - Numbers have three significant digits and a unit.
package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options of New.
type Options struct {
	// JSON: Error prints one JSON object on a line of its own.
	JSON bool
	// Quiet leaves out steps, information and progress. Warnings and errors
	// are always printed.
	Quiet bool
	// NoColor turns colour off, like NO_COLOR in the environment.
	NoColor bool
	// TTY says that the first writer is a terminal.
	TTY bool
	// Size tells the terminal's; nil: the first writer is asked.
	Size func() (columns, rows int)
}

// UI writes messages. Its methods may be called from several goroutines.
type UI struct {
	out, err io.Writer
	opts     Options
	colorOut bool
	colorErr bool
	now      func() time.Time

	mu       sync.Mutex
	line     bool      // a progress line stands on the terminal
	block    []string  // of Show, until it is cleared
	drawn    []int     // columns of its lines that stand on the terminal
	lastLine time.Time // when something was drawn, or a plain progress line printed
}

// plainEvery is the time between two progress lines where lines cannot be
// rewritten: often enough to see life in a log, rare enough to read it.
const plainEvery = 10 * time.Second

// New returns a UI that writes messages to out, warnings and errors to err.
func New(out, err io.Writer, o Options) *UI {
	color := !o.NoColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &UI{out: out, err: err, opts: o, now: time.Now,
		colorOut: color && o.TTY, colorErr: color && o.TTY && sameKind(err)}
}

// sameKind reports whether the error writer may be coloured like a terminal:
// a file that is none may not.
func sameKind(w io.Writer) bool {
	f, ok := w.(*os.File)
	return !ok || columns(f) > 0
}

// Columns of the terminal w, 0 if it is none.
func Columns(w io.Writer) int { return columns(w) }

func columns(w io.Writer) int {
	columns, _ := winsize(w)
	return columns
}

func winsize(w io.Writer) (columns, rows int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// size of the terminal; 80 by 24, as it ever was, where it does not tell.
func (u *UI) size() (columns, rows int) {
	if u.opts.Size != nil {
		columns, rows = u.opts.Size()
	} else {
		columns, rows = winsize(u.out)
	}
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	return columns, rows
}

// SGR parameters (ECMA-48, 8.3.117).
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	yellow = "33"
)

func paint(on bool, style, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Step announces the next part of the work.
func (u *UI) Step(title string) {
	if u.opts.Quiet {
		return
	}
	u.print(u.out, paint(u.colorOut, bold, "== "+u.hang(u.out, title, 3)))
}

// Info tells a fact about the step under way.
func (u *UI) Info(text string) {
	if u.opts.Quiet {
		return
	}
	u.print(u.out, margin+u.hang(u.out, text, len(margin)))
}

// Warn tells a problem that does not end the work, and what to do ("" = nothing).
func (u *UI) Warn(problem, hint string) {
	u.print(u.err, paint(u.colorErr, yellow, "warning:")+" "+u.hang(u.err, problem, len("warning: "))+u.hint(hint))
}

// Error prints an error with its hint. With JSON it is one line
// {"error":…,"hint":…,"exit_code":…}.
func (u *UI) Error(err error) {
	if err == nil {
		return
	}
	u.Clear()
	hint := Hint(err)
	if u.opts.JSON {
		line, merr := json.Marshal(struct {
			Error    string `json:"error"`
			Hint     string `json:"hint,omitempty"`
			ExitCode int    `json:"exit_code"`
		}{err.Error(), hint, Code(err)})
		if merr == nil {
			u.print(u.err, string(line))
			return
		}
	}
	u.print(u.err, paint(u.colorErr, red, "error:")+" "+indent("       ", Clean(err.Error()))[7:]+u.hint(hint))
}

func (u *UI) hint(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + paint(u.colorErr, dim, indent("  ", "try: "+Clean(text)))
}

// Progress shows what goes on. On a terminal the line replaces the one before;
// elsewhere a line is printed every ten seconds at most.
func (u *UI) Progress(text string) {
	if u.opts.Quiet {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	line := strings.ReplaceAll(Clean(text), "\n", " ")
	if u.Draws() {
		columns, _ := u.size()
		u.block = nil
		// The last column stays free: some terminals wrap when it is filled.
		away := u.away()
		fmt.Fprint(u.out, cmp.Or(away, "\r"+eraseLine)+Truncate(margin+line, columns-1))
		u.line = true
		return
	}
	if now := u.now(); u.lastLine.IsZero() || now.Sub(u.lastLine) >= plainEvery {
		u.lastLine = now
		fmt.Fprintln(u.out, margin+strings.TrimRight(line, " "))
	}
}

// Clear takes the progress line and the block of Show away.
func (u *UI) Clear() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.block = nil
	fmt.Fprint(u.out, u.away())
}

// print puts a line above the block that stands.
func (u *UI) print(w io.Writer, line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if w == u.out {
		fmt.Fprint(w, u.away()+line+"\n"+u.redraw())
		return
	}
	fmt.Fprint(u.out, u.away())
	fmt.Fprintln(w, line)
	fmt.Fprint(u.out, u.redraw())
}

// indent puts prefix before every line.
func indent(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}

// hang indents all lines of a message but the first. Where it is read on a
// terminal they are broken between words; errors and hints are not, because what
// they name may be copied.
func (u *UI) hang(w io.Writer, text string, by int) string {
	text = Clean(text)
	if u.Draws() && sameKind(w) {
		columns, _ := u.size()
		text = wrap(text, columns-1-by)
	}
	return indent(strings.Repeat(" ", by), text)[by:]
}

// wrap breaks lines between words so that they have at most width columns. A
// longer word stays whole: the terminal breaks it.
func wrap(text string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		used := 0
		for k, word := range strings.Split(line, " ") {
			n := Width(word)
			switch {
			case k == 0:
			case used+1+n > width && used > 0:
				b.WriteByte('\n')
				used = 0
			default:
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += n
		}
	}
	return b.String()
}
