package digest

import (
	"strings"
	"time"

	"kasoku/internal/ui"
)

// columns of the routes. For CSV (exact) they are the same for every log; for
// people those that would be empty are left out.
func (a *Access) columns(exact bool) []column[Route] {
	upstream, cache, service := exact, exact, false
	for i := range a.Routes {
		r := &a.Routes[i]
		upstream = upstream || r.Upstream.Count > 0
		cache = cache || len(r.Cache) > 0
		service = service || r.Service != ""
	}
	var out []column[Route]
	add := func(when bool, c ...column[Route]) {
		if when {
			out = append(out, c...)
		}
	}
	timed := exact || a.Timed
	if exact {
		add(true, textColumn("method", func(r *Route) string { return r.Method }), textColumn("route", func(r *Route) string { return r.Route }))
	}
	add(true,
		countColumn("count", "count", func(r *Route) int64 { return r.Count }),
		a.shareColumn())
	add(timed, timeColumns("", func(r *Route) *Times { return &r.Time })...)
	add(upstream, upstreamColumns()...)
	add(exact, statusColumn("status_2xx", "", 2), statusColumn("status_3xx", "", 3))
	add(true, statusColumn("status_4xx", "4xx", 4), statusColumn("status_5xx", "5xx", 5))
	add(true,
		countColumn("bytes", "", func(r *Route) int64 { return r.Bytes }),
		column[Route]{head: "size", cell: func(r *Route) string { return ui.Bytes(int64(mean(r.Bytes, r.Count))) }})
	add(cache,
		countColumn("cache_hits", "", hits),
		countColumn("cache_lookups", "", lookups),
		column[Route]{head: "hits", cell: hitText})
	add(service, textHead("service", "service", func(r *Route) string { return r.Service }))
	if !exact {
		add(true, column[Route]{head: "request", text: true, code: true, cell: func(r *Route) string { return strings.TrimSpace(r.Method + " " + r.Route) }})
	}
	add(exact, textColumn("example", func(r *Route) string { return r.Example }))
	return out
}

// shareColumn is empty where a route has no times among others that have them:
// it may be the slowest.
func (a *Access) shareColumn() column[Route] {
	c := shareColumn("share", "share", func(r *Route) float64 { return r.Share })
	cell, exact := c.cell, c.exact
	unknown := func(r *Route) bool { return a.Timed && r.Time.Count == 0 }
	c.cell = func(r *Route) string {
		if unknown(r) {
			return "–"
		}
		return cell(r)
	}
	c.exact = func(r *Route) string {
		if unknown(r) {
			return ""
		}
		return exact(r)
	}
	return c
}

// timeColumns of durations; those for people are the usual percentiles. What a
// log does not tell is an empty cell and no zero.
func timeColumns[R any](prefix string, of func(*R) *Times) []column[R] {
	one := func(name, head string, get func(*Times) time.Duration) column[R] {
		return column[R]{name: prefix + name + "_seconds", head: head,
			cell: func(r *R) string { return timeText(of(r), get) },
			exact: func(r *R) string {
				if of(r).Count == 0 {
					return ""
				}
				return seconds(get(of(r)))
			}}
	}
	return []column[R]{
		one("total", "total", func(t *Times) time.Duration { return t.Total }),
		one("mean", "mean", func(t *Times) time.Duration { return t.Mean }),
		one("p50", "p50", func(t *Times) time.Duration { return t.P50 }),
		one("p90", "", func(t *Times) time.Duration { return t.P90 }),
		one("p95", "p95", func(t *Times) time.Duration { return t.P95 }),
		one("p99", "p99", func(t *Times) time.Duration { return t.P99 }),
		one("max", "max", func(t *Times) time.Duration { return t.Max }),
	}
}

func timeText(t *Times, get func(*Times) time.Duration) string {
	if t.Count == 0 {
		return "–"
	}
	return ui.Duration(get(t))
}

// upstreamColumns: in CSV all, for people the mean.
func upstreamColumns() []column[Route] {
	of := func(r *Route) *Times { return &r.Upstream }
	out := timeColumns("upstream_", of)
	for i := range out {
		if out[i].head = ""; out[i].name == "upstream_mean_seconds" {
			out[i].head = "upstream"
		}
	}
	return append([]column[Route]{countColumn("upstream_count", "", func(r *Route) int64 { return r.Upstream.Count })}, out...)
}

func statusColumn(name, head string, class int) column[Route] {
	return countColumn(name, head, func(r *Route) int64 { return r.Status[class] })
}

// hits are answers from a cache: HIT, and those that nginx and Varnish give
// from it while they ask the server (nginx manual, $upstream_cache_status).
func hits(r *Route) int64 {
	n := int64(0)
	for state, k := range r.Cache {
		switch strings.ToUpper(state) {
		case "HIT", "STALE", "UPDATING", "REVALIDATED":
			n += k
		}
	}
	return n
}

// lookups are requests with a cache state.
func lookups(r *Route) int64 {
	n := int64(0)
	for _, k := range r.Cache {
		n += k
	}
	return n
}

func hitText(r *Route) string {
	n := lookups(r)
	if n == 0 {
		return "–"
	}
	return ui.Share(float64(hits(r)) / float64(n))
}
