package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// bufferSize is large enough that system calls do not count.
	bufferSize = 256 << 10
	// maxLine: nginx's own limit of a request line and headers is far below.
	maxLine = 1 << 20
	// maxBadLines kept as samples; more help nobody.
	maxBadLines = 5
)

// Reader streams a log.
type Reader struct {
	// Zone of times that have none; nil: UTC. Set it before the first Next.
	Zone *time.Location
	// Newest tells the year of dates without one: no line is later, by a day. Zero:
	// such are not read.
	Newest time.Time

	in         io.Reader
	format     *Format
	buf        []byte
	begin, end int // of what is not read yet in buf
	eof        bool
	err        error
	skipping   bool // in a line that is too long
	entry      Entry
	clock      clock
	bad        Bad
	spare      []byte
	doubt      *UnitDoubt
}

// Bad lines of a log.
type Bad struct {
	Lines   int64 // read, without empty ones
	Count   int64 // of them that did not fit
	Samples []BadLine
}

// BadLine is one that did not fit.
type BadLine struct {
	Line int64 // counted from 1, without empty ones
	Why  string
	Text string // quoted, at most 200 bytes of it
}

// NewReader reads lines of a format; nil: the first lines show which of the
// known formats it is.
func NewReader(r io.Reader, f *Format) *Reader {
	return &Reader{in: r, format: f, buf: make([]byte, bufferSize)}
}

// Format of the lines: as given, or as recognised after the first Next.
func (r *Reader) Format() *Format { return r.format }

// Doubt is not nil if the lines' request times can be read in two ways. They
// are left out then.
func (r *Reader) Doubt() *UnitDoubt { return r.doubt }

// Entry is the line that Next read.
func (r *Reader) Entry() *Entry { return &r.entry }

// Bad says which lines did not fit so far.
func (r *Reader) Bad() Bad { return r.bad }

// Err is what ended the reading; nil at the end of the log.
func (r *Reader) Err() error { return r.err }

// Next reads the next line that fits; false at the end or at an error.
func (r *Reader) Next() bool {
	if r.format == nil && r.err == nil && !r.detect() {
		return false
	}
	r.clock.zone = r.Zone
	if !r.format.newest.Equal(r.Newest) {
		r.format = r.format.NotAfter(r.Newest)
	}
	for {
		line, ok := r.line()
		if !ok {
			return false
		}
		if r.header(line) {
			continue
		}
		r.bad.Lines++
		r.entry.reset()
		r.clock.key = r.clock.key[:0]
		why := r.format.read(line, &r.spare, &r.entry, &r.clock)
		if why == "" && r.format.ops == nil && r.entry.Time.IsZero() {
			why = whyNoTime // template formats need not have one
		}
		if why == "" {
			return true
		}
		if r.format.empty(line, &r.spare) {
			r.bad.Lines--
			continue
		}
		r.refuse(line, why)
	}
}

const whyNoTime = "it has no time"

func (r *Reader) refuse(line []byte, why string) {
	if r.bad.Count++; len(r.bad.Samples) < maxBadLines {
		r.bad.Samples = append(r.bad.Samples, BadLine{r.bad.Lines, why, quoteText(line, 200)})
	}
}

// line returns the next one that is not empty.
func (r *Reader) line() ([]byte, bool) {
	for {
		if at := bytes.IndexByte(r.buf[r.begin:r.end], '\n'); at >= 0 {
			line := bytes.TrimSuffix(r.buf[r.begin:r.begin+at], []byte("\r"))
			r.begin += at + 1
			if r.skipping {
				r.skipping = false
				continue
			}
			if len(line) > 0 {
				return line, true
			}
			continue
		}
		if r.eof {
			line := r.buf[r.begin:r.end]
			r.begin = r.end
			return line, len(line) > 0 && !r.skipping
		}
		if !r.fill() {
			return nil, false
		}
	}
}

// fill reads more. A line without end is dropped, so that memory is bounded.
func (r *Reader) fill() bool {
	if r.begin > 0 {
		r.end = copy(r.buf, r.buf[r.begin:r.end])
		r.begin = 0
	}
	if r.end == len(r.buf) {
		if len(r.buf) < maxLine {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		} else {
			if !r.skipping {
				r.skipping = true
				r.bad.Lines++
				r.refuse(r.buf, fmt.Sprintf("the line is longer than %d KiB", maxLine>>10))
			}
			r.end = 0
		}
	}
	for range 100 {
		n, err := r.in.Read(r.buf[r.end:])
		r.end += n
		switch {
		case errors.Is(err, io.EOF):
			r.eof = true
			return true
		case err != nil:
			r.err = fmt.Errorf("read access log: %w", err)
			return false
		case n > 0:
			return true
		}
	}
	r.err = fmt.Errorf("read access log: %w", io.ErrNoProgress)
	return false
}

// intern returns a label as a string without allocating it for every line.
func (c *clock) intern(label []byte) string {
	if s, ok := c.labels[string(label)]; ok {
		return s
	}
	if c.labels == nil {
		c.labels = map[string]string{}
	}
	s := string(label)
	if len(c.labels) < maxLabels {
		c.labels[s] = s
	}
	return s
}

// maxLabels remembered; a log with more has data in its labels.
const maxLabels = 1000
