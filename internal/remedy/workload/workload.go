// Package workload plans changes of the load itself.
package workload

import (
	"errors"
	"fmt"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planWorkload asks for a larger load (L01): it changes nothing on a host.
func planWorkload(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	if in.Stack.Load.Command != nil {
		return nil, errors.New("load.command puts the load on; only its own arguments can change how much")
	}
	now := in.Evidence.Load.Workload
	return []planning.Plan{{ID: fmt.Sprintf("load.workload:%d", now), Title: fmt.Sprintf("Find the workload that scores best (now %d)", now),
		Workload: 2 * now}}, nil
}
