package report

import (
	"strings"
	"testing"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// TestUnderWay: what is being tried is no fault; of a session that has ended it
// was not finished.
func TestUnderWay(t *testing.T) {
	steps := []Step{{Step: store.Step{Seq: 1, Plan: remedy.Plan{Title: "first"}, Verdict: experiment.Verdict{Outcome: experiment.Failed}}},
		{Step: store.Step{Seq: 2, Plan: remedy.Plan{Title: "second"}}}}
	for _, x := range []struct {
		state, says, not string
		seq, faults      int
	}{
		{"running", "under way", "not finished", 2, 1},
		{"interrupted", "not finished", "under way", 0, 1},
	} {
		m := &Model{Session: store.Session{State: x.state, AsFound: 10}, Score: Score{AsFound: 10}, Steps: steps}
		picture := drawTimeline(timelineMarks(m), wideLayout)
		if m.UnderWay() != x.seq || !strings.Contains(picture, x.says) || strings.Contains(picture, x.not) {
			t.Errorf("%s: step %d, %s", x.state, m.UnderWay(), picture)
		}
		if n := strings.Count(picture, `"fault"`); n != 2*x.faults { // two strokes
			t.Errorf("%s: %d strokes of crosses: %s", x.state, n, picture)
		}
	}
}

// TestLevelsAreBelow: the solid line is drawn before all marks, which it would
// cross out.
func TestLevelsAreBelow(t *testing.T) {
	m := &Model{Score: Score{AsFound: 10}, Steps: []Step{
		{Step: store.Step{Seq: 1, Verdict: experiment.Verdict{Outcome: experiment.NoDifference, CandidateScore: 10}}},
		{Step: store.Step{Seq: 2, Kept: true, Verdict: experiment.Verdict{Outcome: experiment.Improved, CandidateScore: 20}}}}}
	marks := timelineMarks(m)
	picture := drawTimeline(marks, narrowLayout)
	first := strings.Index(picture, `"mark-`)
	if n := strings.Count(picture[:max(first, 0)], `"level"`); n < len(marks) {
		t.Errorf("%d of %d parts of the line come before the first mark: %s", n, len(marks), picture)
	}
}

// TestProofWithoutPairs has no row for them; an effect that nobody measured is
// not told.
func TestProofWithoutPairs(t *testing.T) {
	s := Step{Step: store.Step{Seq: 1, Verdict: experiment.Verdict{Outcome: experiment.Improved, Pairs: 3, Effect: 0.1, Low: 0.05, High: 0.15}}}
	if picture := string(proof(s, 0.01)); strings.Contains(picture, "each pair") || !strings.Contains(picture, ">effect<") {
		t.Error(picture)
	}
	for p := range 2 {
		s.Verdict.Samples = append(s.Verdict.Samples, experiment.Sample{Side: experiment.Baseline, Pair: p, Score: 100}, experiment.Sample{Side: experiment.Candidate, Pair: p, Score: 110})
	}
	if picture := string(proof(s, 0.01)); !strings.Contains(picture, "each pair") {
		t.Error(picture)
	}
	if got := Effect(experiment.Verdict{Outcome: experiment.Failed, Pairs: 2}); got != "" {
		t.Errorf("a failure before an effect was known: %q", got)
	}
	if got := Effect(experiment.Verdict{Pairs: 2, Effect: 0.1, Low: 0.05, High: 0.15}); got != "+10.0 % (+5.0 % … +15.0 %)" {
		t.Error(got)
	}
}

func TestHeads(t *testing.T) {
	s := Section{Columns: []string{"route", ">p50", "`statement", ">of time", "→"}}
	var got []string
	for _, c := range s.Head() {
		got = append(got, c.Text)
	}
	if strings.Join(got, " ") != "Route p50 Statement Of time →" || !s.Many() {
		t.Errorf("%q, many: %t", got, s.Many())
	}
}
