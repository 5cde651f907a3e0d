package tune

import (
	"math"
	"math/rand/v2"
	"slices"

	"kasoku/internal/stat"
)

// A search takes few probes: from what is set now it goes up and down the
// values as long as the score holds, because more of one thing first helps and
// then harms. Then those that are near the top are measured once more.
const (
	probeRounds = 2
	// probeDrop below the best so far ends the walk to one side and leaves a
	// value out of the second round: a probe's noise is a few percent.
	probeDrop = 0.10
	// probeAgain values at most are measured again.
	probeAgain = 4
)

// noEvidence is the score of a probe that was none.
var noEvidence = math.NaN()

// climb probes values (without current) around current and returns the scores
// by value; 0 stands for what is set now. probe returns 0 for a value that did
// not come up, and noEvidence where nothing is known: such a value is stepped over.
// With threshold every value is probed.
func climb(values []int, current int, threshold bool, coin *rand.Rand, probe func(value int) (float64, error)) (map[int][]float64, error) {
	ladder := append(slices.Clone(values), current)
	slices.Sort(ladder)
	ladder = slices.Compact(ladder)
	at := slices.Index(ladder, current)
	scores := map[int][]float64{}
	measure := func(v int) (float64, error) {
		got, err := probe(v)
		if got > 0 {
			scores[v] = append(scores[v], got)
		}
		return got, err
	}
	top, err := measure(0)
	if err != nil {
		return nil, err
	}
	if math.IsNaN(top) {
		top = 0
	}
	sides := []int{1, -1}
	if coin.IntN(2) == 1 {
		sides[0], sides[1] = -1, 1
	}
	for _, side := range sides {
		way := slices.Clone(ladder[at+1:])
		if side < 0 {
			way = slices.Clone(ladder[:at])
			slices.Reverse(way)
		}
		if top, err = walk(way, top, threshold, measure); err != nil {
			return nil, err
		}
	}
	for range probeRounds - 1 {
		for _, v := range promising(scores, coin) {
			if _, err := measure(v); err != nil {
				return nil, err
			}
		}
	}
	return scores, nil
}

// walk probes values as long as the score holds, all of them with threshold, and returns
// the best score so far.
func walk(values []int, top float64, threshold bool, measure func(value int) (float64, error)) (float64, error) {
	for _, v := range values {
		got, err := measure(v)
		if err != nil {
			return top, err
		}
		if got < top*(1-probeDrop) && !threshold {
			break
		}
		if got > top { // not so noEvidence
			top = got
		}
	}
	return top, nil
}

// promising are the values near the top, at most probeAgain and what is set
// now, in random order.
func promising(scores map[int][]float64, coin *rand.Rand) []int {
	top := 0.0
	for _, s := range scores {
		top = max(top, stat.GeoMean(s))
	}
	var out []int
	for v, s := range scores {
		if v != 0 && stat.GeoMean(s) >= top*(1-probeDrop) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		switch x, y := stat.GeoMean(scores[a]), stat.GeoMean(scores[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return a - b
	})
	out = append(out[:min(len(out), probeAgain)], 0)
	coin.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
