package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/change/secrettest"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// TestAnswersTellNoSecret: no tool's answer or progress tells a secret that
// stands in the store or in what a try came to.
func TestAnswersTellNoSecret(t *testing.T) {
	o := shop(t)
	o.AllowTry = true
	secrets := &secrettest.Plants{Skip: []string{"State", "Session.Command", "Kind", "Rule", "Artifact", "Metric"}}
	v, err := o.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(v.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer v.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	session, err := db.LastSession()
	must(err)
	secrets.Into(session)
	must(db.SaveSession(session))
	step, err := db.Step(1)
	must(err)
	secrets.Into(step)
	must(db.SaveStep(step))
	for _, id := range []int64{1, 2} {
		run, err := db.Run(id)
		must(err)
		secrets.Into(run)
		must(db.SaveRun(run))
	}
	o.Try = func(_ context.Context, _ tune.Proposal, tell tune.Reporter) (*store.Step, error) {
		tell.Step(secrets.Text("a step told"))
		tell.Warn(secrets.Text("a warning"), secrets.Text("a hint"))
		st := &store.Step{ID: 7, Started: time.Now(), Diffs: []store.Diff{{Title: "a", Text: "b"}}, Verdict: experiment.Verdict{Outcome: experiment.Broke, Reason: "wrong",
			Samples: []experiment.Sample{{Side: experiment.Candidate, Mismatches: 3, Broken: "GET /"}}}}
		secrets.Into(st)
		return st, nil
	}
	progress := make(chan string, 10)
	cs := client(t, o, progress)
	for _, c := range []struct {
		tool string
		in   in
	}{
		{"status", in{}}, {"evidence", in{}}, {"evidence", in{"tables": []string{"routes", "statements", "resources", "health"}, "rows": 200}}, {"findings", in{}}, {"plan", in{}}, {"history", in{"runs": true}},
		{"show", in{"what": "run/1", "all": true}}, {"show", in{"what": "run/2"}}, {"show", in{"what": "step/1"}}, {"try", in{"set": []string{"a.b=c"}}},
	} {
		params := &sdk.CallToolParams{Name: c.tool, Arguments: c.in}
		params.SetProgressToken("t")
		res, err := cs.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(res)
		must(err)
		for _, found := range secrets.Found(string(data)) {
			t.Errorf("%s %v tells %s", c.tool, c.in, found)
		}
		if res.IsError {
			t.Errorf("%s: %s", c.tool, data)
		}
		if c.tool == "show" && !strings.Contains(string(data), "[hidden]") {
			t.Errorf("%s %v hides nothing, so it shows nothing: %s", c.tool, c.in, data)
		}
	}
	for range 2 {
		if text := <-progress; len(secrets.Found(text)) > 0 {
			t.Errorf("progress tells %s", text)
		}
	}
	if n := secrets.Count(); n < 40 {
		t.Errorf("only %d secrets were planted", n)
	}
}
