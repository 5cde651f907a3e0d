package patch

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// A read by a row that an earlier read gives is one patch with that one, whichever of
// them is named.
func TestFollowersShareAPatch(t *testing.T) {
	var places []*Place
	for _, at := range plain(t) {
		if at.Function == "fourOf" {
			places = append(places, at)
		}
	}
	if len(places) != 4 {
		t.Fatalf("%d places", len(places))
	}
	first := places[0]
	want, err := Diff(places[:1])
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range places {
		if at.Refused != nil || at.Lead() != first || (at.With == first.ID) != (i > 0) || at.Message() != first.Message() {
			t.Errorf("%s: refused %v, with %q, led by %s", at.ID, at.Refused, at.With, at.Lead().ID)
		}
		got, err := Diff(places[i:])
		if err != nil || got != want {
			t.Errorf("%s: %v, another diff:\n%s", at.ID, err, got)
		}
	}
	if n := len(Leads(places)); n != 1 {
		t.Errorf("%d patches", n)
	}
}

// How many statements programs send for 130 elements, before and after.
func TestFollowersAskLess(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	before, after := plainProgram(t, false), plainProgram(t, true)
	for _, name := range []string{"parentNames", "nameAndParent", "fourOf", "both", "theirPosts", "byScore", "narrow", "answersThere", "allFamilies", "threads"} {
		was, is := sends(t, before, dsn, name), sends(t, after, dsn, name)
		t.Logf("%s: %d statements, now %d", name, was, is)
		if is*4 > was {
			t.Errorf("%s: %d statements, now %d", name, was, is)
		}
	}
}

func sends(t *testing.T, program, dsn, name string) int {
	t.Helper()
	out, err := exec.Command(program, dsn, "1", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
