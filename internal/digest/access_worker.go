package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"kasoku/internal/accesslog"
)

// accessWorker reads jobs and sums their lines up. Nothing of it is shared.
type accessWorker struct {
	run   *accessRun
	rows  map[int]*accesslog.Rows // by file
	lines *accesslog.Rows         // of the file at hand
	row   accesslog.Row
	buf   []byte
	timed bool // Since or Until is set

	slots slotTable

	// Workers lie beside each other in memory. What one writes for every line
	// must not share a cache line with what another reads.
	_ [cacheLines]byte
}

// cacheLines: processors fetch lines of 64 bytes, in pairs.
const cacheLines = 128

func newAccessWorker(run *accessRun) *accessWorker {
	w := &accessWorker{run: run, rows: map[int]*accesslog.Rows{}, timed: !run.o.Since.IsZero() || !run.o.Until.IsZero()}
	w.slots.init(run)
	return w
}

// do reads one job.
func (w *accessWorker) do(ctx context.Context, j job) error {
	f := &w.run.files[j.file]
	if w.lines = w.rows[j.file]; w.lines == nil {
		clear(w.rows) // jobs come file by file, nearly
		w.lines = accesslog.NewRows(f.format, w.timed)
		w.lines.Zone = w.run.o.Zone
		w.rows[j.file] = w.lines
		for line := range bytes.Lines(f.first) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				w.lines.Parse(bytes.Clone(line), &w.row)
			}
		}
	}
	if j.header != nil {
		w.lines.Header(j.header)
	}
	p := part{}
	size := j.size
	var err error
	if j.end > 0 {
		size, err = w.segment(ctx, &j, &p)
	} else {
		w.block(&j, &p)
		w.run.give(j.block)
	}
	if err != nil {
		return err
	}
	w.run.add(&j, &p, size)
	return ctx.Err()
}

func (w *accessWorker) block(j *job, p *part) {
	at := 0
	if j.offset == 0 && bytes.HasPrefix(j.data, []byte(byteOrderMark)) {
		at = len(byteOrderMark)
	}
	s := span{file: j.file, base: j.offset, b: j.data}
	at = w.read(p, &s, at, len(j.data))
	switch rest := j.data[at:]; {
	case len(rest) == 0:
	case len(rest) > maxLine:
		p.tooLong(rest)
	default:
		w.cutLine(p, &s, at)
	}
}

// segment reads the lines that begin in its part of the file. bytes is how
// much of the file that is.
func (w *accessWorker) segment(ctx context.Context, j *job, p *part) (size int64, err error) {
	f := &w.run.files[j.file]
	if w.buf == nil {
		w.buf = make([]byte, readSize)
	}
	base, n := j.offset, 0
	skipping := base > 0
	if skipping {
		base-- // the line end before may be there
	}
	for {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		want := int(min(int64(len(w.buf)-n), f.Size-base-int64(n)))
		got, err := f.at.ReadAt(w.buf[n:n+want], base+int64(n))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read %s at byte %d: %w", f.Name, base+int64(n), err)
		}
		n += got
		end := err != nil || base+int64(n) >= f.Size
		s := span{file: j.file, base: base, b: w.buf[:n]}
		at := 0
		if base == 0 && !skipping && bytes.HasPrefix(s.b, []byte(byteOrderMark)) {
			at = len(byteOrderMark)
		}
		if skipping {
			if at = bytes.IndexByte(s.b, '\n') + 1; at == 0 {
				at = n
			} else {
				skipping = false
			}
		}
		if !skipping {
			at = w.read(p, &s, at, int(min(int64(n), j.end-base)))
		}
		next := base + int64(at)
		switch {
		case next >= j.end:
			return j.end - j.offset, nil
		case end:
			if at < n {
				w.cutLine(p, &s, at)
			}
			return max(base+int64(n)-j.offset, 0), nil
		case n-at > maxLine:
			p.tooLong(s.b[at:])
			skipping, at = true, n
		}
		n = copy(w.buf, s.b[at:])
		base += int64(at)
		if n == len(w.buf) {
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
	}
}

// span is bytes of a file.
type span struct {
	file int
	base int64 // offset of b
	b    []byte
}

