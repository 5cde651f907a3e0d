package load

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// readBody reads the body that begins at index at (RFC 9112, 6.3).
func (w *wire) readBody(at int, f framing, head bool) error {
	res := &w.res
	switch {
	case head || res.status == 204 || res.status == 304:
		return w.finish(at, at)
	case f.chunked:
		return w.readChunks(at)
	case f.length >= 0:
		return w.readLength(at, f.length)
	}
	res.close = true
	for {
		err := w.fill()
		if err == io.EOF {
			res.body = w.buf[at:w.end]
			return nil
		}
		if err != nil {
			return err
		}
		if w.end-at > maxBody {
			return errLongBody
		}
	}
}

// finish notes the body; bytes behind the answer are an error, because the
// next answer has not been asked for yet.
func (w *wire) finish(from, to int) error {
	w.res.body = w.buf[from:to]
	if w.end > to {
		return errSurplus
	}
	return nil
}

func (w *wire) readLength(at int, length int64) error {
	if length > maxBody {
		return errLongBody
	}
	end := at + int(length)
	if end > len(w.buf) {
		w.grow(end + minRead)
	}
	for w.end < end {
		if err := w.fill(); err != nil {
			if err == io.EOF {
				return brokenError(fmt.Sprintf("the connection ended after %d of %d bytes of the body", w.end-at, length))
			}
			return err
		}
	}
	return w.finish(at, end)
}

// readChunks decodes a chunked body in place: the data moves down over the
// chunk sizes.
func (w *wire) readChunks(at int) error {
	end, next := at, at // decoded up to end; undecoded from next
	for {
		line, after, err := w.chunkLine(next)
		if err != nil {
			return err
		}
		size, err := chunkSize(line)
		if err != nil {
			return err
		}
		next = after
		if size == 0 {
			break
		}
		if end-at+size > maxBody {
			return errLongBody
		}
		for w.end < next+size+2 {
			if err := w.chunkFill(); err != nil {
				return err
			}
		}
		if w.buf[next+size] != '\r' || w.buf[next+size+1] != '\n' {
			return errChunk
		}
		copy(w.buf[end:], w.buf[next:next+size])
		end += size
		next += size + 2
	}
	begin := next
	for { // trailers, until an empty line
		line, after, err := w.chunkLine(next)
		if err != nil {
			return err
		}
		if next = after; len(line) == 0 {
			break
		}
		if colon := bytes.IndexByte(line, ':'); colon <= 0 || !isToken(line[:colon]) {
			return errHeader
		}
		if next-begin > maxHead {
			return errLongHead
		}
	}
	w.res.body = w.buf[at:end]
	if w.end > next {
		return errSurplus
	}
	return nil
}

// chunkLine reads one line of the chunked coding that begins at from.
func (w *wire) chunkLine(from int) (line []byte, after int, err error) {
	for {
		if i := bytes.IndexByte(w.buf[from:w.end], '\n'); i >= 0 {
			line, _, err = cutLine(w.buf[from : from+i+1])
			return line, from + i + 1, err
		}
		if w.end-from > maxHead {
			return nil, 0, errLongHead
		}
		if err := w.chunkFill(); err != nil {
			return nil, 0, err
		}
	}
}

func (w *wire) chunkFill() error {
	err := w.fill()
	if err == io.EOF {
		return errCutChunk
	}
	return err
}

// chunkSize parses a chunk's size line; extensions behind ; are ignored.
func chunkSize(line []byte) (int, error) {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = trim(line)
	if len(line) == 0 || len(line) > 8 {
		return 0, errChunk
	}
	n := 0
	for _, c := range line {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return 0, errChunk
		}
	}
	if n > maxBody {
		return 0, errLongBody
	}
	return n, nil
}

func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n < math.MaxInt64
}
