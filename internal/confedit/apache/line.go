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
		_, _, n := join(src, false)
		out = append(out, &line{text: src[:n], num: num})
		num += strings.Count(src[:n], "\n")
		src = src[n:]
	}
	return out
}

// join takes one line from the start of src as the server does: after each
// physical line it looks whether all that it has so far ends in a backslash
// before the line end, takes that off, and reads on. So after a\\ and a line
// end, an empty line does not end the line either. A NUL ends what the server
// sees of a physical line, and it then does not see the line end.
//
// It returns the line, the place in src of each of its bytes if places says
// so, and the length in src.
func join(src string, places bool) (b []byte, at []int, n int) {
	for n < len(src) {
		end := len(src)
		if nl := strings.IndexByte(src[n:], '\n'); nl >= 0 {
			end = n + nl + 1
		}
		stop := end
		nul := strings.IndexByte(src[n:end], 0)
		if nul >= 0 {
			stop = n + nul
		}
		b = append(b, src[n:stop]...)
		for i := n; i < stop && places; i++ {
			at = append(at, i)
		}
		n = end
		k := len(b)
		if nul >= 0 || b[k-1] != '\n' {
			return b, at, n
		}
		if k--; k > 0 && b[k-1] == '\r' {
			k--
		}
		if k == 0 || b[k-1] != '\\' {
			return b, at, n
		}
		b = b[:k-1]
		if places {
			at = at[:k-1]
		}
	}
	return b, at, n
}

// logical returns the line as the server sees it after joining and trimming,
// and for each of its bytes, and for its end, the place in l.text.
func (l *line) logical() (string, []int) {
	b, at, _ := join(l.text, true)
	from, to := 0, len(b)
	for from < to && isSpace(b[from]) {
		from++
	}
	for to > from && isSpace(b[to-1]) {
		to--
	}
	last := len(l.text)
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
