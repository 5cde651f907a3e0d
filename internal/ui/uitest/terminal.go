// Package uitest is a terminal for tests: it shows what somebody would see.
package uitest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Terminal understands what internal/ui sends and nothing else: text, CR, LF,
// cursor up, erase, wrapping off and on, colours. A sequence that it does not
// know, a cursor that would leave the screen, and what a terminal that is in wide
// use shows otherwise, are errors of Write. Made
// narrower or wider it wraps anew, as most terminals do.
type Terminal struct {
	columns, height int
	rows            []row // with those that have scrolled away
	at, col         int   // the cursor
	wraps           bool
}

// row of cells; a wide character's second cell is "".
type row struct {
	cells []string
	wraps bool // the next one goes on with it
}

// New returns an empty terminal.
func New(columns, height int) *Terminal {
	return &Terminal{columns: columns, height: height, rows: []row{{}}, wraps: true}
}

// Size of it.
func (t *Terminal) Size() (columns, rows int) { return t.columns, t.height }

var sequence = regexp.MustCompile(`^\x1b\[(\??)([0-9;]*)([A-Za-z])`)

// Write shows p. A sequence must not be split between two calls.
func (t *Terminal) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		switch c := text[0]; {
		case c == '\r':
			t.col, text = 0, text[1:]
		case c == '\n': // the terminal's driver adds CR (termios(3), ONLCR)
			t.col, text = 0, text[1:]
			t.down()
		case c == 0x1b:
			m := sequence.FindStringSubmatch(text)
			if m == nil {
				return 0, fmt.Errorf("unknown sequence in %q", text)
			}
			text = text[len(m[0]):]
			if err := t.control(m[1]+m[3], m[2]); err != nil {
				return 0, err
			}
		default:
			end := strings.IndexAny(text, "\r\n\x1b")
			if end < 0 {
				end = len(text)
			}
			t.print(text[:end])
			text = text[end:]
		}
	}
	return len(p), nil
}

func (t *Terminal) control(final, parameter string) error {
	n, _ := strconv.Atoi(parameter) // none is 0
	switch final + parameter {
	case "?l7", "?h7":
		t.wraps = final == "?h"
		return nil
	}
	switch final {
	case "m":
	case "K":
		t.cut()
	case "J":
		if t.at == max(0, len(t.rows)-t.height) && t.col == 0 {
			return errors.New("erased from the top of the screen: tmux keeps that in its history")
		}
		t.cut()
		t.rows = t.rows[:t.at+1]
	case "A":
		if t.at -= n; t.at < max(0, len(t.rows)-t.height) {
			return fmt.Errorf("%d up leaves the screen", n)
		}
	default:
		return fmt.Errorf("unknown sequence %q with %q", final, parameter)
	}
	return nil
}

// cut erases from the cursor to the end of the line.
func (t *Terminal) cut() {
	r := &t.rows[t.at]
	r.cells, r.wraps = r.cells[:min(t.col, len(r.cells))], false
}

func (t *Terminal) down() {
	if t.at++; t.at == len(t.rows) {
		t.rows = append(t.rows, row{})
	}
}

func (t *Terminal) print(text string) {
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		width := g.Width()
		if n := strings.Count(g.Value(), "\uff9e") + strings.Count(g.Value(), "\uff9f"); width == 1 && len(g.Value()) > 3 {
			width += n // voice marks of halfwidth katakana have a cell of their own
		}
		if t.col+width > t.columns {
			if !t.wraps {
				t.col = t.columns - width
			} else {
				t.rows[t.at].wraps = true
				t.down()
				t.col = 0
			}
		}
		cells := &t.rows[t.at].cells
		for len(*cells) < t.col+width {
			*cells = append(*cells, " ")
		}
		for i := range width {
			(*cells)[t.col+i] = ""
		}
		if width > 0 {
			(*cells)[t.col] = g.Value()
		}
		t.col += width
	}
}

// Resize wraps every line anew. The cursor stays in its line.
func (t *Terminal) Resize(columns, height int) {
	var rows []row
	at := 0
	for i := 0; i < len(t.rows); i++ {
		var cells []string
		begin := len(rows)
		for ; ; i++ {
			cells = append(cells, t.rows[i].cells...)
			if t.at == i {
				at = begin // moved on below if the cursor is further right
			}
			if !t.rows[i].wraps || i == len(t.rows)-1 {
				break
			}
		}
		for len(cells) > columns {
			n := columns
			if cells[n] == "" { // a wide character stays whole
				n--
			}
			rows = append(rows, row{cells: cells[:n:n], wraps: true})
			cells = cells[n:]
		}
		rows = append(rows, row{cells: cells})
	}
	t.rows, t.at, t.columns, t.height = rows, at, columns, height
}

// Lines that were written, also those that have scrolled away, without blanks at
// the end of lines and without empty lines at the end.
func (t *Terminal) Lines() []string {
	var out []string
	for _, r := range t.rows {
		out = append(out, strings.TrimRight(strings.Join(r.cells, ""), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// Text is Lines as one text.
func (t *Terminal) Text() string { return strings.Join(t.Lines(), "\n") }
