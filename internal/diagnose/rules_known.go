package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/knownapp"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

const needKnown = "the folder of a known application (docs/reference/applications.md)"

// knownRules are what the documentation of known applications says, one rule
// for each area.
var knownRules = []Rule{
	{"app.object-cache", []string{"W05"}, needKnown, judgeKnown(knownapp.ObjectCache)},
	{"app.page-cache", []string{"W10"}, needKnown, judgeKnown(knownapp.PageCache)},
	{"app.sessions", []string{"L11"}, needKnown, judgeKnown(knownapp.Sessions)},
	{"app.jobs", []string{"W05"}, needKnown, judgeKnown(knownapp.Jobs)},
	{"app.production", []string{"W14"}, needKnown, judgeKnown(knownapp.Production)},
}

// knownTitle of each area; the application comes before it.
var knownTitle = map[knownapp.Area]string{
	knownapp.ObjectCache: "keeps no object cache",
	knownapp.PageCache:   "renders every page anew",
	knownapp.Sessions:    "keeps sessions or locks where they are dear",
	knownapp.Jobs:        "does jobs within requests",
	knownapp.Production:  "is not set for production",
}

// judgeKnown makes the rule of one area: one finding for each application, with
// all of its settings there that are called for.
func judgeKnown(area knownapp.Area) func(m *model) ([]Finding, string) {
	return func(m *model) ([]Finding, string) {
		var out []Finding
		for _, svc := range m.in.Stack.OfKind(stack.App) {
			found, ok := m.in.Snapshot.Known[svc.Name]
			a := knownapp.ByID(found.ID)
			if !ok || a == nil {
				continue
			}
			calls := m.calls(a, &found, area)
			if len(calls) == 0 {
				continue
			}
			f := about(svc.Name, fmt.Sprintf("%s (%s) %s", a.Name, svc.Name, knownTitle[area]), "")
			f.Subject = map[string]string{"application": a.ID}
			var texts []string
			for _, c := range calls {
				k := a.Knob(c.Name)
				now := "it is not set"
				if c.Now != "" {
					now = "now " + c.Now
				}
				texts = append(texts, fmt.Sprintf("%s (%s; %s): %s Documented: %s.", c.Name, c.Where, now, k.Why, k.Propose))
				f.Evidence = append(f.Evidence, c.Where, k.Source)
				f = f.asks(Setting{Service: svc.Name, Name: c.Name, Now: c.Now})
			}
			f.Text = strings.Join(texts, " ")
			if area == knownapp.ObjectCache {
				f = m.withLookups(f, a)
			}
			out = append(out, f.bounded(m.knownBound(area, svc, a, calls)))
		}
		return out, ""
	}
}

// calls are those of an area that fit to the stack: some settings are for
// applications behind a cache of whole pages, others for those without.
func (m *model) calls(a *knownapp.Application, found *knownapp.Found, area knownapp.Area) []knownapp.Call {
	front := len(m.in.Stack.OfKind(stack.Varnish)) > 0
	var out []knownapp.Call
	for _, c := range found.Calls {
		k := a.Knob(c.Name)
		if k == nil || c.Area != area || k.Front == knownapp.Behind && !front || k.Front == knownapp.Alone && front {
			continue
		}
		out = append(out, c)
	}
	return out
}

// runner is the service in whose processes an app runs.
func runner(svc *stack.Service) string {
	if svc.RunsIn != "" {
		return svc.RunsIn
	}
	return svc.Name
}

// knownBound is the most that settings of an area could save.
func (m *model) knownBound(area knownapp.Area, svc *stack.Service, a *knownapp.Application, calls []knownapp.Call) (ceiling, string) {
	run := runner(svc)
	saved := map[string]float64{}
	for _, db := range m.in.Stack.Services {
		if db.IsDatabase() && talksTo(svc, db.Name) {
			saved[db.Name] = m.perReq[db.Name]
		}
	}
	switch area {
	case knownapp.ObjectCache:
		// Each look-up is work of the database and of the application that waits
		// for it and reads its answer.
		part := m.lookupPart(svc, a)
		if part == 0 {
			part = 1
		}
		all := 0.0
		for name := range saved {
			saved[name] *= part
			all += saved[name]
		}
		if m.lookupPart(svc, a) > 0 {
			saved[run] = part * m.perReq[run]
		} else {
			saved[run] = math.Min(all, m.perReq[run])
		}
	case knownapp.PageCache:
		part := m.pagePart(a, calls)
		saved[run] = m.perReq[run]
		for name := range saved {
			saved[name] *= part
		}
	case knownapp.Sessions, knownapp.Jobs:
		// Not known from outside; a fifth is more than most of them take.
		return m.boundBy(run, 0.2*m.perReq[run])
	default:
		return m.serviceBound(run)
	}
	return m.boundOf(saved)
}

