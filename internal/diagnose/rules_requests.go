package diagnose

import (
	"fmt"
	"math"
	"strings"

	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// notWalked is why nothing is judged per request.
const notWalked = "no request was followed one at a time, and no spans came (a diagnostic run with a scenario does the first, evidence.otlp the second)"

// patternTitle of each kind; the route comes after it.
var patternTitle = map[string]string{
	trace.NPlusOne:      "One statement per row of a list",
	trace.SameRead:      "The same is read again and again",
	trace.SameTable:     "Several statements on one table that could be one",
	trace.RowWrites:     "Rows are written one by one",
	trace.IDByUpdate:    "IDs are made by updating a counter row",
	trace.SingleGets:    "Keys are fetched one by one",
	trace.SingleRedis:   "Redis commands go one by one",
	trace.RowConnects:   "A new connection for each request",
	trace.PrepareOnce:   "Statements are prepared to be used once",
	trace.SameWrite:     "A cache entry is written again with the same value",
	trace.QueriesInLoop: "A group of statements is repeated per item",
}

// judgePattern makes the rule of one kind of pattern.
func judgePattern(kind string) func(m *model) ([]Finding, string) {
	return func(m *model) ([]Finding, string) {
		req := m.in.Evidence.Requests
		if req == nil || req.Requests == 0 {
			return m.patternsOfDigests(kind)
		}
		var out []Finding
		for _, p := range req.Patterns {
			if p.Kind != kind || m.foldedPattern(p) {
				continue
			}
			share := m.routeShare(p.Method, p.Route)
			text := fmt.Sprintf("%s: %.1f calls per request (most: %d) in %d of %d requests: %s", p.Method+" "+p.Route, p.PerRequest, p.Most, p.With, p.Requests, p.What)
			if p.After != "" {
				text += fmt.Sprintf("; they follow %s", p.After)
			}
			text += "."
			if p.Better != "" {
				text += fmt.Sprintf(" %.3g would do: %s.", p.Could, p.Better)
			}
			if share > 0 {
				text += fmt.Sprintf(" The route takes %s of all requests' time.", percent(share))
			}
			f := about(p.Service, patternTitle[kind]+": "+p.Method+" "+p.Route, text, "requests followed ("+req.Source+")")
			f.Measures = p.Measures
			if len(p.Sources) > 0 {
				f.Source = p.Sources[0]
				f.Evidence = append(f.Evidence, p.Sources...)
			}
			f.Subject = map[string]string{"route": p.Method + " " + p.Route, "kind": kind, "source": "yes"}
			out = append(out, f.bounded(m.boundOf(m.patternCost(p))))
		}
		return out, ""
	}
}

// isRouteOf: the log's route is the one that was followed, or a part of it, as
// /index.php?route=product/product is of /index.php.
func isRouteOf(logged, followed string) bool {
	return logged == followed || strings.HasPrefix(logged, followed+"?")
}

// routeShare is a route's share of all requests' time, by the access log or by
// what the generator saw; 0 if it is in neither.
func (m *model) routeShare(method, route string) float64 {
	share := 0.0
	for _, r := range m.in.Evidence.Routes {
		if r.Method == method && isRouteOf(r.Route, route) {
			share += r.Share
		}
	}
	if share > 0 {
		return share
	}
	total, mine := 0.0, 0.0
	for _, r := range m.in.Evidence.Load.Routes {
		total += r.Total.Seconds()
		if r.Route == method+" "+route || r.Route == route {
			mine += r.Total.Seconds()
		}
	}
	if total == 0 {
		return 0
	}
	return mine / total
}

// patternCost is the most CPU per request of the whole mix that a pattern's
// needless calls can take: their part of all calls to that service, of the
// service's CPU, and the same part of the application's, which waits for and
// handles each. Without a count of calls it is all of the service's.
func (m *model) patternCost(p trace.Pattern) map[string]float64 {
	calls, mine := 0.0, 0.0
	weights := m.routeWeights()
	for _, r := range m.in.Evidence.Requests.Routes {
		w := weights[r.Method+" "+r.Route]
		for _, c := range r.Calls {
			if c.Service == p.Service {
				calls += w * c.PerRequest
			}
		}
		if r.Method == p.Method && r.Route == p.Route {
			mine = w * math.Max(p.PerRequest-p.Could, 0) * float64(p.With) / math.Max(1, float64(p.Requests))
		}
	}
	part := 1.0
	if calls > 0 {
		part = math.Min(1, mine/calls)
	}
	cost := map[string]float64{p.Service: part * m.perReq[p.Service]}
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM, stack.App) {
		cost[svc.Name] += part * m.perReq[svc.Name]
	}
	return cost
}

