package digest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"kasoku/internal/lazyregexp"
	"kasoku/internal/sqllog"
)

// summaryForm is a way in which a table is written.
type summaryForm struct {
	name string
	// head returns the names of the columns; nil if it is not this form.
	head func(text []byte) []string
	// rows calls each for the columns' names, then for every row.
	rows func(r io.Reader, each func(record []string, line int64) error) error
}

var summaryForms = []summaryForm{
	{"JSON", jsonNames, jsonRows},
	{"one column a line", verticalNames, verticalRows},
	{"borders", borderNames, borderRows},
	{"aligned", psqlNames, psqlRows},
	{"expanded", psqlExpandedNames, psqlExpandedRows},
	{"tabs", func(b []byte) []string { return lineNames(b, '\t') }, tabRows},
	{"CSV", func(b []byte) []string { return lineNames(b, ',') }, func(r io.Reader, each func([]string, int64) error) error { return sqllog.CSVRecords(r, ',', each) }},
	{"CSV with semicolons", func(b []byte) []string { return lineNames(b, ';') }, func(r io.Reader, each func([]string, int64) error) error { return sqllog.CSVRecords(r, ';', each) }},
}

// isTable: the names are those of a table that is read.
func isTable(names []string) bool { return tableOf(names) != nil || runTableOf(names) != nil }

// formOf tells how a table is written; nil if the text is none.
func formOf(head []byte) *summaryForm {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if !hasText(bytes.ToLower(head), "count_star", "exec_count", "calls", "sql_text", "command_type") {
		return nil
	}
	for i := range summaryForms {
		names := summaryForms[i].head(head)
		if len(names) > 1 && isTable(names) {
			return &summaryForms[i]
		}
	}
	return nil
}

func isSummary(head []byte) bool { return formOf(head) != nil }

// summaryRows reads a table in whatever form it is written.
func summaryRows(r io.Reader, each func(record []string, line int64) error) error {
	br := bufio.NewReaderSize(r, peekSize)
	head, err := br.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	form := formOf(head)
	if form == nil {
		return errors.New("it holds no table of statements")
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		if _, err := br.Discard(3); err != nil {
			return err
		}
	}
	return form.rows(br, each)
}

// lineNames splits a first line.
func lineNames(text []byte, comma byte) []string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	names := strings.Split(string(bytes.TrimRight(line, "\r")), string(comma))
	for i := range names {
		names[i] = strings.Trim(names[i], `"`)
	}
	return names
}

