// Package packages plans upgrades from the system's own sources.
package packages

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
