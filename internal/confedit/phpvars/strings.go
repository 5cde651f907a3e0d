package phpvars

import (
	"regexp"
	"strings"
)

// singleQuoted and doubleQuoted are whole literals: a backslash in single quotes
// stands before ' or \ only, and in double quotes none is read here (PHP manual,
// "Strings").
var (
	singleQuoted = regexp.MustCompile(`^'((?:[^'\\]|\\['\\])*)'$`)
	doubleQuoted = regexp.MustCompile(`^"([^"\\]*)"$`)
	// interpolated is a plain variable in double quotes; anything more, such as
	// $a[0], $a->b or {$a['b']}, is not read.
	interpolated = regexp.MustCompile(`\{\$([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)`)
)

// String returns the string that a variable (without $) is set to by a literal,
// in double quotes with other variables that are. ok is false where the text
// does not tell: nothing sets it, something else may, or it is computed.
func (f *File) String(name string) (value string, ok bool) { return f.stringAt(name, len(f.sets)) }

// stringAt is String as it is before the assignment with that number.
func (f *File) stringAt(name string, before int) (string, bool) {
	if v, set := f.Get(name); !set || !v.Sure {
		return "", false
	}
	at := before - 1
	for at >= 0 && f.sets[at].name != name {
		at--
	}
	if at < 0 {
		return "", false
	}
	text := f.text[f.sets[at].from:f.sets[at].to]
	if m := singleQuoted.FindStringSubmatch(text); m != nil {
		return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(m[1]), true
	}
	m := doubleQuoted.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	known := true
	out := interpolated.ReplaceAllStringFunc(m[1], func(v string) string {
		s, ok := f.stringAt(strings.Trim(v, "{$}"), at)
		known = known && ok
		return s
	})
	rest := interpolated.ReplaceAllString(m[1], "\x00")
	if !known || strings.Contains(rest, "{$") || strings.Contains(rest, "${") || strings.Contains(rest, "\x00[") || strings.Contains(rest, "\x00->") {
		return "", false
	}
	return out, true
}
