package record

import (
	"net/url"
	"slices"
	"strings"
)

// Secrets are known by their names. Words are looked for inside the name,
// short ones must be all of it.
var (
	secretWords = []string{"pass", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key", "credential", "signature", "session", "jwt", "csrf", "xsrf"}
	secretNames = []string{"key", "auth", "sid", "sig", "otp", "pin", "authorization"}
)

// maskedValue stands for a secret.
const maskedValue = "masked"

// isSecret tells a parameter's or field's name that holds a secret.
func isSecret(name string) bool {
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	name = strings.ToLower(name)
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// maskQuery replaces the values of secret parameters in a target's query.
func maskQuery(target string) (masked string, found bool) {
	at := strings.IndexByte(target, '?')
	if at < 0 || !strings.Contains(target[at:], "=") {
		return target, false
	}
	params := strings.Split(target[at+1:], "&")
	for i, p := range params {
		name, value, ok := strings.Cut(p, "=")
		if ok && value != "" && isSecret(name) {
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
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(target) {
		switch c := target[i]; {
		case c == '#':
			return b.String()
		case c <= ' ' || c >= 0x7f || c == '"' || c == '%' && (i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2])):
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
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
