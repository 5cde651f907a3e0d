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
