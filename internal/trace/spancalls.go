package trace

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SpanOptions say how spans are read.
type SpanOptions struct {
	// Services returns the stack's service for a system ("sql", "memcached",
	// "redis", "http") and an address ("127.0.0.1:3306", a path of a socket, a
	// name, or "" where the span has none). nil, or "" returned: the system's
	// name.
	Services func(system, addr string) string
}

// Requests turns the spans kept so far into requests: each server span of HTTP
// is one, client spans below it are its calls in the order of their start.
// route names a request; nil: the span's http.route, else its path. health
// tells what was left out; "" if nothing was.
func (r *Receiver) Requests(route func(method, target, httpRoute string) string, o SpanOptions) (requests []Request, health string) {
	r.mu.Lock()
	spans := slices.Clone(r.spans)
	dropped, refused := r.dropped, r.refused
	r.mu.Unlock()
	t := newSpanTree(spans)
	for _, root := range t.roots {
		requests = append(requests, t.request(root, route, o))
	}
	var notes []string
	note := func(n int64, text string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(text, n))
		}
	}
	note(dropped, fmt.Sprintf("%%d spans beyond the first %d were dropped", len(spans)))
	note(refused, "%d messages could not be read as spans")
	note(int64(t.orphans), "%d calls belong to no request that was received")
	if len(spans) > 0 && len(requests) == 0 {
		notes = append(notes, "no span is of an HTTP request (kind server, http.request.method)")
	}
	return requests, strings.Join(notes, "; ")
}

// spanTree knows each request's spans.
type spanTree struct {
	spans   []span
	byID    map[spanID]int
	roots   []int // HTTP server spans, by start
	calls   map[int][]int
	orphans int
}

// maxDepth of spans below a request; deeper ones are taken for a circle.
const maxDepth = 100

func newSpanTree(spans []span) *spanTree {
	t := &spanTree{spans: spans, byID: make(map[spanID]int, len(spans)), calls: map[int][]int{}}
	parents := map[spanID]bool{}
	for i := range spans {
		t.byID[spans[i].id] = i
	}
	for i := range spans {
		s := &spans[i]
		if s.isRequest() {
			t.roots = append(t.roots, i)
		}
		if s.kind == spanClient && s.system() != "" {
			parents[s.parent] = true
		}
	}
	for i := range spans {
		s := &spans[i]
		// A client span with client spans of its own stands for them only if it
		// says more than they do.
		if s.kind != spanClient || s.system() == "" || i != t.byID[s.id] || parents[s.id] && s.first("db.statement", "db.query.text") == "" && !connects(s) {
			continue
		}
		if root := t.rootOf(i); root >= 0 {
			t.calls[root] = append(t.calls[root], i)
		} else {
			t.orphans++
		}
	}
	t.dropFronts()
	slices.SortStableFunc(t.roots, func(a, b int) int { return cmp.Compare(spans[a].start, spans[b].start) })
	return t
}

// dropFronts leaves out requests that were only passed on, as by a traced
// proxy: they called no database and no cache, and a request behind them was
// received too.
func (t *spanTree) dropFronts() {
	front := map[int]bool{}
	for _, i := range t.roots {
		if outer := t.rootOf(i); outer >= 0 {
			front[outer] = true
		}
	}
	t.roots = slices.DeleteFunc(t.roots, func(i int) bool {
		return front[i] && !slices.ContainsFunc(t.calls[i], func(c int) bool { return t.spans[c].system() != HTTP })
	})
}

// rootOf returns the request a span belongs to, -1 if it is not known.
func (t *spanTree) rootOf(i int) int {
	for range maxDepth {
		parent, ok := t.byID[t.spans[i].parent]
		if !ok {
			return -1
		}
		if t.spans[parent].isRequest() {
			return parent
		}
		i = parent
	}
	return -1
}

func (s *span) isRequest() bool {
	return s.kind == spanServer && s.first("http.request.method", "http.method") != ""
}

// system that a client span calls, "" if none that is known.
func (s *span) system() string {
	switch strings.ToLower(s.first("db.system.name", "db.system")) {
	case "mysql", "mariadb", "postgresql", "cockroachdb", "redshift", "aws.redshift", "yugabytedb", "other_sql", "sqlite", "microsoft.sql_server", "mssql", "oracle", "oracle.db":
		return SQL
	case "memcached":
		return Memcached
	case "redis", "valkey":
		return Redis
	case "":
		if s.first("http.request.method", "http.method") != "" {
			return HTTP
		}
	}
	return ""
}

// postgres: the span's statement is in PostgreSQL's dialect, which others speak, too.
func (s *span) postgres() bool {
	switch strings.ToLower(s.first("db.system.name", "db.system")) {
	case "postgresql", "cockroachdb", "redshift", "aws.redshift", "yugabytedb":
		return true
	}
	return false
}

func (t *spanTree) request(root int, route func(method, target, httpRoute string) string, o SpanOptions) Request {
	s := &t.spans[root]
	req := Request{Method: s.first("http.request.method", "http.method"), Target: target(s), Took: s.took()}
	req.Status, _ = strconv.Atoi(s.first("http.response.status_code", "http.status_code"))
	req.Route = s.attrs["http.route"]
	if route != nil {
		req.Route = route(req.Method, req.Target, req.Route)
	} else if req.Route == "" {
		req.Route, _, _ = strings.Cut(req.Target, "?")
	}
	ids := t.calls[root]
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(t.spans[a].start, t.spans[b].start) })
	var lines calls
	for _, i := range ids {
		lines.add(t, i, o)
	}
	req.Calls = lines.list
	return req
}

