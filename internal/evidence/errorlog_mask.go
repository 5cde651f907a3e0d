package evidence

import "regexp"

// logSecrets are the places of a log line that may hold a secret or personal
// data: values of a query string, of SQL text, of names that say so, and
// words too long and too mixed to be read.
var logSecrets = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`://[^/\s:@]*:[^/\s@]*@`), `://…@`},
	{regexp.MustCompile(`(?i)\b(authorization|proxy-authorization|cookie|set-cookie)\s*[:=]\s*.*`), `$1: …`},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w+/=.~-]+`), `$1 …`},
	{regexp.MustCompile(`(?i)([\w-]*(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|session|csrf|credential|private[_-]?key|auth)[\w-]*)(["']?\s*(?:=>|[=:])\s*)("[^"]*"|'[^']*'|[^\s,;&)}]+)`), `$1$2…`},
	{regexp.MustCompile(`([?&][\w.%\[\]-]+)=[^&\s"']*`), `$1=…`},
	{regexp.MustCompile(`(?i)(duplicate entry) '[^']*'`), `$1 '…'`},
	{regexp.MustCompile(`[\w.+-]+@[\w-]+\.[\w.-]+`), `…@…`},
	{regexp.MustCompile(`\b[A-Za-z0-9+/_=-]*[0-9][A-Za-z0-9+/_=-]*\b`), ``}, // see longWord
}

// sqlText is the begin of a statement within a line.
var sqlText = regexp.MustCompile(`(?i)\b(select\s.+\sfrom|insert\s+(?:ignore\s+)?into|replace\s+into|update\s.+\sset|delete\s+from|identified\s+by|near)\b`)

var sqlValue = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?`)

// longSecret: no word of a message is as long, but keys and session names are.
const longSecret = 32

// maskLog replaces what may be secret in a log line by "…".
func maskLog(s string) string {
	if at := sqlText.FindStringIndex(s); at != nil {
		s = s[:at[0]] + sqlValue.ReplaceAllString(s[at[0]:], "'…'")
	}
	for _, m := range logSecrets {
		if m.to != "" {
			s = m.from.ReplaceAllString(s, m.to)
			continue
		}
		s = m.from.ReplaceAllStringFunc(s, func(word string) string {
			if len(word) < longSecret || slashes.MatchString(word) {
				return word
			}
			return "…"
		})
	}
	return s
}

// slashes: a path is no key.
var slashes = regexp.MustCompile(`/.*/`)
