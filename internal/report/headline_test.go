package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// TestHeadlineMeanwhile: what is being tried has not been judged.
func TestHeadlineMeanwhile(t *testing.T) {
	kept := Step{Step: store.Step{Kept: true, Verdict: experiment.Verdict{Outcome: experiment.Improved, Pairs: 3}}}
	under, done := Step{}, Step{Step: store.Step{Verdict: experiment.Verdict{Outcome: experiment.NoDifference}}}
	for _, c := range []struct {
		state string
		score Score
		steps []Step
		want  string
	}{
		{"running", Score{}, nil, "The service is being measured as found."},
		{"failed", Score{}, nil, "The session ended before the service was measured as found."},
		{"running", Score{AsFound: 94}, nil, "94 points/s as found; nothing was judged yet."},
		{"running", Score{AsFound: 94}, []Step{under}, "94 points/s as found; nothing was judged yet."},
		{"interrupted", Score{AsFound: 94}, []Step{under}, "94 points/s as found; nothing was judged yet."},
		{"running", Score{AsFound: 94}, []Step{done, under}, "94 points/s as found; the one change that was tried was not better, and was put back."},
		{"done", Score{AsFound: 94}, nil, "94 points/s as found; nothing was tried."},
		{"done", Score{AsFound: 94, Final: 188, Factor: 2}, []Step{kept}, "×2.00 the score in 0 s: 188 points/s instead of 94 points/s. The one change that was tried was kept."},
		{"done", Score{AsFound: 94, Final: 188, Factor: 2}, []Step{kept, kept}, "×2.00 the score in 0 s: 188 points/s instead of 94 points/s. Both changes that were tried were kept."},
		{"done", Score{AsFound: 94, Final: 188, Factor: 2}, []Step{kept, kept, kept}, "×2.00 the score in 0 s: 188 points/s instead of 94 points/s. All 3 changes that were tried were kept."},
		{"done", Score{AsFound: 94, Final: 188, Factor: 2}, []Step{kept, done}, "×2.00 the score in 0 s: 188 points/s instead of 94 points/s. 1 of the 2 changes that were tried was kept."},
		{"running", Score{AsFound: 94, Final: 190, Factor: 2}, []Step{kept, kept, done, under}, "×2.00 the score in 0 s. 2 of the 3 changes that were tried were kept."},
	} {
		m := &Model{Session: store.Session{Command: "tune", State: c.state}, Score: c.score, Steps: c.steps}
		if c.state == "done" {
			m.Session.Compared = &store.Compared{By: store.ByPairs}
		}
		if got := headline(m); got != c.want {
			t.Errorf("%s with %d steps: %q, want %q", c.state, len(c.steps), got, c.want)
		}
	}
}

// Only runs in turn are called a gain: two scores of two times are shown without a factor, and
// more users are told from changes only where both were measured in turn with the service as found.
func TestGainIsOfRunsInTurn(t *testing.T) {
	step := Step{Step: store.Step{Seq: 1, Kept: true, Verdict: experiment.Verdict{Outcome: experiment.Improved, Effect: 0.5, Low: 0.4, High: 0.6, Pairs: 3, BaselineScore: 100, CandidateScore: 150}}}
	session := store.Session{Command: "tune", State: "interrupted", AsFound: 50, AsFoundWorkload: 8}
	said := func(s store.Session) string {
		m := &Model{Session: s, Steps: []Step{step}}
		m.addScore()
		m.Headline, m.Caveats = headline(m), caveats(m)
		var page, text strings.Builder
		if err := HTML(&page, m); err != nil {
			t.Fatal(err)
		}
		if err := SessionText(&text, m); err != nil {
			t.Fatal(err)
		}
		return page.String() + text.String()
	}
	done := session
	done.State, done.Final, done.FinalWorkload, done.FinalAsFoundLoad = "done", 210, 32, 130
	done.Compared = &store.Compared{By: store.ByPairs, AsFound: 70, Final: 210, Factor: 3, Low: 2.9, High: 3.1, Pairs: 3}
	inTurn := done
	both := *done.Compared
	both.SameLoad = &store.Compared{By: store.ByPairs, AsFound: 70, Final: 126, Factor: 1.8, Low: 1.7, High: 1.9, Pairs: 3}
	inTurn.Compared = &both
	for _, c := range []struct {
		name      string
		session   store.Session
		says, not []string
	}{
		{"not at its end", session, []string{"×1.50 the score", "the experiments of the kept changes, multiplied", "the session did not come to it"}, []string{"×3.00"}},
		{"more users", done, []string{"×3.00 the score", "210 points/s instead of 70 points/s", "8 users as found, 32 at the end. Part of the factor"}, []string{"×2.60", "×1.86", "×4.20"}},
		{"more users in turn", inTurn, []string{"×3.00 the score", "With 8 users at both ends the factor is ×1.80 (95 %: ×1.70 to ×1.90)"}, []string{"Part of the factor", "×1.86", "×4.20"}},
	} {
		got := said(c.session)
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q", c.name, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q is said", c.name, not)
			}
		}
	}
}

