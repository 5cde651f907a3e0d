package experiment

import (
	"strings"
	"testing"
)

// A service that answered wrongly now and then before any experiment does so with a
// candidate, too, and more often in a run that asks ten times as much. That is no
// reason to throw away what makes it ten times faster; many more wrong answers are.
func TestWrongAnswersThatThereWereBefore(t *testing.T) {
	for _, c := range []struct {
		name          string
		wrong, before int64
		asked         int64
		want          Outcome
	}{
		{"one of many, as before", 1, 1, 4000, Improved},
		{"one, and there was none before", 1, 0, 4000, Broke},
		{"far more than before", 30, 1, 4000, Broke},
		{"as many, in a tenth of the requests", 10, 10, 40000, Broke},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(10, 100, 0.005, 1)
			f.edit = func(s *Sample, n int) {
				s.Requests = 100
				if s.Side == Candidate {
					s.Requests = 1400
					if n <= 2 {
						s.Mismatches, s.Broken = c.wrong, "GET /: no form"
					}
				}
			}
			rule := DefaultRule()
			rule.WrongBefore, rule.AskedBefore = c.before, c.asked
			v, err := Run(t.Context(), rule, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.want || c.want == Broke && !strings.Contains(v.Reason, "GET /: no form") {
				t.Errorf("got %s: %s", v.Outcome, v.Reason)
			}
		})
	}
}

// A candidate that is wrong a little more often in each of its runs, none of which tells it
// by itself, is found by their sum.
func TestALittleMoreWrongInEachRun(t *testing.T) {
	for every, want := range map[int64]Outcome{2: Broke, 0: NoDifference} {
		f := newFake(10, 10, 0.005, 1)
		f.edit = func(s *Sample, n int) {
			s.Requests = 1000
			if s.Side == Candidate && every > 0 {
				s.Mismatches, s.Broken = every, "GET /: no form"
			}
		}
		rule := DefaultRule()
		rule.WrongBefore, rule.AskedBefore = 3, 6000
		v, err := Run(t.Context(), rule, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != want || want == Broke && v.Pairs < 2 {
			t.Errorf("%d wrong in each run: %s after %d pairs: %s", every, v.Outcome, v.Pairs, v.Reason)
		}
	}
}
