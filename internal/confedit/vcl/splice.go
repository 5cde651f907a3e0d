package vcl

import (
	"fmt"
	"strings"
)

// splice puts fresh in the place of f's bytes from up to to, and reads the
// configuration again. If tokens outside would be read differently, if it
// cannot be read any more, or if check fails, all is put back.
func (c *Config) splice(f *File, from, to int, fresh string, check func() error) error {
	was := f.src
	before, after := f.outside(from, to)
	err := f.parse(was[:from] + fresh + was[to:])
	if err == nil {
		n := len(f.tokens)
		if n < len(before)+len(after) || !sameRaw(f.tokens[:len(before)], before) || !sameRaw(f.tokens[n-len(after):], after) {
			err = fmt.Errorf("%s: the new text would change how the text beside it is read", f.Path)
		}
	}
	if err == nil {
		err = c.rebuild()
	}
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		return nil
	}
	if back := f.parse(was); back != nil {
		return fmt.Errorf("%w; and the file cannot be read as before: %w", err, back)
	}
	if back := c.rebuild(); back != nil {
		return fmt.Errorf("%w; and the configuration cannot be read as before: %w", err, back)
	}
	return err
}

// outside returns the tokens before and behind a part of the text.
func (f *File) outside(from, to int) (before, after []string) {
	for _, t := range f.tokens {
		switch {
		case t.to <= from:
			before = append(before, t.raw)
		case t.from >= to:
			after = append(after, t.raw)
		}
	}
	return before, after
}

func sameRaw(tokens []token, raws []string) bool {
	for i, t := range tokens {
		if t.raw != raws[i] {
			return false
		}
	}
	return true
}

// lineIndent returns the spaces that the line of the byte at pos starts with.
func (f *File) lineIndent(pos int) string {
	start := strings.LastIndexByte(f.src[:pos], '\n') + 1
	line := f.src[start:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unit finds one step of the file's indentation: that of the first line in a
// block that has any. Four spaces where no line tells.
func (f *File) unit() string {
	for _, b := range f.blocks {
		if b.open > 0 && b.open+1 < b.last {
			first := f.tokens[b.open+1]
			if in := f.lineIndent(first.from); in != "" && first.line > f.tokens[b.open].line {
				return in
			}
		}
	}
	return "    "
}

// indented starts every line of VCL code with indent, but for empty lines and
// what is inside a token or comment, and gives it the line ending. Code that
// cannot stand alone is an error.
func indented(code, indent, eol string) (string, error) {
	code = strings.Trim(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	if strings.TrimSpace(code) == "" {
		return "", fmt.Errorf("the new code is empty")
	}
	tokens, err := lex(code)
	if err != nil {
		return "", fmt.Errorf("the new code: %w", err)
	}
	depth := 0
	for _, t := range tokens {
		switch t.raw {
		case "{":
			depth++
		case "}":
			if depth--; depth < 0 {
				return "", fmt.Errorf("the new code: line %d: unexpected }", t.line)
			}
		}
	}
	if depth != 0 {
		return "", fmt.Errorf("the new code: a } is missing")
	}
	var b strings.Builder
	for i, row := range strings.SplitAfter(code, "\n") {
		at := len(strings.Join(strings.SplitAfter(code, "\n")[:i], ""))
		if strings.TrimSpace(row) != "" && !insideToken(code, tokens, at) {
			b.WriteString(indent)
		}
		b.WriteString(strings.TrimSuffix(row, "\n") + eol)
	}
	return b.String(), nil
}

// insideToken reports whether the byte at pos is in the middle of a token or
// of a /* */ comment.
func insideToken(code string, tokens []token, pos int) bool {
	end := 0
	for _, t := range tokens {
		if t.from < pos && pos < t.to {
			return true
		}
		if t.to <= pos {
			end = t.to
		}
	}
	l := &lexer{src: code, pos: end, line: 1}
	for l.pos < pos {
		rest := l.src[l.pos:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "/*"):
			n = strings.Index(rest[2:], "*/") + 4
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			n = strings.IndexByte(rest+"\n", '\n')
		}
		l.pos += n
	}
	return l.pos > pos
}
