package record

import (
	"fmt"
	"slices"
	"strings"
)

// browserHeaders are set by a browser itself for each request, or belong to its
// connection, its cache or a proxy: the next client has its own.
var browserHeaders = []string{"if-none-match", "if-modified-since", "if-range", "range", "purpose", "x-purpose", "x-moz", "x-client-data", "save-data", "device-memory", "downlink",
	"ect", "rtt", "dpr", "width", "viewport-width", "service-worker", "service-worker-navigation-preload", "upgrade-http-version", "via", "forwarded", "x-forwarded-for",
	"x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "access-control-request-method", "access-control-request-headers", "access-control-request-private-network"}

// connectionHeaders are those that a scenario cannot have: they belong to the
// connection, which the load generator has itself.
var connectionHeaders = []string{"content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "connection", "keep-alive", "proxy-connection", "http2-settings"}

// headers that the application's own code chose.
func (h *harDraft) headers(m *made) {
	for _, header := range m.entry.Request.Headers {
		name := strings.ToLower(header.Name)
		if value := h.ownPage(m.entry, name, header.Value); value != "" {
			addHeader(&m.step, header.Name, value)
			continue
		}
		switch {
		case strings.HasPrefix(name, ":"), strings.HasPrefix(name, "sec-"), name == "authorization", name == "cookie", name == "host", name == "user-agent",
			name == "accept" && (header.Value == "*/*" || header.Value == ""), name == "content-type" && m.entry.Request.Post != nil,
			slices.Contains(connectionHeaders, name):
			continue
		case slices.Contains(clientHeaders, name), slices.Contains(browserHeaders, name):
			h.drop(name)
			continue
		case !plainKey.MatchString(header.Name), !isLine(header.Value):
			h.once(fmt.Sprintf("The header %s of %s is left out: its name or value is none.", shortText(header.Name, 40), routeOf(m.step.request)))
			continue
		}
		value := literal(header.Value)
		if v, found := h.variable(header.Name, header.Value); found {
			value = v
		} else if isSecret(name) && header.Value != "" && !h.o.KeepSecrets {
			h.masked[header.Name] = true
			value = maskedValue
		}
		addHeader(&m.step, header.Name, value)
	}
}

// ownPage is the Origin, or without one the Referer, by which a write told that it came from
// a page of the application itself; "": it said nothing of it. Applications refuse writes
// that do not (protection against forged requests), and browsers send Origin with all of them.
func (h *harDraft) ownPage(e *harEntry, name, value string) string {
	if e.Request.Method == "GET" || e.Request.Method == "HEAD" || h.client {
		return ""
	}
	rest, own := strings.CutPrefix(value, h.origin)
	switch {
	case !own || rest != "" && rest[0] != '/':
	case name == "origin" && rest == "":
		return "${base}"
	case name == "referer" && e.sent("Origin") == "":
		path, _, _ := strings.Cut(rest, "?")
		return "${base}" + literal(path)
	}
	return ""
}

// sent is a header of the request; "": it has none.
func (e *harEntry) sent(name string) string {
	for _, h := range e.Request.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// addHeader adds a header, beside others of the same name; the same line twice
// is one.
func addHeader(st *step, name, value string) {
	for i, p := range st.headers {
		if strings.EqualFold(p.key, name) {
			name = st.headers[i].key
			if p.value == value || slices.Contains(oneHeader, strings.ToLower(name)) {
				return
			}
		}
	}
	st.headers = append(st.headers, pair{name, value})
}

// oneHeader are those that a request has once.
var oneHeader = []string{"host", "content-type", "user-agent", "authorization", "cookie"}

// drop notes a header that is left out.
func (h *harDraft) drop(name string) {
	if h.dropped == nil {
		h.dropped = map[string]bool{}
	}
	h.dropped[name] = true
}

func routeOf(request string) string {
	path, _, _ := strings.Cut(request, "?")
	return path
}

// tellCut notes a body of which the source has only the begin: proxies cut long
// ones.
func (h *harDraft) tellCut(m *made, post *harPost) {
	for _, header := range m.entry.Request.Headers {
		if n := number(header.Value); strings.EqualFold(header.Name, "Content-Length") && n > len(post.Text) && post.Text != "" && post.Encoding == "" {
			h.once(fmt.Sprintf("%s: %d bytes were sent, the source has %d of them: complete the body.", shownRequest(&m.step), n, len(post.Text)))
		}
	}
}
