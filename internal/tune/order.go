package tune

import (
	"fmt"
	"strings"
	"time"

	"kasoku/internal/remedy"
	"kasoku/internal/ui"
)

const (
	// toldPlans are the most that are told of by name before the first step.
	toldPlans = 6
	// toldTitle is how much of a title that has, in characters: a group's is long.
	toldTitle = 96
)

// orderText says in which order plans come as things stand, and what the time left is
// not enough for; "" if the first step itself tells it all. Each step that is kept
// changes that.
func (s *schedule) orderText(m moment, plans []remedy.Plan) string {
	o, left := s.outlook(m), m.left
	lines, later, hidden := []string{}, 0, 0
	taken := map[string]bool{}
	for _, p := range plans {
		switch {
		case taken[p.ID] || p.Bound-1 < m.rule.SmallestEffect:
			continue
		case s.hidden(m, p, o):
			hidden++
			continue
		}
		for _, id := range p.PlanIDs() {
			taken[id] = true
		}
		took := o.time(p)
		if left -= took; left < 0 || len(lines) == toldPlans {
			later++
			continue
		}
		lines = append(lines, fmt.Sprintf("%d. %s (about %s)", len(lines)+1, titled(p.Title), ui.Duration(took.Round(time.Second))))
	}
	if len(lines) < 2 && later+hidden == 0 {
		return ""
	}
	text := "in this order, unless what is kept changes it: " + strings.Join(lines, "; ")
	if len(lines) == 0 {
		text = "of what is called for, nothing fits into the time left by what steps usually take; the first is begun all the same"
	}
	if later > 0 {
		text += fmt.Sprintf("; not reached in the time left: %d more", later)
	}
	if hidden > 0 {
		text += fmt.Sprintf("; too little to be seen in the time left: %d", hidden)
	}
	return text
}

// titled is a title, cut where it is long.
func titled(title string) string {
	if r := []rune(title); len(r) > toldTitle {
		return string(r[:toldTitle]) + "…"
	}
	return title
}
