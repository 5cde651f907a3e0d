// Package remedy plans changes for findings. Planning is pure: it reads a
// Snapshot and yields changes; nothing touches a host here.
//
// In: diagnose.Diagnosis, evidence.Snapshot, stack.Stack. Out: []Plan, each
// with its reason, its trades and its changes, and []Refusal for what the
// regulation forbids. Remedies are entries of a table (table.go); the
// catalogue page is generated from it and from measures.go.
package remedy

import (
	"kasoku/internal/remedy/planning"
)

// What the stages after this one use of package planning.
type (
	Input  = planning.Input
	Remedy = planning.Remedy
	Plan   = planning.Plan
	Part   = planning.Part
	Search = planning.Search
)

// Refusal is a plan that the regulation forbids.
type Refusal struct {
	Plan Plan   `json:"plan"`
	Why  string `json:"why"`
}
