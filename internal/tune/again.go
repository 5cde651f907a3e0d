package tune

import (
	"fmt"
	"time"

	"kasoku/internal/store"
)

// again says whether a run is to be made again: without penalties, with fewer users or with a
// longer window.
func (b *Bench) again(run *store.Run, o *RunOptions) bool {
	if !b.scored.settled && b.forgives(run) {
		return true
	}
	if n := b.fewer(run); n > 0 && !b.scored.settled {
		b.note(fmt.Sprintf("run %d: %s; it is made again with %d users, who keep the CPUs as busy (workload in the scenario sets a number)", run.ID, run.Evidence.Load.Cut(), n))
		b.scored.users, o.Workload = n, n
		return true
	}
	longer, why := b.longer(run)
	if longer == 0 {
		return false
	}
	b.note(fmt.Sprintf("run %d: %s; it is made again with %s", run.ID, why, longer))
	o.Window = longer
	return true
}

// mostLonger is how often a run is made again, longer: how long a session takes is
// known when one has ended.
const mostLonger = 4

// longer is a window in which every request is answered or times out, for a run
// in which none did, or one that holds as much of sessions as a score needs, with
// the reason; else 0. An experiment's run is not made again: what takes that long is
// what its verdict is about.
func (b *Bench) longer(run *store.Run) (w time.Duration, why string) {
	l := run.Evidence.Load
	if b.Foreign() || b.Scenario == nil || run.Side != "" {
		return 0, ""
	}
	if l.Succeeded+l.Mismatches+l.Errors+l.Timeouts == 0 {
		if w := 2 * b.Scenario.Timeout; w > l.Window {
			return w, fmt.Sprintf("nothing was answered within %s", l.Window)
		}
		return 0, ""
	}
	if l.Unreached > 0 && l.LeastWindow() > 2*longestWindow && run.Kind == store.Scored {
		b.note(fmt.Sprintf("run %d: %s; a session may take %s, more than a run measures: give it fewer steps or pauses, or write duration into the scenario", run.ID, l.Cut(), l.LeastWindow().Round(time.Second)))
	}
	if b.noteVisits(run); b.pace == nil || run.Kind != store.Scored || b.whole(l.Window) < l.Window*11/10 {
		return 0, ""
	}
	return b.whole(l.Window), fmt.Sprintf("%s, so that a window of %s tells little", l.Cut(), l.Window)
}
