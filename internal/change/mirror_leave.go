package change

import (
	"context"
	"fmt"
	"strings"
)

// leaveScript removes the project's folder $1 from Kasoku's folder $2, and that as
// well if no other project has one in it. The lease is the last file: whoever finds
// another one than he opened takes that (host.Lock).
const leaveScript = `rm -rf -- "$1" 2>/dev/null || { sleep 1; rm -rf -- "$1"; } || exit 1 # a guard that ends writes its state
cd "$2" 2>/dev/null || exit 0
for d in */; do [ ! -d "$d" ] || exit 0; done
rm -f owner.json lease
cd / && rmdir "$2" 2>/dev/null || :`

// leave removes what Kasoku keeps on hosts (the journal's copy, the guard's program)
// after all was put back: as found is without it. Hosts that something is still in
// force on, or that could not be reached, keep it.
func (x *Executor) leave(ctx context.Context) error {
	if !x.left || x.journal.project == "" {
		return nil
	}
	needed := map[string]bool{}
	for _, t := range x.journal.txs {
		if t.Pending() || t.InForce() {
			for _, name := range x.touchedHosts(t) {
				needed[name] = true
			}
		}
	}
	return x.eachTarget(ctx, func(ctx context.Context, g *target) error {
		if g.err != nil || g.unlock == nil || needed[g.name] || strings.HasPrefix(x.journal.dir, g.dir+"/") {
			return nil
		}
		if _, err := g.run(ctx, nil, "sh", "-c", leaveScript, "kasoku", g.dir, g.base); err != nil {
			return fmt.Errorf("all is put back, but Kasoku's own folder %s is still there: %w", g.dir, err)
		}
		return nil
	})
}
