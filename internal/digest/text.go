package digest

import (
	"fmt"
	"io"

	"kasoku/internal/ui"
)

// WriteText writes a view for a terminal: facts, warnings, the table. The last
// column is cut so that lines keep within width columns; 0: they are not cut.
func WriteText(w io.Writer, v View, width int) error {
	for _, t := range v.Top {
		if _, err := fmt.Fprintln(w, oneLine(t)); err != nil {
			return err
		}
	}
	longest := 0
	for _, f := range v.Facts {
		longest = max(longest, ui.Width(f.Name))
	}
	for _, f := range v.Facts {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", longest, f.Name, oneLine(f.Text)); err != nil {
			return err
		}
	}
	for _, warning := range v.Warnings {
		if _, err := fmt.Fprintf(w, "warning: %s\n", oneLine(warning)); err != nil {
			return err
		}
	}
	if len(v.Rows) == 0 {
		return nil
	}
	var heads []string
	for _, h := range v.Head {
		heads = append(heads, h.Name)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := ui.Table(w, heads, fitted(v, width)); err != nil {
		return err
	}
	if v.More != "" {
		if _, err := fmt.Fprintln(w, v.More); err != nil {
			return err
		}
	}
	for _, s := range v.Sections {
		if _, err := fmt.Fprintf(w, "\n%s\n", oneLine(s.Title)); err != nil {
			return err
		}
		var heads []string
		for _, h := range s.Head {
			heads = append(heads, h.Name)
		}
		if err := ui.Table(w, heads, fitted(View{Head: s.Head, Rows: s.Rows}, 0)); err != nil {
			return err
		}
	}
	return nil
}

// leastLast columns of the last cell are always shown: less tells nothing.
const leastLast = 30

// fitted cuts the last cells.
func fitted(v View, width int) [][]string {
	last := len(v.Head) - 1
	used := 0
	for i := range last {
		column := ui.Width(v.Head[i].Name)
		for _, r := range v.Rows {
			column = max(column, ui.Width(ui.Clean(r.Cells[i])))
		}
		used += column + 2
	}
	var out [][]string
	for _, r := range v.Rows {
		cells := append([]string(nil), r.Cells...)
		if width > 0 {
			cells[last] = ui.Truncate(ui.Clean(cells[last]), max(width-used, leastLast))
		}
		out = append(out, cells)
	}
	return out
}
