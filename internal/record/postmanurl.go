package record

import (
	"strings"
)

// postmanQuery is a parameter as Postman sends it: it encodes only what cannot
// stand in a query, so that a % or + that a person wrote stays (Postman's
// postman-url-encoder, QUERY_ENCODE_SET, and & and = within a parameter).
func postmanQuery(p pair) string {
	if p.value == "" {
		return postmanEscape(p.key) + "="
	}
	return postmanEscape(p.key) + "=" + postmanEscape(p.value)
}

func postmanEscape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"#&'<=>`, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
