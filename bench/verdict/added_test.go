package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
)

// What was tried in an earlier run counts, and is not tried again.
func TestResultsAreAdded(t *testing.T) {
	all := trials("", regexp.MustCompile(""), 0)
	name := filepath.Join(t.TempDir(), "real.json")
	var done []result
	for i, tr := range all {
		if i%3 == 0 {
			v := experiment.Verdict{Outcome: experiment.NoDifference, Pairs: 40, MaxPairs: experiment.DefaultRule().MaxPairs, Samples: []experiment.Sample{{Pair: 1}}}
			done = append(done, result{trial: tr, verdict: v, kept: tr.part == partGood, took: time.Minute})
		}
	}
	if err := saveResults(name, done); err != nil {
		t.Fatal(err)
	}
	most := experiment.DefaultRule().MaxPairs
	got, err := loadResults(name, "", most)
	if err != nil || len(got) != len(done) || got[0].String() != done[0].String() || got[0].verdict.Samples != nil {
		t.Fatalf("%d results, want %d; %v", len(got), len(done), err)
	}
	rest := untried(all, got)
	if len(rest) != len(all)-len(done) {
		t.Errorf("%d are left of %d, after %d", len(rest), len(all), len(done))
	}
	if again := untried(rest, nil); len(again) != len(rest) {
		t.Errorf("%d of %d", len(again), len(rest))
	}
	counts := map[string]int{}
	for _, r := range got {
		counts[r.part]++
	}
	for _, tr := range rest {
		counts[tr.part]++
	}
	if counts[partAA] != manyAA || counts[partHarm] != 10 || counts[partGood] != 10 {
		t.Errorf("%v", counts)
	}
	done[1].verdict.MaxPairs = 40
	if err := saveResults(name, done); err != nil {
		t.Fatal(err)
	}
	for part, refused := range map[string]bool{"": true, done[1].part: true, partHarm: done[1].part == partHarm} {
		if _, err := loadResults(name, part, most); refused != (err != nil && strings.Contains(err.Error(), "at most 40 pairs")) {
			t.Errorf("results of another rule, with -only %q: %v", part, err)
		}
	}
	if got, err := loadResults(filepath.Join(t.TempDir(), "none"), "", most); err != nil || len(got) != 0 {
		t.Errorf("no file: %d %v", len(got), err)
	}
}
