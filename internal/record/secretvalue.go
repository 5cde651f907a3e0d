package record

import (
	"slices"
	"strings"
	"unicode"

	"kasoku/internal/accesslog"
	"kasoku/internal/lazyregexp"
)

// secretFields are names of fields that hold a secret, beside those of
// isSecret: of OAuth 2 (RFC 6749, RFC 7521, RFC 7636), SAML 2.0, cards, and the
// session of PHP.
var secretFields = []string{"pw", "psw", "kennwort", "cvv", "cvv2", "cvc", "cvc2", "ssn", "assertion", "bearer", "authentication"}

// secretParts are looked for inside a name without its hyphens and underscores.
var secretParts = []string{"motdepasse", "kennwort", "sessid", "codeverifier", "codechallenge", "samlre", "samlart", "privatekey", "authkey", "subscriptionkey", "licensekey",
	"cardnumber", "verificationcode", "clientassertion"}

// maybeSecret are names that hold a secret only where the value looks like one:
// code and state of OAuth 2 are long and mixed, those of an order are words.
var maybeSecret = []string{"code", "state", "otpcode", "mfacode"}

// switches are values of boxes that are ticked or not (show_signature=1), which hold no
// secret whatever they are called.
var switches = []string{"0", "1", "on", "off", "yes", "no", "true", "false"}

// minMixed bytes of a value of maybeSecret.
const minMixed = 8

var withoutHyphens = strings.NewReplacer("-", "", "_", "", ".", "")

// isSecretField tells a name that isSecret's words do not.
func isSecretField(lower string) bool {
	bare := withoutHyphens.Replace(lower)
	return slices.Contains(secretFields, lower) || slices.ContainsFunc(secretParts, func(w string) bool { return strings.Contains(bare, w) })
}

// isSecretValue: a value that is a secret under this name.
func isSecretValue(name, value string) bool {
	if slices.Contains(switches, strings.ToLower(value)) {
		return false
	}
	if isSecret(name) {
		return true
	}
	bare := strings.ToLower(withoutHyphens.Replace(unescape(name)))
	return slices.Contains(maybeSecret, bare) && looksMixed(value)
}

// looksMixed: a text of one word that is none of a language.
func looksMixed(value string) bool {
	if len(value) < minMixed || strings.ContainsAny(value, " \t") {
		return false
	}
	mixed := strings.ContainsFunc(value, unicode.IsDigit)
	for i, r := range value {
		mixed = mixed || i > 0 && unicode.IsUpper(r)
	}
	return mixed
}

// webToken is a JSON Web Token (RFC 7519): two parts of Base64 that begin as a
// JSON object does, and a signature that may be empty.
var webToken = lazyregexp.New(`\beyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`)

// maskWebTokens replaces such tokens wherever they stand.
func maskWebTokens(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	return webToken.ReplaceAllLiteralString(text, maskedValue)
}

// pathParameter is a ;name=value of a path, as servlets write a session.
var pathParameter = lazyregexp.New(`;([A-Za-z_][\w.-]*)=([^;/?#&]+)`)

// maskPath replaces the values of secret parameters in a path.
func maskPath(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	return pathParameter.ReplaceAllStringFunc(path, func(found string) string {
		name, value, _ := strings.Cut(found, "=")
		if !isSecretValue(name[1:], value) {
			return found
		}
		return name + "=" + maskedValue
	})
}

// shownPath is an entry's path without secrets, for its route.
func (h *harDraft) shownPath(e *harEntry) string {
	path := accesslog.PathOf(e.target())
	if h.o.KeepSecrets {
		return path
	}
	return maskWebTokens(maskPath(path))
}

// conceal masks what is known by its look in all that a step sends.
func (h *harDraft) conceal(st *step) {
	if h.o.KeepSecrets {
		return
	}
	mask := func(text *string) {
		if now := maskWebTokens(*text); now != *text {
			*text = now
			h.masked["JSON Web Tokens"] = true
		}
	}
	path, query, asks := strings.Cut(st.request, "?")
	if now := maskPath(path); now != path {
		path = now
		h.masked["sessions in paths"] = true
	}
	if asks {
		path += "?" + query
	}
	st.request = path
	mask(&st.request)
	mask(&st.route)
	mask(&st.json)
	mask(&st.body)
	for _, list := range [][]pair{st.headers, st.form} {
		for i := range list {
			mask(&list[i].value)
		}
	}
	for i := range st.multipart {
		mask(&st.multipart[i].text)
	}
	for i := range st.assets {
		mask(&st.assets[i])
	}
}
