package evidence

import (
	"context"
	"fmt"
	"strings"

	"kasoku/internal/host"
)

// nameUnits notes which unit each of these processes belongs to. One that has
// ended meanwhile, or is of no unit, has none.
func nameUnits(ctx context.Context, h host.Host, processes []ProcessUse) {
	for i := range processes {
		data, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/cgroup", processes[i].PID))
		if err == nil {
			processes[i].Unit = unitOf(data)
		}
	}
}

// unitOf is the service of systemd that a process belongs to, from
// /proc/PID/cgroup: the outermost part that ends in .service, in the unified
// hierarchy or in systemd's own of version 1 (systemd, CGROUP_DELEGATION.md).
// "" for a user's session and what is in no service.
func unitOf(cgroup []byte) string {
	groups := parseCgroups(cgroup)
	group, ok := groups["name=systemd"]
	if !ok {
		group = groups[""]
	}
	for part := range strings.SplitSeq(group, "/") {
		if strings.HasPrefix(part, "user@") {
			return ""
		}
		if strings.HasSuffix(part, ".service") {
			return part
		}
	}
	return ""
}
