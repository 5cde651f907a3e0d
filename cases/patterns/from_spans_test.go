package patterns

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// each is how often every route is asked.
const each = 5

// TestFromSpans: from the spans of both programs exactly the patterns of the
// bad form are found, and none of the clean form.
func TestFromSpans(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	receiver, err := trace.Listen(context.Background(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(receiver.Close)
	address, _ := receiver.Addrs()
	c := newCollector(t, address)
	var s *Service
	for _, f := range forms {
		if s == nil {
			s = New(t, f.lang, f.form, c.URL)
		} else {
			s.Start(f.lang, f.form, c.URL)
		}
		c.take(t, 1) // start's own look at /ping
		// Every worker of PHP opens its connections in its first request.
		for range 9 {
			ask(t, "GET", s.URL+"/home")
		}
		c.take(t, 9)
		checkSpans(t, c, s, f.lang, f.form)

		receiver.Reset()
		for range each {
			for _, r := range Routes() {
				ask(t, r.Method, s.URL+r.Path)
			}
		}
		c.take(t, each*len(Routes()))
		requests, health := receiver.Requests(nameRoute, trace.SpanOptions{Services: s.services(t, c.URL)})
		if len(requests) != each*len(Routes()) || health != "" {
			t.Errorf("%s %s: %d requests, health %q, want %d and none", f.lang, f.form, len(requests), health, each*len(Routes()))
		}
		sum := trace.Summarize(requests, trace.Options{Source: "spans"})
		checkPatterns(t, f.lang+" "+f.form, f.form, sum)
	}
}

// nameRoute names requests as access logs' routes are named.
func nameRoute(_, _, route string) string { return strings.Replace(route, "{id}", ":id", 1) }

// services names the stack's service behind an address. The stack must tell
// where spans are sent to.
func (s *Service) services(t *testing.T, otel string) func(system, addr string) string {
	t.Helper()
	st, err := stack.Load(s.Stack)
	if err != nil {
		t.Fatal(err)
	}
	if "http://"+st.Evidence.OTLP != otel {
		t.Errorf("evidence.otlp is %q, spans are sent to %s", st.Evidence.OTLP, otel)
	}
	return func(_, addr string) string {
		for _, svc := range st.Services {
			if slices.Contains(svc.Listen, addr) {
				return svc.Name
			}
		}
		return "unknown " + addr
	}
}

// names of the stack's services by system.
var serviceNames = map[string]string{trace.SQL: "db", trace.Memcached: "cache", trace.Redis: "redis"}

// sourceLine is what Pattern.Sources are like.
var sourceLine = regexp.MustCompile(`patterns/go/[a-z]+\.go:[1-9][0-9]*$|app/src/[a-z]+\.php:[1-9][0-9]*$`)

// valueOf the tables and caches; none may be told.
var valueOf = regexp.MustCompile(`(?i)author ?[0-9]|kind[0-9]|book|tag[0-9]|card:[0-9]|score:[0-9]|= ?7\b|open`)

// checkPatterns compares what was found in a form with Expected, every route
// having been asked as often. Spans tell source lines, too.
func checkPatterns(t *testing.T, who, form string, sum *trace.Summary) {
	t.Helper()
	left := map[string]Route{}
	if form == "bad" {
		for _, r := range Expected() {
			left[r.Method+" "+r.Route] = r
		}
	}
	for _, p := range sum.Patterns {
		name := p.Method + " " + p.Route
		r, ok := left[name]
		if !ok || p.Kind != r.Kind || p.System != r.System {
			t.Errorf("%s: false alarm: %s of %s at %s: %s", who, p.Kind, p.System, name, p.What)
			continue
		}
		delete(left, name)
		for _, problem := range checkPattern(p, r, sum.Source == "spans") {
			t.Errorf("%s: %s at %s: %s", who, p.Kind, name, problem)
		}
	}
	for name, r := range left {
		t.Errorf("%s: %s at %s was not found", who, r.Kind, name)
	}
}

// checkPattern says what is wrong with a pattern that was found rightly.
func checkPattern(p trace.Pattern, r Route, spans bool) []string {
	var out []string
	say := func(ok bool, format string, args ...any) {
		if !ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(p.Service == serviceNames[r.System], "service %q, want %q", p.Service, serviceNames[r.System])
	say(p.PerRequest == float64(r.Calls) && p.Could == float64(r.Could), "%v calls that could be %v, want %d and %d", p.PerRequest, p.Could, r.Calls, r.Could)
	say(p.With == p.Requests && p.Requests > 1, "%d of %d requests, want all", p.With, p.Requests)
	for _, m := range r.Measures {
		say(slices.Contains(p.Measures, m), "measures %v lack %s", p.Measures, m)
	}
	for _, source := range p.Sources {
		say(sourceLine.MatchString(source), "source %q", source)
	}
	// go-redis connects in a goroutine of its own, which no line of the
	// program called.
	say(!spans || len(p.Sources) > 0 || p.Kind == trace.RowConnects && p.System == trace.Redis, "no source line")
	say(p.Better != "" && p.What != "", "what %q, better %q", p.What, p.Better)
	told := strings.Join([]string{p.What, p.After, p.Example, p.Better}, "\n")
	say(!valueOf.MatchString(told), "tells a value: %s", told)
	return out
}
