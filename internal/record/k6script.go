package record

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxScript in bytes.
	maxScript = 8 << 20
	// maxJSDepth of expressions in expressions.
	maxJSDepth = 60
	// maxJSValue bytes of one value, counted with its parts.
	maxJSValue = 256 << 10
	// maxJSWork tokens and bytes are read or made for one script.
	maxJSWork = 16 << 20
)

// unknownJS is the value of an expression that is not plain; its text.
type unknownJS string

// k6Script reads the requests of a script without running it.
type k6Script struct {
	*client
	tokens []jsToken
	at     int
	depth  int
	values map[string]any
	http   string // name under which k6/http is imported
	left   *int   // of maxJSWork
	last   int    // line that is looked at
}

// k6Methods of k6/http and the arguments they take: with body, or none.
var k6Methods = map[string]struct {
	method string
	body   bool
}{"get": {"GET", false}, "head": {"HEAD", false}, "post": {"POST", true}, "put": {"PUT", true}, "patch": {"PATCH", true}, "del": {"DELETE", true}, "options": {"OPTIONS", true},
	"request": {"", true}, "asyncRequest": {"", true}}

// FromK6 makes a scenario of a k6 script as far as it is plain: calls of
// k6/http whose arguments are texts, objects and constants.
func FromK6(r io.Reader, o ClientOptions) (*Draft, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	if err != nil {
		return nil, fmt.Errorf("read k6 script: %w", err)
	}
	if len(data) > maxScript {
		return nil, fmt.Errorf("read k6 script: larger than %d MiB", maxScript>>20)
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\uFFFD")
	left := maxJSWork
	s := &k6Script{left: &left, client: newClient("k6 script", &o), tokens: jsTokens(text), values: map[string]any{}, http: "http"}
	s.scan()
	s.note("The script is not run: what it decides by if, for and functions is left out, and each request that stands in it is sent once, in the order of the text.")
	return s.draft(o)
}

func (s *k6Script) peek(n int) jsToken {
	if s.at+n < len(s.tokens) && s.at+n >= 0 {
		return s.tokens[s.at+n]
	}
	return jsToken{}
}

func (s *k6Script) is(n int, text string) bool {
	t := s.peek(n)
	return t.text == text && (t.kind == jsPunct || t.kind == jsName)
}

func (s *k6Script) scan() {
	for s.at < len(s.tokens) && *s.left >= 0 {
		t := s.peek(0)
		s.last = t.line
		switch {
		case s.is(0, "import"):
			if s.peek(1).kind == jsName && s.is(2, "from") && s.peek(3).text == "k6/http" {
				s.http = s.peek(1).text
			}
			s.at++
		case (s.is(0, "const") || s.is(0, "let") || s.is(0, "var")) && s.peek(1).kind == jsName && s.is(2, "="):
			s.constant()
		case t.kind == jsName && t.text == s.http && s.is(1, ".") && !s.is(-1, "."):
			s.call()
		case s.is(0, "sleep") && s.is(1, "("):
			s.sleep()
		case s.is(0, "check") && s.is(1, "("):
			s.leave(t.line, "checks are left out, except the status: write them as expect")
			s.at++
		case s.is(0, ".") && s.is(1, "status") && (s.is(2, "===") || s.is(2, "==")) && s.peek(3).kind == jsNumber:
			s.status()
		default:
			s.at++
		}
	}
	if *s.left < 0 {
		s.leave(s.last, "what stands below: the script is too large or too deeply nested")
	}
}

// constant keeps the value of a name, if it is plain.
func (s *k6Script) constant() {
	name, line := s.peek(1).text, s.peek(1).line
	at := s.at + 3
	s.at = at
	v := s.expression()
	if name == "options" {
		s.note("The script's options (line %d) are left out: give the run its load (workload, duration or arrivals) and its thresholds.", line)
	}
	if text, ok := v.(string); ok {
		v = s.variable(name, text, false)
	}
	s.values[name] = v
	s.at = at // its calls are looked at, too
}

func (s *k6Script) status() {
	n, err := strconv.Atoi(s.peek(3).text)
	s.at += 4
	if err != nil || n < 200 || n >= 400 || len(s.requests) == 0 {
		return
	}
	q := &s.requests[len(s.requests)-1]
	if !slices.Contains(q.status, n) {
		q.status = append(q.status, n)
	}
}

func (s *k6Script) sleep() {
	line := s.peek(0).line
	s.at += 2
	n, ok := s.expression().(float64)
	switch {
	case !ok:
		s.leave(line, "a pause that is not fixed; write think")
	case len(s.requests) > 0 && n > 0:
		s.requests[len(s.requests)-1].think = pause(n)
	}
}

// call of a function of k6/http; at is on its name.
func (s *k6Script) call() {
	line, name := s.peek(0).line, s.peek(2).text
	m, known := k6Methods[name]
	if !known || !s.is(3, "(") {
		if name == "batch" {
			s.leave(line, "http.batch: write its requests one by one")
		}
		s.at += 2
		return
	}
	s.at += 4
	after := s.at
	args := s.arguments()
	if known && m.method == "" { // request(method, url, …)
		if len(args) > 0 {
			m.method, _ = args[0].(string)
			args = args[1:]
		}
	}
	defer func() { s.at = after }() // calls within the arguments are looked at, too
	if len(args) == 0 || m.method == "" {
		s.leave(line, "http.%s: its method or address is not plain", name)
		return
	}
	q := clientRequest{line: line, method: strings.ToUpper(m.method)}
	address, plain := s.text(args[0], line)
	if !plain && strings.HasPrefix(address, fillIn) {
		address = "http://service.invalid/" + strings.TrimPrefix(strings.TrimPrefix(address, fillIn), "/")
		if address == "http://service.invalid/" {
			s.leave(line, "http.%s: its address is not plain", name)
			return
		}
	}
	q.url = absolute(address)
	params := any(nil)
	if m.body && len(args) > 2 {
		params = args[2]
	} else if !m.body && len(args) > 1 {
		params = args[1]
	}
	s.params(&q, s.bounded(params))
	if m.body && len(args) > 1 {
		s.body(&q, s.bounded(args[1]))
	}
	s.add(q)
}

func (s *k6Script) params(q *clientRequest, v any) {
	params, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			s.leave(q.line, "its parameters are not plain: add its headers")
		}
		return
	}
	if headers, ok := params["headers"].(map[string]any); ok {
		for _, name := range sortedNames(headers) {
			text, _ := s.text(headers[name], q.line)
			q.headers = append(q.headers, harHeader{Name: name, Value: text})
		}
	} else if params["headers"] != nil {
		s.leave(q.line, "its headers are not plain: add them")
	}
	if tags, ok := params["tags"].(map[string]any); ok {
		q.name, _ = tags["name"].(string)
	}
	if redirects, ok := params["redirects"].(float64); ok && redirects > 0 {
		s.leave(q.line, "redirects: add follow: true")
	}
}

func (s *k6Script) body(q *clientRequest, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		var fields []pair
		for _, name := range sortedNames(v) {
			text, _ := s.text(v[name], q.line)
			fields = append(fields, pair{name, text})
		}
		q.post = &harPost{Type: "application/x-www-form-urlencoded", Text: encodeForm(fields)}
	case string:
		kind := q.contentType()
		if kind == "" && strings.HasPrefix(strings.TrimSpace(v), "{") {
			kind = "application/json"
		}
		q.post = &harPost{Type: cmp.Or(kind, "text/plain"), Text: v}
	default:
		s.leave(q.line, "its body is not plain: fill it in")
		q.comment = append(q.comment, "Fill in the body.")
	}
	if q.post != nil && (q.method == "GET" || q.method == "HEAD") {
		q.post = nil
	}
}
