package tune

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// A restart of the database cut the application's kept connections, and both sides
// answered 500 by the hundred: that baseline is no evidence, and such a candidate is
// broken, although the benchmark counts none of it.
func TestErrorsOfTheServerAreSeen(t *testing.T) {
	run := erred
	b := foreignBench()
	for _, c := range []struct {
		about  string
		side   experiment.Side
		errors int64
		unfit  bool
	}{
		{"as found, with a few", "", 10, false},
		{"a baseline with as many", experiment.Baseline, 12, false},
		{"a baseline after a restart", experiment.Baseline, 1460, true},
		{"a candidate is judged by the verdict", experiment.Candidate, 1460, false},
	} {
		r := run(c.side, c.errors)
		if b.judgeErrors(r); (r.Unfit != "") != c.unfit || c.unfit && !strings.Contains(r.Unfit, "1460 of 5000 answers in the access log of web") {
			t.Errorf("%s: %q", c.about, r.Unfit)
		}
	}
	// After the first experiment the service as it is left is judged, too; a session that
	// goes on learns from its first run.
	b.scored.sides = map[experiment.Side]*store.Run{}
	if r := run("", 1460); true {
		if b.judgeErrors(r); r.Unfit == "" {
			t.Error("the service as it is left answers errors that it did not as found")
		}
	}
	again := &Bench{Stack: b.Stack, scored: scored{sides: b.scored.sides}}
	for _, r := range []*store.Run{run(experiment.Baseline, 400), run(experiment.Baseline, 420)} {
		if again.judgeErrors(r); r.Unfit != "" {
			t.Errorf("taken up again: %s", r.Unfit)
		}
	}
	if s := sample(run(experiment.Candidate, 1460)); s.Failures != 1460 || s.Requests != 5000 || !strings.Contains(s.Broken, "5xx") {
		t.Errorf("%+v", s)
	}
	deadlocks := run(experiment.Candidate, 1460)
	deadlocks.Evidence.Counters = map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Innodb_deadlocks": 9}}}
	if s := sample(deadlocks); !strings.Contains(s.Broken, "db rolled 9 transactions back in deadlocks") {
		t.Errorf("%+v", s)
	}
	limits := run(experiment.Candidate, 1460)
	limits.Evidence.Load.Mismatches = 48
	limits.Evidence.Load.Samples = []load.Mismatch{{Request: "POST /login", Expected: "status 302", Got: "status 429"}}
	if s := sample(limits); !strings.Contains(s.Broken, "got status 429; the service limits how often one visitor may ask (429 Too Many Requests)") {
		t.Errorf("%+v", s)
	}
	limits.Evidence.Load.Samples[0].Got = "status 503"
	if s := sample(limits); strings.Contains(s.Broken, "limits how often") {
		t.Errorf("a 503 of whatever cause: %s", s.Broken)
	}
	limits.Evidence.Logs = []evidence.LogLine{{Service: "web", Level: "error", Text: "limiting requests, excess: 20.5 by zone login", Count: 48}}
	if s := sample(limits); !strings.Contains(s.Broken, "limit_req or limit_conn of web") {
		t.Errorf("%+v", s)
	}
	own := &Bench{Stack: &stack.Stack{}}
	if r := run(experiment.Baseline, 1460); true {
		if own.judgeErrors(r); r.Unfit != "" {
			t.Error("Kasoku's own load checks answers itself")
		}
	}
}

// Where answers were wrong and others never came, both are told.
func TestEachKindOfFailureIsTold(t *testing.T) {
	got := brokenAnswers([]load.Mismatch{
		{Kind: "mismatch", Request: "GET /a", Expected: "status 200", Got: "status 500"},
		{Kind: "mismatch", Request: "GET /b", Expected: "status 200", Got: "status 500"},
		{Kind: "timeout", Request: "GET /c", Expected: "an answer within 5s", Got: "none"},
	})
	if want := "GET /a: expected status 200, got status 500; GET /c: expected an answer within 5s, got none"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// erred is a run in which so many of 5,000 answers were errors of the server.
func erred(side experiment.Side, errors int64) *store.Run {
	return &store.Run{Kind: store.Scored, Side: side, Score: 10, Evidence: &evidence.Evidence{
		Load: &load.Result{Requests: 60, Succeeded: 60, Window: time.Second},
		Routes: []digest.Route{{Service: "web", Count: 4000, Status: [6]int64{2: 4000 - errors, 5: errors}}, {Service: "web", Count: 1000, Status: [6]int64{2: 1000}},
			{Service: "behind", Count: 100, Status: [6]int64{5: 100}}}}}
}

func foreignBench() *Bench {
	return &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{Command: &foreign.Command{Argv: []string{"b"}}}}}
}
