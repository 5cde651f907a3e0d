package digest

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"kasoku/internal/lazyregexp"
)

var (
	psqlLine = regexp.MustCompile(`(?m)^-+(\+-+)+\r?$`)
	psqlEnd  = lazyregexp.New(`^\(\d+ rows?\)$`)
)

// psqlNames reads the names above a line of "----+-----".
func psqlNames(text []byte) []string {
	at := psqlLine.FindIndex(text)
	if at == nil || at[0] > 4096 {
		return nil
	}
	above := bytes.TrimRight(text[:at[0]], "\r\n")
	names := strings.Split(string(above[bytes.LastIndexByte(above, '\n')+1:]), "|")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// psqlTable reads psql's aligned table (PostgreSQL manual, "psql", \pset format).
type psqlTable struct {
	each  func([]string, int64) error
	edges []int
	cells []string // of the row that may go on, as they are written
	row   []string
	from  int64
	last  string // the line above
	ended bool
}

// psqlRows reads it. A "+" at a value's right margin says that it goes on in the
// next line.
func psqlRows(r io.Reader, each func([]string, int64) error) error {
	t := psqlTable{each: each}
	if err := textLines(r, t.line); err != nil {
		return err
	}
	return t.flush()
}

func (t *psqlTable) line(s string, n int64) error {
	s = strings.TrimRight(s, "\r")
	switch {
	case t.ended:
		return nil
	case t.edges == nil:
		if !psqlLine.MatchString(s) {
			t.last = s
			return nil
		}
		for i, c := range s {
			if c == '+' {
				t.edges = append(t.edges, i)
			}
		}
		return t.each(psqlNames([]byte(t.last+"\n"+s)), n-1)
	case psqlEnd.MatchString(s):
		t.ended = true
		return nil
	case strings.TrimSpace(s) == "":
		return nil
	}
	cells := t.split(s)
	if cells != nil && t.goesOn(cells) {
		for i, cell := range cells {
			if strings.HasSuffix(t.cells[i], "+") {
				t.row[i] = strings.TrimRight(strings.TrimSuffix(t.row[i], "+"), " ") + "\n" + strings.TrimSpace(cell)
			}
		}
		t.cells = cells
		return nil
	}
	if err := t.flush(); err != nil {
		return err
	}
	if cells == nil {
		return t.each(nil, n)
	}
	t.cells, t.from = cells, n
	for _, cell := range cells {
		t.row = append(t.row, strings.TrimSpace(cell))
	}
	return nil
}

// split cuts a line at the edges; nil if it has none there, as after characters
// that are wider than one column.
func (t *psqlTable) split(s string) []string {
	chars := []rune(s)
	var cells []string
	from := 0
	for _, at := range t.edges {
		if at >= len(chars) || chars[at] != '|' {
			return nil
		}
		cells = append(cells, string(chars[from:at]))
		from = at + 1
	}
	return append(cells, string(chars[from:]))
}

// goesOn: the line continues the one above: other values are blank.
func (t *psqlTable) goesOn(cells []string) bool {
	some := false
	for i, cell := range cells {
		switch {
		case i < len(t.cells) && strings.HasSuffix(t.cells[i], "+"):
			some = true
		case strings.TrimSpace(cell) != "":
			return false
		}
	}
	return some
}

func (t *psqlTable) flush() error {
	row := t.row
	t.cells, t.row = nil, nil
	if row == nil {
		return nil
	}
	return t.each(row, t.from)
}
