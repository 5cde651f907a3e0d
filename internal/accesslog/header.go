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

// headed finds the columns that a log's begin names; nil: it names none.
func headed(lines [][]byte) *Format {
	for _, line := range lines {
		if f := w3cFormat(line); f != nil {
			return f
		}
	}
	return nil
}

// headedFit counts the lines that fit, each with the columns named before it,
// and those that are headers.
func headedFit(lines [][]byte) (fits, headers int) {
	var f *Format
	for i, line := range lines {
		if len(line) > 0 && line[0] == '#' {
			headers++
			if now := w3cFormat(line); now != nil {
				f = now
			}
			continue
		}
		if f != nil {
			fits += f.fits(lines[i : i+1])
		}
	}
	return fits, headers
}
