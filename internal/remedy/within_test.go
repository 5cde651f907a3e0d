package remedy

import (
	"slices"
	"testing"

	"kasoku/internal/change"
)

// A finding that a whole my.cnf answers, too, is no second step of the plan: it is said of
// which it is a part. One that sets another value, or more, is a step of its own.
func TestPlansWithinOthers(t *testing.T) {
	file := func(after string) change.Change {
		return change.Change{Kind: change.KindFile, Path: "/etc/my.cnf", Service: "db",
			Before: &change.FileState{Content: []byte("[mariadbd]\nuser = mysql\n")}, After: &change.FileState{Content: []byte(after)}}
	}
	variable := func(name, value string) change.Change {
		return change.Change{Kind: change.KindVariable, Service: "db", Variable: name, AfterValue: value}
	}
	plan := func(changes ...change.Change) Plan { return Plan{Changes: changes} }
	plans := []Plan{
		plan(file("[mariadbd]\nuser = mysql\npool         = 1G\nquery_cache  = 64M\n"), variable("pool", "1G"), variable("query_cache", "64M")),
		plan(file("[mariadbd]\nuser = mysql\nquery_cache = 64M\n"), variable("query_cache", "64M"), change.Change{Kind: change.KindRestart, Service: "db"}),
		plan(file("[mariadbd]\nuser = mysql\npool = 2G\n"), variable("pool", "2G")),
		plan(file("[mariadbd]\nuser = mysql\npool = 1G\njoin = 1M\n"), variable("pool", "1G"), variable("join", "1M")),
		plan(file("[mariadbd]\npool = 1G\n"), variable("pool", "1G")), // takes a line out as well
		plan(change.Change{Kind: change.KindRestart, Service: "db"}),
		{Changes: []change.Change{variable("pool", "1G")}, Workload: 4},
	}
	if got, want := MadeBy(plans), []int{-1, 0, -1, -1, -1, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("plans are parts of %v, want %v", got, want)
	}
}
