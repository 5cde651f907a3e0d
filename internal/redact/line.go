package redact

import "kasoku/internal/lazyregexp"

// Of a line whose form nobody knows, more is masked than of a text that was read.
var (
	// The value of a name, as JSON (also within a text of JSON, where quotes are
	// escaped), logfmt and headers write it; one that the line's end cuts, too.
	lineSecret = lazyregexp.New(`(?i)((?:[\w.-]*(?:` + word + `|pass|secret|token|session|jwt|csrf|xsrf|credential|signature|authorization|cookie)[\w-]*|\b(?:key|auth|sid|sig|otp|pin))` +
		`\\*["'\]]*[ \t]*(?:=>|:=|[=:])[ \t]*\[?[ \t]*)` +
		`(?:\\+"(?:[^"\\]|\\+[^"\\])*(?:\\+")?|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|(?:(?:basic|bearer|digest|token|negotiate)[ \t]+)?[^\s"',;&})\[\]\\]+)`)
	// Any value of a query or a form.
	queryValue = lazyregexp.New(`([?&;][^=&?\s"]{1,60}=)[^&;\s"\\]+`)
	// What follows a scheme of RFC 9110 (11.6.2) that stands alone.
	schemeValue = lazyregexp.New(`(?i)(\b(?:basic|bearer)[ \t]+)[\w+/=.~-]+`)
)

// Line masks, for people to see, a line of a log that was not understood:
// what Text masks, all values of queries, and the values of names that may be
// a secret's.
func Line(line string) string {
	line = lineSecret.ReplaceAllString(line, "${1}"+Mask)
	line = Text(schemeValue.ReplaceAllString(line, "${1}"+Mask))
	return queryValue.ReplaceAllString(line, "${1}*")
}
