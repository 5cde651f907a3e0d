package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// Two plans edit the same nginx.conf. Without the first one it is as if only
// the second had been applied.
func TestWithoutTheEarlierOfTwoEdits(t *testing.T) {
	in := remedytest.World(nil)
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	first := remedytest.Want(t, in, "nginx.delivery")
	remedytest.Put(in, first.Changes)
	second := remedytest.Want(t, in, "nginx.keep-php")
	remedytest.Put(in, second.Changes)

	alone := remedytest.World(nil)
	remedytest.Asset(alone, "/srv/app", "/img/a.png", "image/png")
	want := remedytest.After(remedytest.Want(t, alone, "nginx.keep-php"), remedytest.NginxPath)

	got, err := remedy.Without(in.Snapshot, first.Changes)
	if err != nil {
		t.Fatal(err)
	}
	if text := remedytest.AfterChanges(got, remedytest.NginxPath); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if got[0].Activate != change.Reload || string(got[0].Before.Content) != remedytest.After(second, remedytest.NginxPath) {
		t.Errorf("it does not begin from what is there: %+v", got[0])
	}
}

func TestWithout(t *testing.T) {
	snap := &evidence.Snapshot{}
	file := func(path, before, after string) change.Change {
		c := change.Change{Kind: change.KindFile, Path: path, Before: &change.FileState{}, After: &change.FileState{Content: []byte(after), Hash: host.HashOf([]byte(after))}}
		if before != "" {
			c.Before = &change.FileState{Content: []byte(before), Hash: host.HashOf([]byte(before))}
		}
		return c
	}
	got, err := remedy.Without(snap, []change.Change{
		{Kind: change.KindDir, Path: "/dev/shm/kasoku"},
		file("/etc/sysctl.d/99-zz-kasoku.conf", "", "a = 1\n"),
		{Kind: change.KindSysctl, Variable: "a", BeforeValue: "0", AfterValue: "1"},
		{Kind: change.KindVariable, Service: "db", Variable: "v", BeforeValue: "10", AfterValue: "21", Reported: "20", Phase: 1},
		{Kind: change.KindIndex, Service: "db", Index: &change.Index{Name: "i"}, Phase: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, c := range got {
		text = append(text, strings.TrimSpace(string(c.Kind)+" "+c.Variable+c.Path+" "+c.BeforeValue+" "+c.AfterValue))
	}
	if s := strings.Join(text, "; "); s != "index; variable v 20 10; sysctl a 1 0; file /etc/sysctl.d/99-zz-kasoku.conf" {
		t.Errorf("order or values: %s", s)
	}
	if !got[0].Drop || got[0].Phase != 0 || got[3].Phase != 1 || len(got[3].After.Content) != 0 || got[3].After.Content == nil {
		t.Errorf("%+v", got)
	}
	for name, c := range map[string]change.Change{
		"undo":         {Kind: change.KindPackage},
		"without look": {Kind: change.KindVariable, Variable: "v"},
		"dropped":      {Kind: change.KindIndex, Drop: true, Index: &change.Index{Name: "i"}},
		"bytes":        {Kind: change.KindFile, Path: "/x", Before: &change.FileState{Hash: "h"}, After: &change.FileState{Hash: "h"}},
	} {
		if _, err := remedy.Without(snap, []change.Change{c}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	edited := &evidence.Snapshot{Files: map[string]map[string]evidence.File{"local": {"/x": {Content: []byte("a\nc\n")}}}}
	if _, err := remedy.Without(edited, []change.Change{file("/x", "a\n", "a\nb\n")}); err == nil || !strings.Contains(err.Error(), "same lines") {
		t.Errorf("a later change of the same line: %v", err)
	}
}

// Whatever lines two edits add and remove: without the first, what is left is
// the second alone, or the two meet and it is refused.
func TestWithoutIsTheOtherEditAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 6, 20).Draw(r, "lines")
		edit := func(of []string, at int, mark string) []string {
			out := append([]string{}, of[:at]...)
			return append(append(out, mark), of[at+1:]...)
		}
		text := func(of []string) string { return strings.Join(of, "\n") + "\n" }
		i := rapid.IntRange(0, len(lines)-1).Draw(r, "first")
		j := rapid.IntRange(0, len(lines)-1).Draw(r, "second")
		one := edit(lines, i, "first")
		two := edit(one, j, "second")
		snap := &evidence.Snapshot{Files: map[string]map[string]evidence.File{"local": {"/x": {Content: []byte(text(two))}}}}
		c := change.Change{Kind: change.KindFile, Path: "/x",
			Before: &change.FileState{Content: []byte(text(lines)), Hash: host.HashOf([]byte(text(lines)))},
			After:  &change.FileState{Content: []byte(text(one)), Hash: host.HashOf([]byte(text(one)))}}
		got, err := remedy.Without(snap, []change.Change{c})
		if i == j || err != nil {
			between := slices.Compact(slices.Clone(lines[min(i, j) : max(i, j)+1]))
			if i != j && (i-j > 1 || j-i > 1) && len(between) > 2 {
				r.Fatalf("lines %d and %d do not meet: %v", i, j, err)
			}
			return
		}
		if want := text(edit(lines, j, "second")); string(got[0].After.Content) != want {
			r.Fatalf("got %q, want %q", got[0].After.Content, want)
		}
	})
}
