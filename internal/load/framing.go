package load

import (
	"bytes"
	"math"
)

// expectBody chooses how the body's end is found (RFC 9112, 6.3).
func (w *wire) expectBody(f framing) error {
	res := &w.res
	switch {
	case w.noBody || res.status == 204 || res.status == 304:
		w.stage, w.need = inLength, w.bodyAt
	case f.chunked:
		w.stage, w.next, w.to = inChunks, w.bodyAt, w.bodyAt
	case f.length > maxBody:
		return errLongBody
	case f.length >= 0:
		w.stage, w.length, w.need = inLength, f.length, w.bodyAt+int(f.length)
	default:
		w.stage, res.close = untilClose, true
	}
	return nil
}

// finish notes the body of an answer that ends at index last. Bytes behind it
// are an error, because the next answer has not been asked for yet.
func (w *wire) finish(to, last int) error {
	w.res.body, w.res.size = w.buf[w.bodyAt:to], int64(w.end)
	if w.end > last {
		return errSurplus
	}
	return nil
}

// takeChunks decodes a chunked body in place: the data moves down over the
// chunk sizes.
func (w *wire) takeChunks() (done bool, err error) {
	for w.stage == inChunks {
		line, after, err := w.chunkLine(w.next)
		if after == 0 || err != nil {
			return false, err
		}
		size, err := chunkSize(line)
		if err != nil {
			return false, err
		}
		if size == 0 {
			w.stage, w.next, w.tail = inTrailers, after, after
			break
		}
		if w.to-w.bodyAt+size > maxBody {
			return false, errLongBody
		}
		if w.end < after+size+2 {
			return false, nil
		}
		if w.buf[after+size] != '\r' || w.buf[after+size+1] != '\n' {
			return false, errChunk
		}
		copy(w.buf[w.to:], w.buf[after:after+size])
		w.to += size
		w.next = after + size + 2
	}
	for { // trailers, until an empty line
		line, after, err := w.chunkLine(w.next)
		if after == 0 || err != nil {
			return false, err
		}
		if w.next = after; len(line) == 0 {
			return true, w.finish(w.to, w.next)
		}
		if colon := bytes.IndexByte(line, ':'); colon <= 0 || !isToken(line[:colon]) {
			return false, errHeader
		}
		if w.next-w.tail > maxHead {
			return false, errLongHead
		}
	}
}

// chunkLine is one line of the chunked coding that begins at from; after is 0
// if it is not whole yet.
func (w *wire) chunkLine(from int) (line []byte, after int, err error) {
	if i := bytes.IndexByte(w.buf[from:w.end], '\n'); i >= 0 {
		line, _, err = cutLine(w.buf[from : from+i+1])
		return line, from + i + 1, err
	}
	if w.end-from > maxHead {
		return nil, 0, errLongHead
	}
	return nil, 0, nil
}

// chunkSize parses a chunk's size line; extensions behind ; are ignored.
func chunkSize(line []byte) (int, error) {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t")
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
