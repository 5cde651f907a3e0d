package accesslog

import "bytes"

// Undated counts the lines of a log's begin that are read, and of them those that
// have no date, or none that is understood; first is the first of these.
func (f *Format) Undated(head []byte) (undated, read int, first []byte) {
	r := NewRows(f, true)
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 || r.Header(line) {
			continue
		}
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			continue
		}
		if read++; e.Time.IsZero() {
			if undated++; undated == 1 {
				first = line
			}
		}
	}
	return undated, read, first
}
