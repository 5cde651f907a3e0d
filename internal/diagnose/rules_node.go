package diagnose

import (
	"fmt"

	"kasoku/internal/kind/nodeapp"
	"kasoku/internal/stack"
)

const (
	// nodeSemi is the size of a semi-space that is tried, MiB: most of what a larger one
	// brings is there with 64 (nodejs/performance, issue 67; nodejs/node, pull request 47277).
	nodeSemi = 64
	// nodeYoung is what that takes more, bytes in each process: the young generation is
	// three semi-spaces, and one has at most 16 MiB otherwise (Node.js documentation,
	// "Command-line API", --max-semi-space-size).
	nodeYoung = 3 * (nodeSemi - 16) << 20
	// nodeSaves is the most of a Node program's CPU that it saves: up to 18 % of V8's own
	// benchmark (nodejs/node, issue 42511).
	nodeSaves = 0.18
)

// judgeNodeHeap: V8 collects its young generation whenever 16 MiB of new objects were made,
// and copies what is in use just then. With more room most of a request's objects are dead
// by the next collection.
func judgeNodeHeap(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		app, known := m.in.Snapshot.Apps[svc.Name]
		if !known || svc.RunsIn != "" || !nodeapp.Is(app.Exe) || !nodeapp.TakesSemiSpace(app.Exe) || m.perReq[svc.Name] < jitShare*m.allCPU {
			continue
		}
		start, _, err := EnvironmentOf(m.in.Stack, m.in.Snapshot, svc)
		if err != nil {
			why = err.Error()
			continue
		}
		opts, _ := start.Env("NODE_OPTIONS")
		if nodeapp.SemiSpaceChosen(opts, app.Env["NODE_OPTIONS"], app.Argv) {
			continue
		}
		use, k := m.in.Evidence.Services[svc.Name], m.at(svc.Name)
		more := nodeYoung * int64(max(use.Processes, 1))
		spare := k.sys.MemoryAvailable - k.sys.MemoryTotal*int64(m.in.Stack.Regulation.Headroom())/100
		if c := use.Cgroup; c != nil && c.MemoryLimit > 0 {
			spare = min(spare, c.MemoryLimit*9/10-c.MemoryUsed)
		}
		if float64(more) > roomLeft*float64(spare) {
			why = fmt.Sprintf("%s: a larger young generation takes %s, which is not free", svc.Name, size(more))
			continue
		}
		f := about(svc.Name, svc.Name+" collects its new objects whenever there are 16 MiB of them",
			fmt.Sprintf("Node keeps a semi-space of at most 16 MiB for new objects; %s takes %s of CPU per request, and with %d MiB it would collect and copy less often. It takes up to %s more memory.", svc.Name, seconds(m.perReq[svc.Name]), nodeSemi, size(more)),
			"process of "+svc.Name, "memory of "+svc.Name)
		out = append(out, f.asks(Setting{Service: svc.Name, Name: "NODE_OPTIONS", Now: opts, To: nodeapp.WithSemiSpace(opts, nodeSemi), Up: 1, Memory: more}).
			bounded(m.boundBy(svc.Name, nodeSaves*m.perReq[svc.Name])))
	}
	return out, why
}
