package sqllog

// Skeleton appends to dst the statement with its plain values made equal: a
// text in quotes becomes ”, a number such as 12 or 1.5 0, a list of such after IN one 0,
// equal rows after VALUES one row, a comment a space. Statements with one
// skeleton have one fingerprint, that of the skeleton, and it takes a tenth of
// the time, so it serves to look fingerprints up. Not ok: a statement with an
// executable comment, which needs the lexer.
func Skeleton(dst []byte, sql string) (out []byte, ok bool) {
	out = dst
	n := len(sql)
	var open listState
	prev := byte(' ') // the byte before i, of the statement
	for i := 0; i < n; {
		c := sql[i]
		switch skeletonClass[c] {
		case plainByte:
			from := i
			for i++; i < n && skeletonClass[sql[i]] == plainByte; i++ {
			}
			out = append(out, sql[from:i]...)
		case digitByte:
			m, plain := numberAt(sql[i:], prev)
			if plain {
				out = append(out, '0')
			} else {
				out = append(out, sql[i:i+m]...)
			}
			i += m
		case quoteByte:
			i += quotedLength(sql[i:], c, true)
			out = append(out, c, c)
		case tickByte:
			m := quotedLength(sql[i:], c, false)
			out = append(out, sql[i:i+m]...)
			i += m
		case openByte:
			open.enter(out)
			out = append(out, c)
			i++
		case closeByte:
			out = open.leave(append(out, c))
			i++
		default:
			m, good := skipComment(sql[i:])
			if !good {
				return out, false
			}
			if m > 0 {
				out = append(out, ' ')
				i += m
			} else {
				out = append(out, c)
				i++
			}
		}
		prev = sql[i-1]
	}
	return out, true
}

// numberAt returns the length of the digits, with a fraction, that s begins
// with, and whether they are a whole token after the byte prev.
func numberAt(s string, prev byte) (n int, plain bool) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]); n++ {
		}
	}
	goesOn := n < len(s) && (isName(s[n]) || s[n] == '.' || s[n] == '@')
	return n, !goesOn && !isName(prev) && prev != '.' && prev != '@'
}

const (
	plainByte = iota
	digitByte
	quoteByte
	tickByte
	openByte
	closeByte
	commentByte
)

var skeletonClass = func() (t [256]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = digitByte
	}
	t['\''], t['"'], t['`'], t['('], t[')'] = quoteByte, quoteByte, tickByte, openByte, closeByte
	t['#'], t['-'], t['/'], t['*'] = commentByte, commentByte, commentByte, commentByte
	return t
}()

// skipComment returns the length of the comment that s begins with, 0 if it
// begins with none; not good if it is executable.
func skipComment(s string) (n int, good bool) {
	switch {
	case s[0] == '#', len(s) > 1 && s[:2] == "--" && (len(s) == 2 || s[2] <= ' '):
		return lineLength(s), true
	case len(s) < 2:
		return 0, true
	case s[:2] == "*/", s[:2] == "--", len(s) > 2 && s[:3] == "/*!", len(s) > 3 && s[:4] == "/*M!":
		return 0, false // two signs, but what follows may make a comment of them
	case s[:2] == "/*":
		for i := 2; i+1 < len(s); i++ {
			if s[i] == '*' && s[i+1] == '/' {
				return i + 2, true
			}
		}
		return len(s), true
	}
	return 0, true
}

// listState follows brackets: the innermost list after IN, and the rows of one
// VALUES.
type listState struct {
	depth    int
	in       int // where the list after IN begins in the output; 0: in none
	inDepth  int
	values   int  // where the first row begins; 0: no VALUES seen
	rowDepth int  // depth of the rows
	rowEnd   int  // where the first row ends; 0: still in it
	done     bool // a row was another, or something else followed
	row      int  // where the present further row begins
}

// enter takes an opening bracket that comes after out.
func (l *listState) enter(out []byte) {
	l.depth++
	at := len(out)
	for at > 0 && out[at-1] <= ' ' {
		at--
	}
	switch {
	case endsWith(out[:at], "in"):
		l.in, l.inDepth = len(out)+1, l.depth
	case l.values == 0 && (endsWith(out[:at], "values") || endsWith(out[:at], "value")):
		l.values, l.rowDepth = len(out), l.depth
	case l.rowEnd > 0 && l.depth == l.rowDepth && !l.done:
		// Only a comma may stand between the first row and this one.
		if between := out[l.rowEnd:at]; len(between) > 0 && between[len(between)-1] == ',' && blank(between[:len(between)-1]) {
			l.row = len(out)
		} else {
			l.done = true
		}
	}
}

// leave takes out after a closing bracket and returns what is left of it.
func (l *listState) leave(out []byte) []byte {
	defer func() { l.depth-- }()
	end := len(out) - 1
	if l.in > 0 && l.depth == l.inDepth {
		if from := l.in; from < end && onlyValues(out[from:end]) {
			out = append(out[:from], '0', ')')
		}
		l.in = 0
	}
	if l.values == 0 || l.depth != l.rowDepth || l.done {
		return out
	}
	switch {
	case l.rowEnd == 0:
		l.rowEnd = len(out)
	case string(out[l.row:]) == string(out[l.values:l.rowEnd]):
		out = out[:l.rowEnd]
	default:
		l.done = true // those after it stay as well
	}
	return out
}

func blank(s []byte) bool {
	for _, c := range s {
		if c > ' ' {
			return false
		}
	}
	return true
}

// onlyValues: zeroes and empty texts, separated by commas.
func onlyValues(s []byte) bool {
	for _, c := range s {
		if c != '0' && c != '\'' && c != '"' && c != ',' && c > ' ' {
			return false
		}
	}
	return !blank(s)
}

// endsWith: the word (small letters) is the last one of s.
func endsWith(s []byte, word string) bool {
	at := len(s) - len(word)
	if at < 0 || at > 0 && (isName(s[at-1]) || isDigit(s[at-1]) || s[at-1] == '@' || s[at-1] == '.' || s[at-1] == '`') {
		return false
	}
	for i := range len(word) {
		if s[at+i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