func target(s *span) string {
	if t := s.first("url.path", "http.target"); t != "" {
		return t
	}
	if u, err := url.Parse(s.first("url.full", "http.url")); err == nil {
		return u.RequestURI()
	}
	return ""
}

// calls collects one request's calls.
type calls struct {
	list     []Call
	prepared map[string]bool // texts
	latest   string          // text of the latest prepare
}

// noTrip: a span of a prepare, or of a new PDO, that took less made no round
// trip: the driver only looked at the text (emulated prepares), or took up a
// kept connection. A round trip to a server on the same machine takes 50 µs
// and more.
const noTrip = 20 * time.Microsecond

func (l *calls) add(t *spanTree, i int, o SpanOptions) {
	s := &t.spans[i]
	c := Call{System: s.system(), Took: s.took(), Failed: s.failed, Value: s.value, Source: t.source(i)}
	c.Service, c.Postgres = c.System, s.postgres()
	if o.Services != nil {
		if name := o.Services(c.System, s.address()); name != "" {
			c.Service = name
		}
	}
	// database/sql asks the driver first whether it can run a statement with
	// values at once; the answer is no call.
	if strings.Contains(s.message, "skip fast-path") {
		return
	}
	c.Text = s.first("db.query.text", "db.statement")
	switch c.System {
	case SQL:
		if !l.sql(s, &c) {
			return
		}
	case Memcached, Redis:
		if !cacheText(s, &c) {
			return
		}
	case HTTP:
		c.Text = s.first("http.request.method", "http.method") + " " + s.first("url.full", "http.url", "url.path", "http.target")
	}
	l.list = append(l.list, c)
}

func connects(s *span) bool {
	n := strings.ToLower(s.name)
	return strings.Contains(n, "connect") && !strings.Contains(n, "disconnect") || strings.HasSuffix(n, ".dial") || strings.HasSuffix(n, "::__construct") || n == "dial"
}

// sql gives a call of a database its kind; false: it is none. Names are those
// of otelsql (Go), PHP's PDO and generic ones.
func (l *calls) sql(s *span, c *Call) bool {
	name := strings.ToLower(s.name)
	switch {
	case c.Text == "" && connects(s):
		if strings.HasSuffix(name, "::__construct") && c.Took < noTrip {
			return false
		}
		c.Kind = Connect
	case strings.Contains(name, "prepare") && !strings.HasPrefix(name, "deallocate"):
		l.latest = c.Text
		if c.Took < noTrip {
			return false
		}
		c.Kind = Prepare
		if l.prepared == nil {
			l.prepared = map[string]bool{}
		}
		l.prepared[c.Text] = true
		// The driver's refusal to run it at once, without an error's text.
		if n := len(l.list); n > 0 && l.list[n-1].Kind == "" && l.list[n-1].Text == c.Text && l.list[n-1].Took < noTrip {
			l.list = l.list[:n-1]
		}
	case strings.Contains(name, "stmt") || strings.HasPrefix(name, "pdostatement::execute") || strings.HasPrefix(name, "mysqli_stmt::execute") || name == "execute":
		if strings.HasSuffix(name, "close") {
			c.Kind, c.Text = Close, ""
			return true
		}
		if c.Text == "" {
			c.Text = l.latest
		}
		if l.prepared[c.Text] {
			c.Kind = Execute
		}
	case strings.Contains(name, "begin"):
		c.Text = "BEGIN"
	case strings.HasSuffix(name, "commit"):
		c.Text = "COMMIT"
	case strings.Contains(name, "rollback"):
		c.Text = "ROLLBACK"
	}
	return c.Text != "" || c.Kind == Connect
}

// cacheText reads the command of a cache; false: the span is none.
func cacheText(s *span, c *Call) bool {
	if c.Text == "" && connects(s) {
		c.Kind = Connect
		return true
	}
	if c.Text == "" {
		c.Text = strings.TrimSpace(s.first("db.operation.name", "db.operation") + " " + s.attrs["db.memcached.item"])
	}
	if c.Text == "" {
		return false
	}
	text := c.Text
	words := strings.Fields(cut(text, maxAttribute))
	if len(words) == 0 {
		return false
	}
	if c.System == Redis {
		if strings.Contains(strings.ToLower(s.name), "pipeline") || strings.HasPrefix(s.first("db.operation.name", "db.operation"), "PIPELINE") || strings.Contains(strings.TrimSpace(text), "\n") {
			c.Text, c.Value = "PIPELINE", hashOf([]string{text})
			return true
		}
		one := redisCall(c.Service, words)
		c.Text, c.Keys, c.Value = one.Text, one.Keys, one.Value
		return true
	}
	verb := strings.ToLower(words[0])
	c.Text = verb
	keys := words[1:]
	if !cacheReads[verb] && len(keys) > 1 {
		keys, c.Value = keys[:1], hashOf(keys[1:])
	}
	c.Keys = keys
	for _, k := range keys {
		c.Text += " " + k
	}
	return true
}

// address that a client span went to.
func (s *span) address() string {
	name := s.first("server.address", "net.peer.name", "network.peer.address", "net.sock.peer.addr", "peer.service")
	port := s.first("server.port", "net.peer.port", "network.peer.port", "net.sock.peer.port")
	if name == "" || port == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return name + ":" + port
}

// source is the line that a span, or the nearest one above it, names.
func (t *spanTree) source(i int) string {
	for range maxDepth {
		s := &t.spans[i]
		if file := s.first("code.file.path", "code.filepath"); file != "" {
			if line := s.first("code.line.number", "code.lineno"); line != "" {
				file += ":" + line
			}
			return file
		}
		parent, ok := t.byID[s.parent]
		if !ok || s.isRequest() {
			return ""
		}
		i = parent
	}
	return ""
}
