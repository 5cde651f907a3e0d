package evidence

import "kasoku/internal/digest"

const (
	// keptClasses go into Evidence, most total time first. What comes after
	// them is less than a per mille of the time in every log looked at.
	keptClasses = 200
	// otherClass gathers the statements that a source could not tell apart.
	otherClass = digest.OtherStatements
)

// sortStatements puts the class with most total time first.
func sortStatements(s []Statement) { digest.SortStatements(s) }
