package sqllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// SlowPiece is a part of a slow log. It begins where an entry does, the log's
// first one where the log does.
type SlowPiece struct {
	Data []byte
	// Starts of entries, and of the server's banners, in Data, ascending. What is
	// before the first belongs to no entry.
	Starts []int
	// Last: the log ends with it.
	Last bool
	// Line is the number of the log's line that Data begins with, from 1.
	Line int64
	// Text and Unended count, from the log's begin on, lines that look like a
	// header and were taken for a part of a statement, and statements that
	// another entry follows without a ";" between.
	Text, Unended int64
}

// SlowPieces cuts a slow log into pieces that can be parsed side by side.
type SlowPieces struct {
	r      io.Reader
	size   int
	rest   []byte
	done   bool
	read   int64
	line   int64 // lines before the next piece
	divide slowDivider
}

// NewSlowPieces reads pieces of about size bytes.
func NewSlowPieces(r io.Reader, size int) *SlowPieces {
	return &SlowPieces{r: r, size: max(size, 64)}
}

// Read is how many bytes of the log were read so far.
func (p *SlowPieces) Read() int64 { return p.read }

// What stays of an entry that is larger than a piece: its head, which holds
// more than MaxStatement bytes of the statement, and its tail, for the end.
const (
	entryHead = MaxStatement + 16<<10
	entryTail = 16 << 10
)

// Next fills the next piece, in its own memory if that is large enough. It
// returns io.EOF with the last one, which may be empty. A piece is longer than
// size only if one entry is, or if a quote's end has to be looked for; an entry
// longer than that loses its middle, so memory stays bounded.
func (p *SlowPieces) Next(piece *SlowPiece) error {
	if p.done {
		return io.EOF
	}
	err := p.next(piece)
	piece.Text, piece.Unended = p.divide.taken, p.divide.unended
	piece.Line = p.line + 1
	p.line += p.divide.dropped + int64(bytes.Count(piece.Data, newline))
	p.divide.dropped = 0
	return err
}

var newline = []byte("\n")

func (p *SlowPieces) next(piece *SlowPiece) error {
	d := &p.divide
	d.buf = append(piece.Data[:0], p.rest...)
	d.starts = append(piece.Starts[:0], d.starts...)
	piece.Last = false
	p.rest = p.rest[:0]
	want := p.size
	for {
		err := p.fill(want)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read slow log after %d bytes: %w", p.read, err)
		}
		d.eof = err != nil
		d.run()
		if d.eof {
			p.done = true
			piece.Data, piece.Starts, piece.Last = d.buf, d.starts, true
			d.starts = nil
			return io.EOF
		}
		if n := len(d.starts); n > 0 && d.starts[n-1] > 0 {
			cut := d.starts[n-1]
			p.rest = append(p.rest, d.buf[cut:]...)
			piece.Data, piece.Starts = d.buf[:cut], d.starts[:n-1]
			d.starts = []int{0}
			d.at -= cut
			return nil
		}
		if len(d.buf) > 4*(entryHead+entryTail) {
			d.dropMiddle()
		}
		want = len(d.buf) + p.size
	}
}

func (p *SlowPieces) fill(want int) error {
	buf := p.divide.buf
	defer func() { p.divide.buf = buf }()
	if cap(buf) < want {
		buf = append(make([]byte, 0, want), buf...)
	}
	for len(buf) < want {
		n, err := p.r.Read(buf[len(buf):want])
		buf = buf[:len(buf)+n]
		p.read += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// dropMiddle keeps the head of a very long entry and what was not judged yet,
// with a bit before it.
func (d *slowDivider) dropMiddle() {
	to := d.at - entryTail
	if to <= entryHead {
		return
	}
	d.dropped += int64(bytes.Count(d.buf[entryHead:to], newline))
	n := copy(d.buf[entryHead:], d.buf[to:])
	d.buf = d.buf[:entryHead+n]
	d.at -= to - entryHead
}
