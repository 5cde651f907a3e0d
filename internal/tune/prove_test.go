package tune

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// The checks have the load that kasoku.yaml says, as runs do: scores on both
// sides of a reboot are of as many users.
func TestProverHasTheUsersOfRuns(t *testing.T) {
	var users []int
	b := &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{Workload: 7}}, Scenario: &load.Scenario{Workload: 3},
		instead: func(_ context.Context, o RunOptions) (*store.Run, error) {
			users = append(users, o.Workload)
			return &store.Run{Score: 5, Evidence: &evidence.Evidence{Load: &load.Result{Succeeded: 1}}}, nil
		}}
	p := NewProver(b, quiet{})
	if score, err := p.Score(t.Context(), "before a reboot"); err != nil || score < 4.9 || score > 5.1 {
		t.Errorf("score %v, %v", score, err)
	}
	if len(users) != 2 || users[0] != 7 || users[1] != 7 || p.options().Workload != 7 {
		t.Errorf("runs with %v users, load beside the checks with %d, want 7", users, p.options().Workload)
	}
}

// The data is brought back after the checks, also when they were cut off.
func TestChecksBringTheDataBack(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		done := filepath.Join(t.TempDir(), "done")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if interrupted {
			cancel()
		}
		p := &Prover{UI: quiet{}, Only: []string{prove.Staleness}, Bench: &Bench{Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()},
			Stack: &stack.Stack{Dir: t.TempDir(), Load: stack.LoadConfig{Reset: []string{"touch", done}}}}}
		if _, err := p.Run(ctx); (err != nil) != interrupted {
			t.Error(err)
		}
		if _, err := os.Stat(done); err != nil {
			t.Errorf("interrupted %v: %v", interrupted, err)
		}
	}
}

// An error at one database drops nothing of the others.
func TestDurabilityOfSeveralDatabases(t *testing.T) {
	st := &stack.Stack{Dir: t.TempDir(), Services: []stack.Service{
		{Name: "first", Kind: stack.MariaDB, Host: "away"},
		{Name: "second", Kind: stack.MariaDB, Host: stack.LocalHost, Listen: []string{"127.0.0.1:1"}},
	}}
	p := &Prover{Bench: &Bench{Stack: st, Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}}, UI: quiet{}}
	r, err := p.durability(t.Context(), nil)
	if err != nil || r.Outcome != prove.NotJudged || !strings.Contains(r.Text, "first: host away is not connected") || !strings.Contains(r.Text, "second may not be killed") {
		t.Errorf("%+v, %v", r, err)
	}
}
