package accesslog

import (
	"bytes"
	"time"
)

// Row is what a digest needs of a line. Its bytes are the line's.
type Row struct {
	Method, Target    []byte
	Status            int           // 0: not in the log
	Bytes             int64         // -1: not in the log
	Request, Upstream time.Duration // -1: not in the log
	Cache             []byte
	// Time may be left out (zero) unless Rows reads times.
	Time time.Time
}

// Rows reads lines of one format into rows. Lines that look like those
// before them, piece by piece, take a short way: values that a row does not
// hold are walked over and not checked. Others take the way of Reader. Not for
// several goroutines.
type Rows struct {
	Zone *time.Location // of times that have none; nil: UTC
	// Times says that Row.Time is wanted.
	Times bool

	format  *Format
	layouts []layout
	last    int // of the layout that fitted last
	entry   Entry
	clock   clock
	slow    int // lines that no layout fitted
	spare   []byte
	inner   []byte // of an envelope
}

// maxLayouts learnt from a log; lines of one server differ little.
const maxLayouts = 4

// NewRows returns a reader of lines.
func NewRows(f *Format, times bool) *Rows {
	r := &Rows{format: f, Times: times}
	r.clock.newest, r.clock.order, r.clock.long = f.newest, f.order, f.ops == nil
	if l, ok := templateLayout(f, times); ok {
		r.layouts = append(r.layouts, l)
	}
	return r
}

// Parse reads a line without its end; why is "" if it fits. The line's bytes
// may be changed (escapes are undone in place).
func (r *Rows) Parse(line []byte, row *Row) (why string) {
	r.clock.zone = r.Zone
	if r.format.wrapped {
		return r.parseWrapped(line, row)
	}
	if r.last < len(r.layouts) && r.layouts[r.last].read(line, row, &r.clock) {
		return ""
	}
	return r.other(line, line, row)
}

// parseWrapped takes a line out of its envelope first, whose time is the line's where
// that has none.
func (r *Rows) parseWrapped(line []byte, row *Row) string {
	r.inner = append(r.inner[:0], line...)
	inner, _ := unwrap(r.inner, nil)
	if r.last >= len(r.layouts) || !r.layouts[r.last].read(inner, row, &r.clock) {
		if why := r.other(inner, line, row); why != "" {
			return why
		}
	}
	if r.Times && row.Time.IsZero() {
		row.Time = r.clock.stampOf(line)
	}
	return ""
}

// other looks for another layout that fits the line; whole is the line with its
// envelope.
func (r *Rows) other(line, whole []byte, row *Row) string {
	for i := range r.layouts {
		if i != r.last && r.layouts[i].read(line, row, &r.clock) {
			r.last = i
			return ""
		}
	}
	var learnt layout
	var ok bool
	if r.slow++; len(r.layouts) < maxLayouts && r.slow < 1000 {
		learnt, ok = learnLayout(r.format, line, r.Times)
	}
	e, why := r.Entry(whole)
	if why != "" {
		return why
	}
	if ok && r.format.readsAlone(line) {
		r.layouts = append(r.layouts, learnt)
	}
	*row = Row{Method: e.Method, Target: e.Target, Status: e.Status, Bytes: e.Bytes, Request: e.Request, Upstream: e.Upstream, Cache: e.Cache, Time: e.Time}
	return ""
}

// Entry reads a line the long way, with all its values. They are valid until
// the next line is read.
func (r *Rows) Entry(line []byte) (e *Entry, why string) {
	r.clock.zone = r.Zone
	r.clock.key = r.clock.key[:0]
	r.entry.reset()
	if why = r.format.read(line, &r.spare, &r.entry, &r.clock); why != "" {
		return nil, why
	}
	if r.entry.Target == nil && !r.format.hasRequest() {
		return nil, whyNoRequest
	}
	return &r.entry, ""
}

// Empty reports whether a line that is no entry holds nothing but its envelope:
// the program wrote an empty line.
func (r *Rows) Empty(line []byte) bool { return r.format.empty(line, &r.inner) }

// empty is Rows.Empty; the line is copied into spare.
func (f *Format) empty(line []byte, spare *[]byte) bool {
	if !f.wrapped {
		return len(line) == 0
	}
	*spare = append((*spare)[:0], line...)
	inner, _ := unwrap(*spare, nil)
	return len(inner) == 0
}

// Whole reports whether a line without an end looks complete: all of a known
// layout's values are there; or, where there is none, it would be no entry
// without its last byte, so that no value's end can be missing.
func (r *Rows) Whole(line []byte) bool {
	for i := range r.layouts {
		if r.layouts[i].whole(line) {
			return true
		}
	}
	if len(r.layouts) > 0 || len(line) == 0 {
		return false
	}
	_, why := r.Entry(bytes.Clone(line[:len(line)-1]))
	return why != ""
}

// readsAlone: the line is the format's own, and not one that another one reads
// for it.
func (f *Format) readsAlone(line []byte) bool {
	if len(f.others) == 0 {
		return true
	}
	var e Entry
	e.reset()
	return f.parse(f, bytes.Clone(line), &e, &clock{}) == ""
}

// hasRequest: the format has a place for a request or its path.
func (f *Format) hasRequest() bool {
	if f.ops == nil {
		return true
	}
	for i := range f.ops {
		switch f.ops[i].kind {
		case kindRequest, kindTarget, kindPath:
			return true
		}
	}
	return false
}

const whyNoRequest = "the format has no request"
