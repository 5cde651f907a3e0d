package record

import (
	"slices"
	"strings"
)

// imports takes the names under which k6/http and its functions are known; at
// is on the word import.
func (s *k6Script) imports() {
	s.at++
	end := 0
	for !s.is(end, "from") && s.peek(end).kind != 0 && s.peek(end).kind != jsString && !s.is(end, ";") && end < maxJSBack && s.spend(1) {
		end++
	}
	if !s.is(end, "from") || s.peek(end+1).text != "k6/http" {
		return
	}
	for i := 0; i < end; i++ {
		t := s.peek(i)
		switch {
		case t.kind != jsName || t.text == "as" || t.text == "type" || s.is(i+1, "as"):
		case s.is(i-1, "as") && s.is(i-2, "*"), i == 0:
			s.http = t.text
		case s.is(i-1, "as"):
			s.functions[t.text] = s.peek(i - 2).text
		default:
			s.functions[t.text] = t.text
		}
	}
	s.at += end
}

// callee is the function of k6/http that is called here, and how many tokens
// stand before its arguments; "" if none is.
func (s *k6Script) callee() (name string, n int) {
	t := s.peek(0)
	switch {
	case t.kind != jsName || s.is(-1, ".") || s.is(-1, "function"):
		return "", 0
	case t.text == s.http && s.is(1, ".") && s.peek(2).kind == jsName:
		name, n = s.peek(2).text, 3
	case s.functions[t.text] != "":
		name, n = s.functions[t.text], 1
	default:
		return "", 0
	}
	if s.is(n, "<") { // the type of its answer, in TypeScript
		for end := n; end < n+50; end++ {
			if s.is(end, ">") && s.is(end+1, "(") {
				n = end + 1
				break
			}
		}
	}
	if !s.is(n, "(") {
		return "", 0
	}
	return name, n + 1
}

// call of a function of k6/http; at is on its name.
func (s *k6Script) call(name string, n int) {
	line := s.peek(0).line
	m, known := k6Methods[name]
	if !known && name != "batch" {
		s.at++
		return
	}
	s.at += n
	after := s.at
	defer func() { s.at = after }() // calls within the arguments are looked at, too
	args := s.arguments()
	if s.phase() == "handleSummary" {
		s.leave(line, "http.%s in handleSummary: it is no load", name)
		return
	}
	switch {
	case name == "batch":
		s.batch(args, line)
		return
	case m.method == "": // request(method, url, …)
		if len(args) > 0 {
			m.method, _ = args[0].(string)
			args = args[1:]
		}
	case !m.body: // get(url, params)
		args = slices.Insert(args, min(1, len(args)), any(nil))
	}
	s.request(name, m.method, args, line)
}

// batch of requests: in a list or in an object, each an address, a list or an
// object (k6, "batch").
func (s *k6Script) batch(args []any, line int) {
	var list []any
	if len(args) > 0 {
		switch v := args[0].(type) {
		case []any:
			list = v
		case map[string]any:
			for _, name := range sortedNames(v) {
				list = append(list, v[name])
			}
		}
	}
	if len(list) == 0 {
		s.leave(line, "http.batch: write its requests one by one")
	}
	for _, one := range list {
		switch v := one.(type) {
		case []any:
			method, _ := append(v, nil)[0].(string)
			s.request("batch", method, v[min(1, len(v)):], line)
		case map[string]any:
			method, _ := v["method"].(string)
			if _, given := v["method"]; !given {
				method = "GET"
			}
			s.request("batch", method, []any{v["url"], v["body"], v["params"]}, line)
		default:
			s.request("batch", "GET", []any{v}, line)
		}
	}
}

// hostThenUnknown puts the slash between a host and a path that is not known.
func hostThenUnknown(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	at := strings.Index(rest, fillIn)
	if !ok || at <= 0 || strings.ContainsAny(rest[:at], "/?#") || strings.Contains(scheme, fillIn) {
		return address
	}
	return scheme + "://" + rest[:at] + "/" + rest[at:]
}

// request with its address, body and parameters.
func (s *k6Script) request(name, method string, args []any, line int) {
	for i := range args {
		if _, none := args[i].(undefinedJS); none {
			args[i] = nil
		}
	}
	if len(args) == 0 || args[0] == nil || method == "" {
		s.leave(line, "http.%s: its method or address is not plain", name)
		return
	}
	q := clientRequest{line: line, method: strings.ToUpper(method), phase: s.phase()}
	address, plain := s.text(args[0], line)
	if !plain {
		address = hostThenUnknown(address)
	}
	if !plain && strings.HasPrefix(address, fillIn) {
		address = noOrigin + "/" + strings.TrimPrefix(strings.TrimPrefix(address, fillIn), "/")
		if address == noOrigin+"/" {
			s.leave(line, "http.%s: its address is not plain", name)
			return
		}
	}
	q.url = absolute(address)
	args = append(args, nil, nil)
	s.params(&q, s.bounded(args[2]))
	s.body(&q, s.bounded(args[1]))
	s.add(q)
}

// multipart is a body with files.
func (s *k6Script) multipart(q *clientRequest, v map[string]any) bool {
	found := false
	var parts []part
	for _, name := range sortedNames(v) {
		if f, ok := v[name].(fileJS); ok {
			found = true
			parts = append(parts, part{name: name, text: "file", file: f.name, typ: f.typ})
			s.leave(q.line, "the file of the field %s: a few bytes are sent instead", shortText(name, 60))
			continue
		}
		text, _ := s.text(v[name], q.line)
		parts = append(parts, part{name: name, text: text})
	}
	if found {
		q.parts = parts
	}
	return found
}

// encodeComponent escapes as encodeURIComponent does, keeping some more
// characters for encodeURI (ECMA-262, 19.2.6).
func encodeComponent(text, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < 0x80 && (isNameByte(c) && c != '$' || strings.IndexByte("-.!~*'()"+keep, c) >= 0) {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1])
	}
	return b.String()
}
