package report

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/experiment"
	_ "kasoku/internal/rapidseed"
	"kasoku/internal/store"
)

func TestScale(t *testing.T) {
	lin := valueScale([]float64{40, 100}, 0, 100)
	if lin.log || lin.lo != 0 {
		t.Errorf("40 to 100 is drawn on %+v", lin)
	}
	wide := valueScale([]float64{-2, 0, 10, 101}, 0, 100)
	if !wide.log || wide.lo > 10 || wide.hi < 101 || wide.x(-2) != 0 {
		t.Errorf("10 to 101 is drawn on %+v", wide)
	}
	if none := valueScale(nil, 0, 100); none.x(3) != 100 || len(none.ticks(30)) == 0 {
		t.Errorf("nothing is drawn on %+v", none)
	}
}

func TestTicksAreApartAndInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(1e-3, 1e6).Draw(t, "lo")
		hi := lo * rapid.Float64Range(1, 1e5).Draw(t, "ratio")
		s := valueScale([]float64{lo, hi}, 20, 420)
		ticks := s.ticks(40)
		if len(ticks) == 0 && s.hi/s.lo > 20 || len(ticks) > 14 {
			t.Fatalf("%d ticks on %+v", len(ticks), s)
		}
		for i, v := range ticks {
			if v < s.lo-1e-9 || v > s.hi*1.000001 {
				t.Fatalf("tick %v outside of %+v", v, s)
			}
			if i > 0 && s.x(v)-s.x(ticks[i-1]) < 28 {
				t.Fatalf("ticks %v and %v are %v apart on %+v", ticks[i-1], v, s.x(v)-s.x(ticks[i-1]), s)
			}
		}
	})
}

func TestTickText(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.2: "0.2", 500: "500", 1000: "1k", 2500: "2.5k", 3e6: "3M"} {
		if got := tickText(v); got != want {
			t.Errorf("tickText(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCoordinatesAreNumbers(t *testing.T) {
	for v, want := range map[float64]string{1.25: "1.3", 10: "10", math.NaN(): "0", math.Inf(1): "0", -0.04: "-0"} {
		if got := px(v); got != want {
			t.Errorf("px(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestTimelineOfAnything: whatever the scores are, the picture can be drawn.
func TestTimelineOfAnything(t *testing.T) {
	outcomes := []experiment.Outcome{experiment.Improved, experiment.Regressed, experiment.Broke, experiment.Failed, ""}
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.Float64Range(-10, 1e7), rapid.Float64())
		m := &Model{Score: Score{AsFound: any.Draw(t, "found"), Final: any.Draw(t, "final"), Measured: true, AfterRestart: any.Draw(t, "restart")}}
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			o := rapid.SampledFrom(outcomes).Draw(t, "outcome")
			m.Steps = append(m.Steps, Step{Factor: any.Draw(t, "factor"), Step: store.Step{Kept: o == experiment.Improved,
				Verdict: experiment.Verdict{Outcome: o, CandidateScore: any.Draw(t, "score"), Effect: any.Draw(t, "effect"), Low: any.Draw(t, "low"), High: any.Draw(t, "high"), Pairs: 3}}})
		}
		timeline(m)
		forest(m)
	})
}
