package sqllog

import "bytes"

// quoteState follows the quotes and comments of a statement through its bytes,
// in any portions. The zero value is the start of a statement.
type quoteState struct {
	// in is what the next byte stands in: a quote (', " or `), '*' a comment of
	// /* */, '#' a comment up to the line's end, 0 none of them.
	in   byte
	skip bool    // the next byte is escaped
	last [2]byte // the bytes before, outside quotes; the newer one first
}

// quoted: within a quote or a comment that newlines do not end.
func (q *quoteState) quoted() bool { return q.in != 0 && q.in != '#' }

// newline ends a line.
func (q *quoteState) newline() {
	if q.in == '#' {
		q.in = 0
	}
	q.skip = false
	q.last = [2]byte{'\n', '\n'}
}

// feed takes a part of one line.
func (q *quoteState) feed(s []byte) {
	for i := 0; i < len(s); {
		switch q.in {
		case '#':
			return
		case 0:
			i = q.code(s, i)
		case '*':
			i = q.comment(s, i)
		default:
			i = q.text(s, i)
		}
	}
}

// quoteMarks are the bytes that may begin something else than code.
var quoteMarks = func() (t [256]bool) {
	for _, c := range []byte("'\"`#*-") {
		t[c] = true
	}
	return t
}()

func (q *quoteState) code(s []byte, i int) int {
	for i < len(s) {
		if q.last == [2]byte{'-', '-'} {
			if q.last = [2]byte{}; s[i] <= ' ' {
				q.in = '#'
				return i
			}
		}
		from := i
		for i < len(s) && !quoteMarks[s[i]] {
			i++
		}
		if i > from {
			q.last = [2]byte{s[i-1], 0}
		}
		if i == len(s) {
			break
		}
		c := s[i]
		i++
		switch {
		case c == '*' && q.last[0] == '/':
			q.in, q.last = '*', [2]byte{}
			return i
		case c == '*' || c == '-':
			q.last = [2]byte{c, q.last[0]}
		default:
			q.in = c
			return i
		}
	}
	return i
}

func (q *quoteState) comment(s []byte, i int) int {
	for i < len(s) {
		if s[i] == '/' && q.last[0] == '*' {
			q.in, q.last = 0, [2]byte{}
			return i + 1
		}
		q.last[0] = s[i]
		i++
	}
	return i
}

func (q *quoteState) text(s []byte, i int) int {
	if q.skip {
		q.skip = false
		i++
	}
	for i < len(s) {
		n := bytes.IndexByte(s[i:], q.in)
		end := len(s)
		if n >= 0 {
			end = i + n
		}
		if q.in != '`' {
			if at := bytes.IndexByte(s[i:end], '\\'); at >= 0 {
				if i += at + 2; i > len(s) {
					q.skip = true
				}
				continue
			}
		}
		if n < 0 {
			break
		}
		q.in, q.last = 0, [2]byte{}
		return end + 1
	}
	return len(s)
}
