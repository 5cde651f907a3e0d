package apache

import "strings"

// line is one line as the server takes it: physical lines that end in a
// backslash are joined with the next.
type line struct {
	text string // as written, with the line ends
	num  int    // 1-based number of its first physical line
}

// isSpace is C's isspace, which the server uses.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// cutLines cuts text into lines whose texts joined are the text again.
func cutLines(src string) []*line {
	var out []*line
	for num := 1; src != ""; {
		end, count := 0, 0
		for {
			nl := strings.IndexByte(src[end:], '\n')
			if nl < 0 {
				end = len(src)
				break
			}
			one := src[end : end+nl]
			end += nl + 1
			count++
			if end == len(src) || !continued(one) {
				break
			}
		}
		out = append(out, &line{text: src[:end], num: num})
		src, num = src[end:], num+count
	}
	return out
}

// continued reports whether a physical line (without its line feed) goes on
// with the next one. A NUL ends what the server sees of it, and it then does
// not see the line end either.
func continued(one string) bool {
	return strings.IndexByte(one, 0) < 0 && strings.HasSuffix(strings.TrimSuffix(one, "\r"), `\`)
}

// logical returns the line as the server sees it after joining and trimming,
// and for each of its bytes, and for its end, the place in l.text.
func (l *line) logical() (string, []int) {
	src := l.text
	var b []byte
	var at []int
	for pos := 0; pos < len(src); {
		end := len(src)
		next := end
		if nl := strings.IndexByte(src[pos:], '\n'); nl >= 0 {
			next = pos + nl + 1
			if one := src[pos : pos+nl]; continued(one) {
				end = pos + len(strings.TrimSuffix(one, "\r")) - 1
			}
		}
		stop := min(end, next)
		if nul := strings.IndexByte(src[pos:stop], 0); nul >= 0 {
			stop = pos + nul
		}
		for i := pos; i < stop; i++ {
			b, at = append(b, src[i]), append(at, i)
		}
		pos = next
	}
	from, to := 0, len(b)
	for from < to && isSpace(b[from]) {
		from++
	}
	for to > from && isSpace(b[to-1]) {
		to--
	}
	last := len(src)
	if to > from {
		last = at[to-1] + 1
	}
	return string(b[from:to]), append(at[from:to:to], last)
}

// plain reports whether the line is empty or a comment.
func (l *line) plain() bool {
	s, _ := l.logical()
	return s == "" || s[0] == '#'
}

// comment reports whether the line is a comment.
func (l *line) comment() bool {
	s, _ := l.logical()
	return s != "" && s[0] == '#'
}

// indent returns the spaces and tabs that the line starts with.
func (l *line) indent() string {
	return l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))]
}

// word is one word of a logical line: its place there and what it means.
type word struct {
	from, to int
	value    string
}

// nextWord takes the word at or behind pos as ap_getword_conf does: a quote
// that is never closed reaches to the end, and what follows a closing quote is
// a new word. ok is false where no word is left.
func nextWord(s string, pos int) (w word, ok bool) {
	for pos < len(s) && isSpace(s[pos]) {
		pos++
	}
	if pos == len(s) {
		return word{}, false
	}
	i := pos
	if q := s[pos]; q == '"' || q == '\'' {
		for i++; i < len(s) && s[i] != q; i++ {
			if s[i] == '\\' && i+1 < len(s) && (s[i+1] == q || s[i+1] == '\\') {
				i++
			}
		}
		w = word{from: pos, value: unescape(s[pos+1:i], q)}
		if i < len(s) {
			i++
		}
		w.to = i
		return w, true
	}
	for i < len(s) && !isSpace(s[i]) {
		i++
	}
	return word{from: pos, to: i, value: unescape(s[pos:i], 0)}, true
}

// words takes all words from pos on.
func words(s string, pos int) []word {
	var out []word
	for {
		w, ok := nextWord(s, pos)
		if !ok {
			return out
		}
		out = append(out, w)
		pos = w.to
	}
}

// unescape takes the backslash off \\ and, between quotes, off the quote.
func unescape(s string, q byte) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || q != 0 && s[i+1] == q) {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

func values(list []word) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.value)
	}
	return out
}

// parts are the pieces of a logical line that is no comment.
type parts struct {
	name    string // without < and >
	section bool   // <name …>
	closing bool   // </name>
	args    []word
	open    bool // a section that lacks its >
}

// split takes a logical line apart. In a section's line the arguments end at
// the last >, and what follows is dropped, as the server's handlers do.
func split(s string) parts {
	w, _ := nextWord(s, 0)
	p := parts{name: w.value}
	rest := w.to
	switch {
	case strings.HasPrefix(p.name, "</"):
		p.closing = true
		p.name = p.name[2:]
		p.open = !strings.HasSuffix(p.name, ">")
		p.name = strings.TrimSuffix(p.name, ">")
		return p
	case strings.HasPrefix(p.name, "<"):
		p.section = true
		p.name = p.name[1:]
		if strings.HasSuffix(p.name, ">") {
			p.name = strings.TrimSuffix(p.name, ">")
			return p // the section has no arguments
		}
		end := strings.LastIndexByte(s[rest:], '>')
		if end < 0 {
			p.open = true
			return p
		}
		s = s[:rest+end]
	}
	p.args = words(s, rest)
	return p
}
