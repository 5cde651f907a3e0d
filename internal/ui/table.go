package ui

import (
	"io"
	"strings"
)

// Table aligns cells in columns, also those with wide characters.
type Table struct {
	header []string
	right  []bool
	limit  []int
	rows   [][]string
}

// NewTable returns a table. A header that begins with ">" marks a column that
// is aligned to the right (numbers); the mark itself is not printed.
func NewTable(header ...string) *Table {
	t := &Table{limit: make([]int, len(header))}
	for _, h := range header {
		name, right := strings.CutPrefix(h, ">")
		t.header, t.right = append(t.header, name), append(t.right, right)
	}
	return t
}

// Limit cuts the cells of a column (from 0) to a number of terminal columns.
func (t *Table) Limit(column, width int) *Table {
	t.limit[column] = width
	return t
}

// Row adds a row. Missing cells are empty, surplus ones are left out.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.header))
	for i := range row {
		if i < len(cells) {
			row[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(Clean(cells[i]))
			if t.limit[i] > 0 {
				row[i] = Truncate(row[i], t.limit[i])
			}
		}
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write prints header and rows, columns two spaces apart.
func (t *Table) Write(w io.Writer) error {
	widths := make([]int, len(t.header))
	all := append([][]string{t.header}, t.rows...)
	for _, row := range all {
		for i, c := range row {
			widths[i] = max(widths[i], Width(c))
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, c := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-Width(c))
			if t.right[i] {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
