package record

import "maps"

// named value: a literal, a constant with its members, or a call that is known.
func (s *k6Script) named(t jsToken) any {
	switch t.text {
	case "true", "false":
		return t.text == "true"
	case "null":
		return nil
	case "undefined":
		return undefinedJS{}
	}
	if t.text == "new" && s.is(0, "SharedArray") && s.is(1, "(") {
		return s.sharedArray(t.line)
	}
	name, v := t.text, s.values[t.text]
	if _, known := s.values[t.text]; !known {
		v = unknownJS(t.text)
	}
	for s.at < len(s.tokens) {
		switch {
		case s.is(0, ".") && s.peek(1).kind == jsName:
			field := s.peek(1).text
			name += "." + field
			s.at += 2
			object, ok := v.(map[string]any)
			value, known := object[field]
			if v = any(unknownJS(name)); ok && known {
				v = value
			}
		case s.is(0, "("):
			s.at++
			args := s.arguments()
			if !s.is(0, ")") {
				return s.rest(name + "(…)")
			}
			s.at++
			v = s.result(name, args, t.line)
		case s.is(0, "["):
			s.at++
			key := s.expression()
			s.at++
			name += "[…]"
			v = s.element(v, key, name, t.line)
		case s.peek(0).kind == jsTemplate && name == s.http+".url":
			s.at++
			return s.filled(s.peek(-1))
		default:
			return v
		}
	}
	return v
}

// result of a call that is known: JSON.stringify and encodeURIComponent.
func (s *k6Script) result(name string, args []any, line int) any {
	if len(args) > 0 {
		switch name {
		case "JSON.stringify":
			v := s.bounded(args[0])
			if u, unknown := v.(unknownJS); unknown {
				return u
			}
			s.tellUnknown(v, line, 0)
			return jsonText(plainJS(v))
		case "encodeURIComponent", "encodeURI":
			text, _ := s.text(s.bounded(args[0]), line)
			keep := ""
			if name == "encodeURI" {
				keep = ";/?:@&=+$,#"
			}
			return encodeComponent(text, keep)
		case "open":
			return s.opened(args[0], line)
		case "JSON.parse":
			return s.parsed(args[0])
		case "Object.assign":
			return s.merged(args)
		case s.http + ".file":
			f := fileJS{"file.bin", "application/octet-stream"}
			for i, to := range map[int]*string{1: &f.name, 2: &f.typ} {
				if text, ok := append(args, nil, nil)[i].(string); ok {
					*to = text
				}
			}
			return f
		case "String":
			text, _ := s.text(s.bounded(args[0]), line)
			return text
		}
	}
	return unknownJS(name + "(…)")
}

// merged objects: the first has the fields of all.
func (s *k6Script) merged(args []any) any {
	out, ok := args[0].(map[string]any)
	for _, v := range args[1:] {
		more, known := v.(map[string]any)
		if !ok || !known || !s.spend(len(more)) {
			return unknownJS("Object.assign(…)")
		}
		maps.Copy(out, more)
	}
	return args[0]
}

// element of a list, or field of an object.
func element(v, key any, name string) any {
	switch v := v.(type) {
	case []any:
		if n, ok := key.(float64); ok && n >= 0 && n < float64(len(v)) && n == float64(int(n)) {
			return v[int(n)]
		}
	case map[string]any:
		if field, ok := key.(string); ok {
			if value, known := v[field]; known {
				return value
			}
		}
	}
	return unknownJS(name)
}

func (s *k6Script) tellUnknown(v any, line, depth int) {
	if depth > maxJSDepth {
		return
	}
	switch v := v.(type) {
	case unknownJS:
		s.text(v, line)
	case []any:
		for _, e := range v {
			s.tellUnknown(e, line, depth+1)
		}
	case map[string]any:
		for _, e := range v {
			s.tellUnknown(e, line, depth+1)
		}
	}
}

// object literal; at is behind its bracket.
func (s *k6Script) object() any {
	out := map[string]any{}
	for s.at < len(s.tokens) && !s.is(0, "}") {
		t := s.peek(0)
		before := s.at
		switch {
		case (t.kind == jsName || t.kind == jsString || t.kind == jsNumber) && s.is(1, ":"):
			s.at += 2
			out[t.text] = s.expression()
		case t.kind == jsName && (s.is(1, ",") || s.is(1, "}")): // {a}
			s.at++
			out[t.text] = s.values[t.text]
			if _, known := s.values[t.text]; !known {
				out[t.text] = unknownJS(t.text)
			}
		case s.is(0, ".") && s.is(1, ".") && s.is(2, "."):
			s.at += 3
			if more, ok := s.expression().(map[string]any); ok && s.spend(len(more)) {
				maps.Copy(out, more)
			}
		default:
			s.rest("")
		}
		if s.is(0, ",") {
			s.at++
		} else if s.at == before {
			s.at++
		}
	}
	s.at++
	return out
}
