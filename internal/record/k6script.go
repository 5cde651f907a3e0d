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
	dir    string // where files are that it opens; "": they are not read
	left   *int   // of maxJSWork
	last   int    // line that is looked at

	functions map[string]string // of k6/http, by the names they are imported under
	blocks    []jsBlock         // around what is looked at
	depths    map[string]int    // how many blocks were around a name's declaration
	next      jsFunction        // whose block begins
	single    bool              // the statement is a condition's, without a block
	naming    string            // phase that the next function is
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
	s := &k6Script{left: &left, client: newClient("k6 script", &o), tokens: jsTokens(text), values: map[string]any{}, depths: map[string]int{}, functions: map[string]string{}, http: "http", dir: o.Dir}
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
		case s.is(0, "import") && !s.is(-1, "."):
			s.imports()
		case s.is(0, "{"):
			s.open()
		case s.is(0, "}"):
			s.close()
		case s.is(0, "=>"):
			s.arrow()
		case s.is(0, "function"):
			s.function()
		case (s.is(0, "const") || s.is(0, "let") || s.is(0, "var")) && (s.peek(1).kind == jsName || s.is(1, "{") || s.is(1, "[")):
			s.declaration()
		case s.is(0, "sleep") && s.is(1, "("):
			s.sleep()
		case s.is(0, "check") && s.is(1, "("):
			s.leave(t.line, "checks are left out, except the status: write them as expect")
			s.at++
		case s.is(0, ".") && s.is(1, "status") && (s.is(2, "===") || s.is(2, "==")) && s.peek(3).kind == jsNumber:
			s.status()
		case t.kind == jsName:
			if name, n := s.callee(); n > 0 {
				s.call(name, n)
			} else {
				s.assignment()
			}
		default:
			s.at++
		}
	}
	if *s.left < 0 {
		s.leave(s.last, "what stands below: the script is too large or too deeply nested")
	}
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
	} else if ok {
		s.leave(q.line, "redirects: 0: no step follows redirects; write the status of this one as expect")
	}
	if params["cookies"] != nil {
		s.leave(q.line, "cookies come from the answers: add a step that sets them, or a Cookie header")
	}
}

func (s *k6Script) body(q *clientRequest, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if s.multipart(q, v) {
			return
		}
		var fields []pair
		for _, name := range sortedNames(v) {
			if list, ok := v[name].([]any); ok { // each element is a field
				for _, one := range list {
					text, _ := s.text(one, q.line)
					fields = append(fields, pair{name, text})
				}
				continue
			}
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
	if (q.post != nil || q.parts != nil) && (q.method == "GET" || q.method == "HEAD") {
		q.post, q.parts = nil, nil
		s.leave(q.line, "%s with a body, which load does not send: the body is left out", q.method)
	}
}
