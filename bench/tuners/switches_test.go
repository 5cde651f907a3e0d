package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/remedytest"
)

// What the knobs draw anyway is no switch, and neither is what trades or searches.
func TestSwitches(t *testing.T) {
	in, res := remedytest.Plan(t, remedytest.World(nil))
	var planned, got []string
	for _, p := range res.Plans {
		planned = append(planned, p.Remedy)
	}
	for _, p := range switches(in, drawSets(rand.New(rand.NewPCG(1, 0)), in.Stack, in.Snapshot)) {
		got = append(got, p.Remedy)
		if len(p.Trades) > 0 || p.Search != nil {
			t.Errorf("%s trades %v or searches", p.ID, p.Trades)
		}
	}
	for id, want := range map[string]bool{"nginx.php-socket": true, "app.db-socket": true, "php.opcache": false, "mariadb.memory": false, "nginx.delivery": false} {
		if !slices.Contains(planned, id) {
			t.Errorf("%s is not planned; planned %v", id, planned)
		}
		if slices.Contains(got, id) != want {
			t.Errorf("%s is a switch: %v, want %v", id, !want, want)
		}
	}
}

// Every trial can be planned, in the order that the executor takes, and has the
// values that were drawn whatever its switches set.
func TestTrialPlan(t *testing.T) {
	in, _ := remedytest.Plan(t, remedytest.World(nil))
	coin := rand.New(rand.NewPCG(1, 0))
	all := switches(in, drawSets(coin, in.Stack, in.Snapshot))
	taken := map[string]int{}
	for n := range 200 {
		tr := drawTrial(coin, in, all)
		p, err := tr.plan(in)
		if err != nil {
			t.Fatalf("trial %d: %v", n, err)
		}
		if !slices.IsSortedFunc(p.Changes, func(a, b change.Change) int { return a.Phase - b.Phase }) {
			t.Errorf("trial %d, %s: phases go back", n, tr.names())
		}
		if slices.ContainsFunc(p.Changes, func(c change.Change) bool {
			return c.Kind == change.KindVariable && draws(tr.sets, c.Service, c.Variable)
		}) {
			t.Errorf("trial %d, %s: sets a drawn variable beside its file", n, tr.names())
		}
		files := planning.WithChanges(in.Snapshot, p.Changes).Files["local"]
		for _, path := range []string{remedytest.MyCnfPath, remedytest.FPMPath} {
			for _, s := range tr.sets {
				setting, value, _ := strings.Cut(s, "=")
				service, key, _ := strings.Cut(setting, ".")
				f := files[path]
				if f.Service == service && strings.Contains(string(f.Content), "\n"+key+" = ") && !strings.Contains(string(f.Content), "\n"+key+" = "+value+"\n") {
					t.Errorf("trial %d, %s: %s is not in\n%s", n, tr.names(), s, f.Content)
				}
			}
		}
		for _, s := range tr.switches {
			taken[s.Remedy]++
		}
	}
	for _, s := range all {
		if n := taken[s.Remedy]; n < 70 { // of 200 with one half: 100 ± 7
			t.Errorf("%s was drawn %d times of 200", s.ID, n)
		}
	}
}
