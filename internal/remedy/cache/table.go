// Package cache plans changes of memcached and Redis.
package cache

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies []planning.Remedy
