package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/ui"
)

// result joins what the workers found.
func (run *accessRun) result(workers []*accessWorker) *Access {
	a := &Access{Routes: []Route{}}
	for i := range run.files {
		run.files[i].sum(a)
	}
	var slots []*slot
	evicted, joined := int64(0), false
	for _, w := range workers {
		slots = append(slots, w.slots.all()...)
		evicted += w.slots.evicted
		joined = joined || w.slots.learnt != nil
	}
	if evicted > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("there are too many routes: %s with few requests are summed as %s; give --route patterns for them", plural(evicted, "path"), othersRoute))
	}
	if joined && evicted == 0 {
		a.Warnings = append(a.Warnings, "there are more forms of paths than are kept apart: such as look alike were joined to one route before all were seen; give --route patterns for those that belong apart")
	}
	a.Routes = run.routes(slots, a)
	if len(a.BadLines) > 0 {
		a.BadAt, a.FirstBad = a.BadLines[0].At, a.BadLines[0].Text
	}
	if a.Bad*2 > a.Lines {
		a.Warnings = append(a.Warnings, fmt.Sprintf("most lines (%d of %d) are no entries of the format %q: what is shown stands for the rest only; give --format", a.Bad, a.Lines, a.Format))
	}
	if !a.Timed && a.Lines > a.Bad+a.Skipped {
		a.Warnings = append(a.Warnings, "the log has no request times: routes are in the order of their number of requests; log $request_time (nginx) or %D (Apache) to see where the time goes")
	}
	run.warnOfValues(a)
	return a.warnFirst()
}

// warnFirst puts what changes how the table is to be read before other
// warnings: lines that are not in it, and requests without times among such
// that have them.
func (a *Access) warnFirst() *Access {
	var first []string
	if float64(a.Bad) > badShare*float64(a.Lines) {
		first = append(first, fmt.Sprintf("%s of %s were not understood and are not counted", ui.Share(float64(a.Bad)/float64(a.Lines)), amount(a.Lines, "line")))
	}
	requests := a.requests()
	for i := range a.Routes {
		a.Untimed += a.Routes[i].Count - a.Routes[i].Time.Count
	}
	if !a.Timed {
		a.Untimed = 0
	}
	if a.Untimed > 0 {
		first = append(first, fmt.Sprintf("%s of %s (%s) have no time: share, total and mean are of the others", count(a.Untimed), amount(requests, "request"), ui.Share(float64(a.Untimed)/float64(requests))))
	}
	a.Warnings, a.first = append(first, a.Warnings...), len(first)
	return a
}

// anotherUnit: half of a server's answers do not take a quarter of an hour.
const anotherUnit = 1000 * time.Second

// warnOfValues tells what no line has, and times that are of another unit than
// they were read in.
func (run *accessRun) warnOfValues(a *Access) {
	var count, without, slow, timed, nothing int64
	for _, r := range a.Routes {
		if r.Route == noRequestRoute {
			nothing += r.Count
		}
		count += r.Count
		without += r.Status[0]
		timed += r.Time.Count
		if r.Time.P50 >= anotherUnit {
			slow += r.Time.Count
		}
	}
	if count == 0 {
		return
	}
	if 2*nothing > count && without < count {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d lines have a status, but no request that is understood: describe the line with --format if they should have one", nothing, count))
	}
	if without == count {
		a.Warnings = append(a.Warnings, "the log has no status codes: failures are not seen; log $status (nginx) or %>s (Apache), in JSON and LTSV as status")
	}
	if !run.sized {
		a.Warnings = append(a.Warnings, "the log has no sizes of answers: bytes are 0; log $body_bytes_sent (nginx) or %B (Apache), in JSON and LTSV as size")
	}
	if labelled := strings.Contains(a.Format, "json") || strings.Contains(a.Format, "ltsv"); labelled && timed > 0 && 2*slow > timed {
		a.Warnings = append(a.Warnings, "most request times are above 1000 s: they may be milliseconds that were read as seconds; let the key name its unit (duration_ms, latency_us), or describe the line with --format")
	}
}

