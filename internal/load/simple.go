package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Simple is a load of one request over and over: what a URL and a few flags
// say. Probe the target, then make the Scenario.
type Simple struct {
	// URL with its path: http://host:port/path?query, https://…, or
	// http+unix:///run/app.sock:/path for a unix socket.
	URL     string
	Method  string   // "": GET, or POST with a body
	Headers []string // "Name: value"
	Body    []byte   // nil: none
	// Type of the body; "": application/json if it is a JSON object or list,
	// else application/x-www-form-urlencoded, as curl does.
	Type     string
	Statuses []int    // right ones; none: 200
	Contains []string // texts that an answer must hold
	// AnySize: answers need not be as long as the first one.
	AnySize bool
	Size    int64         // of a right answer in bytes; -1: learned by Probe
	Timeout time.Duration // of a request; 0: 5 s
	Close   bool          // ask for a new connection for each request

	sizeNote string // what Probe found about the size
}

// Base is the target for Options.URL: scheme, host and port, or the socket.
func (s *Simple) Base() (string, error) {
	base, _, err := s.split()
	return base, err
}

// split cuts the URL into the base and the path with the query.
func (s *Simple) split() (base, path string, err error) {
	example := "write for example http://127.0.0.1:8080/path"
	if rest, ok := strings.CutPrefix(s.URL, "http+unix://"); ok {
		socket, path, found := strings.Cut(rest, ":/")
		if path = "/" + path; !found {
			socket = strings.TrimSuffix(rest, ":")
		}
		if !strings.HasPrefix(socket, "/") || len(socket) < 2 {
			return "", "", fmt.Errorf("URL %q: write the socket's absolute path, then a colon and the path of the request: http+unix:///run/app.sock:/path", shorten(s.URL, 200))
		}
		return "http+unix://" + socket, requestPath(path), s.badRequestPath(path)
	}
	scheme, rest, ok := strings.Cut(s.URL, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "http" && scheme != "https" {
		return "", "", fmt.Errorf("URL %q has no scheme http, https or http+unix; %s", shorten(s.URL, 200), example)
	}
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		at = len(rest)
	}
	host, path := rest[:at], rest[at:]
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u, err := url.Parse(scheme + "://" + host)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("URL %q cannot be read: %w; %s", shorten(s.URL, 200), err, example)
	case u.User != nil:
		return "", "", fmt.Errorf("URL %q holds a user name; send it as a header: -H 'Authorization: Basic …'", u.Redacted())
	case u.Hostname() == "":
		return "", "", fmt.Errorf("URL %q names no host; %s", shorten(s.URL, 200), example)
	}
	return scheme + "://" + host, requestPath(path), s.badRequestPath(path)
}

// requestPath is a path as it is sent. A ${ in it is meant literally.
func requestPath(path string) string { return strings.ReplaceAll(asciiPath(path), "${", "$%7B") }

func (s *Simple) badRequestPath(path string) error {
	if why := badPath(requestPath(path)); why != "" {
		return fmt.Errorf("URL %q: the path %s", shorten(s.URL, 200), why)
	}
	return nil
}

// method of the request.
func (s *Simple) method() string {
	switch {
	case s.Method != "":
		return strings.ToUpper(s.Method)
	case s.Body != nil:
		return "POST"
	}
	return "GET"
}

// fields are the headers of the request, those that are implied among them.
func (s *Simple) fields() ([][2]string, error) {
	var out [][2]string
	typed := false
	for _, h := range s.Headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || !isToken(name) {
			return nil, fmt.Errorf("header %q: write 'Name: value'", shorten(h, 100))
		}
		if !utf8.ValidString(value) {
			return nil, fmt.Errorf("header %s: the value is not UTF-8; percent-encode it", name)
		}
		if slices.ContainsFunc(out, func(f [2]string) bool { return strings.EqualFold(f[0], name) }) {
			return nil, fmt.Errorf("header %s is given twice; keep one", name)
		}
		typed = typed || strings.EqualFold(name, "content-type")
		out = append(out, [2]string{name, strings.TrimSpace(value)})
	}
	if s.Type != "" && typed {
		return nil, fmt.Errorf("the content type is given twice, as a header and as the type; keep one")
	}
	if s.Body != nil && !typed {
		out = append(out, [2]string{"Content-Type", s.bodyType()})
	}
	if s.Close {
		out = append(out, [2]string{"Connection", "close"})
	}
	return out, nil
}

