// Package kernel plans settings of the kernel and limits of processes.
package kernel

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
