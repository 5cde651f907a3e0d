package envelope

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Named: the first row names the columns.
func (t *Table) Named() bool { return t.keys != nil }

// Rows calls each for the table's rows: as objects of JSON with the columns'
// names as keys, or, where there are none, as lines of words and texts in quotes.
// A row that is not the table's comes as it is; of one longer than 1 MiB the
// begin. Names that come again, as of files that were joined, are left out.
//
// Errors: each's and r's.
func (t *Table) Rows(r io.Reader, each func(row []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	first := true
	for {
		row, err := t.row(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if first {
			row, first = bytes.TrimPrefix(row, []byte("\xef\xbb\xbf")), false
		}
		if len(row) > 0 {
			if record := t.record(row); record != nil {
				if err := each(record); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return nil
		}
	}
}

// row reads one; line ends within quotes are of it, if the quote ends within a
// few lines.
func (t *Table) row(in *bufio.Reader) ([]byte, error) {
	var row []byte
	for n := 0; ; n++ {
		part, err := readLine(in, longestRow-len(row))
		row = append(row, part...)
		if err != nil || t.keys == nil || bytes.Count(row, []byte(`"`))%2 == 0 || n >= mostRowLines || len(row) >= longestRow {
			return bytes.TrimRight(row, "\r\n"), err
		}
	}
}

// mostRowLines that a value's text has: a message with a stack, say.
const mostRowLines = 200

// readLine reads to the line's end, and keeps at most n bytes of it.
func readLine(in *bufio.Reader, n int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), max(n-len(line), 0))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// record of a row; nil: it names the columns.
func (t *Table) record(row []byte) []byte {
	values, ok := split(row, t.sep)
	if !ok || t.keys != nil && len(values) != len(t.keys) {
		return row
	}
	if t.keys == nil {
		return words(values)
	}
	if t.names(values) {
		return nil
	}
	return t.object(values)
}

func (t *Table) names(values [][]byte) bool {
	for i, v := range values {
		if keyOf(string(v)) != t.keys[i] {
			return false
		}
	}
	return true
}

// object of a row's values; a column "time" behind "date" is of that day.
func (t *Table) object(values [][]byte) []byte {
	out := []byte("{")
	var date []byte
	for i, v := range values {
		key := t.keys[i]
		switch {
		case key == "":
			continue
		case strings.EqualFold(key, "date") && t.has("time"):
			date = v
			continue
		case strings.EqualFold(key, "time") && len(date) > 0:
			v = append(append(bytes.Clone(date), ' '), v...)
		case t.sep == ',' && thousands(v):
			v = bytes.ReplaceAll(v, []byte(","), nil)
		}
		text, err := json.Marshal(string(v))
		if err != nil {
			continue
		}
		name, err := json.Marshal(key)
		if err != nil {
			continue
		}
		out = append(append(append(append(out, name...), ':'), text...), ',')
	}
	if len(out) > 1 {
		out = out[:len(out)-1]
	}
	return append(out, '}')
}

// thousands: 12,500,000. In a table whose values a comma divides, it is not a
// decimal one.
func thousands(v []byte) bool {
	head, rest, ok := bytes.Cut(v, []byte(","))
	if !ok || len(head) == 0 || len(head) > 3 || !digits(head) {
		return false
	}
	for ok {
		head, rest, ok = bytes.Cut(rest, []byte(","))
		if len(head) != 3 || !digits(head) {
			return false
		}
	}
	return true
}

func digits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
}

func (t *Table) has(key string) bool {
	for _, k := range t.keys {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// words writes values as a line has them: a text with blanks in quotes, nothing
// as a dash.
func words(values [][]byte) []byte {
	var out []byte
	for i, v := range values {
		if i > 0 {
			out = append(out, ' ')
		}
		switch {
		case len(v) == 0:
			out = append(out, '-')
		case bytes.ContainsAny(v, " \"\t\n"):
			out = append(out, '"')
			for _, c := range v {
				switch c {
				case '"', '\\':
					out = append(out, '\\', c)
				case '\n', '\r':
					out = append(out, ' ')
				default:
					out = append(out, c)
				}
			}
			out = append(out, '"')
		default:
			out = append(out, v...)
		}
	}
	return out
}
