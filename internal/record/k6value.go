package record

import (
	"strconv"
	"strings"
)

// text of a value; what is not known in it stands as FILL-IN and is told.
func (s *k6Script) text(v any, line int) (text string, plain bool) {
	switch v := v.(type) {
	case string:
		return v, !strings.Contains(v, fillIn)
	case float64, bool, nil:
		return flat(v), true
	case undefinedJS:
		return "undefined", true
	case fileJS:
		return "file", true
	case unknownJS:
		s.leave(line, "the value of %s is not known; fill it in where %s stands", shortText(string(v), 60), fillIn)
		return fillIn, false
	}
	if v = s.bounded(v); v == any(tooLarge) {
		return s.text(v, line)
	}
	return jsonText(plainJS(v)), true
}

// tooLarge stands for a value that a scenario has no room for.
const tooLarge = unknownJS("a large value")

// bounded is the value, or tooLarge: constants that hold others several times
// could mean an endless one.
func (s *k6Script) bounded(v any) any {
	left := maxJSValue
	if !count(v, &left, 0) || !s.spend(maxJSValue-left) {
		return tooLarge
	}
	return v
}

// count takes what a value needs from left: a byte each, and some for each of
// its parts.
func count(v any, left *int, depth int) bool {
	*left -= 8
	switch v := v.(type) {
	case string:
		*left -= len(v)
	case unknownJS:
		*left -= len(v)
	case []any:
		for _, e := range v {
			if *left < 0 || depth > maxJSDepth || !count(e, left, depth+1) {
				return false
			}
		}
	case map[string]any:
		for k, e := range v {
			if *left -= len(k); *left < 0 || depth > maxJSDepth || !count(e, left, depth+1) {
				return false
			}
		}
	}
	return *left >= 0
}

// spend tokens or bytes of what reading the script may take. When nothing is
// left it ends: nested constants and calls are read several times.
func (s *k6Script) spend(n int) bool {
	if *s.left -= n; *s.left < 0 {
		s.at = len(s.tokens)
		return false
	}
	return true
}

func plainJS(v any) any {
	switch v := v.(type) {
	case unknownJS:
		return fillIn
	case undefinedJS, fileJS:
		return nil
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, plainJS(e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if _, none := e.(undefinedJS); !none { // JSON.stringify leaves it out
				out[k] = plainJS(e)
			}
		}
		return out
	}
	return v
}

// arguments up to the closing bracket.
func (s *k6Script) arguments() []any {
	var out []any
	for s.at < len(s.tokens) && !s.is(0, ")") && len(out) < 10 {
		before := s.at
		out = append(out, s.expression())
		if s.is(0, ",") {
			s.at++
		} else if s.at == before {
			break
		}
	}
	return out
}

// expression is a value, values joined by +, or one of several by ||.
func (s *k6Script) expression() any {
	if s.depth++; s.depth > maxJSDepth {
		s.depth--
		return s.rest("…")
	}
	defer func() { s.depth-- }()
	line := s.peek(0).line
	v := s.operand()
	for s.at < len(s.tokens) {
		switch {
		case s.is(0, "+") && !s.is(1, "+"):
			s.at++
			next := s.operand()
			v = s.joined(v, next, line)
		case s.is(0, "||") || s.is(0, "??"):
			s.at++
			empty := s.is(-1, "||") && (v == "" || v == false || v == 0.0)
			next := s.operand()
			switch v.(type) {
			case unknownJS, undefinedJS, nil:
				v = next
			default:
				if empty {
					v = next
				}
			}
		case s.is(0, "as") || s.is(0, "satisfies"): // a type
			s.at++
			s.skipType()
		case s.is(0, ",") || s.is(0, ")") || s.is(0, "}") || s.is(0, "]") || s.is(0, ";") || s.is(0, ":") || s.peek(0).line > s.peek(-1).line:
			return v
		case s.is(0, "?"):
			v = s.choice(v, line)
		default: // something that is not known, such as a condition
			v = s.unknown("an expression", "?")
			if !s.is(0, "?") {
				return v
			}
		}
	}
	return v
}

