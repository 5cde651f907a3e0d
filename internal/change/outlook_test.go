package change

import (
	"os"
	"strings"
	"testing"
)

// TestOutlook: what recovery would do is told change by change, in the order
// in which it does it, and nothing is done yet.
func TestOutlook(t *testing.T) {
	f := newFixture(t)
	a, b, c := f.file("a.conf", "a\n"), f.file("b.conf", "b\n"), f.file("c.conf", "c\n")
	if got := f.x.Outlook(t.Context()); len(got) > 0 {
		t.Fatalf("nothing is pending: %+v", got)
	}
	_, err := f.apply(edit1(a, "a\n", "1\n", "web", Reload), edit1(b, "b\n", "2\n", "php", Restart), edit1(c, "c\n", "3\n", "", None))
	must(t, err)
	f.file("a.conf", "a\n")                                     // put back by hand
	must(t, os.WriteFile(b, []byte("someone else's\n"), 0o640)) // edited
	f.reopen()
	f.did()
	before := f.tree()
	got := f.x.Outlook(t.Context())
	if len(got) != 3 {
		t.Fatalf("%d changes: %+v", len(got), got)
	}
	for i, want := range []struct {
		path, will, activate string
		conflict             bool
	}{
		{c, "put it back", "", false},
		{b, "changed by someone else", "restart php", true},
		{a, "is as before already", "reload web", false},
	} {
		p := got[i]
		if p.Tx != 1 || p.Host != "local" || !strings.Contains(p.Change, want.path) || !strings.Contains(p.Will, want.will) || p.Activate != want.activate || p.Conflict != want.conflict {
			t.Errorf("%d is %+v, want %+v", i, p, want)
		}
	}
	wantEqual(t, "files", f.tree(), before)
	wantEqual(t, "activated", f.did(), "")
}
