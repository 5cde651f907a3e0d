package tune

import (
	"slices"
	"testing"

	"kasoku/internal/remedy"
)

// A group's changes each have a line of their own.
func TestWhys(t *testing.T) {
	one := remedy.Plan{Title: "Add an index", Why: "It scans. Much."}
	if got := whys(one); !slices.Equal(got, []string{"why: It scans. Much."}) {
		t.Errorf("%q", got)
	}
	if got, want := whys(remedy.Plan{Why: "A: it scans.\nB: it waits."}), []string{"why: A: it scans.", "why: B: it waits."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
