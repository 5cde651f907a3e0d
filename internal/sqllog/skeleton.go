package sqllog

// Skeleton appends to dst the statement with its plain values made equal: a
// text in quotes becomes ”, a whole number 0. Statements with one skeleton
// have one fingerprint, and it takes a tenth of the time, so it serves to look
// fingerprints up. It is not ok for a statement with a comment or a backtick
// that is not closed: those need the lexer.
func Skeleton(dst []byte, sql string) (out []byte, ok bool) {
	out = dst
	n := len(sql)
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
			from := i
			for i++; i < n && isDigit(sql[i]); i++ {
			}
			if (isName(prev) || isDigit(prev) || prev == '.' || prev == '@') || i < n && (isName(sql[i]) || sql[i] == '.' || sql[i] == '@' || sql[i] == '\'' || sql[i] == '"') {
				out = append(out, sql[from:i]...)
			} else {
				out = append(out, '0')
			}
		case quoteByte:
			i += quotedLength(sql[i:], c, true)
			out = append(out, '\'', '\'')
		case tickByte:
			m := quotedLength(sql[i:], c, false)
			out = append(out, sql[i:i+m]...)
			i += m
		default:
			if c == '#' || i+1 < n && (c == '-' && sql[i+1] == '-' || c == '/' && sql[i+1] == '*' || c == '*' && sql[i+1] == '/') {
				return out, false
			}
			out = append(out, c)
			i++
		}
		prev = sql[i-1]
	}
	return out, true
}

const (
	plainByte = iota
	digitByte
	quoteByte
	tickByte
	commentByte
)

var skeletonClass = func() (t [256]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = digitByte
	}
	t['\''], t['"'], t['`'] = quoteByte, quoteByte, tickByte
	t['#'], t['-'], t['/'], t['*'] = commentByte, commentByte, commentByte, commentByte
	return t
}()
