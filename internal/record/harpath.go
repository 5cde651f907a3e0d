package record

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"kasoku/internal/accesslog"
)

// path of a request with its variables. Where a redirect led to a place with
// a number in it, or with a parameter that the service chose, the next run's is
// another one: the link is followed.
func (h *harDraft) path(e *harEntry) string {
	target := e.target()
	if prev := h.last(); prev != nil && prev.entry.Answer.Status/100 == 3 && (h.routes.Route(target) != accesslog.PathOf(target) || h.chosen(target)) {
		location := cmp.Or(prev.entry.Answer.Redirect, prev.entry.header("Location"))
		if to, err := prev.entry.url.Parse(location); err == nil && location != "" && sendable(to.RequestURI()) == target {
			name := h.vars.unique("location")
			prev.step.extract = append(prev.step.extract, extract{name: name, header: "Location"})
			return "${" + name + "}"
		}
	}
	path, query, ok := strings.Cut(target, "?")
	h.about = words(path)
	if path = h.segments(path); !ok {
		return path
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		name, value, _ := strings.Cut(p, "=")
		v, found := h.variable(unescape(name), unescape(value))
		if !found {
			v, found = h.identifier(unescape(name), unescape(value), h.about)
		}
		if found {
			params[i] = literal(name) + "=" + v
		} else if isSecretValue(name, value) && value != "" && value != fillIn && !h.o.KeepSecrets {
			h.masked[unescape(name)] = true
			params[i] = literal(name) + "=" + maskedValue
		} else {
			params[i] = literal(p)
		}
	}
	return path + "?" + strings.Join(params, "&")
}

// chosen reports whether a target's query has a value with a digit that no request of the
// session has sent: the service chose it (the number of a search, of a new post).
func (h *harDraft) chosen(target string) bool {
	_, query, _ := strings.Cut(target, "?")
	for p := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.ContainsFunc(value, unicode.IsDigit) {
			continue
		}
		sent := slices.ContainsFunc(h.steps, func(m *made) bool {
			_, asked, _ := strings.Cut(m.entry.target(), "?")
			return slices.Contains(strings.Split(asked, "&"), p) || m.entry.posted(unescape(name), unescape(value))
		})
		if !sent {
			return true
		}
	}
	return false
}

// posted reports whether a request's form has a field with this name and value.
func (e *harEntry) posted(name, value string) bool {
	if e.Request.Post == nil {
		return false
	}
	if slices.ContainsFunc(e.Request.Post.Params, func(f harHeader) bool { return f.Name == name && f.Value == value }) {
		return true
	}
	form, err := url.ParseQuery(e.Request.Post.Text)
	return err == nil && slices.Contains(form[name], value)
}
