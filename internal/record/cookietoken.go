package record

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// cookieHeaders are headers by which scripts of a page send back a cookie's value, and the
// cookie, in small letters: Django's documentation on CSRF and AJAX; Angular's
// HttpClientXsrfModule, axios (xsrfCookieName), Laravel's "X-XSRF-TOKEN".
var cookieHeaders = map[string]string{"x-csrftoken": "csrftoken", "x-xsrf-token": "XSRF-TOKEN"}

// cookieToken takes a value that a script of the page read from a cookie (a token that is
// sent twice, as OWASP's sheet on CSRF calls it) from that cookie. Recordings often leave
// cookies out: then the name of a header that is known for it tells the cookie.
func (h *harDraft) cookieToken(name, value string) (reference string, found bool) {
	take := func(m *made, cookie string) (string, bool) {
		x := extract{cookie: cookie, name: h.vars.unique(name), value: value}
		m.step.extract = append(m.step.extract, x)
		return "${" + x.name + "}", true
	}
	for _, m := range slices.Backward(h.steps) {
		if cookie := m.entry.cookieOf(value); cookie != "" {
			return take(m, cookie)
		}
	}
	cookie := cookieHeaders[strings.ToLower(name)]
	if cookie == "" || len(h.steps) == 0 {
		return "", false
	}
	h.once(name + " is taken from the cookie " + cookie + ", as pages with that header do; the recording does not show it.")
	return take(h.steps[len(h.steps)-1], cookie)
}

// cookieOf is the cookie that an answer set to a value, as it is or percent-encoded.
func (e *harEntry) cookieOf(value string) string {
	for _, h := range e.Answer.Headers {
		if !strings.EqualFold(h.Name, "Set-Cookie") {
			continue
		}
		for line := range strings.Lines(h.Value) { // Firefox joins them by line feeds
			c, err := http.ParseSetCookie(strings.TrimSpace(line))
			if err != nil {
				continue
			}
			if plain, err := url.PathUnescape(c.Value); c.Value == value || err == nil && plain == value {
				return c.Name
			}
		}
	}
	return ""
}
