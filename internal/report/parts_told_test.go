package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Of a step of several changes each is told with its own reason, in one sentence, what
// was expected of it and what it brought when it was taken out alone.
func TestPartsTold(t *testing.T) {
	small := remedy.Part{ID: "group:d+e", Title: "2 small changes", Small: true, Of: []string{"d", "e"}, LookedAgain: 4,
		Each: []remedy.Part{{ID: "d", Title: "Backlog", Why: "It is 128."}, {ID: "e", Title: "Ports", Why: "They are few."}}}
	parts := []remedy.Part{
		{ID: "a", Title: "Index", Why: "3.29 of 3.32 ms are scans, e.g. of users. The table has 10 rows.", Bound: 4, Reach: 0.5, LookedAgain: 2},
		{ID: "b", Title: "Compress", Why: "Nothing is. It costs CPU.", LookedAgain: 3, LeftOut: true}, small}
	took := func(seq int, effect, low, high float64) Step {
		return Step{Step: store.Step{Seq: seq, LeavesOut: []int{1}, Verdict: experiment.Verdict{Effect: effect, Low: low, High: high, Pairs: 4}}}
	}
	step := Step{Step: store.Step{Seq: 1, Kept: true, Plan: remedy.Plan{Title: "4 changes together: Index; Compress; Backlog; Ports", Parts: parts, Why: "All of it."}}}
	m := &Model{Session: store.Session{Ended: time.Now()}, Steps: []Step{step, took(2, 0.5, 0.4, 0.6), took(3, -0.01, -0.05, 0.03), took(4, 0.2, 0.1, 0.3)}}
	m.Steps[0].Parts = m.parts(step)
	want := [][4]string{
		{"Index", "3.29 of 3.32 ms are scans, e.g. of users.", "×1.60", "+50.0 % (+40.0 % … +60.0 %)"},
		{"Compress", "Nothing is.", "–", "no effect shown; taken out"},
		{"Backlog", "It is 128.", "–", "only with the others"},
		{"Ports", "They are few.", "–", "only with the others"},
	}
	if len(m.Steps[0].Parts) != len(want) {
		t.Fatalf("%d changes: %+v", len(m.Steps[0].Parts), m.Steps[0].Parts)
	}
	for i, p := range m.Steps[0].Parts {
		if got := [4]string{p.Title, p.Reason, p.PredictedText(), p.MeasuredText()}; got != want[i] {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
	if got := m.Steps[0].Title(); got != "4 changes together" {
		t.Errorf("the step is called %q", got)
	}
	var page, md bytes.Buffer
	if err := HTML(&page, m); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&md, m); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "All of it.") || strings.Contains(md.String(), "All of it.") {
		t.Error("the reasons of all changes stand in one paragraph, too")
	}
	for _, w := range want {
		if !strings.Contains(page.String(), `<th scope="row">`+w[0]+`</th><td>`+w[1]) || !strings.Contains(md.String(), "| "+w[0]+" | "+w[1]) {
			t.Errorf("HTML or Markdown does not give %q its reason", w[0])
		}
	}
	if one := (Step{Step: store.Step{Plan: remedy.Plan{Parts: parts[:1]}}}); m.parts(one) != nil {
		t.Error("one change is told as several")
	}
}

// The first screen answers how sure, what was given up, what next, and how to undo;
// findings below ×1.05 are folded.
func TestFirstAnswers(t *testing.T) {
	m := &Model{Session: store.Session{State: "done", Compared: &store.Compared{Pairs: 3, Low: 1.9, High: 2.3}},
		Steps:    []Step{{Step: store.Step{Seq: 1, Kept: true, Tx: 4}, Trades: []Trade{{Text: "logs may become fewer"}}}},
		Findings: []diagnose.Finding{{Title: "Large", Bound: 1.3}, {Title: "Tiny", Bound: 1.04}, {Title: "Unbounded"}}}
	text := map[string]string{}
	for _, f := range answers(m) {
		text[f.Name] = f.Text()
	}
	for name, want := range map[string]string{"How sure": "3 interleaved pairs of runs", "Given up for it": "logs may become fewer", "Next": "Large", "Undo": "kasoku undo --all"} {
		if !strings.Contains(text[name], want) {
			t.Errorf("%s: %q, want %q in it", name, text[name], want)
		}
	}
	big, small := bigFindings(m.Findings), smallFindings(m.Findings)
	if len(big) != 2 || len(small) != 1 || small[0].Title != "Tiny" {
		t.Errorf("open %v, folded %v", big, small)
	}
	m.Steps, m.Findings = nil, small
	for _, f := range answers(m) {
		if f.Name == "How sure" || f.Name == "Given up for it" || f.Name == "Undo" && !strings.Contains(f.Text(), "nothing to undo") || f.Name == "Next" && strings.Contains(f.Text(), "Tiny") {
			t.Errorf("with nothing kept, %s: %q", f.Name, f.Text())
		}
	}
}
