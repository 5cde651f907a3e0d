package ui

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints a header and rows in aligned columns, two spaces apart, also
// with wide characters. A column whose cells are all numbers (with a unit or
// not, and no sentence behind) is aligned to the right. Missing cells are empty, surplus ones are left
// out; line breaks within a cell become spaces. Without rows nothing is printed.
func Table(w io.Writer, head []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	all := [][]string{cleanRow(head, len(head))}
	for _, r := range rows {
		all = append(all, cleanRow(r, len(head)))
	}
	widths, right := make([]int, len(head)), make([]bool, len(head))
	for i := range head {
		right[i] = numeric(all[1:], i)
		for _, r := range all {
			widths[i] = max(widths[i], Width(r[i]))
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
			if right[i] {
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

func cleanRow(cells []string, n int) []string {
	out := make([]string, n)
	for i := range min(n, len(cells)) {
		out[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(Clean(cells[i]))
	}
	return out
}

// widestNumber is the width of a number with its unit and what goes with it, such as
// "1,055 (interval 1,001 or more)"; what is longer is a sentence.
const widestNumber = 32

// numeric reports whether every cell of a column is empty, a dash or begins
// like a number, and at least one is a number.
func numeric(rows [][]string, column int) bool {
	found := false
	for _, r := range rows {
		c := strings.TrimLeft(r[column], "+-−×≤<")
		first, _ := utf8.DecodeRuneInString(c)
		switch {
		case c == "" || c == "–" || c == Unknown:
		case first >= '0' && first <= '9' && Width(c) <= widestNumber:
			found = true
		default:
			return false
		}
	}
	return found
}
