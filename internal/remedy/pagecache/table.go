// Package pagecache plans a cache of whole answers in front of the application.
package pagecache

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
