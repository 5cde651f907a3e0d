package digest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/envelope"
)

// carried is how an access log's entries lie in a file of which a line is no
// entry: JSON over several lines or in lists, or a table.
type carried struct {
	// note says what is counted as a line.
	note string
	each func(r io.Reader, each func(record []byte) error) error
}

// carriedBy tells it by a log's head; nil: its lines are its entries.
func carriedBy(head []byte) *carried {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(byteOrderMark)), "\x00 \t\r\n")
	if len(text) == 0 {
		return nil
	}
	var c *carried
	if text[0] == '{' || text[0] == '[' {
		if !beginsJSON(text) || !isDocument(text) {
			return nil
		}
		c = &carried{"its objects of JSON, which have no line each, are counted as lines", envelope.Records}
	} else if t := envelope.TableOf(text); t != nil {
		c = &carried{"it is read as a table without names: its values are told by their forms", t.Rows}
		if t.Named() {
			c.note = "it is read as a table: its first row names the columns"
		}
	}
	if c == nil {
		return nil
	}
	if _, err := accesslog.Detect(c.lines(text)); err != nil {
		return nil
	}
	return c
}

// beginsJSON: behind the brace or bracket stands what JSON has there.
func beginsJSON(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	return rest[0] == '"' || text[0] == '[' && (rest[0] == '{' || rest[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], " \t\r\n"), []byte("{")))
}

// isDocument: JSON whose lines are no objects by themselves, or such that hold
// lists of entries.
func isDocument(text []byte) bool {
	objects, lines := 0, 0
	outer := false
	for line := range bytes.Lines(text) {
		line = bytes.Trim(line, " \t\r\n,")
		if len(line) == 0 || len(line) == 1 {
			continue
		}
		if lines++; lines > 50 {
			break
		}
		line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("[")), []byte("]"))
		if !json.Valid(line) && oneObject(line) { // as nginx writes it: "upstream_response_time": -
			objects++
			continue
		}
		if !json.Valid(line) || bytes.TrimLeft(line, " \t")[0] != '{' {
			continue
		}
		objects++
		n := 0
		var only []byte
		err := envelope.Records(bytes.NewReader(line), func(r []byte) error {
			n++
			only = bytes.Clone(r)
			return nil
		})
		outer = outer || err == nil && (n != 1 || !sameJSON(only, line))
	}
	return outer || objects*2 < lines || lines == 0
}

// oneObject: the braces outside of strings open with the first byte and close with the last.
func oneObject(line []byte) bool {
	line = bytes.TrimSpace(line)
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i == len(line)-1
			}
		}
		if depth == 0 {
			return false
		}
	}
	return false
}

// sameJSON: the text is the object without its blanks.
func sameJSON(compact, text []byte) bool {
	var b bytes.Buffer
	return json.Compact(&b, text) == nil && bytes.Equal(b.Bytes(), compact)
}

// lines of a head: one an entry. The last one is left out if the head ends in it.
func (c *carried) lines(head []byte) []byte {
	var out bytes.Buffer
	err := c.each(bytes.NewReader(head), func(r []byte) error {
		out.Write(r)
		out.WriteByte('\n')
		return nil
	})
	lines := out.Bytes()
	if err != nil {
		lines = bytes.TrimSuffix(lines, []byte("\n"))
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	}
	return lines
}

// reader gives the entries out, one a line.
func (c *carried) reader(r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	p := &pipedText{PipeReader: out}
	p.done.Go(func() {
		w := bufio.NewWriterSize(in, 64<<10)
		err := c.each(r, func(record []byte) error {
			if _, err := w.Write(record); err != nil {
				return err
			}
			return w.WriteByte('\n')
		})
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // what is there of the last one was given out: it is not understood
		}
		err = errors.Join(err, w.Flush())
		in.CloseWithError(err)
	})
	return p
}

// mayBeCarried: no format was given that says how lines look.
func (run *accessRun) mayBeCarried() bool {
	return run.o.Format == nil || strings.HasPrefix(run.o.Format.Name, "json")
}

// isCarried looks at a file's head; what cannot be read is told when its turn
// comes.
func (run *accessRun) isCarried(f *accessFile) bool {
	if !run.mayBeCarried() {
		return false
	}
	head, err := firstBytes(f.Input)
	return err == nil && carriedBy(head) != nil
}

// carry gives out a log's lines, or its entries as such.
func (run *accessRun) carry(f *accessFile, in io.ReadCloser) io.ReadCloser {
	if !run.mayBeCarried() {
		return in
	}
	r := bufio.NewReaderSize(&countingReader{Reader: in, show: func(n int64) { f.raw = n }}, peekSize)
	head, _ := r.Peek(peekSize) // an error comes again when it is read
	if c := carriedBy(head); c != nil {
		f.carried = c.note
		return &carriedReader{ReadCloser: c.reader(r), under: in}
	}
	return &carriedReader{ReadCloser: io.NopCloser(r), under: in}
}

// carriedReader closes what is read, too.
type carriedReader struct {
	io.ReadCloser
	under io.Closer
}

func (r *carriedReader) Close() error { return errors.Join(r.ReadCloser.Close(), r.under.Close()) }
