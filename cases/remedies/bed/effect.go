package bed

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// Effect measures what a plan brings to this bed, in answers per second, if
// KASOKU_EFFECTS names a file; once for each plan. The bed as it is is the
// baseline. A plan whose answers are wrong or that cannot be put in force fails
// the test.
func (b *Bed) Effect(t testing.TB, p remedy.Plan) {
	t.Helper()
	if !effecttest.Measuring() || b.Unmeasured || b.measured[p.ID] || p.Remedy == "" || p.Remedy == remedy.GroupID { // a test's own plan and a join of others are no remedies
		return
	}
	if b.measured == nil {
		b.measured = map[string]bool{}
	}
	b.measured[p.ID] = true
	var tx change.Tx
	named := p
	named.ID = strings.ReplaceAll(p.ID, b.Dir+"/", "") // a folder of this run only
	// Errors as found may be the sign itself.
	may, must := func() float64 { return b.score(t, "baseline", true) }, func() float64 { return b.score(t, p.ID, false) }
	effecttest.Measure(t, named, effecttest.Answers, may, must, func() { tx = b.apply(t, p) }, func() { b.Revert(t, tx) })
}

// score of one run: right answers per second. Errors fail the test unless they may
// be; wrong answers do.
func (b *Bed) score(t testing.TB, label string, mayFail bool) float64 {
	t.Helper()
	bench := *b.Bench
	bench.Window, bench.Warmup, bench.Instruments.Plain = effecttest.Window, effecttest.Warmup, true
	run, err := bench.Run(t.Context(), tune.RunOptions{Kind: store.Scored, Label: label})
	if err != nil {
		t.Fatal(err)
	}
	if ev := run.Evidence.Load; ev.Mismatches > 0 || ev.Errors+ev.Timeouts > 0 && !mayFail || ev.Succeeded == 0 {
		t.Fatalf("%s: %d right, %d wrong, %d errors, %d time-outs", label, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts)
	}
	return float64(run.Evidence.Load.Succeeded) / run.Evidence.Load.Window.Seconds()
}
