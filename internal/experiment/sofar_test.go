package experiment

import "testing"

// TestSoFar: from the scores alone comes what the experiment told after each pair.
func TestSoFar(t *testing.T) {
	for name, edit := range map[string]func(*Sample, int){
		"as usual":              nil,
		"a run that is no use":  func(s *Sample, n int) { s.Unfit = map[bool]string{true: "foreign load"}[n%5 == 2] },
		"a baseline of nothing": func(s *Sample, n int) { s.Score *= map[bool]float64{true: 0, false: 1}[n < 4 && s.Side == Baseline] },
	} {
		f := newFake(100, 101, 0.02, 3)
		f.edit = func(s *Sample, n int) {
			s.Side = f.sides[n-1]
			if edit != nil {
				edit(s, n)
			}
		}
		told := 0
		_, err := Run(t.Context(), DefaultRule(), f, func(v Verdict) {
			scores := map[Side][]float64{}
			for _, s := range v.Samples {
				if s.Unfit == "" {
					scores[s.Side] = append(scores[s.Side], s.Score)
				}
			}
			// A run of the next pair may be there already.
			got := SoFar(append(scores[Baseline], 500)[:len(scores[Baseline])+told%2], scores[Candidate])
			if got.Pairs != v.Pairs || got.Effect != v.Effect || got.Low != v.Low || got.High != v.High || got.BaselineScore != v.BaselineScore || got.CandidateScore != v.CandidateScore {
				t.Errorf("%s, pair %d: %+v, want %+v", name, v.Pairs, got, v)
			}
			told++
		})
		if err != nil || told < 6 {
			t.Errorf("%s: told %d times, %v", name, told, err)
		}
	}
	if v := SoFar(nil, []float64{1}); v.Pairs != 0 || v.Effect != 0 {
		t.Errorf("without a pair: %+v", v)
	}
}
