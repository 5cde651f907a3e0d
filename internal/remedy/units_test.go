package remedy_test

import (
	"slices"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// An agent is stopped only where observability may be traded; what is in no
// table is never.
func TestPlanAgents(t *testing.T) {
	in := remedytest.World(nil)
	in.Evidence.System.Others = []evidence.ProcessUse{
		{PID: 7, Name: "sshd", Unit: "ssh.service", CPU: 5}, {PID: 8, Name: "collectd", Unit: "collectd.service", CPU: 0.9}, {PID: 9, Name: "reader", Unit: "collectd.service", CPU: 0.3},
		{PID: 10, Name: "node_exporter", Unit: "prometheus-node-exporter.service", CPU: 0.05}, {PID: 11, Name: "netdata", CPU: 3}}
	refused := func() (out []remedy.Plan) {
		_, res := remedytest.Plan(t, in)
		for _, r := range res.Refusals {
			if r.Plan.Remedy == "host.agents" {
				out = append(out, r.Plan)
			}
		}
		return out
	}
	if got := refused(); len(got) != 1 || got[0].ID != "host.agents:local:collectd.service" {
		t.Fatalf("refused under the strict regulation: %+v", got)
	}
	in.Stack.Regulation.Allow = []regulation.Trade{regulation.Observability}
	p := remedytest.Want(t, in, "host.agents")
	if len(p.Changes) != 1 || p.Changes[0].Unit.Name != "collectd.service" || p.Changes[0].Unit.After != (change.UnitState{Enabled: "disabled", Active: "inactive"}) || !slices.Equal(p.Trades, []regulation.Trade{regulation.Observability}) {
		t.Errorf("%+v", p)
	}
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "watch", Kind: stack.App, Control: stack.Control{Unit: "collectd"}})
	remedytest.WantNone(t, in, "host.agents", "") // it is the stack's own
}

func TestPlanTasks(t *testing.T) {
	in := remedytest.World(nil)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App, Control: stack.Control{Unit: "api"}})
	in.Evidence.Services["api"] = evidence.ServiceUse{Cgroup: &evidence.CgroupUse{PidsLimit: 40, Pids: 30}}
	in.Snapshot.Files["local"]["/lib/systemd/system/api.service"] = evidence.File{Content: []byte("[Service]\nExecStart=/srv/api\nTasksMax=40\n"), Service: "api"}
	p := remedytest.Want(t, in, "unit.tasks")
	remedytest.Has(t, remedytest.After(p, "/etc/systemd/system/api.service.d/zz-kasoku.conf"), "[Service]\nTasksMax=160\n")
	in.Stack.Service("api").Control = stack.Control{Start: []string{"/srv/api"}}
	remedytest.WantNone(t, in, "unit.tasks", "not started by a unit")
	in.Evidence.Services["api"] = evidence.ServiceUse{Cgroup: &evidence.CgroupUse{PidsLimit: 400, Pids: 30}}
	remedytest.WantNone(t, in, "unit.tasks", "")
}