// sum adds what is known of a file.
func (f *accessFile) sum(a *Access) {
	a.Warnings = append(a.Warnings, f.warnings...)
	for _, n := range f.notes {
		if n = f.Name + ": " + n; !slices.Contains(a.Notes, n) {
			a.Notes = append(a.Notes, n)
		}
	}
	if f.carried != "" {
		a.Bytes += f.raw
	} else {
		a.Bytes += f.bytes
	}
	if f.format != nil && !slices.Contains(strings.Split(a.Format, ", "), f.format.Name) {
		if a.Format != "" {
			a.Format += ", "
		}
		a.Format += f.format.Name
	}
	lines := int64(0)
	backward := false
	var to time.Time // of the parts before
	for i := range f.parts {
		p := &f.parts[i]
		a.Lines += p.entries
		a.Bad += p.bad
		a.Skipped += p.skipped
		for _, b := range p.badLines {
			if len(a.BadLines) < badSamples {
				a.BadLines = append(a.BadLines, BadLine{fmt.Sprintf("%s:%d", f.Name, lines+b.line), b.text})
			}
		}
		if p.cut {
			a.Warnings = append(a.Warnings, fmt.Sprintf("%s: the last line is cut, it is not counted", f.Name))
		}
		lines += p.lines
		if p.from.IsZero() {
			continue
		}
		backward = backward || p.backward || p.from.Before(to.Add(-clockSlack))
		to = p.to
		if a.From.IsZero() || p.from.Before(a.From) {
			a.From = p.from
		}
		if p.to.After(a.To) {
			a.To = p.to
		}
	}
	if backward {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%s: its times run backwards, as when logs were joined or the clock was set", f.Name))
	}
}

// name of a row.
type routeName struct{ method, route string }

// routes learns from all slots, joins those of one route and gives them out,
// most total time first.
func (run *accessRun) routes(slots []*slot, a *Access) []Route {
	o := run.o.Routes
	o.Patterns = nil
	learnt := learnRoutes(o, slots)
	routeOf := func(s *slot) string { return printable([]byte(learnt.Route(s.learnt())), maxRouteName) }
	sums := sumRoutes(slots, routeOf, run.dispatchers(slots, routeOf))
	type named struct {
		routeName
		*slot
	}
	var all []named
	for name, s := range sums {
		all = append(all, named{name, s})
		a.Timed = a.Timed || s.time.count > 0
		run.sized = run.sized || s.sized
	}
	slices.SortFunc(all, func(x, y named) int {
		return cmp.Or(cmp.Compare(y.time.total, x.time.total), cmp.Compare(y.count, x.count), cmp.Compare(x.routeName.route, y.routeName.route), cmp.Compare(x.routeName.method, y.routeName.method))
	})
	if beyond := len(all) - run.o.MaxRoutes; beyond > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%s beyond the first %d are summed as %s", plural(int64(beyond), "route"), run.o.MaxRoutes, othersRoute))
		rest := &slot{at: all[run.o.MaxRoutes].at, example: all[run.o.MaxRoutes].example}
		for _, n := range all[run.o.MaxRoutes:] {
			rest.merge(n.slot)
		}
		all = append(all[:run.o.MaxRoutes], named{routeName{otherMethod, othersRoute}, rest})
	}
	total, count := time.Duration(0), int64(0)
	for _, n := range all {
		total += n.time.total
		count += n.count
	}
	out := []Route{}
	for _, n := range all {
		r := n.row(run.o.Service, n.routeName.method, n.routeName.route)
		switch {
		case total > 0:
			r.Share = float64(n.time.total) / float64(total)
		case count > 0:
			r.Share = float64(n.count) / float64(count)
		}
		out = append(out, r)
	}
	return out
}

// sumRoutes joins the slots of one route; an address that a parameter dispatches is a route
// for each operation.
func sumRoutes(slots []*slot, routeOf func(*slot) string, dispatch map[string][]string) map[routeName]*slot {
	sums := map[routeName]*slot{}
	for _, s := range slots {
		if s.count == 0 { // its path was asked for operations alone
			continue
		}
		name := routeName{s.method, s.route}
		if s.path != "" {
			name.route = routeOf(s)
			if asked := accesslog.OperationOf(s.asked, dispatch[name.route]); asked != "" {
				name.route += "?" + asked
			}
		}
		if into := sums[name]; into != nil {
			into.merge(s)
		} else {
			sums[name] = s
		}
	}
	return sums
}

// maxRouteName bytes are shown; nginx takes request lines of 8 KB.
const maxRouteName = 1000
