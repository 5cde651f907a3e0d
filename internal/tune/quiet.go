package tune

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/evidence"
)

// quietLimit is how long a run waits for other processes to end before it is
// made all the same (and then most likely repeated).
const quietLimit = 45 * time.Second

// awaitQuiet waits, before load is put on, until other processes leave the
// machine to the stack. It says so once.
func (b *Bench) awaitQuiet(ctx context.Context) error {
	for start, said := time.Now(), false; ; {
		busy, err := evidence.Busy(ctx, b.Hosts["local"])
		if err != nil {
			return err
		}
		if busy <= b.Stack.Tune.Foreign() || time.Since(start) > quietLimit {
			return nil
		}
		if !said && b.Note != nil {
			b.Note(fmt.Sprintf("other processes use %.0f %% of the CPU: waiting up to %s for them to end", 100*busy, quietLimit))
			said = true
		}
	}
}
