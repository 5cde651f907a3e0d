// Package boot plans what a host does after a reboot, before its first request.
package boot

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
