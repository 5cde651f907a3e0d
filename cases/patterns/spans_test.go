package patterns

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// verbs returns "system verb" of each call, sorted. New connections are left
// out, unless they are what the route is about: each worker makes its first.
func verbs(r request, connects bool) []string {
	var out []string
	for _, s := range r.calls {
		text, _, _ := strings.Cut(attribute(s, "db.query.text", "db.statement"), " ")
		if strings.Contains(strings.ToLower(s.Name), "prepare") {
			text = "prepare"
		}
		// go-redis greets with HELLO and CLIENT, and shows that to its hooks.
		if text == "" || text == "hello" || text == "client" {
			text = "connect"
		}
		if text != "connect" || connects {
			out = append(out, attribute(s, "db.system.name", "db.system")+" "+strings.ToLower(text))
		}
	}
	slices.Sort(out)
	return slices.CompactFunc(out, func(a, b string) bool { return a == b && strings.HasSuffix(a, " connect") })
}

// want is what the calls of a route must be like in a form.
func (r Route) want(form string) string {
	times := func(n int, call string) string { return strings.TrimSuffix(strings.Repeat(call+",", n), ",") }
	bad := form == "bad"
	choose := func(a, b string) string {
		if bad {
			return a
		}
		return b
	}
	switch r.Route {
	case "/ping":
		return ""
	case "/posts":
		return "mysql select"
	case "/home":
		return "memcached get,mysql select,mysql select,redis get"
	case "/notes/:id":
		return "mysql select,mysql select,mysql update"
	case "/feed":
		return choose(times(11, "mysql select"), times(2, "mysql select"))
	case "/profiles/:id", "/accounts/:id":
		return choose(times(3, "mysql select"), "mysql select")
	case "/tags/:id":
		return choose("mysql prepare,mysql select", "mysql select")
	case "/events":
		return choose(times(10, "mysql insert"), "mysql insert")
	case "/stock":
		return choose(times(10, "mysql update"), "mysql update")
	case "/orders":
		return choose("mysql insert,mysql update", "mysql insert")
	case "/grants":
		return choose(times(5, "mysql insert")+","+times(5, "mysql select"), "mysql insert,mysql select")
	case "/banner":
		return choose(times(3, "memcached get"), "memcached get")
	case "/cards":
		return choose(times(10, "memcached get"), "memcached get")
	case "/scores":
		return choose(times(10, "redis get"), "redis mget")
	case "/motd":
		return choose(times(3, "redis set"), "redis get")
	case "/connect/db":
		return choose("mysql connect,mysql select", "mysql select")
	case "/connect/memcached":
		return choose("memcached connect,memcached get", "memcached get")
	case "/connect/redis":
		return choose("redis connect,redis get", "redis get")
	}
	return "unknown route"
}

// checkSpans: each request comes as a server span, and the calls of its form as
// client spans that tell system, text and source line.
func checkSpans(t *testing.T, c *collector, s *Service, lang, form string) {
	t.Helper()
	for _, r := range Routes() {
		ask(t, r.Method, s.URL+r.Path)
	}
	requests := c.take(t, len(Routes()))
	for _, r := range Routes() {
		name := r.Method + " " + strings.Replace(r.Route, ":id", "{id}", 1)
		i := slices.IndexFunc(requests, func(q request) bool { return q.route == name })
		if i < 0 {
			t.Errorf("%s %s: no server span of %s", lang, form, name)
			continue
		}
		connects := strings.HasPrefix(r.Route, "/connect/") && form == "bad"
		if got := strings.Join(verbs(requests[i], connects), ","); got != r.want(form) {
			t.Errorf("%s %s: %s calls %s, want %s", lang, form, name, got, r.want(form))
		}
		for _, call := range requests[i].calls {
			if problem := checkCall(call); problem != "" {
				t.Errorf("%s %s: %s: %s", lang, form, name, problem)
			}
		}
	}
}

// checkCall says what is wrong with a client span.
func checkCall(s *tracepb.Span) string {
	file := attribute(s, "code.file.path", "code.filepath")
	switch {
	case s.EndTimeUnixNano < s.StartTimeUnixNano:
		return fmt.Sprintf("%s ends before it begins", s.Name)
	case file == "" && s.Name == "redis.dial":
		return "" // go-redis dials in a goroutine of its own
	case !strings.HasSuffix(file, ".php") && !strings.HasSuffix(file, ".go"):
		return fmt.Sprintf("%s has no source file: %q", s.Name, file)
	case strings.HasSuffix(file, "/database.go"), strings.HasSuffix(file, "/clients.go"),
		strings.HasSuffix(file, "/database.php"), strings.HasSuffix(file, "/caches.php"):
		return fmt.Sprintf("%s has a line of the plumbing: %s", s.Name, file)
	}
	return ""
}
