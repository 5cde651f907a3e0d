package phpvars

import (
	"fmt"
	"strings"
)

// kind of a token.
type kind byte

const (
	variable kind = 'v' // $name
	word     kind = 'w' // a name, keyword or number
	text     kind = 's' // a string or heredoc, with its quotes
	sign     kind = 'o' // one or more characters of an operator, or a bracket
	closeTag kind = '?' // ?>
)

// token is text[from:to]; line is 1-based.
type token struct {
	kind     kind
	from, to int
	line     int
}

// scanner cuts a text into the tokens of its PHP code.
type scanner struct {
	src    string
	at     int
	line   int
	tokens []token
	inPHP  bool // where the text ends
}

func scan(src string) (*scanner, error) {
	s := &scanner{src: src, line: 1}
	for s.at < len(src) {
		if !s.inPHP {
			s.html()
			continue
		}
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// to moves on and counts lines.
func (s *scanner) to(at int) {
	s.line += strings.Count(s.src[s.at:at], "\n")
	s.at = at
}

func (s *scanner) add(k kind, to int) {
	s.tokens = append(s.tokens, token{k, s.at, to, s.line})
	s.to(to)
}

// html goes on to the next opening tag: <?php before white space, or <?=. Short
// tags (short_open_tag) are no longer usual and are left as text.
func (s *scanner) html() {
	rest := s.src[s.at:]
	for i := 0; i+2 < len(rest); i++ {
		if strings.HasPrefix(rest[i:], "<?=") {
			s.to(s.at + i + 3)
			s.inPHP = true
			return
		}
		if len(rest) >= i+5 && strings.EqualFold(rest[i:i+5], "<?php") && (len(rest) == i+5 || strings.IndexByte(" \t\r\n", rest[i+5]) >= 0) {
			s.to(s.at + i + 5)
			s.inPHP = true
			return
		}
	}
	s.to(len(s.src))
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// next reads one token of PHP code, or skips white space and comments.
func (s *scanner) next() error {
	rest := s.src[s.at:]
	c := rest[0]
	switch {
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.to(s.at + 1)
	case strings.HasPrefix(rest, "?>"):
		s.add(closeTag, s.at+2)
		s.inPHP = false
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return fmt.Errorf("line %d: a comment does not end", s.line)
		}
		s.to(s.at + 2 + end + 2)
	case strings.HasPrefix(rest, "//") || c == '#' && !strings.HasPrefix(rest, "#["):
		s.lineComment(rest)
	case c == '$' && len(rest) > 1 && wordByte(rest[1]):
		s.add(variable, s.at+1+wordLength(rest[1:]))
	case wordByte(c) || c == '\\':
		n := 0
		for n < len(rest) && (wordByte(rest[n]) || rest[n] == '\\') {
			n++
		}
		s.add(word, s.at+n)
	case strings.HasPrefix(rest, "<<<"):
		return s.heredoc(rest)
	case c == '\'' || c == '"' || c == '`':
		end, err := s.quoted(rest, c)
		if err != nil {
			return err
		}
		s.add(text, s.at+end)
	default:
		s.add(sign, s.at+signLength(rest))
	}
	return nil
}

func wordLength(rest string) int {
	n := 0
	for n < len(rest) && wordByte(rest[n]) {
		n++
	}
	return n
}

// lineComment ends at the line's end or before a closing tag.
func (s *scanner) lineComment(rest string) {
	end := len(rest)
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		end = i
	}
	if i := strings.Index(rest[:end], "?>"); i >= 0 {
		end = i
	}
	s.to(s.at + end)
}

// quoted is the length of a string. In double quotes {$…} may hold strings
// itself.
func (s *scanner) quoted(rest string, quote byte) (int, error) {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case rest[i] == quote:
			return i + 1, nil
		case quote != '\'' && strings.HasPrefix(rest[i:], "{$"):
			n, err := s.braced(rest[i:])
			if err != nil {
				return 0, err
			}
			i += n - 1
		}
	}
	return 0, fmt.Errorf("line %d: a string does not end", s.line)
}

// braced is the length of {$…} in a string.
func (s *scanner) braced(rest string) (int, error) {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case '\'', '"':
			n, err := s.quoted(rest[i:], c)
			if err != nil {
				return 0, err
			}
			i += n - 1
		}
	}
	return 0, fmt.Errorf("line %d: {$ in a string does not end", s.line)
}

// heredoc reads <<<ID, <<<"ID" and <<<'ID', which end before the line that
// begins, behind white space, with ID (PHP manual, "Strings"; since 7.3 the
// closing ID may be indented). Other <<< is the operator << and more.
func (s *scanner) heredoc(rest string) error {
	head := strings.TrimLeft(rest[3:], " \t")
	quote := ""
	if head != "" && (head[0] == '"' || head[0] == '\'') {
		quote, head = head[:1], head[1:]
	}
	id := head[:wordLength(head)]
	after := head[len(id):]
	if id == "" || !strings.HasPrefix(after, quote) {
		s.add(sign, s.at+2)
		return nil
	}
	body := strings.Index(rest, "\n")
	for body >= 0 {
		line := rest[body+1:]
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if after, ok := strings.CutPrefix(line[indent:], id); ok && (after == "" || !wordByte(after[0])) {
			s.add(text, s.at+body+1+indent+len(id))
			return nil
		}
		i := strings.IndexByte(line, '\n')
		if i < 0 {
			break
		}
		body += 1 + i
	}
	return fmt.Errorf("line %d: the heredoc %s does not end", s.line, id)
}

// signs of more than one character that say whether something is set; the
// longest first.
var signs = []string{"<<=", ">>=", "**=", "??=", "===", "!==", "<=>", "==", "!=", "=>", "<=", ">=", "+=", "-=", "*=", "/=", ".=", "%=", "&=", "|=", "^=", "++", "--", "->", "?->", "::", "&&", "||", "??", "#["}

func signLength(rest string) int {
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return len(s)
		}
	}
	return 1
}
