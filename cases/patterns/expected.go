// Package patterns is a case: a small service in PHP and in Go whose routes
// each have one pattern of calls per request (form bad) or none (form clean).
//
// In: case.sh, which starts it on real servers. Out: a running Service, and
// what is to be found on it. Tests and benchmarks of the cases use it.
package patterns

import "kasoku/internal/trace"

// Route is a route of the service with the pattern of its bad form.
type Route struct {
	Method string
	Route  string // as access logs' routes are named: "/profiles/:id"
	Path   string // an example
	// Kind is one of package trace's; "" if the route has no pattern.
	Kind     string
	System   string   // that the calls go to, one of package trace's
	Measures []string // IDs of docs/reference/catalogue/measures.md
	// Calls of the pattern in a request, and Could: how many would do.
	Calls, Could int
}

// Routes are all routes, those without a pattern first.
func Routes() []Route {
	return []Route{
		{Method: "GET", Route: "/ping", Path: "/ping"},
		{Method: "GET", Route: "/posts", Path: "/posts"},
		{Method: "GET", Route: "/home", Path: "/home"},
		{Method: "POST", Route: "/notes/:id", Path: "/notes/7"},
		{"GET", "/feed", "/feed", trace.NPlusOne, trace.SQL, []string{"I04"}, 10, 1},
		{"GET", "/profiles/:id", "/profiles/7", trace.SameRead, trace.SQL, []string{"C08"}, 3, 1},
		{"GET", "/accounts/:id", "/accounts/7", trace.SameTable, trace.SQL, []string{"G15"}, 3, 1},
		{"GET", "/tags/:id", "/tags/7", trace.PrepareOnce, trace.SQL, []string{"I06"}, 2, 1},
		{"POST", "/events", "/events", trace.RowWrites, trace.SQL, []string{"C15"}, 10, 1},
		{"POST", "/stock", "/stock", trace.RowWrites, trace.SQL, []string{"I08"}, 10, 1},
		{"POST", "/orders", "/orders", trace.IDByUpdate, trace.SQL, []string{"I03"}, 1, 0},
		{"POST", "/grants", "/grants", trace.QueriesInLoop, trace.SQL, []string{"G15", "I11"}, 10, 2},
		{"GET", "/banner", "/banner", trace.SameRead, trace.Memcached, []string{"C08"}, 3, 1},
		{"GET", "/cards", "/cards", trace.SingleGets, trace.Memcached, []string{"C10"}, 10, 1},
		{"GET", "/scores", "/scores", trace.SingleRedis, trace.Redis, []string{"C10"}, 10, 1},
		{"POST", "/motd", "/motd", trace.SameWrite, trace.Redis, []string{"C09"}, 3, 1},
		{"GET", "/connect/db", "/connect/db", trace.RowConnects, trace.SQL, []string{"I14"}, 1, 0},
		{"GET", "/connect/memcached", "/connect/memcached", trace.RowConnects, trace.Memcached, []string{"C12", "C13"}, 1, 0},
		{"GET", "/connect/redis", "/connect/redis", trace.RowConnects, trace.Redis, []string{"C13"}, 1, 0},
	}
}

// Expected are the routes that have a pattern in the bad form. In the clean
// form nothing is to be found.
func Expected() []Route {
	var out []Route
	for _, r := range Routes() {
		if r.Kind != "" {
			out = append(out, r)
		}
	}
	return out
}
