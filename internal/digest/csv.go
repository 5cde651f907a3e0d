package digest

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kasoku/internal/ui"
)

// writeCSV writes a head and all rows (RFC 4180, lines end with LF).
func writeCSV[R any](w io.Writer, columns []column[R], rows []R) error {
	out := csv.NewWriter(w)
	var head []string
	for _, c := range columns {
		if c.exact != nil {
			head = append(head, c.name)
		}
	}
	if err := out.Write(head); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range rows {
		line := make([]string, 0, len(head))
		for _, c := range columns {
			if c.exact == nil {
				continue
			}
			cell := c.exact(&rows[i])
			if c.text {
				cell = harmless(cell)
			}
			line = append(line, cell)
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// harmless keeps a spreadsheet from running text of a log as a formula: what
// begins like one gets an apostrophe before it (OWASP, "CSV Injection").
func harmless(s string) string {
	s = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(ui.Clean(s))
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " ")); strings.ContainsRune("=+-@|%＝＋－＠", first) {
		return "'" + s
	}
	return s
}
