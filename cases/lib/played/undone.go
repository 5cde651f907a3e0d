package played

import (
	"path/filepath"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// Undone applies those plans of one run as found that take wants, in their order, keeps
// them, resets the data and has inPlace look at the service with them (changes is how many
// there are); then undo must leave the service byte for byte as it was.
func (c *Case) Undone(scenario *load.Scenario, window time.Duration, take func(remedy.Plan) bool, inPlace func(changes int)) {
	t := c.T
	t.Helper()
	ctx := t.Context()
	c.Stack.Evidence.Profile = stack.ProfileOff // it has tests of its own
	dir := filepath.Join(c.Dir, ".kasoku")
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	x, err := tune.OpenExecutor(ctx, dir, c.Stack, hosts)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	before := c.Target(hosts)
	b := &tune.Bench{Stack: c.Stack, Hosts: hosts, Store: db, Scenario: scenario, Window: window, Warmup: 200 * time.Millisecond, Instruments: tune.Instruments{Plain: true}}
	run, snap, err := tune.Observe(ctx, x, b, 4, c.Database, Reporter{T: t})
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for _, p := range remedy.PlanAll(remedy.Input{Stack: c.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}).Plans {
		if !take(p) {
			continue
		}
		tx, err := x.Apply(ctx, change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
		if err != nil {
			t.Fatalf("%s: %v", p.Title, err)
		}
		if err := x.Keep(ctx, tx.ID); err != nil {
			t.Fatal(err)
		}
		t.Log(p.Title)
		changes += len(p.Changes)
	}
	if changes == 0 || c.Target(hosts) == before {
		t.Error("nothing was planned and seen, so undo proves nothing")
	}
	c.Must("reset")
	inPlace(changes)
	if err := x.UndoAll(ctx); err != nil {
		t.Fatal(err)
	}
	c.Must("reset")
	if c.Target(hosts) != before {
		t.Error("after undo the service is not as found")
	}
}
