package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/tune"
)

// TestComparing: one sentence for each outcome; "no difference" tells what is
// ruled out.
func TestComparing(t *testing.T) {
	c := &tune.Comparison{Base: tune.Version{Ref: "main", Commit: strings.Repeat("a", 40)}, Head: tune.Version{Ref: "new|one", Commit: strings.Repeat("b", 40), Subject: "Use *less*"}, MaxRegression: 0.02,
		Verdict: experiment.Verdict{Effect: -0.003, Low: -0.012, High: 0.006, Pairs: 5, Runs: 10, Reason: "p = 0.001"}, Took: time.Minute,
		Metrics: []experiment.Shift{{Metric: "score", Baseline: 100, Candidate: 99.7, Effect: -0.003, Low: -0.012, High: 0.006}, {Metric: "failures", Candidate: 0.01, Effect: 19, Low: 3, High: 90}}}
	for outcome, want := range map[experiment.Outcome]string{
		experiment.Improved:     "new|one (bbbbbbbbbb) is faster than main (aaaaaaaaaa): −0.3 % (−1.2 % … +0.6 %).",
		experiment.NoDifference: "Slower by more than 1.2 % is ruled out",
		tune.NotRegressed:       "is not slower than main (aaaaaaaaaa) by more than 2.0 %: −0.3 %",
		experiment.Inconclusive: "cannot be told, it may be anything within −0.3 % (−1.2 % … +0.6 %): p = 0.001.",
		experiment.Broke:        "answers wrongly: p = 0.001.",
		experiment.Failed:       "could not be put in place: p = 0.001.",
	} {
		c.Verdict.Outcome = outcome
		if got := Comparing(c); !strings.Contains(got, want) {
			t.Errorf("%s: %s", outcome, got)
		}
	}
	var b bytes.Buffer
	if err := ComparisonMarkdown(&b, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| score | 100 | 99.7 | −0.3 % | −1.2 % … +0.6 % |", `new\|one`, `Use \*less\*`, "| wrong or failed requests | 0 % | 1.0 % | ×20.0 | ×4.00 … ×91.0 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	b.Reset()
	if err := FailedMarkdown(&b, errors.New("new cannot be built\nline 7: ```\nend")); err != nil || !strings.Contains(b.String(), "````\nline 7: ```\nend\n````") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// TestAnnotation: nothing in a text ends the command or begins another.
func TestAnnotation(t *testing.T) {
	if got := Annotation("error", "a: b, c", "50 %\r\n::warning::x"); got != `::error title=a%3A b%2C c::50 %25\x0d%0A::warning::x` {
		t.Error(got)
	}
}
