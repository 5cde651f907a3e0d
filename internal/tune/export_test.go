package tune

import (
	"slices"
)

// holds reports whether a plan waits to be tried with its half.
func (h halves) holds(id string) bool {
	return slices.ContainsFunc(h, func(x half) bool { return slices.Contains(x.ids, id) })
}
