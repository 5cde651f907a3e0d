package bed

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// effectsFile names, in the environment, the file that Effect appends to. Without
// it nothing is measured: `make bench-effects` sets it.
const effectsFile = "KASOKU_EFFECTS"

// The runs behind one effect: few, as there are a hundred remedies; the interval
// tells what they are worth. Pairs are an even number, so that each order comes as
// often as the other.
const (
	effectPairs  = 8
	effectWindow = 700 * time.Millisecond
	effectWarmup = 200 * time.Millisecond
)

// Effect measures what a plan brings to this bed, in answers per second, if
// KASOKU_EFFECTS names a file; once for each plan. The bed as it is is the
// baseline. A plan whose answers are wrong or that cannot be put in force fails
// the test.
func (b *Bed) Effect(t testing.TB, p remedy.Plan) {
	t.Helper()
	if b.measured[p.ID] || p.Remedy == "" || p.Remedy == remedy.GroupID { // a test's own plan and a join of others are no remedies
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
	Measure(t, named, Answers, may, must, func() { tx = b.apply(t, p) }, func() { b.Revert(t, tx) })
}

// Answers is the unit of most scores.
const Answers = "answers/s"

// Measure is Effect for a stack that is no Bed: before and after make one run each
// and return how many of the unit there were, as found and with the plan; apply and
// revert put it in force and take it back. It appends a line to the file that
// KASOKU_EFFECTS names, and does nothing where none is named.
func Measure(t testing.TB, p remedy.Plan, unit string, before, after func() float64, apply, revert func()) {
	t.Helper()
	path := os.Getenv(effectsFile)
	if path == "" {
		return
	}
	// AB BA AB …: nothing is switched between two runs of one side.
	var baseline, candidate []float64
	for range effectPairs / 2 {
		baseline = append(baseline, before())
		apply()
		candidate = append(candidate, after(), after())
		revert()
		baseline = append(baseline, before())
	}
	v := experiment.SoFar(baseline, candidate)
	e := remedy.Effect{Remedy: p.Remedy, Plan: p.ID, Test: t.Name(), Unit: unit, Pairs: v.Pairs, Window: effectWindow,
		Baseline: v.BaselineScore, Candidate: v.CandidateScore, Effect: v.Effect, Low: v.Low, High: v.High}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s", p.ID, e)
}

// Rate is a run for Measure on a stack that is no Bed: answers per second of four
// clients that ask one after the other.
func Rate(t testing.TB, ask func() error) float64 {
	t.Helper()
	var right atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now().Add(effectWarmup)
	end := begin.Add(effectWindow)
	for range 4 {
		wg.Go(func() {
			for now := time.Now(); now.Before(end); now = time.Now() {
				if err := ask(); err != nil {
					t.Error(err)
					return
				}
				if now.After(begin) {
					right.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(right.Load()) / effectWindow.Seconds()
}

// score of one run: right answers per second. Errors fail the test unless they may
// be; wrong answers do.
func (b *Bed) score(t testing.TB, label string, mayFail bool) float64 {
	t.Helper()
	bench := *b.Bench
	bench.Window, bench.Warmup, bench.Plain = effectWindow, effectWarmup, true
	run, err := bench.Run(t.Context(), tune.RunOptions{Kind: store.Scored, Label: label})
	if err != nil {
		t.Fatal(err)
	}
	if ev := run.Evidence.Load; ev.Mismatches > 0 || ev.Errors+ev.Timeouts > 0 && !mayFail || ev.Succeeded == 0 {
		t.Fatalf("%s: %d right, %d wrong, %d errors, %d time-outs", label, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts)
	}
	return float64(run.Evidence.Load.Succeeded) / run.Evidence.Load.Window.Seconds()
}