// choice is a ? b : c; v is what is asked. What is not known takes the first
// value, or the one that is plain, and is told.
func (s *k6Script) choice(v any, line int) any {
	s.at++
	yes := s.expression()
	if !s.is(0, ":") {
		return s.rest("an expression")
	}
	s.at++
	no := s.expression()
	switch v := v.(type) {
	case unknownJS:
		if _, unknown := yes.(unknownJS); unknown {
			yes = no
		}
		s.leave(line, "what a condition (… ? … : …) decides: one of its values is taken")
		return yes
	case bool:
		if v {
			return yes
		}
		return no
	case nil, undefinedJS:
		return no
	}
	if v == "" || v == 0.0 {
		return no
	}
	return yes
}

// joined by +: the sum of numbers, else one text.
func (s *k6Script) joined(v, next any, line int) any {
	a, numbers := v.(float64)
	b, both := next.(float64)
	if numbers && both {
		return a + b
	}
	left, _ := s.text(v, line)
	right, _ := s.text(next, line)
	if len(left)+len(right) > maxRecordedBody || !s.spend(len(left)+len(right)) {
		return unknownJS("a long text")
	}
	return left + right
}

// rest skips to where the expression ends.
func (s *k6Script) rest(text string) any { return s.unknown(text, "") }

// unknown is rest, or to a sign before.
func (s *k6Script) unknown(text, sign string) any {
	from := s.at
	defer func() { s.spend(s.at - from) }()
	for depth := 0; s.at < len(s.tokens); s.at++ {
		t := &s.tokens[s.at]
		if depth == 0 && sign != "" && s.is(0, sign) {
			return unknownJS(text)
		}
		if t.kind != jsPunct || len(t.text) != 1 {
			continue
		}
		switch t.text[0] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return unknownJS(text)
			}
		case ',', ';':
			if depth == 0 {
				return unknownJS(text)
			}
		}
	}
	return unknownJS(text)
}

func (s *k6Script) operand() any {
	if !s.spend(1) {
		return unknownJS("…")
	}
	t := s.peek(0)
	s.at++
	switch t.kind {
	case jsString:
		return t.text
	case jsNumber:
		text := strings.ReplaceAll(t.text, "_", "")
		n, err := strconv.ParseFloat(text, 64)
		if whole, not := strconv.ParseInt(text, 0, 54); not == nil && len(text) > 1 && text[0] == '0' { // 0x1F, 0b1, 0o7
			n, err = float64(whole), nil
		}
		if err != nil {
			return unknownJS("a number")
		}
		return n
	case jsTemplate:
		return s.filled(t)
	case jsName:
		return s.named(t)
	}
	switch t.text {
	case "{":
		return s.object()
	case "[":
		out := []any{}
		for s.at < len(s.tokens) && !s.is(0, "]") {
			before := s.at
			out = append(out, s.expression())
			if s.is(0, ",") {
				s.at++
			} else if s.at == before {
				break
			}
		}
		s.at++
		return out
	case "-":
		if next := s.peek(0); next.kind == jsNumber || next.kind == jsName || s.is(0, "(") { // one sign, not a row of them
			if s.depth++; s.depth <= maxJSDepth {
				n, ok := s.operand().(float64)
				if s.depth--; ok {
					return -n
				}
				return unknownJS("an expression")
			}
			s.depth--
		}
	case "(":
		v := s.expression()
		if s.is(0, ")") {
			s.at++
			return v
		}
	}
	s.at--
	return s.rest("an expression")
}

// filled template: names with plain values stand for them.
func (s *k6Script) filled(t jsToken) any {
	var b strings.Builder
	for _, p := range t.parts {
		if !s.spend(len(p.text)) {
			break
		}
		if p.kind == jsString {
			b.WriteString(p.text)
			continue
		}
		inner := &k6Script{client: s.client, tokens: jsTokens(p.text), values: s.values, http: s.http, dir: s.dir, depth: s.depth, left: s.left}
		text, _ := s.text(inner.expression(), p.line)
		if b.Len()+len(text) > maxRecordedBody {
			return unknownJS("a long text")
		}
		b.WriteString(text)
	}
	return b.String()
}
