package diagnose

import (
	"cmp"
	"regexp"
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
	Measures []string `json:"measures"` // IDs of docs/reference/catalogue/measures.md
	Title    string   `json:"title"`    // one line, without the route
	Text     string   `json:"text"`     // names the numbers
	// Service that the calls go to, or whose code it is.
	Service string `json:"service,omitempty"`
	// Statement, command or function as it is now, values masked; After is the
	// statement whose rows it follows.
	Statement string `json:"statement,omitempty"`
	After     string `json:"after,omitempty"`
	// Also are further statements that the same change of code mends.
	Also []string `json:"also,omitempty"`
	// Programs that it starts; where is told by their names.
	Programs []string `json:"programs,omitempty"`
	// On are the routes that do it, the one with most calls first; empty for
	// functions.
	On []WorkOn `json:"on,omitempty"`
	// Shares, 0–1, 0 unknown: the statement's of the service's statement time,
	// the function's of the service's samples.
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

// WorkOn is how often a route does it.
type WorkOn struct {
	Route string `json:"route"` // "GET /items"
	// PerRequest is the mean number of calls in requests that have the pattern,
	// Most the highest seen, Could how many would do; With of Requests have it.
	PerRequest float64 `json:"per_request"`
	Most       int     `json:"most"`
	Could      float64 `json:"could"`
	With       int     `json:"with"`
	Requests   int     `json:"requests"`
	// Took is the calls' time per request of the route, one request at a time;
	// 0 unknown.
	Took time.Duration `json:"took,omitempty"`
	// Share is the route's of all requests' time, 0–1; 0 unknown.
	Share float64 `json:"share,omitempty"`
}

// OfDriver reports whether an option of the database's driver mends it.
func (w Work) OfDriver() bool {
	return w.Rule == prepareRule || w.Rule == "request."+trace.PrepareOnce
}

// prepareRule is of statements that are prepared and used once, by the server's counts.
const prepareRule = "db.prepares"

func (o WorkOn) saved() float64 { return (o.PerRequest - o.Could) * float64(o.With) }

// WorkList lists what only a change of source code can mend, highest bound
// first: the patterns of single requests, one item for all routes that do the
// same, and the findings about functions and calls that name their place. Either argument may be nil.
func WorkList(ev *evidence.Evidence, d *Diagnosis) []Work {
	var out []Work
	if d == nil {
		d = &Diagnosis{}
	}
	if ev != nil && ev.Requests != nil {
		out = patternsWork(ev, d)
	}
	followed := slices.ContainsFunc(out, Work.OfDriver)
	for _, f := range d.Findings {
		if aboutSource(f) && !(f.Rule == prepareRule && followed) {
			out = append(out, findingWork(ev, f))
		}
	}
	slices.SortStableFunc(out, func(a, b Work) int {
		return cmp.Or(cmp.Compare(b.Bound, a.Bound), cmp.Compare(b.saved(), a.saved()))
	})
	return out
}

func (w Work) saved() (sum float64) {
	for _, o := range w.On {
		sum += o.saved()
	}
	return sum
}

func patternsWork(ev *evidence.Evidence, d *Diagnosis) []Work {
	type id struct{ kind, service, what string }
	var out []Work
	at := map[id]int{}
	for _, p := range ev.Requests.Patterns {
		w := patternWork(ev, d, p)
		n := id{p.Kind, p.Service, p.What}
		if p.Kind == trace.PrepareOnce {
			n.what = "" // one setting of the driver mends all
		}
		i, known := at[n]
		if !known {
			at[n] = len(out)
			out = append(out, w)
			continue
		}
		have := &out[i]
		have.add(w.On[0])
		if w.Statement != have.Statement && !slices.Contains(have.Also, w.Statement) {
			have.Also = append(have.Also, w.Statement)
			have.StatementShare += w.StatementShare
		}
		if w.Bound > have.Bound {
			have.Bound, have.Text = w.Bound, w.Text
		}
		for _, s := range w.Sources {
			if !slices.Contains(have.Sources, s) {
				have.Sources = append(have.Sources, s)
			}
		}
	}
	return out
}

// add one more route, or more calls of one.
func (w *Work) add(o WorkOn) {
	for i := range w.On {
		if have := &w.On[i]; have.Route == o.Route {
			have.PerRequest, have.Could, have.Most = have.PerRequest+o.PerRequest, have.Could+o.Could, have.Most+o.Most
			have.With, have.Took = max(have.With, o.With), have.Took+o.Took
			return
		}
	}
	w.On = append(w.On, o)
}

func patternWork(ev *evidence.Evidence, d *Diagnosis, p trace.Pattern) Work {
	on := WorkOn{Route: strings.TrimSpace(p.Method + " " + p.Route), PerRequest: p.PerRequest, Most: p.Most, Could: p.Could, With: p.With, Requests: p.Requests, Took: p.Took}
	if ev.Load != nil {
		on.Share = (&model{in: Input{Evidence: ev}}).routeShare(p.Method, p.Route)
	}
	w := Work{Rule: "request." + p.Kind, Measures: p.Measures, Title: cmp.Or(patternTitle[p.Kind], p.Kind), Service: p.Service, Statement: p.What, After: p.After,
		On: []WorkOn{on}, StatementShare: statementShare(ev, p), Sources: slices.Clone(p.Sources), Better: p.Better, Form: p.Form()}
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

// rePlace is a line of a source file; programs and libraries have no lines.
var rePlace = regexp.MustCompile(`\.\w+:\d+$`)

// aboutSource: a finding that names a place in code, or that says of itself
// that only the source can be changed; patterns are listed by themselves.
func aboutSource(f Finding) bool {
	if f.Subject["kind"] != "" && strings.HasPrefix(f.Rule, "request.") {
		return false
	}
	if strings.HasPrefix(f.Rule, "profile.") {
		return rePlace.MatchString(f.Source)
	}
	return f.Subject["source"] == "yes"
}

func findingWork(ev *evidence.Evidence, f Finding) Work {
	w := Work{Rule: f.Rule, Measures: f.Measures, Title: f.Title, Text: f.Text, Service: f.Service, Statement: f.Subject["statement"], Bound: f.Bound}
	w.Programs = strings.Fields(f.Subject["programs"])
	if r := f.Subject["route"]; r != "" {
		w.On = []WorkOn{{Route: strings.TrimSpace(r)}}
	}
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
