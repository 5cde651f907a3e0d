package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change/secrettest"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// plant puts a secret into every text of a session that the store holds.
func plant(t *testing.T, st *store.Store, id int64) *secrettest.Plants {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// What code compares is left.
	secrets := &secrettest.Plants{Skip: []string{"State", "Session.Command", "Kind", "Tool", "Artifact", "Profile.Service", "Profile.Of", "Metric"}}
	x, err := st.Session(id)
	must(err)
	secrets.Into(x)
	must(st.SaveSession(x))
	steps, err := st.Steps(id)
	must(err)
	for i := range steps {
		secrets.Into(&steps[i])
		must(st.SaveStep(&steps[i]))
	}
	runs, err := st.Runs(store.RunFilter{Session: id})
	must(err)
	for _, r := range runs {
		run, err := st.Run(r.ID)
		must(err)
		if r.ID == x.FinalRun {
			load := run.Evidence.Load
			run.Evidence = fullEvidence("")
			run.Evidence.Load = load
			run.Evidence.Statements = append(run.Evidence.Statements, evidence.Statement{Service: "db", Fingerprint: "SELECT 1", Example: "SELECT 1", Explain: "ALL", Count: 3, Total: time.Second})
		}
		secrets.Into(run)
		must(st.SaveRun(run))
	}
	return secrets
}

// TestNothingSecretIsReported: no form of a report, and no page of text, tells
// a secret of the store.
func TestNothingSecretIsReported(t *testing.T) {
	st, id := sampleStore(t)
	secrets := plant(t, st, id)
	if n := secrets.Count(); n < 300 {
		t.Fatalf("only %d secrets were planted", n)
	}
	look := func(where, text string) {
		t.Helper()
		for i, found := range secrets.Found(text) {
			if i == 5 {
				t.Errorf("%s: and more", where)
				return
			}
			t.Errorf("%s tells %s", where, found)
		}
	}
	m, err := Build(t.Context(), st, id, Options{Now: start.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	look("HTML", render(t, HTML, m))
	look("Markdown", render(t, Markdown, m))
	look("JSON", render(t, JSON, m))
	look("text of the session", render(t, SessionText, m))
	if page := render(t, HTML, m); strings.Count(page, "[hidden]") < 50 {
		t.Errorf("the page says only %d times that something is hidden", strings.Count(page, "[hidden]"))
	}
	runs, err := st.Runs(store.RunFilter{Session: id, Kind: store.Diagnostic})
	if err != nil || len(runs) == 0 {
		t.Fatal(err, len(runs))
	}
	for _, r := range runs {
		run, err := st.Run(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := errors.Join(RunText(&b, run, run, All), RunText(&b, run, run, Most), DiagnosisText(&b, run)); err != nil {
			t.Fatal(err)
		}
		look(fmt.Sprintf("text of run %d", r.ID), b.String())
	}
	steps, err := st.Steps(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		var b bytes.Buffer
		if err := StepText(&b, &s); err != nil {
			t.Fatal(err)
		}
		look(fmt.Sprintf("text of step %d", s.Seq), b.String())
		tried, err := json.Marshal(Trial(&s))
		if err != nil {
			t.Fatal(err)
		}
		look(fmt.Sprintf("JSON of step %d", s.Seq), string(tried))
	}
}

// TestComparisonTellsNoSecret: references and reasons come from others.
func TestComparisonTellsNoSecret(t *testing.T) {
	secrets := &secrettest.Plants{Skip: []string{"Commit", "Metric"}}
	for _, outcome := range []experiment.Outcome{experiment.Improved, experiment.Regressed, experiment.Inconclusive, experiment.Broke, experiment.Failed} {
		c := &tune.Comparison{Verdict: experiment.Verdict{Outcome: outcome, Reason: "because", Pairs: 3, Effect: 0.1, Low: 0.05, High: 0.2}}
		secrets.Into(c)
		var b bytes.Buffer
		if err := errors.Join(ComparisonText(&b, c), ComparisonMarkdown(&b, c), FailedMarkdown(&b, errors.New(secrets.Text("an error")))); err != nil {
			t.Fatal(err)
		}
		for _, found := range secrets.Found(b.String()) {
			t.Errorf("%s: tells %s", outcome, found)
		}
	}
}

// TestPairTellsNoSecret: neither do two runs beside each other.
func TestPairTellsNoSecret(t *testing.T) {
	secrets := &secrettest.Plants{Skip: []string{"Artifact"}}
	a, b := &store.Run{Evidence: before()}, &store.Run{Evidence: after()}
	secrets.Into(a)
	secrets.Into(b)
	text, err := json.Marshal(Pair(a, b))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range secrets.Found(string(text)) {
		t.Error(found)
	}
	if !strings.Contains(string(text), "[hidden]") {
		t.Errorf("nothing of the runs is left: %s", text)
	}
}
