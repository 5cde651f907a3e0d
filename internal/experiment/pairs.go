package experiment

// Pair is one run of each side, next to each other.
type Pair struct{ Baseline, Candidate Sample }

// PairsOf finds the complete pairs among samples, in their order. Of a run that
// was repeated only the fit one counts, the last if there are several.
func PairsOf(samples []Sample) []Pair {
	base, cand := map[int]Sample{}, map[int]Sample{}
	var numbers []int
	for _, s := range samples {
		if s.Unfit != "" {
			continue
		}
		of := base
		if s.Side == Candidate {
			of = cand
		}
		_, one := base[s.Pair]
		_, other := cand[s.Pair]
		of[s.Pair] = s
		if !one && !other {
			numbers = append(numbers, s.Pair)
		}
	}
	var out []Pair
	for _, n := range numbers {
		b, one := base[n]
		c, other := cand[n]
		if one && other {
			out = append(out, Pair{b, c})
		}
	}
	return out
}
