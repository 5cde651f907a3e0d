package remedy

import (
	"testing"

	"kasoku/internal/change"
)

// What a kept change wrote is edited by a plan that sets its variable or takes its lines
// away, and not by one that adds lines to its file or edits those as found.
func TestRetouches(t *testing.T) {
	edit := func(before, after string) change.Change {
		return change.Change{Kind: change.KindFile, Host: "h", Path: "/etc/my.cnf", Before: &change.FileState{Content: []byte(before)}, After: &change.FileState{Content: []byte(after)}}
	}
	set := func(variable string) change.Change {
		return change.Change{Kind: change.KindVariable, Service: "db", Variable: variable, AfterValue: "1"}
	}
	found := "[mysqld]\nport = 3306\n"
	kept := []change.Change{edit(found, found+"cache = ON\n"), edit(found+"cache = ON\n", found+"cache = ON\npool = 1G\n"), set("table_open_cache")}
	now := found + "cache = ON\npool = 1G\n"
	for _, c := range []struct {
		name string
		plan change.Change
		want bool
	}{
		{"the cache is switched off again", edit(now, found+"cache = OFF\npool = 1G\n"), true},
		{"the pool becomes larger", edit(now, found+"cache = ON\npool = 2G\n"), true},
		{"a line is added", edit(now, now+"log = 1G\n"), false},
		{"a line as found is edited", edit(now, "[mysqld]\nport = 3307\ncache = ON\npool = 1G\n"), false},
		{"the variable", set("table_open_cache"), true},
		{"another variable", set("max_connections"), false},
	} {
		if got := Retouches(kept, Plan{Changes: []change.Change{c.plan}}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if Retouches(nil, Plan{Changes: []change.Change{c.plan}}) {
			t.Errorf("%s: nothing was kept", c.name)
		}
	}
}
