package experiment

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

// Whatever is kept: candidates that are not kept spend no more than the session
// has, and no experiment gets more than Each.
func TestLevelsSpendNoMoreThanTheSessionHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Levels{Each: rapid.Float64Range(0.0001, 0.1).Draw(t, "each")}
		spent, before := 0.0, 1.0
		for _, kept := range rapid.SliceOfN(rapid.Bool(), 0, 100).Draw(t, "kept") {
			level := l.Next()
			if level > l.Each || level > before {
				t.Fatalf("level %g after %g, at most %g", level, before, l.Each)
			}
			l.Tell(kept)
			if before = level; !kept {
				spent += level
			} else if l.Next() != level {
				t.Fatalf("what was kept cost something: %g, then %g", level, l.Next())
			}
		}
		if spent > SessionTimes*l.Each {
			t.Fatalf("spent %g of %g", spent, SessionTimes*l.Each)
		}
	})
}

// 4000 sessions of 30 tests that hold their level exactly: with the level of one
// experiment for each, a quarter of the sessions keep something in vain.
func TestLevelsHoldTheSession(t *testing.T) {
	const sessions, tests = 4000, 30
	rng := rand.New(rand.NewPCG(1, 2))
	wrong, uncorrected := 0, 0
	for range sessions {
		l := Levels{Each: 0.01}
		any, anyUncorrected := false, false
		for range tests {
			p := rng.Float64()
			kept := p < l.Next()
			l.Tell(kept)
			any, anyUncorrected = any || kept, anyUncorrected || p < l.Each
		}
		if any {
			wrong++
		}
		if anyUncorrected {
			uncorrected++
		}
	}
	if share := float64(wrong) / sessions; share > SessionTimes*0.01 || share < 0.02 {
		t.Errorf("%.3f of the sessions keep something in vain", share)
	}
	if share := float64(uncorrected) / sessions; share < 0.2 {
		t.Errorf("%.3f without levels: the simulation shows nothing", share)
	}
}