// TestRepeatedRunsAreACaveat: from a tenth of the runs on.
func TestRepeatedRunsAreACaveat(t *testing.T) {
	m := &Model{Session: store.Session{Command: "tune", State: "done"}}
	steal := "other virtual machines took 20 % of the CPU (steal)"
	m.addRuns([]store.Run{{Kind: store.Scored, Unfit: steal}, {Kind: store.Scored}, {Kind: store.Probe}, {Kind: store.Diagnostic, Unfit: "not counted"}})
	want := "1 of 3 runs were no evidence and had to be made again (the last: " + steal + "). On a quieter machine the same time tries more."
	if got := caveats(m); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	m.Runs.Scored = 10
	if got := caveats(m); len(got) != 0 {
		t.Errorf("one of 11 runs: %q", got)
	}
}

// TestCommandsOfCaveats stand as code, not between back quotes.
func TestCommandsOfCaveats(t *testing.T) {
	m := &Model{Session: store.Session{Command: "tune", State: "interrupted", AsFound: 10}, Score: Score{AsFound: 10}}
	m.Caveats = caveats(m)
	var page, text bytes.Buffer
	if err := HTML(&page, m); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&text, m); err != nil {
		t.Fatal(err)
	}
	if want := "interrupted; <code>kasoku tune</code> goes on"; !strings.Contains(page.String(), want) {
		t.Errorf("the page has no %q", want)
	}
	if want := "> The session was interrupted; `kasoku tune` goes on"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in %s", want, text.String())
	}
	for s, want := range map[string]string{
		"a * and `b * c` and *": "a \\* and `b * c` and \\*",
		"`a` b":                 "`a` b",
		"one ` alone <b>":       "one \\` alone &lt;b&gt;",
	} {
		if got := mdCoded(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Points that somebody else's benchmark counts over its whole run are never shown as
// points of a second.
func TestPointsOfARun(t *testing.T) {
	session := store.Session{PerRun: true, UsersAssumed: true, AsFound: 3300, Final: 7400, State: "done"}
	m := &Model{Session: session, Score: Score{AsFound: 3300, Final: 7400, Factor: 2.24, Measured: true, Unit: session.Unit()}}
	var out strings.Builder
	m.Headline = headline(m)
	if err := SessionText(&out, m); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "points/s") || !strings.Contains(text, "as found  3.30k points\n") || !strings.Contains(text, "7.40k points") {
		t.Error(text)
	}
	if text := fmt.Sprint(facts(m)); strings.Contains(text, "points/s") || !strings.Contains(text, "7,400 points") {
		t.Error(text)
	}
}

// What bound before the last kept change is not said to bind now.
func TestBottleneckOfBefore(t *testing.T) {
	for before, want := range map[bool]string{false: "Bottleneck now: CPU", true: "Bottleneck before the last kept change: CPU"} {
		m := &Model{Session: store.Session{AsFound: 10, Final: 20, State: "done", BindsText: "CPU is full", BindsBefore: before}}
		var out strings.Builder
		if err := SessionText(&out, m); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}
