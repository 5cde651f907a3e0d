package load

// ring is a queue of slots in memory of its own: a slice that is cut at its
// begin and appended to would be allocated anew every time it is used up.
type ring struct {
	slots []*slot // as long as there are users
	first int
	count int
}

// push adds the last; there is room for every user once.
func (r *ring) push(s *slot) {
	r.slots[(r.first+r.count)%len(r.slots)] = s
	r.count++
}

// pop takes the first of at least one.
func (r *ring) pop() *slot {
	s := r.slots[r.first]
	r.first = (r.first + 1) % len(r.slots)
	r.count--
	return s
}
