package report

import (
	"bytes"
	"strings"
	"testing"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Each outcome has the exit code of docs/reference/exit-codes.md and says what to do now.
func TestWhatATrialTells(t *testing.T) {
	told := map[string]bool{}
	for _, c := range []struct {
		verdict experiment.Verdict
		code    int
		next    string
	}{
		{experiment.Verdict{Outcome: experiment.Improved}, 0, "with keep"},
		{experiment.Verdict{Outcome: experiment.NoDifference}, 10, "something else"},
		{experiment.Verdict{Outcome: experiment.Regressed}, 11, "do not make"},
		{experiment.Verdict{Outcome: experiment.Inconclusive}, 12, "stop what else runs"},
		{experiment.Verdict{Outcome: experiment.Inconclusive, OutOfTime: true}, 12, "more time"},
		{experiment.Verdict{Outcome: experiment.Broke}, 13, "every answer is right"},
		{experiment.Verdict{Outcome: experiment.Tampered}, 14, "leave scenario"},
		{experiment.Verdict{Outcome: experiment.Failed}, 4, "the target is as it was"},
		{experiment.Verdict{Outcome: experiment.Failed, Refused: true}, 3, "nothing was activated"},
	} {
		st := &store.Step{ID: 7, Plan: remedy.Plan{Title: "a change"}, Verdict: c.verdict}
		r := Trial(st)
		if r.ExitCode != c.code || !strings.Contains(r.Next, c.next) || told[r.Next] {
			t.Errorf("%+v: exit code %d, next %q; want %d, %q", c.verdict, r.ExitCode, r.Next, c.code, c.next)
		}
		told[r.Next] = true
		var b bytes.Buffer
		if err := StepText(&b, st); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: a blank at the end of %q", c.verdict.Outcome, line)
			}
		}
	}
	kept := Trial(&store.Step{Kept: true, Tx: 5, Verdict: experiment.Verdict{Outcome: experiment.Improved}})
	if !strings.Contains(kept.Next, "kasoku undo 5") {
		t.Errorf("kept: %q", kept.Next)
	}
}
