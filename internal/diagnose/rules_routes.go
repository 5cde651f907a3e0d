package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// heavyShare of all requests' time: less is not where to begin.
const heavyShare = 0.25

func judgeHeavyRoute(m *model) ([]Finding, string) {
	type row struct {
		name        string
		share, mean float64
		count       int64
		p95         float64
	}
	var rows []row
	if routes := m.in.Evidence.Routes; len(routes) > 0 {
		for _, r := range routes {
			rows = append(rows, row{r.Method + " " + r.Route, r.Share, r.Time.Mean.Seconds(), r.Count, r.Time.P95.Seconds()})
		}
	} else {
		total := 0.0
		for _, r := range m.in.Evidence.Load.Routes {
			total += r.Total.Seconds()
		}
		for _, r := range m.in.Evidence.Load.Routes {
			rows = append(rows, row{r.Route, r.Total.Seconds() / math.Max(total, 1e-12), r.Latency.Mean.Seconds(), r.Requests, r.Latency.P95.Seconds()})
		}
	}
	if len(rows) < 2 {
		return nil, "" // one route is all there is
	}
	var out []Finding
	for _, r := range rows[:min(len(rows), 3)] {
		// More than its part by number: a route that is only frequent is not slow.
		all := 0.0
		for _, o := range rows {
			all += float64(o.count)
		}
		if r.share < heavyShare || r.share < 2*float64(r.count)/math.Max(all, 1) {
			continue
		}
		f := about("", fmt.Sprintf("%s takes %s of the time", r.name, percent(r.share)),
			fmt.Sprintf("%d requests (%s of all), %s each, p95 %s.", r.count, percent(float64(r.count)/math.Max(all, 1)), seconds(r.mean), seconds(r.p95)), "routes by their share of the time")
		f.Subject = map[string]string{"route": r.name}
		out = append(out, f.bounded(m.bound(m.allCPU*r.share)))
	}
	return out, ""
}

func judgeWrongAnswers(m *model) ([]Finding, string) {
	l := m.in.Evidence.Load
	bad := l.Mismatches + l.Errors + l.Timeouts
	if bad == 0 {
		return nil, ""
	}
	text := fmt.Sprintf("%d answers were not as expected, %d requests got none, %d timed out, of %d.", l.Mismatches, l.Errors, l.Timeouts, l.Requests)
	if len(l.Samples) > 0 {
		s := l.Samples[0]
		text += fmt.Sprintf(" The first: %s: expected %s, got %s", s.Request, cut(s.Expected, 200), cut(s.Got, 200))
	}
	return []Finding{about("", "Some requests fail", text, "load result").atMost(float64(l.Requests+l.Errors)/math.Max(1, float64(l.Succeeded)), "requests / right answers: if all were right")}, ""
}

func judgeServerErrors(m *model) ([]Finding, string) {
	if len(m.in.Evidence.Routes) == 0 {
		return nil, "no access log was read"
	}
	var cites []string
	bad, all := int64(0), int64(0)
	for _, r := range m.in.Evidence.Routes {
		all += r.Count
		n := r.Status[5] + r.Codes[499]
		bad += n
		if n > 0 {
			cites = append(cites, fmt.Sprintf("%s %s: %d of %d", r.Method, r.Route, n, r.Count))
		}
	}
	// One in a thousand is what a restart or a closing client leaves.
	if float64(bad) < 0.001*float64(all) || bad < 2 {
		return nil, ""
	}
	return []Finding{about("", "The server answers with errors", fmt.Sprintf("%d of %d answers were 5xx, or clients went away before them (499): %s.", bad, all, strings.Join(cites[:min(len(cites), 5)], "; ")), cites...).
		atMost(1, "an error costs a right answer, not time")}, ""
}

// judgeLogs turns known messages of error logs into findings.
func judgeLogs(m *model) ([]Finding, string) {
	var out []Finding
	for _, l := range m.in.Evidence.Logs {
		if len(l.Measures) == 0 {
			continue
		}
		f := about(l.Service, fmt.Sprintf("%s says: %s", l.Service, cut(l.Text, 100)), fmt.Sprintf("%d times in %.0f s (%s): %s", l.Count, m.window, l.Level, l.Text), "error log of "+l.Service)
		f.Measures = l.Measures
		out = append(out, f.bounded(m.boundWait()))
	}
	return out, ""
}

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// healthPaths are what balancers and monitors ask for.
var healthPaths = []string{"/health", "/healthz", "/healthcheck", "/health-check", "/ping", "/status", "/livez", "/readyz", "/alive", "/up"}

// HealthPath reports whether balancers and monitors ask for such a path.
func HealthPath(path string) bool { return slices.Contains(healthPaths, path) }

func judgeHealthCheck(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		var out []Finding
		for _, r := range m.in.Evidence.Routes {
			if !HealthPath(r.Route) || r.Count == 0 || r.Method != "GET" || !throughApp(server, r.Route) {
				continue
			}
			if loc := nginx.MatchLocation(server, r.Route); loc != nil && loc.First("return") != nil {
				continue // it answers by itself before it passes anything on
			}
			var other []string
			for _, o := range m.in.Evidence.Routes {
				if o.Route == r.Route && o.Method != "GET" && o.Method != "HEAD" {
					other = append(other, o.Method)
				}
			}
			f := about(svc.Name, "Health checks go through the application: "+r.Route,
				fmt.Sprintf("%d requests, %s each. `location = %s { empty_gif; access_log off; }` answers from %s itself; check the application apart, less often.", r.Count, seconds(r.Time.Mean.Seconds()), r.Route, svc.Name),
				"access log").bounded(m.bound(m.allCPU * math.Max(r.Share, 0)))
			f.Subject = map[string]string{"path": r.Route, "other": strings.Join(other, " ")}
			out = append(out, f)
		}
		return out
	})
}

func judgeCacheStatus(m *model) ([]Finding, string) {
	var out []Finding
	for _, r := range m.in.Evidence.Routes {
		hits, all := int64(0), int64(0)
		var states []string
		for state, n := range r.Cache {
			all += n
			switch strings.ToUpper(state) {
			case "HIT", "STALE", "UPDATING", "REVALIDATED":
				hits += n
			}
		}
		if all < 20 || float64(hits) >= lowHits*float64(all) || r.Method != "GET" {
			continue
		}
		for state, n := range r.Cache {
			states = append(states, fmt.Sprintf("%s %d", state, n))
		}
		slices.Sort(states)
		out = append(out, about(r.Service, fmt.Sprintf("The cache has only %s of GET %s", percent(float64(hits)/float64(all)), r.Route),
			fmt.Sprintf("%s; %s each on average. A cookie, a Vary header or a query that differs each time keeps it from being found.", strings.Join(states, ", "), seconds(r.Time.Mean.Seconds())),
			"access log").bounded(m.bound(m.allCPU*math.Max(r.Share, 0))))
	}
	return out, ""
}
