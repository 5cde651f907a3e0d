package experiment

import "testing"

func TestWords(t *testing.T) {
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{Outcome: NoDifference, Effect: -0.791}, "not better"},
		{Verdict{Outcome: NoDifference, Effect: -0.004}, "no difference"},
		{Verdict{Outcome: NoDifference, Effect: 0.03}, "no difference"},
		{Verdict{Outcome: Regressed, Effect: -0.5}, "regressed"},
		{Verdict{Outcome: Inconclusive, Effect: -0.5}, "inconclusive"},
	} {
		if got := c.v.Words(); got != c.want {
			t.Errorf("%s %+.3f: %q, want %q", c.v.Outcome, c.v.Effect, got, c.want)
		}
	}
}
