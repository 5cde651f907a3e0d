package tune

import "kasoku/internal/store"

// noteRefusals tells once of answers that say in their body that they failed.
func (b *Bench) noteRefusals(run *store.Run) {
	if b.Listeners.refused || len(run.Evidence.Load.Refusals) == 0 {
		return
	}
	b.Listeners.refused = true
	for i := range run.Evidence.Load.Refusals {
		b.note(run.Evidence.Load.Refusals[i].String())
	}
}
