package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
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
	errLongHead = brokenError("the headers are longer than 64 KiB")
	errLongBody = brokenError("the body is larger than 64 MiB")
	errCutHead  = brokenError("the connection ended in the headers")
	errCutChunk = brokenError("the connection ended within a chunked body")
	errLineEnd  = brokenError("a header line does not end with CR LF")
	errStatus   = brokenError("does not begin with an HTTP/1.x status line")
	errNUL      = brokenError("a header holds a NUL byte")
	errHeader   = brokenError("a header line has no valid name")
	errLengths  = brokenError("Content-Length is wrong or contradicts itself")
	errEncoding = brokenError("Transfer-Encoding is not chunked alone")
	errChunk    = brokenError("a chunk's size or end is wrong")
	errUpgrade  = brokenError("the server switched protocols unasked")
	errInterim  = brokenError("more than 16 interim answers (1xx)")
	errSurplus  = brokenError("more bytes came than the answer's length says")
	errNoAnswer = brokenError("the connection closed before the answer")
	errUnasked  = brokenError("bytes came that nobody asked for")
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

// stage of an answer under way.
type stage uint8

const (
	inHead stage = iota
	inLength
	inChunks
	inTrailers
	untilClose
)

// wire takes one answer at a time from one connection's bytes, as they come.
// Head and body lie in one buffer one after the other, so checks need no copy.
//
// A driver asks for room, reads into it and says how much it took; an answer
// that comes in one piece stays in the buffer that the driver shares among its
// users and costs no memory of its own.
type wire struct {
	buf []byte // own, or the driver's shared one
	end int    // bytes in buf
	own []byte // kept for answers that come in pieces
	// pieces: the last answer did, so the next is read into own at once.
	pieces bool
	shared bool // buf is the driver's
	res    response

	stage   stage
	noBody  bool // answers a HEAD request
	interim int  // interim answers so far
	start   int  // of the present head
	seen    int  // searched for the head's end up to here
	bodyAt  int
	need    int // inLength: where the body ends
	length  int64
	to      int // inChunks: decoded up to
	next    int // inChunks: undecoded from
	tail    int // inTrailers: where they begin
}

// begin expects a new answer. head: to a HEAD request.
func (w *wire) begin(head bool) {
	w.end, w.stage, w.noBody, w.interim, w.start, w.seen = 0, inHead, head, 0, 0, 0
}

// room is where the next bytes shall be read to. shared must be minRead long
// or longer and hold until park.
func (w *wire) room(shared []byte) []byte {
	if w.end == 0 {
		if w.shared = !w.pieces && len(shared) > 0; w.shared {
			w.buf = shared
			return shared
		}
		w.buf = w.own
	}
	if w.stage == inLength && w.need > len(w.buf) {
		w.grow(w.need + minRead)
	}
	if len(w.buf)-w.end < minRead {
		w.grow(max(2*len(w.buf), 4*minRead))
	}
	return w.buf[w.end:]
}

// grow moves what came to larger memory of its own. Slices into the old
// buffer hold as long as the old memory is not shared.
func (w *wire) grow(size int) {
	bigger := make([]byte, size)
	copy(bigger, w.buf[:w.end])
	w.buf, w.own = bigger, bigger
}

// park moves an unfinished answer out of the shared buffer.
func (w *wire) park() {
	if !w.shared || w.end == 0 {
		return
	}
	w.shared, w.pieces = false, true
	if len(w.own) < w.end+minRead {
		w.own = make([]byte, max(w.end+minRead, 4*minRead))
	}
	copy(w.own, w.buf[:w.end])
	w.buf = w.own
	if w.stage != inHead {
		// It was right before, and the bytes are the same: no error to see.
		_, _, _ = w.parseHead(w.buf[w.start:w.bodyAt])
		w.res.close = w.res.close || w.stage == untilClose
	}
}

// took parses after n more bytes came. done: the answer is complete. After an
// error, and if res.close, the connection must be closed.
func (w *wire) took(n int) (done bool, err error) {
	w.end += n
	for {
		switch w.stage {
		case inHead:
			more, err := w.takeHead()
			if more || err != nil {
				return false, err
			}
			if w.stage == inHead {
				continue // an interim answer
			}
		case inLength:
			if w.end < w.need {
				return false, nil
			}
			return true, w.finish(w.need, w.need)
		case inChunks, inTrailers:
			return w.takeChunks()
		case untilClose:
			if w.end-w.bodyAt > maxBody {
				return false, errLongBody
			}
			return false, nil
		}
	}
}

// readFrom reads one answer, waiting for it.
func (w *wire) readFrom(r io.Reader, shared []byte) error {
	for {
		n, err := r.Read(w.room(shared))
		if n > 0 {
			if done, broken := w.took(n); done || broken != nil {
				return broken
			}
		}
		if err == io.EOF {
			_, err = w.closed()
			return err
		}
		if err != nil {
			return err
		}
		w.park()
	}
}

// closed says what it means that the peer closed: io.EOF only if no byte of
// the answer came.
func (w *wire) closed() (done bool, err error) {
	switch {
	case w.end == 0:
		return false, io.EOF
	case w.stage == inHead:
		return false, errCutHead
	case w.stage == inLength:
		return false, brokenError(fmt.Sprintf("the connection ended after %d of %d bytes of the body", w.end-w.bodyAt, w.length))
	case w.stage == untilClose:
		w.res.body, w.res.size = w.buf[w.bodyAt:w.end], int64(w.end)
		return true, nil
	}
	return false, errCutChunk
}

var headEnd = []byte("\r\n\r\n")

