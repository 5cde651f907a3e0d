package report

import (
	"cmp"
	"fmt"
	"slices"

	"kasoku/internal/evidence"
)

// Parts of a request's elapsed time.
const (
	partStatement = "statement"
	partRest      = "rest"
	partBehind    = "behind"
	partWeb       = "web"
	partOutside   = "outside"
)

// mostTimes statements get a colour of their own, if they take leastTime of the
// whole; the others are added up.
const (
	mostTimes = segmentColours
	leastTime = 0.01
)

// TimeShare is one part of the time that a right answer takes, in seconds per
// right answer, as its user waits for it.
type TimeShare struct {
	Name string `json:"name"` // a fingerprint, or what it is in words
	// Part: "statement", "rest" (the other statements of Service), "behind"
	// (behind the web server, without statements), "web" (the web server
	// itself), "outside" (not told apart: the way to the server, and all that no
	// log has times of).
	Part    string  `json:"part"`
	Service string  `json:"service,omitempty"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// timeParts are the parts of one run's answers, in Before. Statements run one
// after another in a request, so their time is part of it; where they add up to
// more than the answers took (work beside requests), nothing is left for the
// rest. logged: the access log's times tell the parts at the web server and
// behind it. nil without a load.
func timeParts(ev *evidence.Evidence, logged bool) []TimeShare {
	if ev == nil || ev.Load == nil || ev.Load.Succeeded <= 0 {
		return nil
	}
	n := float64(ev.Load.Succeeded)
	total := 0.0
	for _, r := range ev.Load.Routes {
		total += r.Total.Seconds() / n
	}
	if total <= 0 {
		return nil
	}
	var out []TimeShare
	sql := 0.0
	for _, s := range ev.Statements {
		if t := s.Total.Seconds() / n; t > 0 {
			out = append(out, TimeShare{Name: s.Fingerprint, Part: partStatement, Service: s.Service, Before: t})
			sql += t
		}
	}
	server, upstream := 0.0, 0.0
	for _, r := range ev.Routes {
		if logged {
			server += r.Time.Total.Seconds() / n
			upstream += r.Upstream.Total.Seconds() / n
		}
	}
	left := max(0, total-sql)
	add := func(name, part string, t float64) {
		if t = min(max(0, t), left); t > 0 {
			out = append(out, TimeShare{Name: name, Part: part, Before: t})
			left -= t
		}
	}
	if upstream > 0 {
		add("application, without its statements", partBehind, upstream-sql)
	}
	if server > 0 {
		add("web server", partWeb, server-max(upstream, sql))
	}
	name := "everything else: code, queues, network"
	if upstream > 0 {
		name = "between user and web server"
	}
	add(name, partOutside, left)
	return out
}

// hasTimes: the access log tells what the servers behind took. Without it on
// one side, both are told without, so that parts of the same name are compared.
func hasTimes(ev *evidence.Evidence) bool {
	for _, r := range ev.Routes {
		if r.Upstream.Total > 0 {
			return true
		}
	}
	return false
}

// compareTimes joins both sides: the statements that take most on either side
// first, then what the others of each service take, then the rest.
func compareTimes(before, after *evidence.Evidence) []TimeShare {
	type key struct{ part, service, name string }
	var all []TimeShare
	at := map[key]int{}
	logged := hasTimes(before) && (after == nil || hasTimes(after))
	for i, parts := range [][]TimeShare{timeParts(before, logged), timeParts(after, logged)} {
		for _, p := range parts {
			k := key{p.Part, p.Service, p.Name}
			j, known := at[k]
			if !known {
				j = len(all)
				at[k] = j
				all = append(all, TimeShare{Name: p.Name, Part: p.Part, Service: p.Service})
			}
			if i == 0 {
				all[j].Before += p.Before
			} else {
				all[j].After += p.Before
			}
		}
	}
	return thinTimes(all)
}

// thinTimes keeps the largest statements apart and adds up the others.
func thinTimes(all []TimeShare) []TimeShare {
	var b, a float64
	for _, p := range all {
		b, a = b+p.Before, a+p.After
	}
	weight := func(p TimeShare) float64 {
		w := 0.0
		if b > 0 {
			w = p.Before / b
		}
		if a > 0 {
			w = max(w, p.After/a)
		}
		return w
	}
	var named, rest []TimeShare
	for _, p := range all {
		if p.Part == partStatement {
			named = append(named, p)
		} else {
			rest = append(rest, p)
		}
	}
	slices.SortStableFunc(named, func(x, y TimeShare) int { return cmp.Compare(weight(y), weight(x)) })
	keep := 0
	for keep < len(named) && keep < mostTimes && weight(named[keep]) >= leastTime {
		keep++
	}
	out := slices.Clone(named[:keep])
	others := map[string]*TimeShare{}
	var order []string
	for _, p := range named[keep:] {
		o := others[p.Service]
		if o == nil {
			o = &TimeShare{Name: fmt.Sprintf("other statements of %s", p.Service), Part: partRest, Service: p.Service}
			others[p.Service] = o
			order = append(order, p.Service)
		}
		o.Before, o.After = o.Before+p.Before, o.After+p.After
	}
	for _, s := range order {
		out = append(out, *others[s])
	}
	return append(out, rest...)
}
