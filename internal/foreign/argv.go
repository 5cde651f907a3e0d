package foreign

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Argv is a program with its arguments, which run without a shell. In kasoku.yaml it is a
// list, or one text that is split as a shell splits words.
type Argv []string

// UnmarshalYAML takes a list, or a text.
func (a *Argv) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err == nil {
		words, err := SplitWords(text)
		*a = words
		return err
	}
	var list []string
	err := unmarshal(&list)
	*a = list
	return err
}

// shellOnly are bytes outside of quotes that mean something to a shell alone. ?, [ and
// { are left as they are, as a shell leaves them where no file has such a name: they
// stand in addresses.
const shellOnly = "|&;<>()`$*"

// SplitWords splits a text into words as sh(1) does: at blanks, with '…', "…" and \. The
// error names what only a shell could do, and says how to have one.
func SplitWords(text string) ([]string, error) {
	s := splitter{text: strings.TrimSpace(text)}
	for s.at < len(s.text) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.end()
	switch {
	case len(s.out) == 0:
		return nil, errors.New("is empty; write [program, argument, …]")
	case isAssignment(s.out[0]):
		return nil, fmt.Errorf("%q before a program is for a shell; write \"env %s\" before the program, or [sh, -c, '…']", s.out[0], s.out[0])
	}
	return s.out, nil
}

// splitter walks over a command line.
type splitter struct {
	text string
	at   int
	now  []byte
	open bool // a word has begun; it may be empty, as ""
	out  []string
}

func (s *splitter) end() {
	if s.open {
		s.out = append(s.out, string(s.now))
	}
	s.now, s.open = s.now[:0], false
}

// needs says what only a shell can do at the present place.
func (s *splitter) needs(what string) error {
	return fmt.Errorf("%s at character %d needs a shell: write [sh, -c, '…'], or put it in quotes if it belongs to an argument", what, utf8.RuneCountInString(s.text[:s.at])+1)
}

// step reads a blank, a quoted text, or one byte of a word.
func (s *splitter) step() error {
	c := s.text[s.at]
	switch {
	case c == ' ' || c == '\t':
		s.end()
	case c == '\n' || c == '\r':
		return s.needs("a second line")
	case c == '\\':
		return s.escaped()
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '$' || c == '`':
		return s.needs(s.expansion())
	case strings.IndexByte(shellOnly, c) >= 0:
		return s.needs(fmt.Sprintf("%q", s.operator()))
	case c == '~' && !s.open, c == '#' && !s.open:
		return s.needs(fmt.Sprintf("%q", string(c)))
	default:
		s.now, s.open = append(s.now, c), true
	}
	s.at++
	return nil
}

// operator is && and its kin, as they stand.
func (s *splitter) operator() string {
	end := s.at + 1
	for end < len(s.text) && s.text[end] == s.text[s.at] && end < s.at+2 {
		end++
	}
	return s.text[s.at:end]
}

// expansion is $(…), ${…}, $NAME or `…`, by its begin.
func (s *splitter) expansion() string {
	rest := s.text[s.at:]
	if rest[0] == '`' || len(rest) > 1 && (rest[1] == '(' || rest[1] == '{') {
		return fmt.Sprintf("%q", rest[:min(len(rest), 2)])
	}
	end := 1
	for end < len(rest) && isName(rest[end]) {
		end++
	}
	return fmt.Sprintf("%q", rest[:end])
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// escaped is \ with what follows; at a line's end it joins it with the next.
func (s *splitter) escaped() error {
	if s.at+1 == len(s.text) {
		return errors.New(`ends with a \ that nothing follows; remove it`)
	}
	if next := s.text[s.at+1]; next != '\n' {
		s.now, s.open = append(s.now, next), true
	}
	s.at += 2
	return nil
}

func (s *splitter) single() error {
	end := strings.IndexByte(s.text[s.at+1:], '\'')
	if end < 0 {
		return fmt.Errorf("the ' at character %d is not closed", utf8.RuneCountInString(s.text[:s.at])+1)
	}
	s.now, s.open = append(s.now, s.text[s.at+1:s.at+1+end]...), true
	s.at += end + 2
	return nil
}

// double reads "…", in which \ stands before $, `, ", \ and the line's end only.
func (s *splitter) double() error {
	begin := s.at
	s.open = true
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return nil
		case '$', '`':
			return s.needs(s.expansion())
		case '\\':
			if s.at+1 < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at+1]) >= 0 {
				if s.at++; s.text[s.at] != '\n' {
					s.now = append(s.now, s.text[s.at])
				}
				continue
			}
			s.now = append(s.now, c)
		default:
			s.now = append(s.now, c)
		}
	}
	return fmt.Errorf("the \" at character %d is not closed", utf8.RuneCountInString(s.text[:begin])+1)
}

// isAssignment: NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if !isName(name[i]) {
			return false
		}
	}
	return true
}
