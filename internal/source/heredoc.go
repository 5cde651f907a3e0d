package source

import (
	"bytes"
	"strings"
)

// here reads the beginning of a heredoc: <<<EOT (PHP), <<~EOT, <<-EOT, <<EOT, <<"EOT",
// <<'EOT' (Ruby, Perl). Its text is filled in when its lines come.
func (x *lexer) here() bool {
	mark := map[string]string{"php": "<<<", "ruby": "<<", "perl": "<<"}[x.l.name]
	if mark == "" || !x.has(mark) {
		return false
	}
	n := x.at + len(mark)
	strip := x.l.name == "php"
	for n < len(x.src) && strings.IndexByte("~- \t", x.src[n]) >= 0 {
		strip = strip || x.src[n] == '~' || x.src[n] == '-'
		if x.src[n] == ' ' && x.l.name != "php" {
			return false // a shift
		}
		n++
	}
	if n >= len(x.src) {
		return false
	}
	quote := x.src[n]
	if quote != '"' && quote != '\'' {
		quote = 0
		if !isLetter(x.src[n]) || x.l.name == "ruby" && !strip && x.value() && !upper(x.src[n]) {
			return false
		}
	} else {
		n++
	}
	start := n
	for n < len(x.src) && isWord(x.src[n]) {
		n++
	}
	end := string(x.src[start:n])
	if end == "" {
		return false
	}
	if quote != 0 {
		n++
	}
	x.heredocs = append(x.heredocs, heredoc{at: len(x.out), end: end, raw: quote == '\'', strip: strip})
	x.add(text, "", x.at)
	x.at = min(n, len(x.src))
	return true
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// takeHeredocs reads the texts of those that the line before announced.
func (x *lexer) takeHeredocs() {
	waiting := x.heredocs
	x.heredocs = nil
	for _, h := range waiting {
		start, line := x.at, x.line
		stop := start
		for {
			stop = x.at
			n := bytes.IndexByte(x.src[x.at:], '\n')
			if n < 0 {
				n = len(x.src) - x.at
			}
			this := string(x.src[x.at : x.at+n])
			if found, rest := h.ends(this); found {
				x.at += len(this) - len(rest)
				break
			}
			if x.at += n; x.at >= len(x.src) {
				stop = x.at
				break
			}
			x.newline()
		}
		x.fill(h, x.src[start:stop], line)
	}
}

// ends reports whether a line ends the heredoc, and what follows on it.
func (h heredoc) ends(line string) (found bool, rest string) {
	if h.strip {
		line = strings.TrimLeft(line, " \t")
	}
	rest, found = strings.CutPrefix(line, h.end)
	if !found || rest != "" && isWord(rest[0]) {
		return false, ""
	}
	return true, rest
}

// fill writes a heredoc's text into its token; its line is that of the text.
func (x *lexer) fill(h heredoc, body []byte, line int) {
	s := string(body)
	if !h.raw {
		in := &lexer{l: x.l, src: body, line: 1}
		s = in.body("\x00", true, 0)
	}
	x.out[h.at].s, x.out[h.at].line = s, line
}
