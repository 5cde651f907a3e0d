package tune

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Where nobody says how many users there are, so many make sessions long on full CPUs that
// no window holds one: fewer do as much, and reach the end.
func TestFewerUsersReachTheEnd(t *testing.T) {
	for _, c := range []struct {
		name       string
		said       string
		configured int
		cpu        float64
		session    time.Duration // with 8 users
		users      []int
		says       string
		settled    bool
	}{
		{"full", "", 0, 0.97, 65 * time.Second, []int{8, 4, 4}, "made again with 4 users", false},
		{"full, a little too long", "", 0, 0.97, 40 * time.Second, []int{8, 6, 6}, "made again with 6 users", false},
		{"full, far too long", "", 0, 0.97, 400 * time.Second, []int{8, 4}, "a session may take", false},
		{"idle CPUs", "", 0, 0.5, 65 * time.Second, []int{8}, "a session may take", false},
		{"the scenario says", "workload: 8\n", 0, 0.97, 65 * time.Second, []int{8}, "a session may take", false},
		{"kasoku.yaml says", "", 8, 0.97, 65 * time.Second, []int{8}, "a session may take", false},
		{"a window holds one", "", 0, 0.97, 20 * time.Second, []int{8, 8}, "made again with 20s", false},
		{"runs are compared already", "", 0, 0.97, 65 * time.Second, []int{8}, "a session may take", true},
	} {
		sc, err := load.Parse("s.yaml", []byte("version: 1\nname: s\nduration: 5s\n"+c.said+"sessions:\n  - {name: visit, steps: [{request: GET /}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		var users []int
		st := &stack.Stack{}
		st.Load.Workload = c.configured
		b := &Bench{Stack: st, Scenario: sc, Listeners: Listeners{Note: func(text string) { told = append(told, text) }}}
		b.instead = func(_ context.Context, o RunOptions) (*store.Run, error) {
			n, w := o.Workload, max(b.whole(sc.Duration), o.Window)
			if n == 0 {
				n = b.Users()
			}
			users = append(users, n)
			session := c.session * time.Duration(n) / 8
			l := &load.Result{Succeeded: 100, Window: w, Workload: n, SessionTime: session, Uneven: 0.1}
			if w < session {
				l.Steps, l.SessionTime = 100, w
				l.Unreached = 100 - int(100*w/session)
			}
			ev := &evidence.Evidence{Load: l, Hosts: map[string]*evidence.System{"h": {CPUs: 2, ServicesCPU: 9, PerCPU: []float64{c.cpu, c.cpu}}}}
			return &store.Run{ID: int64(len(users)), Kind: o.Kind, Side: o.Side, Score: 1, Evidence: ev}, nil
		}
		b.scored.settled = c.settled
		if _, err := b.Run(t.Context(), RunOptions{Kind: store.Scored}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(users, c.users) || !strings.Contains(strings.Join(told, "\n"), c.says) {
			t.Errorf("%s: users %v, want %v; told %q, want %q", c.name, users, c.users, told, c.says)
		}
		if last := users[len(users)-1]; b.Users() != last {
			t.Errorf("%s: later runs have %d users, the last one had %d", c.name, b.Users(), last)
		}
	}
}
