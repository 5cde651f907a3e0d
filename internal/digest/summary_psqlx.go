package digest

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
)

// psqlRecord begins a row of psql's expanded table (\x).
var psqlRecord = regexp.MustCompile(`^-\[ RECORD \d+ \][-+]*$`)

// psqlExpandedNames are the names of the first row; nil if it is no such table.
func psqlExpandedNames(text []byte) []string {
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	if !psqlRecord.Match(bytes.TrimRight(first, "\r")) {
		return nil
	}
	var names []string
	_ = psqlExpandedRows(bytes.NewReader(text), func(f []string, _ int64) error {
		names = f
		return io.EOF
	})
	return names
}

// psqlExpandedRows reads "name | value" lines. Behind a value that goes on stands a
// "+", and the next line has no name.
func psqlExpandedRows(r io.Reader, each func([]string, int64) error) error {
	var head, names, values []string
	from, goesOn := int64(0), false
	end := func() error {
		if from == 0 {
			return nil
		}
		if head == nil {
			head = names
			if err := each(head, from); err != nil {
				return err
			}
		}
		row := values
		if !slices.Equal(names, head) {
			row = nil // cut
		}
		names, values, goesOn = nil, nil, false
		return each(row, from)
	}
	err := textLines(r, func(line string, n int64) error {
		line = strings.TrimRight(line, "\r")
		if psqlRecord.MatchString(line) {
			err := end()
			from = n
			return err
		}
		name, value, ok := strings.Cut(line, "|")
		if from == 0 || !ok {
			return nil
		}
		name = strings.TrimSpace(name)
		last := len(values) - 1
		switch {
		case name == "" && goesOn:
			values[last] = strings.TrimRight(strings.TrimSuffix(values[last], "+"), " ") + "\n" + strings.TrimSpace(value)
		case name == "":
			return nil
		default:
			names, values = append(names, name), append(values, strings.TrimSpace(value))
		}
		goesOn = strings.HasSuffix(value, "+")
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}
