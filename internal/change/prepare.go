package change

import "strings"

// A plan may need something in place before its switch has a meaning: a unit that
// runs on another host. That is a transaction of its own, which stays while the
// switch goes there and back. Its plan is the switch's with a mark in front, so
// that whoever undoes it undoes the switch first.

const prepareMark = "prepare:"

// Prepares is the Intent.Plan of a transaction that prepares a plan.
func Prepares(plan string) string { return prepareMark + plan }

// prepares reports whether t prepares o, or comes before o in preparing the
// same plan.
func (t *txn) prepares(o *txn) bool {
	if o.Plan == "" || !strings.HasPrefix(t.Plan, prepareMark) || t.ID >= o.ID {
		return false
	}
	return t.Plan == Prepares(o.Plan) || t.Plan == o.Plan
}
