// Package apps plans changes of application servers: Go, Node, Ruby, Python, Perl.
package apps

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
