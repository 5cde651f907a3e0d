package remedy

import (
	"fmt"

	"kasoku/internal/diagnose"
)

// planWorkload asks for a larger load (L01): it changes nothing on a host.
func planWorkload(in Input, f diagnose.Finding) ([]Plan, error) {
	now := in.Evidence.Load.Workload
	return []Plan{{ID: fmt.Sprintf("load.workload:%d", now), Title: fmt.Sprintf("Find the workload that scores best (now %d)", now),
		Workload: 2 * now}}, nil
}
