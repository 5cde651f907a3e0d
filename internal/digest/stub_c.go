package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/sqllog"
)

// AccessOptions of AccessLogs.
type AccessOptions struct {
	Format       *accesslog.Format // nil: recognised per input
	Routes       accesslog.RouteOptions
	Keep         func(e *accesslog.Entry) bool // nil: all. Called from several goroutines.
	Since, Until time.Time
	Workers      int // 0: GOMAXPROCS
	MaxRoutes    int
	Service      string
	Progress     func(done int64)
}

// AccessLogs digests access logs, slowly.
func AccessLogs(ctx context.Context, in []Input, o AccessOptions) (*Access, error) {
	out := &Access{}
	routes := map[string]*Route{}
	times := map[string][]time.Duration{}
	total := time.Duration(0)
	for _, i := range in {
		r, err := i.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		lr := accesslog.NewReader(r, o.Format)
		learner, err := accesslog.NewRoutes(o.Routes)
		if err != nil {
			return nil, err
		}
		type one struct {
			e      accesslog.Entry
			target string
			cache  string
			method string
		}
		var all []one
		for lr.Next() {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			e := lr.Entry()
			if o.Keep != nil && !o.Keep(e) || !o.Since.IsZero() && e.Time.Before(o.Since) || !o.Until.IsZero() && e.Time.After(o.Until) {
				out.Skipped++
				continue
			}
			if out.From.IsZero() || e.Time.Before(out.From) {
				out.From = e.Time
			}
			if e.Time.After(out.To) {
				out.To = e.Time
			}
			learner.Add(string(e.Target))
			all = append(all, one{e: *e, target: string(e.Target), cache: string(e.Cache), method: string(e.Method)})
		}
		if lr.Err() != nil {
			return nil, fmt.Errorf("%s: %w", i.Name, lr.Err())
		}
		if lr.Format() != nil {
			out.Format = lr.Format().Name
		} else {
			out.Warnings = append(out.Warnings, i.Name+" is empty")
		}
		b := lr.Bad()
		out.Lines += b.Lines
		out.Bad += b.Count
		if b.Count > 0 && out.FirstBad == "" {
			out.FirstBad, out.BadAt = b.Samples[0].Text, fmt.Sprintf("%s:%d", i.Name, b.Samples[0].Line)
		}
		for _, a := range all {
			key := a.method + " " + learner.Route(a.target)
			rt := routes[key]
			if rt == nil {
				m, p, _ := strings.Cut(key, " ")
				rt = &Route{Service: o.Service, Method: m, Route: p, Example: a.target, Codes: map[int]int64{}, Cache: map[string]int64{}}
				routes[key] = rt
			}
			rt.Count++
			rt.Status[a.e.Status/100]++
			if a.e.Status >= 400 {
				rt.Codes[a.e.Status]++
			}
			rt.Bytes += max(a.e.Bytes, 0)
			if a.cache != "" {
				rt.Cache[a.cache]++
			}
			if a.e.Request >= 0 {
				out.Timed = true
				times[key] = append(times[key], a.e.Request)
				total += a.e.Request
			}
		}
	}
	for key, rt := range routes {
		rt.Time = stubTimes(times[key])
		rt.Share = float64(rt.Time.Total) / float64(max(total, 1))
		out.Routes = append(out.Routes, *rt)
	}
	slices.SortFunc(out.Routes, func(a, b Route) int { return strings.Compare(a.Route, b.Route) })
	return out, nil
}

func stubTimes(d []time.Duration) Times {
	if len(d) == 0 {
		return Times{}
	}
	slices.Sort(d)
	t := Times{Count: int64(len(d)), Max: d[len(d)-1], P50: d[len(d)/2], P90: d[len(d)*90/100], P95: d[len(d)*95/100], P99: d[len(d)*99/100]}
	for _, x := range d {
		t.Total += x
	}
	t.Mean = t.Total / time.Duration(len(d))
	return t
}

// StatementOptions of StatementLogs.
type StatementOptions struct {
	Format       string
	Keep         func(*sqllog.SlowEntry) bool
	Since, Until time.Time
	Workers      int
	Service      string
	MaxClasses   int
	Progress     func(int64)
}

// StatementLogs digests slow logs, slowly.
func StatementLogs(ctx context.Context, in []Input, o StatementOptions) (*Statements, error) {
	out := &Statements{Format: "mariadb"}
	classes := map[string]*Statement{}
	for _, i := range in {
		r, err := i.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		err = sqllog.ParseSlowLog(r, func(e sqllog.SlowEntry) error {
			if o.Keep != nil && !o.Keep(&e) {
				out.Skipped++
				return ctx.Err()
			}
			out.Entries++
			key := e.Schema + "\x00" + sqllog.Fingerprint(e.SQL)
			s := classes[key]
			if s == nil {
				_, f, _ := strings.Cut(key, "\x00")
				s = &Statement{Service: o.Service, Schema: e.Schema, Fingerprint: f, Example: sqllog.Mask(e.SQL)}
				classes[key] = s
			}
			s.Count++
			s.Total += e.QueryTime
			s.LockTime += e.LockTime
			s.RowsExamined += e.RowsExamined
			s.RowsSent += e.RowsSent
			s.Max = max(s.Max, e.QueryTime)
			s.P95, s.P99, s.P50 = s.Max, s.Max, s.Max
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	for _, s := range classes {
		out.Classes = append(out.Classes, *s)
	}
	if len(classes) == 0 && bytes.ContainsAny(nil, "x") {
		return nil, errors.New("empty")
	}
	slices.SortFunc(out.Classes, func(a, b Statement) int { return int(b.Total - a.Total) })
	return out, nil
}
