package trace

import (
	"cmp"
	"slices"
	"time"
)

// Event is one line of a log or command stream: a call, or a mark.
type Event struct {
	At time.Time // zero where the stream has no fine clock
	// Mark is the number of the mark; Marked says that it is one.
	Mark   int
	Marked bool
	Call   Call
}

// Split parts events by their marks: calls[n] are those after mark n and
// before the next, of all streams, by time where both have one. before counts
// the calls ahead of the first mark. Requests beyond limit are left out.
func Split(streams [][]Event, limit int) (calls [][]Call, before []int) {
	type placed struct {
		at   time.Time
		call Call
	}
	parts := make([][]placed, limit)
	before = make([]int, len(streams))
	for s, events := range streams {
		at := -1
		for _, e := range events {
			switch {
			case e.Marked:
				at = e.Mark
			case at < 0:
				before[s]++
			case at < limit:
				parts[at] = append(parts[at], placed{e.At, e.Call})
			}
		}
	}
	calls = make([][]Call, limit)
	for n, p := range parts {
		// Streams without a clock stay before those with one, each in its order.
		slices.SortStableFunc(p, func(a, b placed) int { return cmp.Compare(a.at.UnixNano()*known(a.at), b.at.UnixNano()*known(b.at)) })
		for _, x := range p {
			calls[n] = append(calls[n], x.call)
		}
	}
	return calls, before
}

func known(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return 1
}

// batches numbers calls of one connection that came closer together than a
// round trip can be, beginning with first.
func batches(events []Event, gap time.Duration, first int) int {
	last := map[uint64]int{} // connection → its latest call
	n := first
	for i := range events {
		e := &events[i]
		if e.Marked || e.Call.Kind != "" {
			continue
		}
		j, ok := last[e.Call.Conn]
		last[e.Call.Conn] = i
		if !ok || e.At.Sub(events[j].At) > gap {
			continue
		}
		if events[j].Call.Batch == 0 {
			events[j].Call.Batch = n
			n++
		}
		e.Call.Batch = events[j].Call.Batch
	}
	return n
}
