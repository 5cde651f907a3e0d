package load

import "slices"

// Writes lists the labels of requests whose method may change data (RFC 9110,
// 9.2.1), in the order of the file.
func (s *Scenario) Writes() []string {
	var out []string
	sessions := append([]session{*s.setup}, s.sessions...)
	for i := range sessions {
		for j := range sessions[i].steps {
			st := &sessions[i].steps[j]
			if slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, st.method) {
				continue
			}
			if label := s.routes[st.route]; !slices.Contains(out, label) {
				out = append(out, label)
			}
		}
	}
	return out
}

// Rows is how many rows of each unique pool were drawn, by the pool's name.
//
// A service whose data is not reset keeps what a run did to it: the user who was
// locked out in the first run is still locked in the second. So the next run
// draws the rows that are left. Once a pool is used up it begins anew.
type Rows map[string]uint64

// Halfway through all unique pools: whoever begins there does not meet the rows
// of those who begin at the first, unless they draw half of a pool.
func (s *Scenario) Halfway() Rows {
	out := Rows{}
	for _, p := range s.pools {
		if p.order == uniqueOrder {
			out[p.name] = p.rows / 2
		}
	}
	return out
}

// of a scenario's pools, by their index.
func (r Rows) of(s *Scenario) []uint64 {
	out := make([]uint64, len(s.pools))
	for i, p := range s.pools {
		out[i] = r[p.name]
	}
	return out
}

// note takes over what a run used, by pool.
func (r Rows) note(s *Scenario, used []uint64) {
	for i, p := range s.pools {
		if p.order == uniqueOrder {
			r[p.name] = max(r[p.name], used[i])
		}
	}
}

// rowsUsed is how far each pool was drawn from, in rows.
func (r *run) rowsUsed() []uint64 {
	used := make([]uint64, len(r.perms))
	for i := range used {
		for _, u := range r.users {
			used[i] = max(used[i], u.cursor[i]*r.shares)
		}
		if r.plan != nil { // whose users begin anew with each session
			used[i] = max(used[i], r.firstRow(i)+r.plan.number*r.draws[i])
		}
	}
	return used
}

// firstRow is where a pool's unused rows begin.
func (r *run) firstRow(pool int) uint64 {
	if pool < len(r.opts.firstRow) {
		return r.opts.firstRow[pool]
	}
	return 0
}
