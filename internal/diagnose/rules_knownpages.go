package diagnose

import (
	"math"
	"net/url"
	"slices"

	"kasoku/internal/knownapp"
)

// pagePart is the part of all requests, by number or by time, whichever is
// larger, that a cache of whole pages could answer: those of routes of which
// strangers asked for a page that one of the settings keeps. 1 if the load does
// not tell its pages.
func (m *model) pagePart(a *knownapp.Application, calls []knownapp.Call) float64 {
	l := m.in.Evidence.Load
	kept := map[string]bool{}
	for _, p := range l.Pages {
		if p.Route == "" {
			return 1
		}
		if p.Count > 0 && slices.ContainsFunc(calls, func(c knownapp.Call) bool { return onlyParams(p.URL, a.Knob(c.Name).Params) }) {
			kept[p.Route] = true
		}
	}
	if len(l.Pages) == 0 {
		return 1
	}
	requests, took, total := 0.0, 0.0, 0.0
	for _, r := range l.Routes {
		total += r.Total.Seconds()
		if kept[r.Route] {
			requests += float64(r.Requests)
			took += r.Total.Seconds()
		}
	}
	return math.Min(1, math.Max(requests/math.Max(1, float64(l.Requests)), took/math.Max(total, 1e-12)))
}

// onlyParams reports whether a URL's query has no other parameters than these;
// nil allows any.
func onlyParams(address string, params []string) bool {
	if params == nil {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for name := range u.Query() {
		if !slices.Contains(params, name) {
			return false
		}
	}
	return true
}
