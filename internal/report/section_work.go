package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/store"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// unhealthy: what the run did not see, or saw wrongly.
func unhealthy(run *store.Run) Section {
	s := Section{ID: "uncovered", Title: "Not covered, or not to be trusted", Columns: []string{"source", "what is wrong"}, Bad: true}
	if run.Unfit != "" {
		s.Rows = append(s.Rows, []string{"the run", "it is no evidence: " + run.Unfit})
	}
	for _, h := range run.Evidence.Health {
		if !h.OK {
			s.Rows = append(s.Rows, []string{h.Source, h.Text})
		}
	}
	return s
}

// bounds: the service demands, fullest first.
func bounds(run *store.Run) Section {
	s := Section{ID: "bounds", Title: "What limits the throughput", Note: "demand = utilization / throughput; full at = what the resource alone would allow",
		Columns: []string{"resource", ">in use", ">per request", ">full at, req/s"}}
	if run.Diagnosis == nil {
		return s
	}
	if k := run.Diagnosis.Knee; k != nil {
		s.Note += fmt.Sprintf("; beyond %.1f users more only wait", k.Users)
	}
	for _, d := range run.Diagnosis.Demands {
		full := "–"
		if d.MaxThroughput > 0 {
			full = ui.Count(d.MaxThroughput)
		}
		s.Rows = append(s.Rows, []string{d.Resource, ui.Share(d.Utilization), ui.Seconds(d.PerRequest), full})
	}
	for _, n := range software(run.Diagnosis) {
		per := "–"
		if n.PerRequest > 0 {
			per = ui.Seconds(n.PerRequest)
		}
		s.Rows = append(s.Rows, []string{n.Resource, ui.Share(min(1, 1/n.Factor)), per, ui.Count(n.MaxThroughput)})
	}
	return s
}

// software are the threads, workers and locks: no demands of a host, but they
// may bind next.
func software(d *diagnose.Diagnosis) []diagnose.Next {
	var out []diagnose.Next
	for _, n := range d.Next {
		if kind, _, _ := strings.Cut(n.Resource, ":"); n.Factor > 0 && (kind == "thread" || kind == "workers" || kind == "locks") {
			out = append(out, n)
		}
	}
	return out
}

// patternWords say what each kind of pattern is.
var patternWords = map[string]string{
	trace.NPlusOne: "once per row of another result (N+1)", trace.SameRead: "the same read again", trace.SameTable: "several on one table",
	trace.RowWrites: "row by row", trace.IDByUpdate: "an ID made by UPDATE", trace.SingleGets: "single gets", trace.RowConnects: "connects per request",
	trace.PrepareOnce: "prepared to be used once", trace.SameWrite: "the same write again", trace.SingleRedis: "commands that could be a pipeline",
	trace.QueriesInLoop: "a group per item",
}

// workList: what requests do without need, and what would do instead.
func workList(run *store.Run) Section {
	s := Section{ID: "work", Title: "What single requests do without need", Note: "most calls saved first",
		Columns: []string{"route", "what", ">per request", ">could be", ">of requests", ">time", "`calls", "`better", "source"}}
	if run.Evidence.Requests == nil {
		return s
	}
	for _, p := range run.Evidence.Requests.Patterns {
		better := p.Better
		if f := p.Form().Text; f != "" && f != p.What {
			better = f
		}
		s.Rows = append(s.Rows, []string{strings.TrimSpace(p.Method + " " + p.Route), cmp.Or(patternWords[p.Kind], p.Kind) + " → " + p.Service,
			ui.Number(p.PerRequest), ui.Number(p.Could), fmt.Sprintf("%d of %d", p.With, p.Requests), orDash(p.Took), p.What, better,
			strings.Join(p.Sources, ", ")})
	}
	return s
}

// routeCalls: what one request of each route calls.
func routeCalls(run *store.Run) Section {
	s := Section{ID: "calls", Title: "What one request calls", Columns: []string{"route", ">per request", ">time", "to", "`call", "source"}}
	if run.Evidence.Requests == nil {
		return s
	}
	s.Note = fmt.Sprintf("%d requests looked at; times per request of the route", run.Evidence.Requests.Requests)
	for _, r := range run.Evidence.Requests.Routes {
		for _, c := range r.Calls {
			s.Rows = append(s.Rows, []string{r.Method + " " + r.Route, ui.Number(c.PerRequest), orDash(c.Took), strings.TrimSpace(c.Service + " " + c.Kind), c.What, c.Source})
		}
	}
	return s
}

