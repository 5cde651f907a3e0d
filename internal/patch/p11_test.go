package patch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// What does it by the standard library answers to the byte what the programs did: texts
// that a shell, echo or the kernel takes in another way, too.
func TestAnswersStayWithoutPrograms(t *testing.T) {
	await.SkipShort(t)
	p, places := loaded(t, "started")
	var offered []*Place
	got := map[string][]string{}
	for _, at := range places {
		if at.Shape != "P11" {
			continue
		}
		says := at.Shape
		if at.Refused == nil {
			offered = append(offered, at)
		} else {
			says += " refused: " + at.Refused.Need
			t.Logf("%s %s: %v", at.File, at.Function, at.Refused)
		}
		got[at.File+" "+at.Function] = append(got[at.File+" "+at.Function], says)
	}
	want := wanted(p)
	for at := range got {
		if want[at] == nil {
			t.Errorf("%s: %v, want nothing", at, got[at])
		}
	}
	for at, w := range want {
		if !slices.Equal(w, got[at]) {
			t.Errorf("%s: %v, want %v", at, got[at], w)
		}
	}
	golden, seen := filepath.Join("testdata", "startedgolden"), map[string]bool{}
	for _, at := range offered {
		diff, err := Diff([]*Place{at})
		if err != nil {
			t.Fatal(err)
		}
		name := at.Function + ".diff"
		seen[name] = true
		wantGolden(t, filepath.Join(golden, name), at.Message()+"\n"+diff)
	}
	wantNoOthers(t, golden, seen)
	files, err := Files(offered)
	if err != nil {
		t.Fatal(err)
	}
	before, after := digests(t, builtOf(t, "started", ".", nil), "1"), digests(t, builtOf(t, "started", ".", files), "1")
	if len(before) < 200 || len(before) != len(after) {
		t.Fatalf("%d answers before, %d after", len(before), len(after))
	}
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("before %.300s\nafter  %.300s", before[i], after[i])
		}
	}
	if src := string(files["direct.go"]); strings.Contains(src, "os/exec") || strings.Contains(src, `"bytes"`) {
		t.Errorf("imports that nothing needs stay:\n%s", src)
	}
}
