// Package effecttest measures what a remedy brings to the small stack of its test,
// for `make bench-effects`. Only tests import it.
package effecttest

import (
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
)

// effectsFile names, in the environment, the file that Measure appends to. Without
// it nothing is measured: `make bench-effects` sets it.
const effectsFile = "KASOKU_EFFECTS"

// The runs behind one effect: few, as there are a hundred remedies; the interval
// tells what they are worth. Pairs are an even number, so that each order comes as
// often as the other.
const (
	pairs  = 8
	Window = 700 * time.Millisecond
	Warmup = 200 * time.Millisecond
)

// Measuring reports whether effects are asked for.
func Measuring() bool { return os.Getenv(effectsFile) != "" }

// Answers is the unit of most scores.
const Answers = "answers/s"

// Measure finds what a plan brings to a stack: before and after make one run each
// and return how many of the unit there were, as found and with the plan; apply and
// revert put it in force and take it back. It appends a line to the file that
// KASOKU_EFFECTS names, and does nothing where none is named.
func Measure(t testing.TB, p remedy.Plan, unit string, before, after func() float64, apply, revert func()) {
	t.Helper()
	MeasureOver(t, p, unit, Window, before, after, apply, revert)
}

// MeasureOver is Measure with runs of another length; 0 where a run ends by itself.
func MeasureOver(t testing.TB, p remedy.Plan, unit string, window time.Duration, before, after func() float64, apply, revert func()) {
	t.Helper()
	if !Measuring() {
		return
	}
	// AB BA AB …: nothing is switched between two runs of one side.
	var baseline, candidate []float64
	for range pairs / 2 {
		baseline = append(baseline, before())
		apply()
		candidate = append(candidate, after(), after())
		revert()
		baseline = append(baseline, before())
	}
	v := experiment.SoFar(baseline, candidate)
	e := remedy.Effect{Remedy: p.Remedy, Plan: p.ID, Test: t.Name(), Unit: unit, Pairs: v.Pairs, Window: window,
		Baseline: v.BaselineScore, Candidate: v.CandidateScore, Effect: v.Effect, Low: v.Low, High: v.High}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(os.Getenv(effectsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s", p.ID, e)
}

// Rate is a run for Measure where there is no scenario: answers per second of four
// clients that ask one after the other.
func Rate(t testing.TB, ask func() error) float64 {
	t.Helper()
	var right atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now().Add(Warmup)
	end := begin.Add(Window)
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
	return float64(right.Load()) / Window.Seconds()
}
