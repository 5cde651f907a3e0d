package diagnose

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/trace"
)

func TestWorkList(t *testing.T) {
	users := "SELECT name FROM users WHERE id = ?"
	ev := &evidence.Evidence{
		Load: &load.Result{Routes: []load.RouteResult{{Route: "GET /list", Requests: 10, Total: 3 * time.Second}, {Route: "GET /", Requests: 10, Total: time.Second}}},
		Requests: &trace.Summary{Requests: 6, Patterns: []trace.Pattern{
			{Kind: trace.RowConnects, Method: "GET", Route: "/", Service: "db", What: "a new connection", PerRequest: 1, With: 3, Requests: 3},
			{Kind: trace.NPlusOne, Measures: []string{"I04"}, Method: "GET", Route: "/list", Service: "db", What: users, Keys: []string{"id"}, PerRequest: 20, Most: 21, Could: 1, With: 3, Requests: 3, Took: time.Millisecond, Sources: []string{"app/list.php:7"}},
			{Kind: trace.NPlusOne, Measures: []string{"I04"}, Method: "GET", Route: "/all", Service: "db", What: users, Keys: []string{"id"}, PerRequest: 9, Could: 1, With: 3, Requests: 3, Sources: []string{"app/list.php:7", "app/all.php:9"}}}},
		Statements: []evidence.Statement{{Service: "db", Fingerprint: users, Total: 3 * time.Second}, {Service: "db", Fingerprint: "x", Total: time.Second}, {Service: "db2", Fingerprint: users, Total: time.Hour}},
		Profiles:   []evidence.Profile{{Service: "php", Top: []evidence.ProfileFrame{{Function: "hash", File: "app/user.php:5", Self: 0.4, Total: 0.5}}}}}
	d := &Diagnosis{Findings: []Finding{
		{Rule: "profile.hot", Service: "php", Title: "hash is 40 % of php's time", Text: "hash (app/user.php:5) takes 40 % itself", Source: "app/user.php:5", Subject: map[string]string{"source": "yes"}, Bound: 1.8},
		{Rule: "request.n+1", Service: "db", Text: "GET /list: 20.0 calls per request: " + users + ".", Subject: map[string]string{"route": "GET /list", "kind": trace.NPlusOne, "source": "yes"}, Bound: 1.5},
		{Rule: "profile.hot", Service: "db", Title: "[unknown] in mariadbd is 46 % of db's time", Source: "/usr/sbin/mariadbd", Subject: map[string]string{"source": "yes"}, Bound: 9},
		{Rule: "db.memory", Service: "db", Title: "a setting", Bound: 3}}}
	got := WorkList(ev, d)
	if len(got) != 3 {
		t.Fatalf("%d items: %+v", len(got), got)
	}
	if w := got[0]; w.Rule != "profile.hot" || w.Statement != "hash" || w.FunctionShare != 0.4 || w.Sources[0] != "app/user.php:5" || w.Bound != 1.8 {
		t.Errorf("%+v", w)
	}
	if w := got[1]; len(w.On) != 2 || w.On[0].Route != "GET /list" || w.On[0].PerRequest != 20 || w.On[0].Could != 1 || w.Bound != 1.5 || w.On[0].Share != 0.75 || w.StatementShare != 0.75 ||
		w.Form.Text != "SELECT id, name FROM users WHERE id IN (?, ?, …)" || strings.Join(w.Sources, " ") != "app/list.php:7 app/all.php:9" {
		t.Errorf("%+v", w)
	}
	if w := got[2]; w.Rule != "request.connects" || w.Bound != 0 || w.Form.Text != "" {
		t.Errorf("%+v", w)
	}
	if got := WorkList(nil, d); len(got) != 1 {
		t.Errorf("without evidence: %+v", got)
	}
	if got := WorkList(nil, nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
	ev.Load = nil
	if got := WorkList(ev, nil); len(got) != 2 || got[0].Bound != 0 {
		t.Errorf("not diagnosed: %+v", got)
	}
}

// Statements prepared to be used once are one item: one setting mends all.
func TestPreparesAreOneItem(t *testing.T) {
	p := func(route, what string) trace.Pattern {
		return trace.Pattern{Kind: trace.PrepareOnce, Method: "GET", Route: route, Service: "db", What: what, PerRequest: 2, Most: 2, Could: 1, With: 3, Requests: 3}
	}
	ev := &evidence.Evidence{Requests: &trace.Summary{Patterns: []trace.Pattern{p("/a", "SELECT 1"), p("/a", "SELECT 2"), p("/b", "SELECT 1")}},
		Statements: []evidence.Statement{{Service: "db", Fingerprint: "SELECT 1", Total: 1}, {Service: "db", Fingerprint: "SELECT 2", Total: 1}, {Service: "db", Fingerprint: "x", Total: 2}}}
	got := WorkList(ev, nil)
	if len(got) != 1 || len(got[0].On) != 2 || got[0].On[0].PerRequest != 4 || got[0].On[1].PerRequest != 2 || strings.Join(got[0].Also, " ") != "SELECT 2" || got[0].StatementShare != 0.5 {
		t.Errorf("%+v", got)
	}
}

// TestWorkListIsOfTheRules: every pattern that a rule judges becomes an item
// that has the rule's bound.
func TestWorkListIsOfTheRules(t *testing.T) {
	for kind := range patternTitle {
		in := healthy()
		pattern(kind)(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range WorkList(in.Evidence, d) {
			if w.Rule == "request."+kind && w.Bound >= 1 && w.Text != "" {
				d = nil
				break
			}
		}
		if d != nil {
			t.Errorf("%s: no item with a bound", kind)
		}
	}
}