// talksTo reports whether an app calls a service, as far as kasoku.yaml says.
func talksTo(app *stack.Service, name string) bool {
	return len(app.TalksTo) == 0 || slices.Contains(app.TalksTo, name)
}

// lookupPart is the part of an app's calls that are look-ups in tables that are
// caches, weighted by how often each route is asked; 0 if no request was
// followed or none are.
func (m *model) lookupPart(svc *stack.Service, a *knownapp.Application) float64 {
	req := m.in.Evidence.Requests
	if req == nil {
		return 0
	}
	all, mine := 0.0, 0.0
	weights := m.routeWeights()
	for _, r := range req.Routes {
		w := weights[r.Method+" "+r.Route]
		for _, c := range r.Calls {
			if !talksTo(svc, c.Service) {
				continue
			}
			all += w * c.PerRequest
			if onlyTables(c.What, a.IsCacheTable) {
				mine += w * c.PerRequest
			}
		}
	}
	if all == 0 {
		return 0
	}
	return mine / all
}

// withLookups tells how many statements of each route are look-ups.
func (m *model) withLookups(f Finding, a *knownapp.Application) Finding {
	req := m.in.Evidence.Requests
	if req == nil {
		return f
	}
	least, most, where := math.Inf(1), 0.0, ""
	for _, r := range req.Routes {
		n := 0.0
		for _, c := range r.Calls {
			if onlyTables(c.What, a.IsCacheTable) {
				n += c.PerRequest
			}
		}
		if n == 0 {
			continue
		}
		least = math.Min(least, n)
		if n > most {
			most, where = n, r.Method+" "+r.Route
		}
	}
	if most > 0 {
		f.Text += fmt.Sprintf(" %.0f to %.0f statements per request only look things up in %s, most in %s.", least, most, strings.Join(a.CacheTables, ", "), where)
		f.Evidence = append(f.Evidence, "requests followed ("+req.Source+")")
	}
	return f
}

var reTable = regexp.MustCompile("(?i)\\b(?:FROM|INTO|UPDATE|JOIN)\\s+((?:[`\"]?[\\w$]+[`\"]?\\.)?[`\"]?[\\w$]+)")

// onlyTables reports whether a statement names tables, and is says yes to each.
// A text of one word is a table itself.
func onlyTables(statement string, is func(table string) bool) bool {
	if statement == "" {
		return false
	}
	if !strings.Contains(statement, " ") {
		return is(statement)
	}
	names := reTable.FindAllStringSubmatch(statement, -1)
	for _, n := range names {
		if !is(n[1]) {
			return false
		}
	}
	return len(names) > 0
}

// isLookup reports whether a statement to a service only looks something up in
// a table that a known application uses as a cache, while its finding
// app.object-cache says so for all of them.
func (m *model) isLookup(service, statement string) bool {
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		found, ok := m.in.Snapshot.Known[svc.Name]
		a := knownapp.ByID(found.ID)
		if !ok || a == nil || !talksTo(svc, service) || len(a.CacheTables) == 0 || len(m.calls(a, &found, knownapp.ObjectCache)) == 0 {
			continue
		}
		if onlyTables(statement, a.IsCacheTable) {
			return true
		}
	}
	return false
}

// foldedPattern reports whether a pattern of requests is part of the finding
// that there is no object cache: a join or a list of keys is no answer to it.
func (m *model) foldedPattern(p trace.Pattern) bool {
	if p.System != trace.SQL {
		return false
	}
	statements := p.Statements
	if len(statements) == 0 {
		statements = []string{p.What}
	}
	return !slices.ContainsFunc(statements, func(s string) bool { return !m.isLookup(p.Service, s) })
}
