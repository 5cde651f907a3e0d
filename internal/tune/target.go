package tune

import (
	"fmt"

	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// reached reports whether what is in place is Target times as fast as found,
// by the experiments of the steps that were kept, and notes it as the reason
// why the session ends. What it was asked for has been found then, whatever
// else may pay.
func (t *Tuner) reached() (bool, error) {
	if t.Options.Target <= 0 {
		return false, nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return false, err
	}
	now := t.session.AsFound
	for i := range steps {
		now = scoreAfter(&steps[i], now)
	}
	factor := t.session.Factor(now)
	if factor < t.Options.Target {
		return false, nil
	}
	t.stopped(store.StopTarget, fmt.Sprintf("the target of %s was reached: %s", ui.Factor(t.Options.Target), ui.Factor(factor)))
	return true, nil
}
