package record

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"kasoku/internal/lazyregexp"
)

// firstByte that is no white space.
func firstByte(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(len(text), 1)]
}

// formName is how a field of an HTML form is named, or percent-encoded.
var formName = lazyregexp.New(`^(?:[A-Za-z0-9_.:$*\[\]()-]|%[0-9A-Fa-f]{2}|\+)+$`)

// isFormText tells whether a text of the type of HTML forms is one, so that its
// fields, encoded anew, say the same. Clients send any text with that type when
// they are told no other: then it must be sent as it is. So must fields that
// are not in UTF-8.
func isFormText(text string) bool {
	valued := false
	for _, field := range strings.Split(text, "&") {
		name, value, has := strings.Cut(field, "=")
		if !formName.MatchString(name) || strings.Contains(value, "=") || strings.ContainsAny(value, "\r\n\x00") {
			return false
		}
		for _, part := range []string{name, value} {
			if plain, err := url.QueryUnescape(part); err != nil || !utf8.ValidString(plain) || strings.ContainsRune(plain, utf8.RuneError) {
				return false
			}
		}
		valued = valued || has && value != ""
	}
	return valued
}

// maskFields masks the fields of a text like a=1&b=2 that are named like a
// secret, and leaves all other bytes alone.
func (h *harDraft) maskFields(text string) string {
	if h.o.KeepSecrets || !strings.Contains(text, "=") {
		return text
	}
	fields := strings.Split(text, "&")
	for i, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		if formName.MatchString(name) && value != "" && value != fillIn && isSecretValue(name, value) {
			h.masked[unescape(name)] = true
			fields[i] = name + "=" + maskedValue
		}
	}
	return strings.Join(fields, "&")
}
