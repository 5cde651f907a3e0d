package load

import "math/bits"

// permutation is a seeded bijection on 0…n−1 that needs no table: a balanced
// Feistel network of four rounds over the next even number of bits, walked
// until the value lies below n (cycle walking: Black and Rogaway, "Ciphers
// with Arbitrary Finite Domains", 2002). The domain is below 4n, so the mean
// walk has fewer than four steps.
type permutation struct {
	n    uint64
	half uint
	keys [4]uint64
}

func newPermutation(n, seed uint64) permutation {
	p := permutation{n: n, half: 1}
	if n > 1 {
		p.half = uint(bits.Len64(n-1)+1) / 2
	}
	for i := range p.keys {
		seed += 0x9e3779b97f4a7c15 // splitmix64's increment
		p.keys[i] = scramble(seed)
	}
	return p
}

// at is the value at position i < n.
func (p *permutation) at(i uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	for {
		left, right := i>>p.half, i&mask
		for _, k := range p.keys {
			left, right = right, left^scramble(right^k)&mask
		}
		if i = left<<p.half | right; i < p.n {
			return i
		}
	}
}

// scramble is the output function of splitmix64 (Steele, Lea, Flood 2014).
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
