package load

import (
	"encoding/json"
	"fmt"
	"strings"
)

// encoding says how a variable's value is written into a text.
type encoding uint8

const (
	rawText    encoding = iota
	urlText             // percent-encoded except RFC 3986's unreserved characters
	formText            // application/x-www-form-urlencoded
	jsonText            // inside a JSON string
	headerText          // control characters become spaces
	jsonNumber          // a JSON number if it is one, else a JSON string
)

// part of a template: a literal, or a variable's slot.
type part struct {
	literal []byte
	slot    int // -1: literal
	enc     encoding
}

// template is a text with variables, compiled: rendering only appends.
type template struct{ parts []part }

// append renders the template. vars are indexed by slot.
func (t *template) append(dst []byte, vars [][]byte) []byte {
	for i := range t.parts {
		p := &t.parts[i]
		if p.slot < 0 {
			dst = append(dst, p.literal...)
		} else {
			dst = appendEncoded(dst, vars[p.slot], p.enc)
		}
	}
	return dst
}

// constant is the text of a template without variables.
func (t *template) constant() (text []byte, ok bool) {
	switch {
	case len(t.parts) == 0:
		return []byte{}, true
	case len(t.parts) == 1 && t.parts[0].slot < 0:
		return t.parts[0].literal, true
	}
	return nil, false
}

// addLiteral joins neighbouring literals, so that rendering copies once.
func (t *template) addLiteral(b []byte) {
	if len(b) == 0 {
		return
	}
	if n := len(t.parts); n > 0 && t.parts[n-1].slot < 0 {
		t.parts[n-1].literal = append(t.parts[n-1].literal, b...)
		return
	}
	t.parts = append(t.parts, part{literal: append([]byte(nil), b...), slot: -1})
}

func (t *template) addSlot(slot int, enc encoding) {
	t.parts = append(t.parts, part{slot: slot, enc: enc})
}

func (t *template) addTemplate(o template) {
	for _, p := range o.parts {
		if p.slot < 0 {
			t.addLiteral(p.literal)
		} else {
			t.parts = append(t.parts, p)
		}
	}
}

// piece of a text before its variables are looked up.
type piece struct {
	text     string
	variable bool
}

// splitText cuts "a ${b} c" into pieces; "$${" stands for a literal "${".
func splitText(s string) ([]piece, error) {
	var out []piece
	for s != "" {
		at := strings.Index(s, "${")
		if at < 0 {
			out = append(out, piece{text: s})
			break
		}
		if at > 0 && s[at-1] == '$' {
			out = append(out, piece{text: s[:at-1] + "${"})
			s = s[at+2:]
			continue
		}
		end := strings.IndexByte(s[at:], '}')
		if end < 0 {
			return nil, fmt.Errorf("%q has no closing }; write ${name}, or $${ for a literal ${", shorten(s[at:], 40))
		}
		if at > 0 {
			out = append(out, piece{text: s[:at]})
		}
		out = append(out, piece{text: s[at+2 : at+end], variable: true})
		s = s[at+end+1:]
	}
	return out, nil
}

const hexDigits = "0123456789ABCDEF"

func appendEncoded(dst, value []byte, enc encoding) []byte {
	switch enc {
	case urlText:
		return appendURL(dst, value, false)
	case formText:
		return appendURL(dst, value, true)
	case jsonText:
		return appendJSONText(dst, value)
	case headerText:
		for _, c := range value {
			if c < ' ' || c == 0x7f {
				c = ' '
			}
			dst = append(dst, c)
		}
		return dst
	case jsonNumber:
		if isJSONNumber(value) {
			return append(dst, value...)
		}
		return append(appendJSONText(append(dst, '"'), value), '"')
	default:
		return append(dst, value...)
	}
}

// isJSONNumber: a number as JSON writes it (RFC 8259, 6), such as -12.5e3.
func isJSONNumber(b []byte) bool {
	return len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && json.Valid(b)
}

// appendURL percent-encodes everything but RFC 3986's unreserved characters;
// in a form a space becomes +.
func appendURL(dst, value []byte, form bool) []byte {
	for _, c := range value {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~':
			dst = append(dst, c)
		case c == ' ' && form:
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst
}

// appendJSONText escapes for the inside of a JSON string (RFC 8259, 7).
func appendJSONText(dst, value []byte) []byte {
	for _, c := range value {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