// routeWeights is how often each route is asked in the mix, 0–1: by what the
// generator sent, by the access log where that has other names, else all alike.
func (m *model) routeWeights() map[string]float64 {
	counts := map[string]float64{}
	total := 0.0
	for _, r := range m.in.Evidence.Load.Routes {
		counts[r.Route] += float64(r.Requests)
		total += float64(r.Requests)
	}
	logged := 0.0
	for _, r := range m.in.Evidence.Routes {
		logged += float64(r.Count)
	}
	out := map[string]float64{}
	req := m.in.Evidence.Requests
	for _, r := range req.Routes {
		name := r.Method + " " + r.Route
		if n := counts[name] + counts[r.Route]; n > 0 {
			out[name] = n / total
			continue
		}
		out[name] = 1 / math.Max(1, float64(len(req.Routes)))
		count := int64(0)
		for _, l := range m.in.Evidence.Routes {
			if l.Method == r.Method && isRouteOf(l.Route, r.Route) {
				count += l.Count
			}
		}
		if count > 0 {
			out[name] = float64(count) / logged
		}
	}
	return out
}

// manyCalls per request are more than a page's parts need (C11, I11).
const manyCalls = 30

func judgeManyCalls(m *model) ([]Finding, string) {
	req := m.in.Evidence.Requests
	if req == nil || req.Requests == 0 {
		return m.manyCallsOfDigests()
	}
	var out []Finding
	weights := m.routeWeights()
	for _, r := range req.Routes {
		n := 0.0
		var calls []trace.CallClass // without look-ups, which app.object-cache tells
		for _, c := range r.Calls {
			if !m.isLookup(c.Service, c.What) {
				n += c.PerRequest
				calls = append(calls, c)
			}
		}
		if n < manyCalls {
			continue
		}
		var cites []string
		for _, c := range calls[:min(len(calls), 5)] {
			cites = append(cites, fmt.Sprintf("%.1f × %s", c.PerRequest, c.What))
		}
		app := map[string]float64{}
		share := math.Min(1, math.Max(m.routeShare(r.Method, r.Route), weights[r.Method+" "+r.Route]))
		for name, d := range m.perReq {
			if svc := m.in.Stack.Service(name); svc != nil && svc.Kind != stack.Nginx && svc.Kind != stack.Apache {
				app[name] = d * share
			}
		}
		f := about("", fmt.Sprintf("%s %s makes %.0f calls", r.Method, r.Route, n),
			"What is assembled from so many parts at each view can be kept as one entry and thrown away when a part changes: "+strings.Join(cites, "; ")+".", cites...)
		f.Subject = map[string]string{"route": r.Method + " " + r.Route, "source": "yes"}
		out = append(out, f.bounded(m.boundOf(app)))
	}
	return out, ""
}

// judgeMasterData: the same statement without a value that differs, in nearly
// each request of several routes, while its table is not written (I12, I15).
func judgeMasterData(m *model) ([]Finding, string) {
	req := m.in.Evidence.Requests
	if req == nil || req.Requests == 0 {
		return m.masterDataOfDigests()
	}
	type use struct {
		routes int
		per    float64
		source string
	}
	seen := map[[2]string]*use{}
	var order [][2]string
	for _, r := range req.Routes {
		for _, c := range r.Calls {
			// A statement with a ? has values; without one it is the same for all.
			if c.System != trace.SQL || c.Kind != "" || !strings.HasPrefix(c.What, "SELECT") || strings.Contains(c.What, "?") || !strings.Contains(c.What, " FROM ") || c.PerRequest < 0.9 {
				continue
			}
			key := [2]string{c.Service, c.What}
			if seen[key] == nil {
				seen[key] = &use{source: c.Source}
				order = append(order, key)
			}
			seen[key].routes++
			seen[key].per = math.Max(seen[key].per, c.PerRequest)
		}
	}
	var out []Finding
	for _, key := range order {
		u := seen[key]
		// In half of the routes: it belongs to all pages, not to one.
		if u.routes < 2 || 2*u.routes < len(req.Routes) {
			continue
		}
		f := about(key[0], "The same statement for everybody is sent in nearly each request",
			fmt.Sprintf("%s is sent by %d of %d routes with nothing that differs; kept in the process and read anew when it changes, it costs nothing.", key[1], u.routes, len(req.Routes)), "requests followed ("+req.Source+")")
		f.Source, f.Subject = u.source, map[string]string{"statement": key[1], "source": "yes"}
		out = append(out, f.bounded(m.boundBy(key[0], m.statementCost(key[0], key[1]))))
	}
	return out, ""
}

// statementCost is the database's CPU per request that goes to one class of
// statements, by its share of the statement time; all of it if that is unknown.
func (m *model) statementCost(service, fingerprint string) float64 {
	all, mine := 0.0, 0.0
	for _, s := range m.in.Evidence.Statements {
		if s.Service == service {
			all += s.Total.Seconds()
			if s.Fingerprint == fingerprint {
				mine += s.Total.Seconds()
			}
		}
	}
	if all == 0 || mine == 0 {
		return m.perReq[service]
	}
	return m.perReq[service] * mine / all
}
