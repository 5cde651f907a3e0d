package tune

import (
	"fmt"

	"kasoku/internal/store"
)

// mostWrong of all answers as found: a service that gives more is broken, or the scenario is.
const mostWrong = 0.1

// mostTaken of what right answers give may be taken by wrong ones: with more the score is about
// those, and by chance.
const mostTaken = 0.5

// forgives takes the penalties out of the score of a service whose wrong answers as found leave
// little of it: no change could be told from another then. A change may not bring more of
// them, whatever the score is (experiment.Rule.WrongBefore). It says whether the run is to be
// made again with that.
func (b *Bench) forgives(run *store.Run) bool {
	l := run.Evidence.Load
	failed := l.Mismatches + l.Errors + l.Timeouts
	if b.Foreign() || b.Scenario == nil || run.Kind != store.Scored || run.Side != "" || l.Succeeded == 0 || failed == 0 || float64(failed) > mostWrong*float64(l.Requests) {
		return false
	}
	if taken := b.Scenario.Penalties(l); taken < mostTaken*(run.Score+taken) {
		return false
	}
	forgiving := b.Scenario.Forgiving()
	if forgiving == nil {
		return false
	}
	text := fmt.Sprintf("run %d: %d of %d answers are wrong or missing, which takes more than half of the points of the right ones; from here on they take none, and no change may bring more of them (score.penalty in the scenario sets points)", run.ID, failed, l.Requests)
	if len(l.Samples) > 0 {
		text += fmt.Sprintf("; one of them: %s: expected %s, got %s", l.Samples[0].Request, l.Samples[0].Expected, l.Samples[0].Got)
	}
	b.note(text)
	b.Scenario, b.scored.forgiving = forgiving, true
	return true
}
