package load

import (
	"bytes"
	"errors"
	"io"
)

const (
	// maxHead of one answer (status line and headers), as nginx's and Apache's
	// own limits for requests (32 KiB) with room to spare.
	maxHead = 64 << 10
	// maxBody of one answer; it is held in memory.
	maxBody = 64 << 20
	// maxInterim answers (1xx) before the real one.
	maxInterim = 16
	// minRead is the least room offered to one read.
	minRead = 4 << 10
)

// brokenError: the answer does not follow HTTP/1.1 (RFC 9112), or ended early.
type brokenError string

func (e brokenError) Error() string { return string(e) }

const (
	errLongHead  = brokenError("the headers are longer than 64 KiB")
	errLongBody  = brokenError("the body is larger than 64 MiB")
	errCutHead   = brokenError("the connection ended in the headers")
	errCutChunk  = brokenError("the connection ended within a chunked body")
	errLineEnd   = brokenError("a header line does not end with CR LF")
	errStatus    = brokenError("does not begin with an HTTP/1.x status line")
	errHeader    = brokenError("a header line has no valid name")
	errLengths   = brokenError("Content-Length is wrong or contradicts itself")
	errEncoding  = brokenError("Transfer-Encoding is not chunked alone")
	errChunk     = brokenError("a chunk's size or end is wrong")
	errUpgrade   = brokenError("the server switched protocols unasked")
	errInterim   = brokenError("more than 16 interim answers (1xx)")
	errSurplus   = brokenError("more bytes came than the answer's length says")
	errNoAnswer  = brokenError("the connection closed before the answer")
	errNoAdvance = brokenError("reading made no progress")
)

// response is one answer. All slices point into the reader's buffer and hold
// until the next read.
type response struct {
	status      int
	head        []byte // header lines with their line ends
	body        []byte
	contentType []byte
	location    []byte
	encoding    []byte // Content-Encoding
	cookies     [][]byte
	close       bool  // the connection cannot be used again
	size        int64 // bytes on the wire
}

// framing says how the body's end is found.
type framing struct {
	length  int64 // -1: none given
	chunked bool
	http10  bool
	keep    bool // HTTP/1.0 with keep-alive
}

// wire reads answers from one connection into one buffer that is kept: head
// and body lie in it one after the other, so checks need no copy.
type wire struct {
	r   io.Reader
	buf []byte
	end int // bytes in buf
	res response
}

// attach begins with a new connection.
func (w *wire) attach(r io.Reader) { w.r, w.end = r, 0 }

// read reads one answer. head: it answers a HEAD request. An error other than
// brokenError is the connection's own. After any error, and if res.close, the
// connection must be closed. w.end is 0 if no byte arrived.
func (w *wire) read(head bool) error {
	w.end = 0
	start := 0
	for range maxInterim {
		bodyAt, err := w.readHead(start)
		if err != nil {
			return err
		}
		f, err := w.parseHead(w.buf[start:bodyAt])
		if err != nil {
			return err
		}
		if w.res.status < 200 {
			start = bodyAt
			continue
		}
		if err := w.readBody(bodyAt, f, head); err != nil {
			return err
		}
		w.res.size = int64(w.end)
		return nil
	}
	return errInterim
}

// fill reads more bytes. io.EOF only if none came.
func (w *wire) fill() error {
	if len(w.buf)-w.end < minRead {
		w.grow(max(2*len(w.buf), 4*minRead))
	}
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errNoAdvance
}

func (w *wire) grow(size int) {
	bigger := make([]byte, size)
	copy(bigger, w.buf[:w.end])
	w.buf = bigger
}

var headEnd = []byte("\r\n\r\n")

// readHead reads until the empty line and returns the index behind it.
func (w *wire) readHead(start int) (int, error) {
	searched := start
	for {
		if i := bytes.Index(w.buf[searched:w.end], headEnd); i >= 0 {
			if end := searched + i + len(headEnd); end-start <= maxHead {
				return end, nil
			}
			return 0, errLongHead
		}
		if w.end-start > maxHead {
			return 0, errLongHead
		}
		searched = max(start, w.end-len(headEnd)+1)
		if err := w.fill(); err != nil {
			if err == io.EOF && w.end > 0 {
				err = errCutHead
			}
			return 0, err
		}
		// What cannot become HTTP is refused at once, not after a time-out.
		if n := min(w.end-start, len("HTTP/1.")); string(w.buf[start:start+n]) != "HTTP/1."[:n] {
			return 0, errStatus
		}
	}
}