func (s *Simple) bodyType() string {
	text := strings.TrimSpace(string(s.Body))
	switch {
	case s.Type != "":
		return s.Type
	case (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid(s.Body):
		return "application/json"
	}
	return "application/x-www-form-urlencoded"
}

// Scenario compiles the load. It goes the way of every scenario file, so that
// the same rules hold; an error says what is wrong with a value of Simple.
func (s *Simple) Scenario() (*Scenario, error) {
	_, path, err := s.split()
	if err != nil {
		return nil, err
	}
	fields, err := s.fields()
	if err != nil {
		return nil, err
	}
	method := s.method()
	if !slices.Contains(methods, method) {
		return nil, fmt.Errorf("method %q is not one of %s", shorten(method, 40), strings.Join(methods, ", "))
	}
	if s.Body != nil && (method == "GET" || method == "HEAD") {
		return nil, fmt.Errorf("%s requests have no body; choose POST, PUT, PATCH or DELETE, or leave the body out", method)
	}
	if int64(len(s.Body)) > maxBody {
		return nil, fmt.Errorf("the body has %d bytes; at most %d are sent", len(s.Body), maxBody)
	}
	for _, text := range s.Contains {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("the text %q to look for is not UTF-8; choose another part of the answer", shorten(text, 40))
		}
	}
	step := map[string]any{"request": method + " " + path}
	if len(fields) > 0 {
		headers := map[string]string{}
		for _, f := range fields {
			headers[f[0]] = literal(f[1])
		}
		step["headers"] = headers
	}
	if expect := s.expectation(); len(expect) > 0 {
		step["expect"] = expect
	}
	file := map[string]any{"version": 1, "name": shorten(method+" "+path, 200), "workload": leastUsers, "duration": "10s",
		"sessions": []any{map[string]any{"name": "request", "steps": []any{step}}}}
	if s.Timeout != 0 {
		file["timeout"] = s.Timeout.String()
	}
	src, err := json.Marshal(file) // JSON is YAML
	if err != nil {
		return nil, fmt.Errorf("compile the request: %w", err)
	}
	sc, err := Parse("command line", src)
	if err != nil {
		// Nobody has seen the line that the places are in.
		return nil, errors.New(compiledPlace.ReplaceAllString(err.Error(), ""))
	}
	if s.Body != nil {
		// Put in afterwards: it may hold bytes that no YAML text can.
		st := &sc.sessions[0].steps[0]
		st.hasBody = true
		st.body.addLiteral(s.Body)
	}
	return sc, nil
}

var compiledPlace = regexp.MustCompile(`(?m)^command line:\d+:\d+: `)

func (s *Simple) expectation() map[string]any {
	expect := map[string]any{}
	if len(s.Statuses) > 0 {
		expect["status"] = s.Statuses
	}
	if s.Size >= 0 {
		expect["size"] = s.Size
	}
	var contains []string
	for _, text := range s.Contains {
		contains = append(contains, literal(text))
	}
	if len(contains) > 0 {
		expect["contains"] = contains
	}
	return expect
}

// literal is a text in which ${ stands for itself.
func literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// StatusError says that the target's answer to the first request has a wrong
// status, so no load was sent.
type StatusError struct {
	Request  string
	Got      string
	Expected string
	Location string // of a redirect; else ""
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the answer is %s, expected %s; no load was sent", e.Request, e.Got, e.Expected)
}

