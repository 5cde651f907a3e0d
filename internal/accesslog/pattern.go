package accesslog

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a route given by hand.
type pattern struct {
	text     string
	segments []string
	open     bool           // ends with *
	re       *regexp.Regexp // instead of segments
	prefix   string         // literal text that re asks for at the begin
}

func parsePattern(text string) (pattern, error) {
	if strings.HasPrefix(text, "^") {
		re, err := regexp.Compile(text)
		if err != nil {
			return pattern{}, fmt.Errorf("route pattern %q: %w; write a regular expression over the path, for example ^/items/[0-9]+$, or a path like /items/:id", text, err)
		}
		return pattern{text: text, re: re, prefix: literalPrefix(text)}, nil
	}
	path, open := strings.CutSuffix(text, "*")
	if !strings.HasPrefix(text, "/") || strings.Contains(path, "*") || open && !strings.HasSuffix(path, "/") {
		return pattern{}, fmt.Errorf("route pattern %q: write a path with :name for a segment that varies, and perhaps /* at the end, for example /items/:id or /files/*, or a regular expression that begins with ^", text)
	}
	parts := segments(path)
	if open {
		parts = parts[:len(parts)-1]
	}
	return pattern{text: text, segments: parts, open: open}, nil
}

// literalPrefix of an expression that begins with ^, as far as it is plain
// text: most paths are refused by it, which is much faster than the expression.
func literalPrefix(text string) string {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return ""
	}
	if first, second := re.Sub[0], re.Sub[1]; first.Op == syntax.OpBeginText && second.Op == syntax.OpLiteral && second.Flags&syntax.FoldCase == 0 {
		return string(second.Rune)
	}
	return ""
}

// Match finds the first pattern that fits a path without query; "": none.
func (r *Routes) Match(path string) string { return r.match(path) }

func (r *Routes) match(path string) string {
	if len(r.patterns) == 0 {
		return ""
	}
	parts := segments(path)
	for i := range r.patterns {
		if r.patterns[i].fits(path, parts) {
			return r.patterns[i].text
		}
	}
	return ""
}

func (p *pattern) fits(path string, parts []string) bool {
	if p.re != nil {
		return strings.HasPrefix(path, p.prefix) && p.re.MatchString(path)
	}
	if p.open != (len(parts) > len(p.segments)) || len(parts) < len(p.segments) {
		return false
	}
	for j, s := range p.segments {
		if s != parts[j] && (!strings.HasPrefix(s, ":") || parts[j] == "") {
			return false
		}
	}
	return true
}