// loadRoutes: the routes as the load generator saw them, most time first.
func loadRoutes(run *store.Run) Section {
	s := Section{ID: "routes", Title: "Routes as the load saw them", Columns: []string{"`route", ">requests", ">failed", ">of time", ">p50", ">p99", ">Apdex [T]"}}
	if run.Evidence.Load == nil {
		return s
	}
	var all time.Duration
	for _, r := range run.Evidence.Load.Routes {
		all += r.Total
	}
	for _, r := range run.Evidence.Load.Routes {
		s.Rows = append(s.Rows, []string{r.Route, number(r.Requests), number(r.Failed), share(r.Total.Seconds(), all.Seconds()),
			ui.Duration(r.Latency.P50), ui.Duration(r.Latency.P99), apdexOf(r)})
	}
	return s
}

// webRoutes: the routes as the web servers' own logs tell them.
func webRoutes(run *store.Run) Section {
	s := Section{ID: "web-routes", Title: "Routes as the web server logged them", Note: "time at the server, without the network to the client; upstream = what the server behind it took",
		Columns: []string{"`route", ">requests", ">of time", ">mean", ">p50", ">p95", ">p99", ">max", ">upstream mean", ">p99 ", ">bytes", "status", "cache"}}
	several := false
	for _, r := range run.Evidence.Routes {
		several = several || r.Service != run.Evidence.Routes[0].Service
	}
	if several {
		s.Columns = append(s.Columns, "server")
	}
	for _, r := range run.Evidence.Routes {
		bytes := int64(0)
		if r.Count > 0 {
			bytes = r.Bytes / r.Count
		}
		s.Rows = append(s.Rows, []string{strings.TrimSpace(r.Method + " " + r.Route), number(r.Count), ui.Share(r.Share), orDash(r.Time.Mean), orDash(r.Time.P50), orDash(r.Time.P95), orDash(r.Time.P99),
			orDash(r.Time.Max), orDash(r.Upstream.Mean), orDash(r.Upstream.P99), ui.Bytes(bytes), statusText(r), tally(r.Cache), r.Service})
	}
	return s
}

// statusText: "2xx", or the counts where there is more than one class.
func statusText(r digest.Route) string {
	var out []string
	codes := map[int]int64{}
	for code, n := range r.Codes {
		codes[code/100] += n
		out = append(out, fmt.Sprintf("%d ×%d", code, n))
	}
	slices.Sort(out)
	for class := len(r.Status) - 1; class > 0; class-- {
		if n := r.Status[class] - codes[class]; n == r.Count {
			return fmt.Sprintf("%dxx", class)
		} else if n > 0 {
			out = append([]string{fmt.Sprintf("%dxx ×%d", class, n)}, out...)
		}
	}
	return strings.Join(out, ", ")
}

func tally(m map[string]int64) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s ×%d", k, m[k]))
	}
	return strings.Join(out, ", ")
}

// sqlClasses: the statements, most total time first.
func sqlClasses(run *store.Run) Section {
	s := Section{ID: "statements", Title: "Statements", Note: "rows read, rows sent: per run of the statement",
		Columns: []string{">times", ">of time", ">mean", ">p95", ">p99", ">max", ">locks", ">rows read", ">sent", "signs", "`statement", "on"}}
	var all time.Duration
	for _, q := range run.Evidence.Statements {
		all += q.Total
	}
	for _, q := range run.Evidence.Statements {
		n := max(q.Count, 1)
		s.Rows = append(s.Rows, []string{number(q.Count), share(q.Total.Seconds(), all.Seconds()), ui.Duration(q.Total / time.Duration(n)), orDash(q.P95), orDash(q.P99), orDash(q.Max),
			share(q.LockTime.Seconds(), q.Total.Seconds()), number(q.RowsExamined / n), number(q.RowsSent / n), signs(q), q.Fingerprint, strings.TrimSuffix(q.Service+"/"+q.Schema, "/")})
	}
	return s
}

// signs of a statement that costs more than it has to, each with the share of
// the statement's runs.
func signs(q digest.Statement) string {
	var out []string
	for _, x := range []struct {
		name string
		n    int64
	}{{"no index", q.NoIndex}, {"full scan", q.FullScans}, {"full join", q.FullJoins}, {"temporary table", q.TmpTables}, {"on disk", q.TmpDisk}, {"filesort", q.Filesorts}, {"errors", q.Errors}} {
		switch {
		case x.n <= 0:
		case x.n >= q.Count:
			out = append(out, x.name)
		default:
			out = append(out, fmt.Sprintf("%s %s", x.name, share(float64(x.n), float64(q.Count))))
		}
	}
	return strings.Join(out, ", ")
}
