package report

import (
	"strings"
	"testing"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// TestCutSession: a session that was cut short has measured no end, and every
// form says so.
func TestCutSession(t *testing.T) {
	kept := Step{Step: store.Step{Seq: 1, Kept: true, Plan: remedy.Plan{Title: "first"}, Verdict: experiment.Verdict{Outcome: experiment.Improved, Pairs: 2, CandidateScore: 20}}}
	for _, x := range []struct {
		name  string
		steps []Step
		score Score
		want  map[string]string
	}{
		{"something was kept", []Step{kept}, Score{AsFound: 10, Final: 20, Factor: 2}, map[string]string{"Last kept change": "20 points/s", "Factor": "×2.00", "After restarting every service": "not measured"}},
		{"nothing was kept", nil, Score{AsFound: 10, Final: 10, Factor: 1}, map[string]string{"Last kept change": "nothing was kept", "Factor": "not known"}},
		{"to its end", []Step{kept}, Score{AsFound: 10, Final: 21, Factor: 2.1, Measured: true}, map[string]string{"At the end": "21 points/s", "Factor": "×2.10"}},
	} {
		m := &Model{Session: store.Session{State: "interrupted", AsFound: 10}, Score: x.score, Steps: x.steps, Setup: Setup{Runs: make([]SetupRun, 2)}}
		page, md := strings.ReplaceAll(render(t, HTML, m), "\u00a0", " "), render(t, Markdown, m)
		for name, text := range x.want {
			if want := "| " + name + " | " + text + " |"; !strings.Contains(md, want) {
				t.Errorf("%s: Markdown does not hold %q", x.name, want)
			}
			if want := "<dt>" + name + "</dt>"; !strings.Contains(page, want) || !strings.Contains(page, ">"+text+"</dd>") {
				t.Errorf("%s: the page does not hold %s %s", x.name, want, text)
			}
		}
		if !m.Score.Measured && strings.Contains(md, "| At the end |") {
			t.Errorf("%s: Markdown tells an end that was not measured", x.name)
		}
	}
}

// TestByHand: a kept step without commands says what to do instead, in both
// forms.
func TestByHand(t *testing.T) {
	s := Step{Step: store.Step{Seq: 1, Kept: true, Plan: remedy.Plan{Title: "more users"}}}
	file := s
	file.Seq, file.Tx, file.Diffs = 2, 7, []store.Diff{{Title: "/etc/a", Kind: "file", Text: "+a"}}
	m := &Model{Steps: []Step{s, file}}
	page, md := render(t, HTML, m), render(t, Markdown, m)
	for _, want := range []string{"- By hand: nothing on the target to do by hand\n", "- By hand: make the change below and let the service read it; `kasoku export DIR` writes it as a script\n",
		"- Undo: nothing to undo: the target itself was not changed\n", "- Undo: `kasoku undo 7`\n"} {
		if !strings.Contains(md, want) {
			t.Errorf("Markdown does not hold %q", want)
		}
		name, text, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(want, "- ")), ": ")
		for i := 0; strings.Contains(text, "`"); i++ {
			text = strings.Replace(text, "`", []string{"<code>", "</code>"}[i%2], 1)
		}
		if html := "<dt>" + name + "</dt><dd>" + text + "</dd>"; !strings.Contains(page, html) {
			t.Errorf("the page does not hold %q", html)
		}
	}
}
