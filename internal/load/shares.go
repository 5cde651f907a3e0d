package load

// extraShares of unique pools: two if setup or teardown draws.
func (s *Scenario) extraShares() uint64 {
	for _, once := range []*session{s.setup, s.teardown} {
		for i := range once.steps {
			if len(once.steps[i].draws) > 0 {
				return 2
			}
		}
	}
	return 0
}

// drawsOf is how many rows of each pool one session may draw, at least 1.
func (s *Scenario) drawsOf() []uint64 {
	most := make([]uint64, len(s.pools))
	for i := range s.sessions {
		one := make([]uint64, len(s.pools))
		for _, d := range s.sessions[i].draws {
			one[d.pool.index]++
		}
		for j := range s.sessions[i].steps {
			st := &s.sessions[i].steps[j]
			for _, d := range st.draws {
				one[d.pool.index] += uint64(st.repeat)
			}
		}
		for k := range most {
			most[k] = max(most[k], one[k], 1)
		}
	}
	return most
}