// Probe sends the request before the load and learns how long a right answer
// is, if neither Size nor AnySize say. A request that changes nothing by its
// method (GET, HEAD, OPTIONS) is sent twice: if the two answers differ in
// length, the length is not checked, and Checked says so.
//
// The target must be this machine or in allow. The error is a *StatusError if
// the answer's status is wrong.
func (s *Simple) Probe(ctx context.Context, opts Options) error {
	base, path, err := s.split()
	if err != nil {
		return err
	}
	t, err := newTarget(ctx, base, opts.Allow, opts.SkipTLSVerify)
	if err != nil {
		return err
	}
	client := t.client(opts.Engine, s.timeout())
	defer client.CloseIdleConnections()
	ask := func() (int64, error) {
		size, err := s.ask(ctx, client, t.origin+path)
		var wrong *StatusError
		if err != nil && !errors.As(err, &wrong) {
			err = fmt.Errorf("ask %s: %w; no load was sent", s.URL, err)
		}
		return size, err
	}
	first, err := ask()
	if err != nil {
		return err
	}
	if s.Size >= 0 || s.AnySize {
		return nil
	}
	if s.method() == "GET" || s.method() == "HEAD" || s.method() == "OPTIONS" {
		second, err := ask()
		if err != nil {
			return err
		}
		if first != second {
			s.AnySize = true
			s.sizeNote = fmt.Sprintf("not the size: two answers had %d and %d bytes", first, second)
			return nil
		}
	}
	s.Size = first
	s.sizeNote = ", as the first answer had"
	return nil
}

func (s *Simple) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultTimeout
}

// client makes single requests to the target, whatever a URL names.
func (t *target) client(engine Engine, timeout time.Duration) *http.Client {
	tr := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, t.network, t.address)
		}}
	tr.Protocols.SetHTTP1(engine != EngineHTTP2)
	if engine == EngineHTTP2 {
		tr.Protocols.SetHTTP2(t.tls != nil)
		tr.Protocols.SetUnencryptedHTTP2(t.tls == nil)
	}
	if t.tls != nil {
		tr.TLSClientConfig = t.tls.Clone()
		tr.TLSClientConfig.NextProtos = nil // the transport's own to set
	}
	return &http.Client{Transport: tr, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ask sends the request once; size is the decoded body's.
func (s *Simple) ask(ctx context.Context, client *http.Client, at string) (size int64, err error) {
	fields, err := s.fields()
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, s.method(), at, strings.NewReader(string(s.Body)))
	if err != nil {
		return 0, err
	}
	if s.Body == nil {
		req.Body, req.GetBody = nil, nil
	}
	// The same headers as the load's.
	req.Header.Set("User-Agent", "kasoku")
	req.Header.Set("Accept", "*/*")
	for _, f := range fields {
		if strings.EqualFold(f[0], "host") {
			req.Host = f[1]
		} else {
			req.Header.Set(f[0], f[1])
		}
	}
	res, err := client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL is told by the caller
	}
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxBody {
		return 0, fmt.Errorf("the answer is longer than %d MiB, which is not held in memory; choose a shorter one", maxBody>>20)
	}
	e := expectation{statuses: s.Statuses}
	if !e.wants(res.StatusCode) {
		return 0, &StatusError{Request: s.method() + " " + s.URL, Got: res.Status, Expected: e.statusText(), Location: res.Header.Get("Location")}
	}
	var in inflater
	body, opaque := in.decode(&response{body: body, encoding: []byte(res.Header.Get("Content-Encoding"))})
	if opaque != "" {
		return 0, fmt.Errorf("the answer has %s", opaque)
	}
	return int64(len(body)), nil
}

// Checked tells what is checked on every answer.
func (s *Simple) Checked() string {
	e := expectation{statuses: s.Statuses}
	text := "status " + e.statusText()
	if s.Size >= 0 {
		text += fmt.Sprintf(", %d bytes", s.Size) + s.sizeNote
	}
	for _, c := range s.Contains {
		text += ", contains " + quoteShort([]byte(c))
	}
	if s.Size < 0 && s.sizeNote != "" {
		text += "; " + s.sizeNote
	}
	return text
}
