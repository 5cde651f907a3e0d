package change

import "regexp"

// mask stands in the place of a secret.
const mask = "[hidden]"

// word ends a name that holds a secret: db_password, "apiKey", DB_PASSWORD.
// Something must not follow it directly, so that server_tokens and
// password_hash are left readable.
const word = `(?:pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?key)?|token|api[_-]?key|private[_-]?key|access[_-]?key|requirepass|masterauth|auth[_-]?key|salt)`

var (
	// name = value, name: value, 'name' => 'value', define('NAME', 'value'),
	// name value; the value quoted or up to the next blank or separator.
	assignment = regexp.MustCompile(`(?i)([a-z0-9_.-]*` + word + `\b["'\]]*(?:[ \t]*(?:=>|:=|[=:,])[ \t]*|[ \t]+))("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s"';,)]+)`)
	// nginx's names for where requests go, not for what opens a door.
	upstream = regexp.MustCompile(`^(?:fastcgi|proxy|uwsgi|scgi|grpc|memcached)_pass\b`)
	// user:password@ of a URL or of a data source name.
	credentials = regexp.MustCompile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@"']*:|\b[a-zA-Z0-9_.-]+:)([^\s/@"':]+)(@(?:tcp|unix)?[\[(a-zA-Z0-9])`)
)

// Redact masks values that look like passwords, tokens or keys, for text that
// people see. It errs on the side of masking.
func Redact(text string) string {
	text = assignment.ReplaceAllStringFunc(text, func(s string) string {
		m := assignment.FindStringSubmatch(s)
		if upstream.MatchString(m[1]) {
			return s
		}
		value := m[2]
		if q := value[0]; q == '"' || q == '\'' {
			if len(value) == 2 {
				return s // empty: nothing to hide
			}
			return m[1] + string(q) + mask + string(q)
		}
		return m[1] + mask
	})
	return credentials.ReplaceAllString(text, "${1}"+mask+"${3}")
}
