package record

import (
	"fmt"
	"strings"
)

// repeated: several parts have one name, which multipart: of a scenario, a map,
// cannot say.
func repeated(parts []part) bool {
	seen := map[string]bool{}
	for _, p := range parts {
		if seen[p.name] {
			return true
		}
		seen[p.name] = true
	}
	return false
}

// multipartBody writes the parts as they are sent (RFC 7578), with their
// Content-Type. The texts of parts are templates.
func multipartBody(parts []part) (kind, body string) {
	boundary := "----kasoku-boundary"
	for n := 1; strings.Contains(fmt.Sprint(parts), boundary); n++ {
		boundary = fmt.Sprintf("----kasoku-boundary-%d", n)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.name == "" || strings.ContainsAny(p.name+p.file+p.typ, "\"\r\n") {
			continue
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, literal(p.name))
		if p.file != "" {
			fmt.Fprintf(&b, "; filename=\"%s\"", literal(p.file))
		}
		if p.typ != "" {
			b.WriteString("\r\nContent-Type: " + literal(p.typ))
		}
		b.WriteString("\r\n\r\n" + p.text + "\r\n")
	}
	return "multipart/form-data; boundary=" + boundary, b.String() + "--" + boundary + "--\r\n"
}

// sendParts puts the parts into the step.
func (st *step) sendParts(parts []part) {
	if !repeated(parts) {
		st.multipart = parts
		return
	}
	kind, body := multipartBody(parts)
	st.body = body
	st.headers = append(st.headers, pair{"Content-Type", kind})
}
