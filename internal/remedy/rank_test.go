package remedy

import (
	"slices"
	"testing"

	"kasoku/internal/diagnose"
)

// Findings stand in the order of what is expected of them: not of bounds, which are
// highest where nobody knows what goes.
func TestRank(t *testing.T) {
	d := &diagnose.Diagnosis{Binds: "workers: php", Findings: []diagnose.Finding{
		{Rule: "db.defaults", Service: "db", Bound: 7.8, Spares: 0.82},
		{Rule: "request.n+1", Bound: 5},
		{Rule: "db.full-scan", Service: "db", Bound: 3.1, Spares: 0.6},
		{Rule: "db.query-cache-unused", Service: "db", Bound: 4, Spares: 0.7, Subject: map[string]string{"reach": "0.020"}},
		{Rule: "php.workers", Service: "php", Bound: 2.4},
		{Rule: "php.workers", Service: "other", Bound: 2.4},
		{Rule: "web.server-tokens", Service: "web", Bound: 1.01},
	}}
	Rank(d)
	var got []string
	for i, f := range d.Findings {
		got = append(got, f.Rule+":"+f.Service)
		if f.Expected < 1 || f.Expected > f.Bound || i > 0 && f.Expected > d.Findings[i-1].Expected {
			t.Errorf("%s: expected %g of at most %g", f.Rule, f.Expected, f.Bound)
		}
	}
	at := func(name string) int { return slices.Index(got, name) }
	if at("db.full-scan:db") > at("db.defaults:db") || at("php.workers:php") > at("php.workers:other") || at("web.server-tokens:web") != len(got)-1 || at("db.query-cache-unused:db") != len(got)-2 {
		t.Error(got)
	}
}