// read sums up the whole lines that begin from at on and before limit, and
// returns where the next line begins.
func (w *accessWorker) read(p *part, s *span, at, limit int) int {
	var last []byte               // entry that counted
	var lastTime, known time.Time // of it, and of the last one whose time was read
	begin, undated := at, 0       // lines that counted before one had a date
	for at < limit {
		n := bytes.IndexByte(s.b[at:], '\n')
		if n < 0 {
			break
		}
		line := s.b[at : at+n]
		if n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		p.lines++
		if len(line) > 0 && !w.lines.Header(line) {
			p.entries++
			switch w.line(line, p, positionOf(s.file, s.base+int64(at))) {
			case counts:
				if undated < maxUndated {
					if undated++; w.time(p, line, w.row.Time) {
						undated = maxUndated
					}
				}
				last, lastTime = line, w.row.Time
				if !lastTime.IsZero() {
					known = lastTime
				}
			case refused:
				if w.lines.Empty(line) {
					p.entries--
					break
				}
				p.refuse(line)
			}
		}
		at += n + 1
	}
	switch {
	case last == nil || w.time(p, last, lastTime):
	case w.run.o.Keep == nil && !w.timed:
		w.lastDate(p, s.b[begin:at])
	case !known.IsZero():
		w.time(p, last, known)
	}
	return at
}

// maxUndated lines are looked at for one with a date, at a piece's begin and end.
const maxUndated = 100

// lastDate notes when the last line with a date is.
func (w *accessWorker) lastDate(p *part, b []byte) {
	for range maxUndated {
		b = bytes.TrimRight(b, "\r\n")
		at := bytes.LastIndexByte(b, '\n') + 1
		if len(b) == 0 || w.time(p, b[at:], time.Time{}) {
			return
		}
		b = b[:at]
	}
}

// What becomes of a line.
const (
	counts = iota
	skips
	refused
)

// line sums one entry up.
func (w *accessWorker) line(line []byte, p *part, at position) int {
	if len(line) > maxLine {
		return refused
	}
	r := &w.row
	if keep := w.run.o.Keep; keep != nil {
		e, why := w.lines.Entry(line)
		if why != "" {
			return refused
		}
		*r = accesslog.Row{Method: e.Method, Target: e.Target, Status: e.Status, Bytes: e.Bytes, Request: e.Request, Upstream: e.Upstream, Cache: e.Cache, Time: e.Time}
		if !keep(e) {
			p.skipped++
			return skips
		}
	} else if why := w.lines.Parse(line, r); why != "" {
		return refused
	}
	if w.timed && !w.within(r.Time) {
		p.skipped++
		return skips
	}
	w.slots.add(r, at)
	return counts
}

func (w *accessWorker) within(t time.Time) bool {
	o := &w.run.o
	return !t.IsZero() && (o.Since.IsZero() || !t.Before(o.Since)) && (o.Until.IsZero() || t.Before(o.Until))
}

// time notes when a line is. It is asked for some lines only, as reading a
// time takes as long as the rest.
// known is it if the line was read the long way. false: the line has none.
func (w *accessWorker) time(p *part, line []byte, known time.Time) bool {
	t := known
	if t.IsZero() {
		e, why := w.lines.Entry(bytes.Clone(line))
		if why != "" || e.Time.IsZero() {
			return false
		}
		t = e.Time
	}
	p.backward = p.backward || t.Before(p.to.Add(-clockSlack))
	if p.from.IsZero() || t.Before(p.from) {
		p.from = t
	}
	if t.After(p.to) {
		p.to = t
	}
	return true
}

// clockSlack: lines are written when requests end, and Apache logs their
// begin, so the times of a good clock run back by as much as a request takes.
const clockSlack = 5 * time.Minute

// cutLine is an input's last line, without its end. A server always writes
// one, so the line may be cut: it counts only if nothing of it is missing.
func (w *accessWorker) cutLine(p *part, s *span, at int) {
	line := bytes.TrimSuffix(s.b[at:], []byte("\r"))
	if len(line) == 0 || w.lines.Header(line) {
		return
	}
	p.lines++
	p.entries++
	whole := w.lines.Whole(line)
	text := bytes.Clone(line[:min(len(line), maxExample+1)])
	if whole {
		switch w.line(line, p, positionOf(s.file, s.base+int64(at))) {
		case counts:
			w.time(p, line, w.row.Time)
			return
		case skips:
			return
		}
	}
	p.cut = true
	p.refuse(text)
}

// badSamples of lines that are no entries are shown.
const badSamples = 3

// refuse counts a line that is no entry.
func (p *part) refuse(line []byte) {
	if p.bad++; len(p.badLines) < badSamples {
		p.badLines = append(p.badLines, badLine{p.lines, badLineText(line)})
	}
}

// tooLong counts a line whose end was not waited for.
func (p *part) tooLong(line []byte) {
	p.lines++
	p.entries++
	p.refuse(line)
	if last := len(p.badLines) - 1; last >= 0 && p.badLines[last].line == p.lines {
		p.badLines[last].text = "a line of more than 1 MiB, which begins with " + p.badLines[last].text
	}
}

var slotSeed = maphash.MakeSeed()
