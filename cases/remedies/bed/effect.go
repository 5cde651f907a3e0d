package bed

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// effectsFile names, in the environment, the file that Effect appends to. Without
// it nothing is measured: `make bench-effects` sets it.
const effectsFile = "KASOKU_EFFECTS"

// The runs behind one effect: few, as there are a hundred remedies; the interval
// tells what they are worth. An even number of pairs, so that each order comes as
// often as the other.
const (
	effectPairs  = 8
	effectWindow = 700 * time.Millisecond
	effectWarmup = 200 * time.Millisecond
)

// Effect measures what a plan brings to this bed, in answers per second: pairs of
// runs in the orders AB and BA in turn, through the journal, the bed as it is
// being the baseline. It appends a line to the file that KASOKU_EFFECTS names, and
// does nothing where none is named. A plan whose answers are wrong or that cannot
// be put in force fails the test.
func (b *Bed) Effect(t testing.TB, p remedy.Plan) {
	t.Helper()
	path := os.Getenv(effectsFile)
	if path == "" {
		return
	}
	if b.measured == nil {
		b.measured = map[string]bool{}
	}
	if b.measured[p.ID] {
		return
	}
	b.measured[p.ID] = true
	var scores [2][]float64 // baseline, candidate
	for pair := range effectPairs {
		order := []bool{false, true}
		if pair%2 == 1 {
			order = []bool{true, false}
		}
		for _, candidate := range order {
			// AB BA AB …: the candidate comes in before the second run of each even
			// pair, and goes after the first of each odd one.
			if !candidate {
				scores[0] = append(scores[0], b.score(t, "baseline"))
				continue
			}
			if pair%2 == 0 {
				b.effectTx = b.apply(t, p)
			}
			scores[1] = append(scores[1], b.score(t, p.ID))
			if pair%2 == 1 {
				b.Revert(t, b.effectTx)
			}
		}
	}
	v := experiment.SoFar(scores[0], scores[1])
	e := remedy.Effect{Remedy: p.Remedy, Plan: p.ID, Test: t.Name(), Pairs: v.Pairs, Window: effectWindow,
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

// score of one run whose answers are all right.
func (b *Bed) score(t testing.TB, label string) float64 {
	t.Helper()
	bench := *b.Bench
	bench.Window, bench.Warmup, bench.Plain = effectWindow, effectWarmup, true
	run, err := bench.Run(t.Context(), tune.RunOptions{Kind: store.Scored, Label: label})
	if err != nil {
		t.Fatal(err)
	}
	if ev := run.Evidence.Load; ev.Mismatches+ev.Errors+ev.Timeouts > 0 || ev.Succeeded == 0 {
		t.Fatalf("%s: %d right, %d wrong, %d errors, %d time-outs", label, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts)
	}
	return run.Score
}
