package record

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"kasoku/internal/load"
)

// Secrets are known by their names. Words are looked for inside the name,
// short ones must be all of it or its last part, as in X-Auth-Key.
var (
	secretWords = []string{"pass", "pwd", "secret", "token", "apikey", "api-key", "accesskey", "access-key", "privatekey", "authkey", "credential", "signature", "session", "jwt", "csrf", "xsrf", "hmac"}
	secretEnds  = []string{"key", "auth", "sid", "sig", "otp", "pin", "cvc", "cvv", "appid", "authorization", "bearer", "cookie", "assertion"}
	// secretValues are words at the end of the name of a variable or constant
	// that holds a secret by itself: tokenUrl holds none.
	secretValues = []string{"pass", "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "privatekey", "authkey", "secretkey", "credential", "credentials", "signature", "jwt", "hmac"}
)

// maskedValue stands for a secret.
const maskedValue = load.MaskedSecret

// isSecret tells a parameter's or field's name that holds a secret.
func isSecret(name string) bool {
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	if isSecretField(strings.ToLower(name)) {
		return true
	}
	name = hyphened(name)
	return endsIn(name, secretEnds) || slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// isSecretVariable tells the name of a variable whose value is a secret. An
// address is none, whatever its name.
func isSecretVariable(name, value string) bool {
	name = hyphened(name)
	return (endsIn(name, secretEnds) || endsIn(name, secretValues)) && !strings.Contains(value, "://") && !strings.HasPrefix(value, "/")
}

// endsIn: the last of the name's parts is one of the words.
func endsIn(name string, words []string) bool {
	return slices.Contains(words, name[strings.LastIndexByte(name, '-')+1:])
}

// hyphened writes a name in small letters with its parts apart: api-key for
// API_KEY, apiKey and api.key.
func hyphened(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '-'
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.TrimRight(b.String(), "-")
}

// authSchemes are the registered ones (IANA, HTTP Authentication Scheme
// Registry, RFC 9110 section 16.4.1). Only they are taken of an Authorization:
// any other word may be the secret itself.
var authSchemes = []string{"Basic", "Bearer", "Concealed", "Digest", "DPoP", "GNAP", "HOBA", "Mutual", "Negotiate", "OAuth", "PrivateToken", "SCRAM-SHA-1", "SCRAM-SHA-256", "vapid"}

// authScheme of an Authorization's value; "" if it begins with no registered
// one and a space.
func authScheme(value string) string {
	word, _, ok := strings.Cut(value, " ")
	if !ok {
		return ""
	}
	at := slices.IndexFunc(authSchemes, func(s string) bool { return strings.EqualFold(s, word) })
	if at < 0 {
		return ""
	}
	return authSchemes[at]
}

// Authorizations to fill in.
const (
	basicAuth  = "Basic " + fillIn
	bearerAuth = "Bearer " + fillIn
)

// maskQuery replaces the values of secret parameters in a target's query.
func maskQuery(target string) (masked string, found bool) {
	if plain := maskWebTokens(maskPath(target)); plain != target {
		target, found = plain, true
	}
	at := strings.IndexByte(target, '?')
	if at < 0 || !strings.Contains(target[at:], "=") {
		return target, found
	}
	params := strings.Split(target[at+1:], "&")
	for i, p := range params {
		name, value, ok := strings.Cut(p, "=")
		if ok && value != "" && isSecretValue(name, value) {
			params[i], found = name+"="+maskedValue, true
		}
	}
	if !found {
		return target, false
	}
	return target[:at+1] + strings.Join(params, "&"), true
}

// sendable makes a recorded target one that can be sent: bytes that may not
// stand in a request line are percent-encoded. "" if it is none.
func sendable(target string) string {
	if at := strings.Index(target, "://"); at > 0 && target[0] != '/' {
		slash := strings.IndexByte(target[at+3:], '/')
		if slash < 0 {
			return "/"
		}
		target = target[at+3+slash:]
	}
	if !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") || len(target) > maxTarget {
		return ""
	}
	clean := true
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f || c == '#' || c == '"' || c == '%' {
			clean = false
			break
		}
	}
	if clean {
		return target
	}
	var b strings.Builder
	for i := range len(target) {
		switch c := target[i]; {
		case c == '#':
			return b.String()
		case c <= ' ' || c >= 0x7f || c == '"' || c == '%' && (i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2])):
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxTarget: servers refuse longer request lines (nginx: 8 KiB).
const maxTarget = 8000

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