// takeHead parses a head if it is whole, and chooses the next stage; more: it
// is not whole yet.
func (w *wire) takeHead() (more bool, err error) {
	// What cannot become HTTP is refused at once, not after a time-out.
	if n := min(w.end-w.start, len("HTTP/1.")); string(w.buf[w.start:w.start+n]) != "HTTP/1."[:n] {
		return false, errStatus
	}
	// A head mostly comes whole: it is parsed without looking for its end
	// first. One that came in pieces is not parsed anew for each of them.
	if w.seen > w.start && !bytes.Contains(w.buf[w.seen:w.end], headEnd) {
		return w.moreLines()
	}
	length, f, err := w.parseHead(w.buf[w.start:w.end])
	if err != nil {
		return false, err
	}
	if length == 0 {
		return w.moreHead()
	}
	w.bodyAt = w.start + length
	if length > maxHead {
		return false, errLongHead
	}
	if w.res.status < 200 {
		if w.interim++; w.interim > maxInterim {
			return false, errInterim
		}
		w.start, w.seen = w.bodyAt, w.bodyAt
		return w.end == w.start, nil
	}
	return false, w.expectBody(f)
}

// moreLines looks at the new part of a head in pieces: a line that ends with LF
// alone will never be followed by the empty line that ends a head.
func (w *wire) moreLines() (bool, error) {
	for at := w.seen; ; at++ {
		i := bytes.IndexByte(w.buf[at:w.end], '\n')
		if i < 0 {
			return w.moreHead()
		}
		if at += i; at == w.start || w.buf[at-1] != '\r' {
			return false, errLineEnd
		}
	}
}

// moreHead: the head is not whole.
func (w *wire) moreHead() (bool, error) {
	if w.end-w.start > maxHead {
		return false, errLongHead
	}
	w.seen = max(w.start, w.end-len(headEnd)+1)
	return true, nil
}

// parseHead parses a status line and header lines up to the empty line, and
// returns how long they are; 0: the empty line is not there yet.
func (w *wire) parseHead(b []byte) (length int, f framing, err error) {
	f.length = -1
	res := &w.res
	*res = response{cookies: res.cookies[:0]}
	at, lines := 0, 0
	for {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0, f, nil
		}
		if i == 0 || b[at+i-1] != '\r' {
			return 0, f, errLineEnd
		}
		line := b[at : at+i-1]
		at += i + 1
		switch lines++; {
		case lines == 1:
			if err := w.statusLine(line, &f); err != nil {
				return 0, f, err
			}
			res.head = b[at:]
		case len(line) > 0:
			if err := w.header(line, &f); err != nil {
				return 0, f, err
			}
		default:
			res.head = res.head[:len(res.head)-(len(b)-at)-2]
			// Each line ends with the only CR that it has.
			if bytes.Count(b[:at], crByte) != lines {
				return 0, f, errLineEnd
			}
			if bytes.IndexByte(b[:at], 0) >= 0 {
				return 0, f, errNUL
			}
			if f.chunked && f.length >= 0 {
				return 0, f, errLengths // RFC 9112, 6.3: an attempt at smuggling, or a bug
			}
			res.close = res.close || f.http10 && !f.keep
			return at, f, nil
		}
	}
}

var crByte = []byte{'\r'}

// statusLine takes "HTTP/1.1 200 OK".
func (w *wire) statusLine(line []byte, f *framing) error {
	if len(line) < len("HTTP/1.1 200") || string(line[:7]) != "HTTP/1." || line[7] < '0' || line[7] > '9' || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return errStatus
	}
	res := &w.res
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return errStatus
		}
		res.status = res.status*10 + int(c-'0')
	}
	if res.status < 100 {
		return errStatus
	}
	if res.status == 101 {
		return errUpgrade
	}
	f.http10 = line[7] == '0'
	return nil
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
	colon := 0
	for colon < len(line) && tokenByte[line[colon]] {
		colon++
	}
	if colon == 0 || colon == len(line) || line[colon] != ':' {
		return errHeader
	}
	name, res := line[:colon], &w.res
	value := trim(line[colon+1:])
	switch len(name) { // most headers need no comparison at all
	case len("Location"):
		if isNamed(name, "Location") {
			res.location = value
		}
	case len("Set-Cookie"): // and Connection
		if isNamed(name, "Connection") {
			if string(value) != "keep-alive" {
				res.close = res.close || hasToken(value, "close")
			}
			f.keep = f.keep || f.http10 && hasToken(value, "keep-alive")
		} else if isNamed(name, "Set-Cookie") {
			res.cookies = append(res.cookies, value)
		}
	case len("Content-Type"):
		if isNamed(name, "Content-Type") {
			res.contentType = value
		}
	case len("Content-Length"):
		if isNamed(name, "Content-Length") {
			n, ok := parseLength(value)
			if !ok || f.length >= 0 && f.length != n {
				return errLengths
			}
			f.length = n
		}
	case len("Content-Encoding"):
		if isNamed(name, "Content-Encoding") {
			res.encoding = value
		}
	case len("Transfer-Encoding"):
		if isNamed(name, "Transfer-Encoding") {
			if f.chunked || !foldEqual(value, "chunked") {
				return errEncoding
			}
			f.chunked = true
		}
	}
	return nil
}

// isNamed compares a header's name, mostly written as usual.
func isNamed(name []byte, usual string) bool { return string(name) == usual || foldEqual(name, usual) }

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

// tokenByte holds the characters of a token (RFC 9110, 5.6.2).
var tokenByte = func() (table [256]bool) {
	for c := '!'; c <= '~'; c++ {
		table[c] = !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	}
	return table
}()

func isToken[T ~string | ~[]byte](b T) bool {
	for i := range len(b) {
		if !tokenByte[b[i]] {
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
