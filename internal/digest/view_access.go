package digest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"kasoku/internal/ui"
)

// routeOrders are by what routes can be sorted, larger first but for names.
var routeOrders = []order[Route]{
	{"time", func(a, b *Route) int { return cmp.Compare(a.Time.Total, b.Time.Total) }},
	{"count", func(a, b *Route) int { return cmp.Compare(a.Count, b.Count) }},
	{"mean", func(a, b *Route) int { return cmp.Compare(a.Time.Mean, b.Time.Mean) }},
	{"p50", func(a, b *Route) int { return cmp.Compare(a.Time.P50, b.Time.P50) }},
	{"p90", func(a, b *Route) int { return cmp.Compare(a.Time.P90, b.Time.P90) }},
	{"p95", func(a, b *Route) int { return cmp.Compare(a.Time.P95, b.Time.P95) }},
	{"p99", func(a, b *Route) int { return cmp.Compare(a.Time.P99, b.Time.P99) }},
	{"max", func(a, b *Route) int { return cmp.Compare(a.Time.Max, b.Time.Max) }},
	{"bytes", func(a, b *Route) int { return cmp.Compare(a.Bytes, b.Bytes) }},
	{"upstream", func(a, b *Route) int { return cmp.Compare(a.Upstream.Total, b.Upstream.Total) }},
	{"errors", func(a, b *Route) int { return cmp.Compare(a.Status[4]+a.Status[5], b.Status[4]+b.Status[5]) }},
	{"route", func(a, b *Route) int { return -compareNames(a, b) }},
}

// order is a way to sort rows: the larger row comes first.
type order[R any] struct {
	name    string
	compare func(a, b *R) int
}

func orderNames[R any](orders []order[R]) []string {
	var out []string
	for _, o := range orders {
		out = append(out, o.name)
	}
	return out
}

func sortRows[R any](rows []R, orders []order[R], by string, tie func(a, b *R) int) error {
	for i, o := range orders {
		if o.name == by || by == "" && i == 0 {
			slices.SortStableFunc(rows, func(a, b R) int {
				if c := o.compare(&b, &a); c != 0 {
					return c
				}
				return tie(&a, &b)
			})
			return nil
		}
	}
	return sortKeyError(by, orderNames(orders))
}

func compareNames(a, b *Route) int {
	return cmp.Or(strings.Compare(a.Route, b.Route), strings.Compare(a.Method, b.Method), strings.Compare(a.Service, b.Service))
}

// Sort implements Digest.
func (a *Access) Sort(by string) error {
	if by == "" && !a.Timed {
		by = "count"
	}
	return sortRows(a.Routes, routeOrders, by, func(x, y *Route) int { return cmp.Or(cmp.Compare(y.Count, x.Count), compareNames(x, y)) })
}

// SortKeys implements Digest.
func (a *Access) SortKeys() []string { return orderNames(routeOrders) }

// Cut implements Digest.
func (a *Access) Cut(n int) {
	if n > 0 && n < len(a.Routes) {
		a.Routes = a.Routes[:n]
	}
}

// CSV implements Digest.
func (a *Access) CSV(w io.Writer) error { return writeCSV(w, a.columns(true), a.Routes) }

// requests that the routes hold.
func (a *Access) requests() int64 {
	n := int64(0)
	for i := range a.Routes {
		n += a.Routes[i].Count
	}
	return n
}

// View implements Digest.
func (a *Access) View(names []string, n int) View {
	v := View{Title: "Requests by route: " + logNames(names), Warnings: a.Warnings[a.first:], Top: a.top()}
	read := fmt.Sprintf("%s: %s, %s", logNames(names), amount(a.Lines, "line"), ui.Bytes(a.Bytes))
	if a.Format != "" {
		read += ", format " + a.Format
	}
	v.Facts = append(v.Facts, Fact{"read", read})
	kept := a.requests()
	if p := period(a.From, a.To, kept, "requests"); p != "" {
		v.Facts = append(v.Facts, Fact{"period", p})
	}
	v.Facts = append(v.Facts, Fact{"requests", count(kept) + " on " + amount(int64(len(a.Routes)), "route")})
	if a.Skipped > 0 {
		v.Facts = append(v.Facts, Fact{"left out", amount(a.Skipped, "request") + " by filters or time"})
	}
	if a.Bad > 0 {
		v.Facts = append(append(v.Facts, Fact{"not understood", a.badText()}), a.badFacts()...)
	}
	v.Head, v.Rows = rowsOf(a.columns(false), a.Routes, n, func(r *Route) float64 { return r.Share }, routeDetail)
	of := "the time"
	if !a.Timed {
		of = "the requests"
	}
	v.More = more(a.Routes, n, "route", of, func(r *Route) float64 { return r.Share })
	return v
}

func (a *Access) badText() string {
	s := fmt.Sprintf("%s of %s", count(a.Bad), amount(a.Lines, "line"))
	if a.BadAt != "" {
		s += fmt.Sprintf("; the first is %s: %s", a.BadAt, ui.Truncate(a.FirstBad, badColumns))
	}
	return s
}

// top is what a reader must know before the numbers.
func (a *Access) top() []string {
	var out []string
	for _, n := range a.Notes {
		out = append(out, "note: "+n)
	}
	for _, w := range a.Warnings[:a.first] {
		out = append(out, "warning: "+w)
	}
	return out
}

// badFacts are the other lines that are shown.
func (a *Access) badFacts() []Fact {
	var out []Fact
	for i, b := range a.BadLines {
		if i > 0 {
			out = append(out, Fact{"", b.At + ": " + ui.Truncate(b.Text, badColumns)})
		}
	}
	return out
}

// badColumns of a line that was not understood are enough to recognise it.
const badColumns = 120

// Health implements Digest.
func (a *Access) Health() []string {
	out := append(slices.Clone(a.Notes), a.Warnings...)
	if a.Bad > 0 {
		out = append(out, "not understood: "+a.badText())
	}
	return out
}

func routeDetail(r *Route) []Fact {
	var out []Fact
	if r.Example != "" {
		out = append(out, Fact{"example", r.Example})
	}
	if len(r.Codes) > 0 {
		out = append(out, Fact{"failures", countsText(r.Codes)})
	}
	if len(r.Cache) > 0 {
		out = append(out, Fact{"cache", countsText(r.Cache)})
	}
	return out
}

// countsText is "404 ×12, 500 ×3", most first.
func countsText[K cmp.Ordered](m map[K]int64) string {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%v ×%s", k, count(m[k])))
	}
	return strings.Join(parts, ", ")
}
