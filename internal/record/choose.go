package record

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

const (
	// wantedCoverage is when sequences as recorded are enough.
	wantedCoverage = 0.8
	// maxCandidates looked at for a mix; the most frequent ones.
	maxCandidates = 5000
	// smallGain ends the choice: a session for less than this share of the
	// requests is not worth its lines.
	smallGain = 0.001
)

// sequence of tokens as it was recorded.
type sequence struct {
	tokens []uint32
	uses   map[uint32]int64 // how often each token occurs
	size   int64            // requests of one such session
	count  int64            // sessions recorded
	first  int              // place of the first, for a stable order
	weight float64          // sessions it stands for
}

// sequences counts the distinct ones.
func sequences(sessions [][]visit, tokens []*token) []*sequence {
	byKey := map[string]*sequence{}
	var out []*sequence
	for _, s := range sessions {
		for part := range slices.Chunk(s, maxVisits) {
			var key []byte
			for _, v := range part {
				key = binary.BigEndian.AppendUint32(key, v.token)
			}
			q := byKey[string(key)]
			if q == nil {
				q = &sequence{first: len(out), uses: map[uint32]int64{}}
				for _, v := range part {
					q.tokens = append(q.tokens, v.token)
					q.uses[v.token]++
					q.size += tokens[v.token].size()
				}
				byKey[string(key)] = q
				out = append(out, q)
			}
			q.count++
		}
	}
	slices.SortFunc(out, func(a, b *sequence) int {
		return cmp.Or(cmp.Compare(b.count*b.size, a.count*a.size), cmp.Compare(a.first, b.first))
	})
	return out
}

// choose picks at most k sequences and how many sessions each stands for.
//
// If the k most common ones make up four fifths of the requests, they are
// taken with the counts they were recorded with. Else sessions are too varied
// for that, and each pick is the recorded sequence that can stand for the most
// requests not yet accounted for, without exceeding any token's count: so the
// mix of requests comes out as recorded, from sessions that really occurred.
// Where a single token stands for far more, it becomes a session of one step.
func choose(all []*sequence, tokens []*token, k int) (chosen []*sequence, coverage float64) {
	total := int64(0)
	left := make([]float64, len(tokens))
	for i, t := range tokens {
		total += t.visits * t.size()
		left[i] = float64(t.visits)
	}
	covered := int64(0)
	for _, q := range all[:min(k, len(all))] {
		q.weight = float64(q.count)
		covered += q.count * q.size
	}
	if float64(covered) >= wantedCoverage*float64(total) {
		return all[:min(k, len(all))], float64(covered) / float64(total)
	}
	candidates := slices.Clone(all[:min(len(all), maxCandidates)])
	sum := 0.0
	for len(chosen) < k {
		best, gain := pick(candidates, left)
		single, alone := pickSingle(tokens, left)
		// Real sequences are preferred until they would waste sessions.
		if best == nil || alone > 2*gain {
			best, gain = single, alone
		}
		if best == nil || gain < smallGain*float64(total) {
			break
		}
		best.weight = gain / float64(best.size)
		for token, n := range best.uses {
			left[token] -= best.weight * float64(n)
		}
		sum += gain
		chosen = append(chosen, best)
	}
	return chosen, sum / float64(total)
}

// pick the sequence of several tokens that stands for the most requests.
func pick(candidates []*sequence, left []float64) (best *sequence, gain float64) {
	for _, q := range candidates {
		if len(q.tokens) == 1 || q.weight > 0 {
			continue
		}
		sessions := math.Inf(1)
		for token, n := range q.uses {
			sessions = min(sessions, left[token]/float64(n))
		}
		if g := sessions * float64(q.size); g > gain+1e-9 {
			best, gain = q, g
		}
	}
	return best, gain
}

func pickSingle(tokens []*token, left []float64) (best *sequence, gain float64) {
	at := -1
	for i, t := range tokens {
		if g := left[i] * float64(t.size()); g > gain+1e-9 {
			at, gain = i, g
		}
	}
	if at < 0 {
		return nil, 0
	}
	id := uint32(at)
	return &sequence{tokens: []uint32{id}, uses: map[uint32]int64{id: 1}, size: tokens[at].size()}, gain
}

// weights as whole numbers from 1 to 1,000,000, in proportion.
func weights(chosen []*sequence) []int {
	most, whole := 0.0, true
	for _, q := range chosen {
		most = max(most, q.weight)
		whole = whole && q.weight == math.Trunc(q.weight)
	}
	scale := 1.0
	if !whole || most > 1e6 {
		scale = 10_000 / most
	}
	out := make([]int, len(chosen))
	divisor := 0
	for i, q := range chosen {
		out[i] = max(int(math.Round(q.weight*scale)), 1)
		divisor = gcd(divisor, out[i])
	}
	for i := range out {
		out[i] /= divisor
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