// parseHead parses a status line and header lines, with the empty line.
func (w *wire) parseHead(head []byte) (framing, error) {
	f := framing{length: -1}
	res := &w.res
	*res = response{cookies: res.cookies[:0]}
	line, rest, err := cutLine(head)
	if err != nil {
		return f, err
	}
	if len(line) < len("HTTP/1.1 200") || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return f, errStatus
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return f, errStatus
		}
		res.status = res.status*10 + int(c-'0')
	}
	if res.status < 100 {
		return f, errStatus
	}
	if res.status == 101 {
		return f, errUpgrade
	}
	f.http10 = line[7] == '0'
	res.head = rest[:len(rest)-2]
	for len(rest) > 2 {
		if line, rest, err = cutLine(rest); err != nil {
			return f, err
		}
		if err := w.header(line, &f); err != nil {
			return f, err
		}
	}
	if f.chunked && f.length >= 0 {
		return f, errLengths // RFC 9112, 6.3: an attempt at smuggling, or a bug
	}
	if f.http10 && !f.keep {
		res.close = true
	}
	return f, nil
}

// cutLine cuts the first CR LF line off.
func cutLine(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' || bytes.IndexByte(b[:i-1], '\r') >= 0 {
		return nil, nil, errLineEnd
	}
	return b[:i-1], b[i+1:], nil
}

// header takes what the engine itself needs from one header line.
func (w *wire) header(line []byte, f *framing) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !isToken(line[:colon]) {
		return errHeader
	}
	name, value := line[:colon], trim(line[colon+1:])
	res := &w.res
	switch {
	case foldEqual(name, "content-length"):
		n, ok := parseLength(value)
		if !ok || f.length >= 0 && f.length != n {
			return errLengths
		}
		f.length = n
	case foldEqual(name, "transfer-encoding"):
		if f.chunked || !foldEqual(value, "chunked") {
			return errEncoding
		}
		f.chunked = true
	case foldEqual(name, "connection"):
		res.close = res.close || hasToken(value, "close")
		f.keep = f.keep || hasToken(value, "keep-alive")
	case foldEqual(name, "content-type"):
		res.contentType = value
	case foldEqual(name, "content-encoding"):
		res.encoding = value
	case foldEqual(name, "location"):
		res.location = value
	case foldEqual(name, "set-cookie"):
		res.cookies = append(res.cookies, value)
	}
	return nil
}

// lookup returns a header's first value; nil if it is absent.
func (r *response) lookup(name string) []byte {
	for rest := r.head; len(rest) > 0; {
		line, after, err := cutLine(rest)
		if err != nil {
			return nil
		}
		rest = after
		if colon := bytes.IndexByte(line, ':'); colon == len(name) && foldEqual(line[:colon], name) {
			return trim(line[colon+1:])
		}
	}
	return nil
}

// foldEqual compares ASCII without case.
func foldEqual[T, U ~string | ~[]byte](a T, b U) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// hasToken reports whether a comma-separated list holds a token.
func hasToken(list []byte, token string) bool {
	for len(list) > 0 {
		one := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			one, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		if foldEqual(trim(one), token) {
			return true
		}
	}
	return false
}

// trim cuts spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// isToken: RFC 9110, 5.6.2.
func isToken[T ~string | ~[]byte](b T) bool {
	for i := range len(b) {
		c := b[i]
		if c <= ' ' || c >= 0x7f || bytes.IndexByte([]byte(`"(),/:;<=>?@[\]{}`), c) >= 0 {
			return false
		}
	}
	return len(b) > 0
}

// asBroken tells an answer that breaks HTTP from a connection's own error.
func asBroken(err error) bool {
	var b brokenError
	return errors.As(err, &b)
}
