package report

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/trace"
)

func sampleWork() []diagnose.Work {
	p := trace.Pattern{Kind: trace.NPlusOne, What: "SELECT name FROM users WHERE id = ?", Keys: []string{"id"}}
	return []diagnose.Work{{Rule: "request.n+1", Title: "One statement per row of a list", Service: "db", Statement: p.What, Sources: []string{"app/list.php:7"}, Bound: 1.5, StatementShare: 0.46,
		On: []diagnose.WorkOn{{Route: "GET /list", PerRequest: 20, Most: 21, Could: 1, With: 3, Requests: 4, Took: 3 * time.Millisecond, Share: 0.31}}, Form: p.Form()}}
}

// TestWorkIsTold: the list stands in every form with all that is needed to
// work it off.
func TestWorkIsTold(t *testing.T) {
	m := sample(t)
	m.Work, m.WorkRun = sampleWork(), 7
	wants := []string{"One statement per row of a list", "app/list.php:7", "GET /list: 20 times per request (at most 21), 1 would do; in 3 of 4 requests; takes 3.00 ms; the route has 31 % of all requests' time",
		"SELECT name FROM users WHERE id = ?", "46 % of db's statement time", "SELECT id, name FROM users WHERE id IN (?, ?, …)", "×1.50"}
	unescape := strings.NewReplacer(`\`, "", "&gt;", ">").Replace
	for name, text := range map[string]string{
		"page":     strings.ReplaceAll(html.UnescapeString(render(t, HTML, m)), "\u00a0", " "),
		"Markdown": unescape(render(t, Markdown, m)),
		"text":     render(t, SessionText, m)} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
	}
	var back Model
	if err := json.Unmarshal([]byte(render(t, JSON, m)), &back); err != nil || len(back.Work) != 1 || back.Work[0].Form.Text != wants[5] || back.Work[0].On[0].PerRequest != 20 {
		t.Errorf("JSON: %v %+v", err, back.Work)
	}
}

func timed(sql time.Duration, upstream time.Duration) *evidence.Evidence {
	ev := &evidence.Evidence{Load: &load.Result{Succeeded: 10, Routes: []load.RouteResult{{Route: "GET /", Requests: 10, Total: time.Second}}}}
	if sql > 0 {
		ev.Statements = []evidence.Statement{{Service: "db", Fingerprint: "SELECT 1", Count: 10, Total: sql}}
	}
	if upstream > 0 {
		ev.Routes = append(ev.Routes, fullEvidence("").Routes[0])
		ev.Routes[0].Time.Total, ev.Routes[0].Upstream.Total = upstream+100*time.Millisecond, upstream
	}
	return ev
}

// TestTimes: the parts add up to what the users waited.
func TestTimes(t *testing.T) {
	got := compareTimes(timed(300*time.Millisecond, 700*time.Millisecond), nil)
	want := map[string]float64{partStatement: 0.030, partBehind: 0.040, partWeb: 0.010, partOutside: 0.020}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, p := range got {
		if d := p.Before - want[p.Part]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %g, want %g", p.Part, p.Before, want[p.Part])
		}
	}
	// One side's log has no times: both are told without.
	for _, p := range compareTimes(timed(300*time.Millisecond, 700*time.Millisecond), timed(time.Millisecond, 0)) {
		if p.Part == partBehind || p.Part == partWeb {
			t.Errorf("compared with nothing: %+v", p)
		}
	}
	// Work beside requests takes longer than they do.
	for _, p := range compareTimes(timed(3*time.Second, 0), nil) {
		if p.Part != partStatement {
			t.Errorf("time that is not there: %+v", p)
		}
	}
}

// TestResources: of CPUs the host's is marked, whatever service is heaviest.
func TestResources(t *testing.T) {
	d := func(name string, use float64) diagnose.Demand {
		return diagnose.Demand{Resource: name, Utilization: use}
	}
	before := &Side{Binds: "cpu: db", Demands: []diagnose.Demand{d("cpu of a", 0.3), d("cpu: db", 0.9), d("cpu of b", 0.9), d("cpu: other processes of b", 0.05), d("disk: vda of b", 0.2)}}
	after := &Side{Binds: "workers: php", Demands: []diagnose.Demand{d("cpu of a", 0.4), d("cpu of b", 0.2)}, Next: []diagnose.Next{{Resource: "workers: php", Factor: 1.25}, {Resource: "cpu of a", Factor: 2}}}
	got := resources(before, after)
	if len(got) != 4 || got[0].Name != "workers: php" || !got[0].Binds || *got[0].After != 0.8 || got[0].Before != nil {
		t.Fatalf("%+v", got)
	}
	for _, r := range got {
		if r.BoundBefore != (r.Name == "cpu of b") || r.Binds && r.Name != "workers: php" {
			t.Errorf("%+v", r)
		}
		if r.Name == "cpu of b" && (r.OthersBefore != 0.05 || *r.After != 0.2) {
			t.Errorf("%+v", r)
		}
	}
	if got := resources(nil, nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
