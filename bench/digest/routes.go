package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// endpoint is one route of the service whose logs are generated. In a path #
// stands for a number, & for a UUID, ~ for a hash.
type endpoint struct {
	method, path string
	weight       int
	mean         float64 // ms
	size         int
}

// endpoints of a social shop: things with lists, pages and actions, and static
// files. 104 routes; how often each is asked for falls with its place.
func endpoints() []endpoint {
	out := []endpoint{
		{"GET", "/", 0, 12, 40_000}, {"GET", "/login", 0, 3, 6_000}, {"POST", "/login", 0, 90, 500}, {"POST", "/logout", 0, 2, 0},
		{"GET", "/search", 0, 140, 30_000}, {"GET", "/api/me", 0, 4, 900}, {"GET", "/api/notifications", 0, 9, 2_000},
		{"GET", "/static/~.js", 0, 0.3, 180_000}, {"GET", "/static/~.css", 0, 0.2, 40_000}, {"GET", "/favicon.ico", 0, 0.1, 1_200},
		{"GET", "/healthz", 0, 0.4, 2}, {"GET", "/image/#.jpg", 0, 6, 90_000}, {"GET", "/image/#.png", 0, 6, 120_000}, {"POST", "/image", 0, 80, 300},
	}
	for i, thing := range []string{"users", "items", "posts", "orders", "comments", "shops", "reviews", "messages", "channels"} {
		ref := "/#"
		if i%3 == 2 {
			ref = "/&"
		}
		base := "/api/" + thing
		out = append(out,
			endpoint{"GET", base, 0, 25, 12_000}, endpoint{"POST", base, 0, 40, 600},
			endpoint{"GET", base + ref, 0, 8, 3_000}, endpoint{"PUT", base + ref, 0, 35, 700}, endpoint{"DELETE", base + ref, 0, 30, 0},
			endpoint{"GET", base + ref + "/history", 0, 60, 9_000}, endpoint{"POST", base + ref + "/like", 0, 15, 60},
			endpoint{"GET", base + ref + "/comments", 0, 45, 8_000}, endpoint{"GET", base + ref + "/comments/#", 0, 7, 1_000},
			endpoint{"GET", "/" + thing + ref, 0, 55, 22_000})
	}
	for i := range out {
		// Zipf-like, as requests of real services are.
		out[i].weight = 100_000 / (3 + i*7%len(out))
	}
	return out
}

// route is how Kasoku should name it.
func (e *endpoint) route() string {
	return strings.NewReplacer("#", ":id", "&", ":uuid", "~", ":hash").Replace(e.path)
}

// pattern is a regular expression for alp's -m; none for a path that does not vary.
func (e *endpoint) pattern() string {
	if !strings.ContainsAny(e.path, "#&~") {
		return ""
	}
	p := regexp.QuoteMeta(e.path)
	for _, r := range [][2]string{{"#", "[0-9]+"}, {"&", "[0-9a-f-]+"}, {"~", "[0-9a-f]+"}} {
		p = strings.ReplaceAll(p, r[0], r[1])
	}
	return "^" + p + "$"
}

// patterns for alp, each once.
func patterns(all []endpoint) string {
	var out []string
	seen := map[string]bool{}
	for i := range all {
		if p := all[i].pattern(); p != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return strings.Join(out, ",")
}

// target fills the path; some have a query.
func (e *endpoint) target(b []byte, r *rand.Rand) []byte {
	for i := range len(e.path) {
		switch c := e.path[i]; c {
		case '#':
			b = fmt.Appendf(b, "%d", 1+r.IntN(1_000_000))
		case '&':
			b = fmt.Appendf(b, "%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
		case '~':
			// One of 64 releases; the factor (2⁶⁴ divided by the golden ratio)
			// spreads them, so that they look like hashes.
			b = fmt.Appendf(b, "%016xc0de", 0x9e3779b97f4a7c15*(1+r.Uint64()>>58))
		default:
			b = append(b, c)
		}
	}
	if e.path == "/search" || e.method == "GET" && strings.HasPrefix(e.path, "/api/") && r.IntN(3) == 0 {
		b = fmt.Appendf(b, "?page=%d&sort=new", r.IntN(50))
	}
	return b
}
