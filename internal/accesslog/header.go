package accesslog

import "bytes"

// HasHeaders reports whether lines that begin with # say how those behind them
// look, so that a piece from within the log needs the last of them before it.
func (f *Format) HasHeaders() bool { return f.header != nil }

// LastHeader is the last line of b that says how the lines behind it look; nil
// if there is none.
func LastHeader(b []byte) []byte {
	for end := len(b); end > 0; {
		at := bytes.LastIndex(b[:end], []byte(fieldsBegin))
		if at < 0 {
			return nil
		}
		if at == 0 || b[at-1] == '\n' {
			line, _, _ := bytes.Cut(b[at:], []byte("\n"))
			return bytes.TrimSuffix(line, []byte("\r"))
		}
		end = at
	}
	return nil
}

// Header takes a line that is no entry but says something of the log, as
// #Fields does; false if it is none.
func (r *Rows) Header(line []byte) bool {
	f, ok := r.format.after(line)
	r.format = f
	return ok
}

// header is Rows.Header.
func (r *Reader) header(line []byte) bool {
	f, ok := r.format.after(line)
	r.format = f
	return ok
}

// after is the format behind a line; ok is false if it is an entry.
func (f *Format) after(line []byte) (next *Format, ok bool) {
	if f.header == nil || len(line) == 0 || line[0] != '#' {
		return f, false
	}
	if next = f.header(line); next == nil {
		next = f
	}
	return next, true
}

// headed is the format whose columns a log's begin names, if the lines behind
// have them; nil: it names none. The error says that none of the columns is the
// field that the user named.
func headed(head []byte, t Times) (*Format, error) {
	writer := draftWriter
	found := false
	var first, f *Format
	entries, fits := 0, 0
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if f == nil {
			if bytes.HasPrefix(line, []byte(softwareBegin)) && (bytes.Contains(line, []byte(iisSoftware)) || bytes.Contains(line, []byte(iisAdvanced))) {
				writer = iis
			}
			if f = w3cFormat(line, writer, t); f != nil {
				first, found = f, f.fieldFound
				continue
			}
		}
		if entries++; entries > detectLines {
			break
		}
		if f == nil {
			if line[0] == '#' {
				entries--
			}
			continue
		}
		next, header := f.after(line)
		if f = next; header {
			found = found || f.fieldFound
			entries--
			continue
		}
		fits += f.count([][]byte{line}).read
	}
	if float64(fits) < detectShare*float64(entries) {
		return nil, nil
	}
	if first != nil && t.names() && !found {
		return nil, &FieldError{t.Field, first.Name}
	}
	return first, nil
}
