package tune

import (
	"context"
	"fmt"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// withSpans receives OpenTelemetry spans while do runs, where the stack says
// at which address, and sums them up. do's error is returned as it is.
func withSpans(ctx context.Context, b *Bench, do func() error) (*trace.Summary, []evidence.Health, error) {
	cfg := b.Stack.Evidence
	if cfg.OTLP == "" && cfg.OTLPGRPC == "" {
		return nil, nil, do()
	}
	const source = "OpenTelemetry spans"
	rec, err := trace.Listen(ctx, cfg.OTLP, cfg.OTLPGRPC)
	if err != nil {
		return nil, []evidence.Health{{Source: source, Text: err.Error()}}, do()
	}
	defer rec.Close()
	if err := do(); err != nil {
		return nil, nil, err
	}
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Patterns: cfg.Routes})
	if err != nil {
		return nil, []evidence.Health{{Source: source, Text: err.Error()}}, nil
	}
	name := func(_, target, route string) string {
		if route != "" {
			return route
		}
		return routes.Route(target)
	}
	requests, text := rec.Requests(name, trace.SpanOptions{Services: serviceOf(b.Stack)})
	if len(requests) == 0 {
		return nil, []evidence.Health{{Source: source, Text: fmt.Sprintf("no request's spans came at %s (%s); is the application's exporter set to that address?", strings.TrimSpace(cfg.OTLP+" "+cfg.OTLPGRPC), text)}}, nil
	}
	return trace.Summarize(requests, trace.Options{Source: "spans"}), []evidence.Health{{Source: source, OK: true, Text: text}}, nil
}

// serviceOf names the stack's service that a span's system and address mean:
// by address where it is a listener, else the only one of that kind.
func serviceOf(st *stack.Stack) func(system, addr string) string {
	kinds := map[string][]stack.Kind{trace.SQL: {stack.MariaDB, stack.MySQL}, trace.Memcached: {stack.Memcached}, trace.Redis: {stack.Redis}}
	return func(system, addr string) string {
		all := st.OfKind(kinds[system]...)
		for _, svc := range all {
			for _, l := range svc.Listen {
				if addr != "" && (l == addr || strings.TrimPrefix(l, "unix:") == addr) {
					return svc.Name
				}
			}
		}
		if len(all) == 1 {
			return all[0].Name
		}
		if addr != "" {
			return addr
		}
		return system
	}
}

// join puts what spans told beside what the walk told: spans know source lines
// and what happens under load, so where both found the same, theirs stays.
func join(walk, spans *trace.Summary) *trace.Summary {
	switch {
	case walk == nil:
		return spans
	case spans == nil:
		return walk
	}
	out := *spans
	out.Source = walk.Source + "+" + spans.Source
	out.Requests = walk.Requests + spans.Requests
	seen := map[string]bool{}
	for _, p := range spans.Patterns {
		seen[p.Kind+" "+p.Method+" "+p.Route+" "+p.Service] = true
	}
	for _, p := range walk.Patterns {
		if !seen[p.Kind+" "+p.Method+" "+p.Route+" "+p.Service] {
			out.Patterns = append(out.Patterns, p)
		}
	}
	routes := map[string]bool{}
	for _, r := range spans.Routes {
		routes[r.Method+" "+r.Route] = true
	}
	for _, r := range walk.Routes {
		if !routes[r.Method+" "+r.Route] {
			out.Routes = append(out.Routes, r)
		}
	}
	return &out
}
