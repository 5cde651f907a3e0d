package evidence

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
)

// digestLog sums one log up by route.
func digestLog(_ context.Context, service, name string, open func() io.Reader, f *accesslog.Format, patterns []string) (*digest.Access, error) {
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Patterns: patterns})
	if err != nil {
		return nil, err
	}
	learn := accesslog.NewReader(open(), f)
	for learn.Next() {
		routes.Add(string(learn.Entry().Target))
	}
	out := &digest.Access{}
	sums := map[[2]string]*routeSum{}
	r := accesslog.NewReader(open(), f)
	for r.Next() {
		e := r.Entry()
		if out.From.IsZero() || e.Time.Before(out.From) {
			out.From = e.Time
		}
		if e.Time.After(out.To) {
			out.To = e.Time
		}
		out.Timed = out.Timed || e.Request >= 0
		key := [2]string{string(e.Method), routes.Route(string(e.Target))}
		if sums[key] == nil {
			sums[key] = &routeSum{Route: digest.Route{Service: service, Method: key[0], Route: key[1], Codes: map[int]int64{}, Cache: map[string]int64{}}}
		}
		sums[key].add(e)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	bad := r.Bad()
	out.Lines, out.Bad = bad.Lines, bad.Count
	if len(bad.Samples) > 0 {
		out.FirstBad = bad.Samples[0].Text
	}
	if f := r.Format(); f != nil {
		out.Format = f.Name
	}
	total := time.Duration(0)
	for _, s := range sums {
		s.Time, s.Upstream = times(s.took), times(s.behind)
		total += s.Time.Total
	}
	for _, s := range sums {
		if total > 0 {
			s.Share = float64(s.Time.Total) / float64(total)
		}
		out.Routes = append(out.Routes, s.Route)
	}
	return out, nil
}

type routeSum struct {
	digest.Route
	took, behind []time.Duration
}

func (s *routeSum) add(e *accesslog.Entry) {
	s.Count++
	if class := e.Status / 100; class >= 0 && class < len(s.Status) {
		s.Status[class]++
	}
	if e.Status >= 400 {
		s.Codes[e.Status]++
	}
	s.Bytes += max(0, e.Bytes)
	if e.Request >= 0 {
		s.took = append(s.took, e.Request)
	}
	if e.Upstream >= 0 {
		s.behind = append(s.behind, e.Upstream)
	}
	if len(e.Cache) > 0 {
		s.Cache[string(e.Cache)]++
	}
}

func times(d []time.Duration) digest.Times {
	if len(d) == 0 {
		return digest.Times{}
	}
	slices.Sort(d)
	t := digest.Times{Count: int64(len(d)), Max: d[len(d)-1]}
	for _, x := range d {
		t.Total += x
	}
	at := func(p int) time.Duration { return d[(len(d)-1)*p/100] }
	t.Mean, t.P50, t.P90, t.P95, t.P99 = t.Total/time.Duration(len(d)), at(50), at(90), at(95), at(99)
	return t
}
