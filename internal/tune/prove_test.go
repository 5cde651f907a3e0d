package tune

import (
	"strings"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/prove"
	"kasoku/internal/stack"
)

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
