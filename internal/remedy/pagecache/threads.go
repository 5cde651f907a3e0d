package pagecache

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// threadMemory are what a thread takes when it is at work: its stack, and the
// workspaces of the request and of the fetch that it is for. The values are the
// defaults of 7.1, which are the largest of those since 6.0 (varnishd(1)).
var threadMemory = []struct {
	param string
	bytes int64
}{{"thread_pool_stack", 80 << 10}, {"workspace_client", 96 << 10}, {"workspace_backend", 96 << 10}}

// planThreads lets each of Varnish's pools have twice the threads, as far as the
// host has memory to spare. The manual warns of more than are needed, so it is
// doubled while the sign lasts.
func planThreads(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	if len(f.Settings) == 0 {
		return nil, fmt.Errorf("the operating system refuses threads to %s: look at TasksMax= and LimitNPROC= of its unit, and at memory", svc.Name)
	}
	start, err := diagnose.FindVarnishStart(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	pools, most, name := start.Number("thread_pools"), start.Number("thread_pool_max"), f.Settings[0].Name
	now := start.Number(name)
	want := 2 * now
	if name == "thread_pool_min" {
		want = min(want, most)
	}
	more, err := threadRoom(in, svc, start, pools)
	if err != nil {
		return nil, err
	}
	if want = min(want, now+more); want <= now {
		return nil, fmt.Errorf("%s of %s is %d, and there is no room for more", name, svc.Name, now)
	}
	if err := start.Args.SetParam(name, strconv.Itoa(want)); err != nil {
		return nil, err
	}
	c, err := startChange(in, svc, start, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("varnish.threads:%s:%s=%d", svc.Name, name, want),
		Title: fmt.Sprintf("Let %s have %d instead of %d threads in each of its %s (%s)", svc.Name, want, now, ui.Plural(pools, "pool", "pools"), name), Changes: c}}, nil
}

// threadRoom is how many threads more the host has memory for in each pool: half
// of what is spare, as for storage.
func threadRoom(in planning.Input, svc *stack.Service, start *diagnose.VarnishStart, pools int) (int, error) {
	each := int64(0)
	for _, m := range threadMemory {
		n := m.bytes
		if text, ok := start.Args.Param(m.param); ok {
			if set, ok := diagnose.Bytes(strings.ToUpper(text)); ok {
				n = set
			}
		}
		each += n
	}
	room := planning.SpareMemory(in, svc) / 2 / each / int64(pools)
	if room < 1 {
		return 0, fmt.Errorf("the host has no memory to spare for more threads of %d KiB in the %s of %s", each>>10, ui.Plural(pools, "pool", "pools"), svc.Name)
	}
	return int(room), nil
}
