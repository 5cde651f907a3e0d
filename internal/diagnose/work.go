package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/trace"
)

// Work is something to change in the application's own code, ready to be
// worked off: where, what it does now, what it should do instead, and what
// that could bring.
type Work struct {
	Rule     string   `json:"rule"`
	Measures []string `json:"measures"` // IDs of docs/catalogue.md
	Title    string   `json:"title"`    // one line, without the route
	Text     string   `json:"text"`     // names the numbers
	// Route "GET /items" and Service that the calls go to, or whose code it is.
	Route   string `json:"route,omitempty"`
	Service string `json:"service,omitempty"`
	// Statement, command or function as it is now, values masked; After is the
	// statement whose rows it follows.
	Statement string `json:"statement,omitempty"`
	After     string `json:"after,omitempty"`
	// PerRequest is the mean number of calls in requests that have the pattern,
	// Most the highest seen, Could how many would do; With of Requests have it.
	// All are 0 for functions.
	PerRequest float64 `json:"per_request"`
	Most       int     `json:"most"`
	Could      float64 `json:"could"`
	With       int     `json:"with"`
	Requests   int     `json:"requests"`
	// Took is the calls' time per request of the route, one request at a time;
	// 0 unknown.
	Took time.Duration `json:"took,omitempty"`
	// Shares, 0–1, 0 unknown: the route's of all requests' time, the
	// statement's of the service's statement time, the function's of the
	// service's samples.
	RouteShare     float64 `json:"route_share,omitempty"`
	StatementShare float64 `json:"statement_share,omitempty"`
	FunctionShare  float64 `json:"function_share,omitempty"`
	// Sources are lines of code, "app/user.php:120", most frequent first.
	Sources []string `json:"sources,omitempty"`
	// Better says in words what to do, Form is the statement to send instead.
	Better string     `json:"better,omitempty"`
	Form   trace.Form `json:"form"`
	// Bound is the most that it could multiply throughput by; 0 not judged.
	Bound float64 `json:"bound,omitempty"`
}

// WorkList lists what only a change of source code can mend, highest bound
// first: the patterns of single requests, and the findings about functions and
// calls that name their place. Either argument may be nil.
func WorkList(ev *evidence.Evidence, d *Diagnosis) []Work {
	var out []Work
	if d == nil {
		d = &Diagnosis{}
	}
	if ev != nil && ev.Requests != nil {
		for _, p := range ev.Requests.Patterns {
			out = append(out, patternWork(ev, d, p))
		}
	}
	for _, f := range d.Findings {
		if aboutSource(f) {
			out = append(out, findingWork(ev, f))
		}
	}
	slices.SortStableFunc(out, func(a, b Work) int {
		return cmp.Or(cmp.Compare(b.Bound, a.Bound), cmp.Compare(b.saved(), a.saved()))
	})
	return out
}

func (w Work) saved() float64 { return (w.PerRequest - w.Could) * float64(w.With) }

func patternWork(ev *evidence.Evidence, d *Diagnosis, p trace.Pattern) Work {
	route := strings.TrimSpace(p.Method + " " + p.Route)
	w := Work{Rule: "request." + p.Kind, Measures: p.Measures, Title: cmp.Or(patternTitle[p.Kind], p.Kind), Route: route, Service: p.Service,
		Statement: p.What, After: p.After, PerRequest: p.PerRequest, Most: p.Most, Could: p.Could, With: p.With, Requests: p.Requests, Took: p.Took,
		StatementShare: statementShare(ev, p), Sources: p.Sources, Better: p.Better, Form: p.Form()}
	if ev.Load != nil {
		w.RouteShare = (&model{in: Input{Evidence: ev}}).routeShare(p.Method, p.Route)
	}
	for _, f := range d.Findings {
		if f.Subject["kind"] == p.Kind && f.Subject["route"] == p.Method+" "+p.Route && f.Service == p.Service && strings.Contains(f.Text, p.What) {
			w.Bound, w.Text = f.Bound, f.Text
			break
		}
	}
	return w
}

// statementShare is the part of the service's statement time that goes to the
// pattern's statements; 0 if the log has none of them.
func statementShare(ev *evidence.Evidence, p trace.Pattern) float64 {
	all, mine := 0.0, 0.0
	for _, s := range ev.Statements {
		if s.Service != p.Service {
			continue
		}
		all += s.Total.Seconds()
		if s.Fingerprint == p.What || slices.Contains(p.Statements, s.Fingerprint) {
			mine += s.Total.Seconds()
		}
	}
	if all == 0 {
		return 0
	}
	return mine / all
}

// aboutSource: a finding that names a place in code, or that says of itself
// that only the source can be changed; patterns are listed by themselves.
func aboutSource(f Finding) bool {
	if f.Subject["kind"] != "" && strings.HasPrefix(f.Rule, "request.") {
		return false
	}
	return f.Subject["source"] == "yes" || strings.HasPrefix(f.Rule, "profile.") && f.Source != ""
}

func findingWork(ev *evidence.Evidence, f Finding) Work {
	w := Work{Rule: f.Rule, Measures: f.Measures, Title: f.Title, Text: f.Text, Route: f.Subject["route"], Service: f.Service, Statement: f.Subject["statement"], Bound: f.Bound}
	if f.Source != "" {
		w.Sources = []string{f.Source}
	}
	if ev == nil || !strings.HasPrefix(f.Rule, "profile.") {
		return w
	}
	for _, p := range ev.Profiles {
		for _, fn := range p.Top {
			if p.Service == f.Service && fn.File == f.Source && f.Source != "" && strings.Contains(f.Text, fn.Function) {
				w.Statement, w.FunctionShare = fn.Function, fn.Self
				return w
			}
		}
	}
	return w
}
