package accesslog

import (
	"bytes"
	"time"
)

// Newest is the time of the last line of a log's end that has one; zero: none has.
func (f *Format) Newest(end []byte, zone *time.Location) time.Time {
	r := NewRows(f, true)
	r.Zone = zone
	for range maxUndatedEnd {
		end = bytes.TrimRight(end, "\r\n")
		at := bytes.LastIndexByte(end, '\n') + 1
		if len(end) == 0 {
			break
		}
		if e, why := r.Entry(bytes.Clone(end[at:])); why == "" && !e.Time.IsZero() {
			return e.Time
		}
		end = end[:at]
	}
	return time.Time{}
}

// maxUndatedEnd lines are looked at for one with a date.
const maxUndatedEnd = 200

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
