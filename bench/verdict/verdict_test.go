package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"kasoku/internal/experiment"
)

func sample() *Recording {
	r := &Recording{WindowMS: 2000}
	for i := range 50 {
		r.Runs = append(r.Runs, Recorded{TookMS: 3000, Score: 100 + float64(i%7), Foreign: 0.01, P99US: 1000,
			Times: []int64{0, 500, 1000, 2000}, Counts: []int64{0, 10, 20, 60}})
	}
	return r
}

// In its first second this run answered half as fast as on average over both.
func TestATraceIsCutToAShorterWindow(t *testing.T) {
	whole, half := newTrace(sample(), 0, 0.1), newTrace(sample(), 1e9, 0.1)
	if got := half.runs[3].score / whole.runs[3].score; math.Abs(got-20.0/30) > 1e-9 {
		t.Errorf("the score changes by %g", got)
	}
	if whole.runs[0].took != 3 || half.runs[0].took != 2 {
		t.Errorf("runs take %g and %g s", whole.runs[0].took, half.runs[0].took)
	}
}

func TestForeignLoadMakesARunUnfitUnlessMostAre(t *testing.T) {
	r := sample()
	r.Runs[1].Foreign = 0.5
	if tr := newTrace(r, 0, 0.1); tr.loud || tr.runs[1].unfit == "" || tr.runs[0].unfit != "" {
		t.Errorf("loud %v, unfit %q and %q", tr.loud, tr.runs[0].unfit, tr.runs[1].unfit)
	}
	for i := range r.Runs {
		r.Runs[i].Foreign = 0.5
	}
	if tr := newTrace(r, 0, 0.1); !tr.loud || tr.runs[1].unfit != "" {
		t.Error("a loud recording is not replayed as if all were allowed")
	}
}

func TestARecordingComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	if err := sample().save(filepath.Join(dir, "a"+suffix)); err != nil {
		t.Fatal(err)
	}
	got, err := loadAll(dir)
	if err != nil || len(got) != 1 || got[0].Name != "a" || got[0].Runs[9].Score != 102 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := loadAll(t.TempDir()); err == nil {
		t.Error("an empty folder gave no error")
	}
}

// Same seed, same figures; and an effect that is there is found.
func TestACellIsTheSameEachTime(t *testing.T) {
	fill := func(effect float64) *cell {
		c := &cell{trace: newTrace(sample(), 0, 0.1), method: method{"Kasoku", kasoku(experiment.DefaultRule())}, effect: effect, n: 50}
		c.fill(t.Context(), 1)
		return c
	}
	a, b, none := fill(0.3), fill(0.3), fill(0)
	if a.kept != b.kept || a.runs != b.runs || a.kept < 45 || none.kept > 5 {
		t.Errorf("kept %d and %d of 50 with an effect of 30 %%, %d without", a.kept, b.kept, none.kept)
	}
}

// At 30 answers a second a brief window has 40 of them, in tenths of a second.
func TestTheFirstPairsOfAPromiseAreBrief(t *testing.T) {
	tr := newTrace(sample(), 0, 0.1)
	if got, want := tr.brief[3].score/tr.runs[3].score, (36/1.4)/30; math.Abs(got-want) > 1e-9 || math.Abs(tr.brief[3].took-2.4) > 1e-9 {
		t.Errorf("the score changes by %g, want %g; it took %g s", got, want, tr.brief[3].took)
	}
	p := &replay{trace: tr, brief: briefPairs}
	for pair := range briefPairs + 1 {
		s, _ := p.Measure(t.Context(), experiment.Baseline, pair+1)
		if brief := s.Score == tr.brief[pair].score; brief != (pair < briefPairs) {
			t.Errorf("pair %d is brief: %v", pair+1, brief)
		}
	}
}

// What is cut off goes on: an effect is found as if it had not been, with some
// more runs at most for the lower level of the second attempt.
func TestAnExperimentThatIsCutOffGoesOn(t *testing.T) {
	fill := func(keep func(experiment.Rule) func(*replay, *rand.Rand) bool) *cell {
		c := &cell{trace: newTrace(sample(), 0, 0.1), method: method{"Kasoku", keep(experiment.DefaultRule())}, effect: 0.05, n: 50}
		c.fill(t.Context(), 1)
		return c
	}
	whole, parts := fill(kasoku), fill(kasokuCut)
	if whole.kept < 45 || parts.kept < 45 || parts.runs > 2*whole.runs {
		t.Errorf("kept %d and %d of 50, %d and %d runs", whole.kept, parts.kept, whole.runs, parts.runs)
	}
}
