// Package redact masks secrets in texts that people see: configurations,
// statements, messages, and lines of logs. A text comes in; the same text comes
// out, with [hidden] in the place of passwords, tokens and keys.
package redact

import (
	"strings"

	"kasoku/internal/lazyregexp"
)

// Mask stands in the place of a secret.
const Mask = "[hidden]"

// word ends a name that holds a secret: db_password, "apiKey", DB_PASSWORD.
// Something must not follow it directly, so that server_tokens and
// password_hash are left readable.
const word = `(?:pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?key)?|token|api[_-]?key|private[_-]?key|access[_-]?key|requirepass|masterauth|auth[_-]?key|salt|phpsessid|jsessionid|session[_-]id)`

// quoted is a value in quotes, or up to the next blank or separator.
const quoted = `("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s"';,)]+)`

// between a name and its value.
const between = `(?:[ \t]*(?:=>|:=|[=:,])[ \t]*|[ \t]+)`

var (
	// name = value, name: value, 'name' => 'value', define('NAME', 'value'),
	// name value; the value quoted or up to the next blank or separator. A value
	// that is such a name itself ("/etc/passwd password x") may be one.
	assignment = lazyregexp.New(`(?i)([a-z0-9_.\\-]*` + word + `\b["'\]]*` + between + `)(?:([a-z0-9_.-]*` + word + `)\b(` + between + `))?` + quoted)
	// nginx's names for where requests go, not for what opens a door; the line may be
	// escaped Markdown.
	upstream = lazyregexp.New(`^(?:fastcgi|proxy|uwsgi|scgi|grpc|memcached)\\?_pass\b`)
	// A name in a list of names without quotes: the columns of an INSERT.
	listed = lazyregexp.New(`[a-zA-Z0-9],[ \t]*$`)
	// user:password@ of a URL or of a data source name.
	credentials = lazyregexp.New(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@"']*:|\b[a-zA-Z0-9_.-]+:)([^\s/@"':]+)(@(?:tcp|unix)?[\[(a-zA-Z0-9])`)
	// What a database is told of accounts (MariaDB: CREATE USER, SET PASSWORD).
	account = lazyregexp.New(`(?i)(\bIDENTIFIED[ \t]+(?:WITH[ \t]+\w+[ \t]+)?(?:BY|AS|USING)[ \t]+(?:PASSWORD[ \t]*\(?[ \t]*)?|\bPASSWORD[ \t]*\([ \t]*|\bSET[ \t]+PASSWORD[ \t]+FOR[ \t]+[^=\n]+=[ \t]*)` + quoted)
	// Arguments of clients: mysql -psecret, redis-cli -a secret, curl -u user:secret.
	argument = lazyregexp.New(`(\b(?:mysql|mariadb)[a-z-]*\b[^\n;|&]*?[ \t]-p|\bredis-cli\b[^\n;|&]*?[ \t]-a[ \t]+|\b(?:curl|wget|ab)\b[^\n;|&]*?[ \t](?:-u|--user|-A)[ \t]*[^\s:"']+:)` + quoted)
	// Headers of requests: the schemes of RFC 9110, 11.6.2, and cookies, all of
	// which are somebody's session.
	header = lazyregexp.New(`(?i)(\b(?:proxy-)?authorization["']?[ \t]*[:=][ \t]*["']?(?:(?:basic|bearer|digest|token|negotiate)[ \t]+)?|\b(?:set-)?cookie["']?:[ \t]*["']?)([^"'\r\n]+)`)
	// Tokens that tell by their form what they are: JSON Web Tokens (RFC 7519),
	// those of GitHub, GitLab, Slack, Stripe, and key IDs of AWS, as each of them
	// documents.
	known = lazyregexp.New(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b[sr]k_live_[A-Za-z0-9]{16,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b`)
	// Private keys (RFC 7468), whole or cut off at the end of a line.
	keyBlock = lazyregexp.New(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(-----END [A-Z ]*PRIVATE KEY-----|\z)`)
)

// signs are what a text must hold, in lower case, for a pattern to be worth
// trying: most texts hold none, and looking for one is quick.
var signs = []struct {
	any []string
	try func(string) string
}{
	{[]string{"private key-----"}, func(s string) string { return keyBlock.ReplaceAllString(s, "${1}"+Mask+"${3}") }},
	{[]string{"identified", "password"}, func(s string) string { return account.ReplaceAllStringFunc(s, masksAccount) }},
	{[]string{"pass", "pwd", "secret", "token", "key", "masterauth", "salt", "sessid", "session"}, func(s string) string { return assignment.ReplaceAllStringFunc(s, masksAssignment) }},
	{[]string{"mysql", "mariadb", "redis-cli", "curl", "wget", "ab "}, func(s string) string { return argument.ReplaceAllString(s, "${1}"+Mask) }},
	{[]string{"@"}, func(s string) string { return credentials.ReplaceAllString(s, "${1}"+Mask+"${3}") }},
	// After the others: it takes all of a line, also what tells of further secrets.
	{[]string{"authorization", "cookie"}, func(s string) string { return header.ReplaceAllString(s, "${1}"+Mask) }},
	{[]string{"eyj", "gh", "glpat-", "xox", "k_live_", "akia", "asia"}, func(s string) string { return known.ReplaceAllString(s, Mask) }},
}

// Text masks values that look like passwords, tokens or keys, for text that
// people see. It errs on the side of masking; what it has masked it leaves as
// it is.
func Text(text string) string {
	low := strings.ToLower(text)
	for _, s := range signs {
		for _, sign := range s.any {
			if strings.Contains(low, sign) {
				text = s.try(text)
				break
			}
		}
	}
	return text
}

// masksAssignment masks the value of one assignment.
func masksAssignment(s string) string {
	m := assignment.FindStringSubmatch(s)
	separated, value := !strings.ContainsAny(m[1], "=:,"), m[4]
	switch {
	case upstream.MatchString(m[1]), m[2] == "" && !isValue(value):
		return s
	case m[2] == "" && listed.MatchString(m[1]) && !strings.ContainsAny(value[:1], `"'`):
		return s
	case m[2] != "" && (!isValue(value) || sqlWord.MatchString(value)): // SELECT password, token FROM users
		return m[1] + Mask + m[3] + value
	case m[2] != "":
		return m[1] + Mask + m[3] + masked(value)
	case separated && sqlWord.MatchString(value): // SELECT password FROM users
		return s
	case strings.HasSuffix(m[1], "password: ") && value == "YES": // "(using password: YES)"
		return s
	}
	return m[1] + masked(value)
}

// sqlWord follows a column in a statement.
var sqlWord = lazyregexp.New(`(?i)^(?:FROM|ON|AND|OR|IS|IN|NOT|LIKE|BETWEEN|DESC|ASC|AS|WHERE|GROUP|ORDER|LIMIT|USING|SET|FOR|(?:(?:TINY|SMALL|MEDIUM|BIG)?INT|(?:VAR)?(?:CHAR|BINARY)|(?:TINY|MEDIUM|LONG)?(?:TEXT|BLOB))(?:\(\d+)?)$`)

func masksAccount(s string) string {
	m := account.FindStringSubmatch(s)
	if !isValue(m[2]) {
		return s
	}
	return m[1] + masked(m[2])
}

// isValue: not empty, and not the place of one in a class of statements.
func isValue(value string) bool {
	bare := strings.Trim(value, `"'`)
	return bare != "" && bare != "?" && strings.TrimRight(bare, ":=") != Mask // "[hidden]: [hidden]" is masked already
}

// masked keeps the quotes.
func masked(value string) string {
	if q := value[0]; q == '"' || q == '\'' {
		return string(q) + Mask + string(q)
	}
	return Mask
}

// IsSecretName reports a name whose value is a secret.
func IsSecretName(name string) bool { return secretName.MatchString(name) }

var secretName = lazyregexp.New(`(?i)` + word + `$`)
