package tune

import (
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// otherRun was made with another configuration.
const otherRun = 9

// What was cut off goes on with its pairs, unless a side is another by now.
func TestCutOff(t *testing.T) {
	plan := func(value string) remedy.Plan {
		return remedy.Plan{ID: "a", Changes: []change.Change{{Kind: change.KindVariable, Variable: "v", AfterValue: value}}}
	}
	cut := store.Step{Plan: plan("1"), Verdict: experiment.Verdict{Outcome: experiment.Inconclusive, Samples: []experiment.Sample{{Pair: 1}, {Pair: 1}}}}
	other := cut
	other.Verdict.Samples = []experiment.Sample{{Pair: 1, RunID: otherRun}, {Pair: 1, RunID: otherRun}}
	put := store.Step{Plan: remedy.Plan{ID: "b"}}
	kept := store.Step{Plan: remedy.Plan{ID: "b"}, Kept: true, Tx: 7}
	look := store.Step{Plan: remedy.Plan{ID: "c"}, LeavesOut: []int{1}, Ended: time.Now()}
	out := look
	out.Tx = 8
	open := look
	open.Ended = time.Time{}
	more := cut
	more.Verdict.Earlier = 1
	whole := cut
	whole.Verdict.Outcome = experiment.NoDifference
	fewer := cut
	fewer.Verdict.MaxPairs = 40
	as := cut
	as.Verdict.MaxPairs = 400
	fitted := cut
	fitted.Verdict.MaxPairs, fitted.Verdict.Fitted = 8, true
	few := fitted
	few.Verdict.TooFew = true
	now := store.Step{Plan: plan("1")}
	found := plan("1")
	found.Search = &remedy.Search{}
	for name, c := range map[string]struct {
		steps []store.Step
		plan  remedy.Plan
		want  int
	}{
		"it goes on":                         {[]store.Step{kept, cut, put, now}, plan("1"), 2},
		"with its last attempt":              {[]store.Step{{Plan: plan("1"), Verdict: experiment.Verdict{Outcome: experiment.Inconclusive}}, cut, now}, plan("1"), 2},
		"another value":                      {[]store.Step{cut, put, now}, plan("2"), 0},
		"another baseline":                   {[]store.Step{cut, kept, now}, plan("1"), 0},
		"looked at again, and it stays":      {[]store.Step{cut, look, now}, plan("1"), 2},
		"something was taken out":            {[]store.Step{cut, out, now}, plan("1"), 0},
		"it is not known what was":           {[]store.Step{cut, open, now}, plan("1"), 0},
		"somebody changed the baseline":      {[]store.Step{other, now}, plan("1"), 0},
		"and it was begun anew":              {[]store.Step{other, cut, now}, plan("1"), 2},
		"twice":                              {[]store.Step{cut, put, cut, now}, plan("1"), 4},
		"twice, the second with the first's": {[]store.Step{cut, more, now}, plan("1"), 2},
		"it might have had fewer pairs":      {[]store.Step{fewer, now}, plan("1"), 0},
		"fewer, and then as many":            {[]store.Step{fewer, as, now}, plan("1"), 2},
		"it might have had as many":          {[]store.Step{as, now}, plan("1"), 2},
		"as many as fitted then":             {[]store.Step{fitted, put, now}, plan("1"), 2},
		"as many as fitted, and fewer":       {[]store.Step{fitted, fewer, now}, plan("1"), 0},
		"what fitted could not tell":         {[]store.Step{fitted, few, now}, plan("1"), 0},
		"it was not cut off":                 {[]store.Step{whole, now}, plan("1"), 0},
		"a number that is looked for":        {[]store.Step{cut, now}, found, 0},
		"nothing was tried":                  {[]store.Step{now}, plan("1"), 0},
	} {
		got, err := cutOff(c.steps, &c.plan, 400, func(run int64) (bool, error) { return run != otherRun, nil })
		if err != nil || len(got.runs) != c.want {
			t.Errorf("%s: %d runs, want %d; %v", name, len(got.runs), c.want, err)
		}
		if name == "as many as fitted then" && (got.maxPairs != 8 || !got.fitted) {
			t.Errorf("%s: it goes on with the looks of %d pairs, fitted %v", name, got.maxPairs, got.fitted)
		}
	}
}
