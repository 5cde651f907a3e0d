package remedy

import "kasoku/internal/change"

// Retouches reports whether a plan edits what kept changes, the oldest first, have written:
// it sets a variable once more, or takes lines of a file away that were not in it as found. Such
// a plan contradicts what an experiment has shown, so it is tried by itself: others that
// are put back with it would not be tried in vain.
func Retouches(kept []change.Change, p Plan) bool {
	return (&combination{changes: kept}).overlaps(p.All())
}
