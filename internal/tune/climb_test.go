package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Curves as numbers of processes make them: rising, falling, with a top in the
// middle, flat, and with a plateau. With 3 % noise the value found is within 6 %
// of the best in 97 of 100 searches, and cheaper ones of a plateau are preferred.
func TestClimb(t *testing.T) {
	values, current := []int{1, 2, 4, 8, 16, 32, 64}, 8
	curves := map[string]func(v float64) float64{
		"rising":   func(v float64) float64 { return 100 * v / (v + 4) },
		"falling":  func(v float64) float64 { return 100 / (1 + v/4) },
		"middle":   func(v float64) float64 { return 100 * math.Exp(-math.Pow(math.Log(v/4), 2)/4) },
		"flat":     func(float64) float64 { return 100 },
		"plateau":  func(v float64) float64 { return 100 * min(v/4, 1) },
		"collapse": func(v float64) float64 { return 100 * min(v/16, 1) / (1 + math.Max(0, v-16)/8) },
	}
	most := map[string]float64{"rising": 9, "falling": 8, "middle": 8, "flat": 13, "plateau": 12, "collapse": 7}
	const searches = 2000
	for name, curve := range curves {
		best := curve(float64(current))
		for _, v := range values {
			best = max(best, curve(float64(v)))
		}
		near, probes, cheap := 0, 0, 0
		coin := rand.New(rand.NewPCG(7, 11))
		for range searches {
			scores, err := climb(slices.DeleteFunc(slices.Clone(values), func(v int) bool { return v == current }), current, false, coin, func(v int) (float64, error) {
				probes++
				if v == 0 {
					v = current
				}
				return curve(float64(v)) * math.Exp(0.03*coin.NormFloat64()), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			found := bestValue(scores)
			if found == 0 {
				found = current
			}
			if curve(float64(found)) >= 0.94*best {
				near++
			}
			if found <= 8 {
				cheap++
			}
		}
		if near < searches*97/100 {
			t.Errorf("%s: %.1f %% of the searches end near the top", name, 100*float64(near)/searches)
		}
		if got := float64(probes) / searches; got > most[name] {
			t.Errorf("%s: %.1f probes, at most %.0f are needed", name, got, most[name])
		}
		if name == "plateau" && cheap < searches*60/100 {
			t.Errorf("plateau: %.1f %% take a cheap value", 100*float64(cheap)/searches)
		}
		t.Logf("%-9s near the top %.1f %%, probes %.1f (all values twice: %d)", name, 100*float64(near)/searches, float64(probes)/searches, 2*len(values))
	}
}

// A value that does not come up ends the walk on its side, and only there.
func TestClimbPastAFailure(t *testing.T) {
	var asked []int
	scores, err := climb([]int{1, 2, 8, 16}, 4, false, rand.New(rand.NewPCG(1, 1)), func(v int) (float64, error) {
		asked = append(asked, v)
		return map[int]float64{0: 100, 2: 120, 1: 60, 8: 0, 16: 500}[v], nil
	})
	if err != nil || bestValue(scores) != 2 || slices.Contains(asked, 16) {
		t.Errorf("%v %v, asked %v", scores, err, asked)
	}
}

// A value of which nothing is known is stepped over, also what is set now.
func TestClimbPastNoEvidence(t *testing.T) {
	for unknown, want := range map[int]int{8: 16, 0: 16, 16: 8} {
		scores, err := climb([]int{2, 8, 16}, 4, false, rand.New(rand.NewPCG(1, 1)), func(v int) (float64, error) {
			if v == unknown {
				return noEvidence, nil
			}
			return map[int]float64{0: 100, 2: 50, 8: 120, 16: 150}[v], nil
		})
		if got := bestValue(scores); err != nil || got != want || len(scores[unknown]) > 0 {
			t.Errorf("without %d: %d of %v, %v", unknown, got, scores, err)
		}
	}
}

// A size that pays only where everything fits is found behind those that harm.
func TestClimbToAThreshold(t *testing.T) {
	for threshold, want := range map[bool]int{true: 16, false: 0} {
		scores, err := climb([]int{8, 16, 32}, 4, threshold, rand.New(rand.NewPCG(1, 1)), func(v int) (float64, error) {
			return map[int]float64{0: 100, 8: 70, 16: 500, 32: 500}[v], nil
		})
		if got := bestValue(scores); err != nil || got != want {
			t.Errorf("threshold %v: %d, want %d; %v, %v", threshold, got, want, scores, err)
		}
	}
}