// textLines calls each for every line, cut where it is very long.
func textLines(r io.Reader, each func(line string, n int64) error) error {
	br := bufio.NewReaderSize(r, 4*sqllog.MaxStatement)
	for n := int64(1); ; n++ {
		line, err := br.ReadSlice('\n')
		text := string(bytes.TrimRight(line, "\r\n"))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err := each(text, n); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// tabRows reads what "mysql -B" writes (MySQL manual, "mysql Client Options",
// --batch: newline, tab, NUL and backslash are escaped).
func tabRows(r io.Reader, each func([]string, int64) error) error {
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\0`, "\x00")
	return textLines(r, func(line string, n int64) error {
		f := strings.Split(line, "\t")
		for i := range f {
			f[i] = unescape.Replace(f[i])
		}
		return each(f, n)
	})
}

var borderLine = regexp.MustCompile(`(?m)^\+(-+\+)+\r?$`)

// borderNames reads "| a | b |" after a line of "+---+---+".
func borderNames(text []byte) []string {
	at := borderLine.FindIndex(text)
	if at == nil || at[0] > 4096 {
		return nil
	}
	var names []string
	_ = borderRows(bytes.NewReader(text[at[0]:]), func(f []string, _ int64) error {
		names = f
		return io.EOF
	})
	return names
}

// borderRows reads what "mysql -t" writes. A value that holds a newline spoils
// its row.
func borderRows(r io.Reader, each func([]string, int64) error) error {
	var edges []int
	return textLines(r, func(line string, n int64) error {
		line = strings.TrimRight(line, " \r")
		if borderLine.MatchString(line) {
			edges = edges[:0]
			for i, c := range line {
				if c == '+' {
					edges = append(edges, i)
				}
			}
			return nil
		}
		if edges == nil || line == "" || regexpRowsInSet.MatchString(line) {
			return nil
		}
		chars := []rune(line)
		var f []string
		for i := 0; i+1 < len(edges); i++ {
			if edges[i+1] >= len(chars) || chars[edges[i]] != '|' || chars[edges[i+1]] != '|' {
				f = nil
				break
			}
			f = append(f, strings.TrimSpace(string(chars[edges[i]+1:edges[i+1]])))
		}
		return each(f, n)
	})
}

// regexpRowsInSet is the client's last line.
var regexpRowsInSet = lazyregexp.New(`^(\d+ rows? in set|Empty set|mysql>|MariaDB )`)

var (
	verticalRow  = regexp.MustCompile(`^\*{10,} (\d+)\. row \*{10,}$`)
	verticalName = regexp.MustCompile(`^ *([^:\s][^:]*): ?(.*)$`)
)

func verticalNames(text []byte) []string {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if !verticalRow.Match(bytes.TrimRight(first, "\r")) {
		return nil
	}
	var names []string
	_ = verticalRows(bytes.NewReader(text), func(f []string, _ int64) error {
		names = f
		return io.EOF
	})
	return names
}

// verticalRows reads what \G shows: the names stand to the right, so a line of a
// value has its colon elsewhere, or is no name that the row does not have yet.
func verticalRows(r io.Reader, each func([]string, int64) error) error {
	var names, values []string
	var known map[string]int
	colon, from, headed := -1, int64(0), false
	end := func() error {
		if len(values) == 0 {
			return nil
		}
		if !headed {
			headed = true
			known = map[string]int{}
			for i, n := range names {
				known[n] = i
			}
			if err := each(names, from); err != nil {
				return err
			}
		}
		v := values
		values = nil
		return each(v, from)
	}
	err := textLines(r, func(line string, n int64) error {
		if verticalRow.MatchString(line) {
			err := end()
			colon, from = -1, n
			return err
		}
		if from == 0 || regexpRowsInSet.MatchString(line) {
			return nil
		}
		g := verticalName.FindStringSubmatchIndex(line)
		if g != nil && (colon < 0 || g[3] == colon) {
			name := line[g[2]:g[3]]
			i, ok := known[name]
			if !headed || ok && i == len(values) {
				colon = g[3]
				if !headed {
					names = append(names, name)
				}
				values = append(values, line[g[4]:g[5]])
				return nil
			}
		}
		if k := len(values); k > 0 && len(values[k-1]) < sqllog.MaxStatement {
			values[k-1] += "\n" + line
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// jsonNames are the keys of the first object that has a statement's text.
func jsonNames(text []byte) []string {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	var names []string
	_ = jsonRows(bytes.NewReader(text), func(f []string, _ int64) error {
		names = f
		return io.EOF
	})
	return names
}

// jsonRows reads objects, one a row, wherever they stand: in a list, one a line,
// as MySQL Shell writes them. The first one's keys are the columns.
func jsonRows(r io.Reader, each func([]string, int64) error) error {
	guard := &valueGuard{r: r}
	d := json.NewDecoder(guard)
	guard.offset = d.InputOffset
	d.UseNumber()
	var names []string
	n := int64(0)
	row := func(keys []string, of map[string]string) error {
		if names == nil {
			if !isTable(keys) {
				return nil
			}
			names = keys
			if err := each(names, 1); err != nil {
				return err
			}
		}
		n++
		f := make([]string, len(names))
		for i, name := range names {
			f[i] = of[name]
		}
		return each(f, n)
	}
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = jsonValue(d, t, 0, row)
		}
		if err != nil {
			return err
		}
	}
}

// jsonValue goes through a value; a plain one is returned as text.
func jsonValue(d *json.Decoder, t json.Token, depth int, row func([]string, map[string]string) error) (string, error) {
	if depth > mostNested {
		return "", errNested
	}
	switch t {
	case nil:
		return "NULL", nil
	case json.Delim('['):
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return "", err
			}
			if _, err := jsonValue(d, t, depth+1, row); err != nil {
				return "", err
			}
		}
		_, err := d.Token()
		return "", err
	case json.Delim('{'):
		var keys []string
		of := map[string]string{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return "", err
			}
			t, err := d.Token()
			if err != nil {
				return "", err
			}
			v, err := jsonValue(d, t, depth+1, row)
			if err != nil {
				return "", err
			}
			keys = append(keys, fmt.Sprint(k))
			of[fmt.Sprint(k)] = v
		}
		if _, err := d.Token(); err != nil {
			return "", err
		}
		return "", row(keys, of)
	}
	return fmt.Sprint(t), nil
}
