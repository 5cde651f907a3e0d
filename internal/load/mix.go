package load

// mix is the order in which sessions begin. Drawn each by chance, sessions of a
// short run would be now more of a dear kind, now more of a cheap one: with
// those of cases/login, whose points per second of CPU differ by a factor of two,
// that alone makes runs of 2 s differ by 1.6 %. So each kind comes as evenly
// spread as its weight allows (smooth weighted round-robin, as nginx picks
// servers since 1.3.1): any stretch of sessions has the shares of the weights,
// within a session or two.
type mix struct {
	order []int  // sessions of one period; nil: one kind only, or by chance
	start uint64 // where the run begins in it
	seed  uint64
	users uint64
}

// longestMix is the longest period that is spread evenly; above it sessions
// are drawn by chance. It holds weights in hundredths of a percent.
const longestMix = 10_000

func newMix(sc *Scenario, seed, users uint64) mix {
	m := mix{seed: scramble(seed), users: max(users, 1)}
	divisor := 0
	for i := range sc.sessions {
		divisor = gcd(divisor, sc.sessions[i].weight)
	}
	if len(sc.sessions) < 2 || divisor == 0 || sc.weights/divisor > longestMix {
		return m
	}
	period := sc.weights / divisor
	m.order, m.start = make([]int, 0, period), scramble(m.seed)%uint64(period)
	credit := make([]int, len(sc.sessions))
	for range period {
		best := 0
		for i := range credit {
			if credit[i] += sc.sessions[i].weight; credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= sc.weights
		m.order = append(m.order, best)
	}
	return m
}

// at is the n-th session of the run; ok is false if it is to be drawn by chance.
func (m *mix) at(n uint64) (session int, ok bool) {
	if m.order == nil {
		return 0, false
	}
	return m.order[(m.start+n)%uint64(len(m.order))], true
}

// turn is the number of a user's session in the given round, in which each user
// begins one: their order is shuffled anew in each, or a user would meet some
// kinds only.
func (m *mix) turn(round, user uint64) uint64 {
	if user >= m.users { // of setup or teardown
		return round
	}
	p := newPermutation(m.users, m.seed+round)
	return round*m.users + p.at(user)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
