package prove

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Two things of one session stand in a list by the second in which each was made, so that a faster service
// gives them in another order; all else is compared in its order.
func TestSortRecent(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	thing := func(id int, made any, says string) string {
		return fmt.Sprintf(`{"id": %d, "made": %v, "says": "%s"}`, id, made, says)
	}
	list := func(things ...string) []byte {
		return []byte("{\"things\": [" + strings.Join(things, ", ") + "],\n \"next\": true}\n")
	}
	s, old := now.Unix(), now.Add(-24*time.Hour).Unix()
	text := func(at time.Time) string { return `"` + at.Format("2006-01-02 15:04:05") + `"` }
	for _, c := range []struct {
		name       string
		found, now []byte
		same       bool
	}{
		{"one second apart, and in the same one", list(thing(9, s+1, "drawn"), thing(8, s+1, "drawn"), thing(3, s, "sent"), thing(2, old, "b"), thing(1, old, "a")),
			list(thing(3, s, "sent"), thing(8, s, "drawn"), thing(9, s, "drawn"), thing(2, old, "b"), thing(1, old, "a")), true},
		{"milliseconds", list(thing(9, s*1000+1, "drawn"), thing(3, s*1000, "sent")), list(thing(3, s*1000, "sent"), thing(9, s*1000, "drawn")), true},
		{"a database's form", list(thing(9, text(now), "drawn"), thing(3, text(now), "sent")), list(thing(3, text(now), "sent"), thing(9, text(now), "drawn")), true},
		{"older things", list(thing(2, old, "b"), thing(1, old, "a")), list(thing(1, old, "a"), thing(2, old, "b")), false},
		{"a new one behind an old one", list(thing(9, s, "drawn"), thing(1, old, "a")), list(thing(1, old, "a"), thing(9, s, "drawn")), false},
		{"another text", list(thing(9, s, "drawn"), thing(3, s, "sent")), list(thing(3, s, "sent"), thing(9, s, "lost")), false},
		{"one too few", list(thing(9, s, "drawn"), thing(3, s, "sent")), list(thing(9, s, "drawn")), false},
	} {
		hide := func(body []byte) []byte { return words9(hideTimes(body, now)) }
		if got := string(hide(c.found)) == string(hide(c.now)); got != c.same {
			t.Errorf("%s: taken for the same: %v\n%s%s", c.name, got, hide(c.found), hide(c.now))
		}
	}
	for _, body := range []string{"", "<p>2026</p>", `{"a": [`, `[1, {"made": 1}]`, "[]", `"x"`} {
		if got := sortRecent([]byte(body), now); string(got) != body {
			t.Errorf("%q became %q", body, got)
		}
	}
	nested := fmt.Sprintf(`[ [ %s,%s ] ]`, thing(1, s, "b"), thing(2, s, "a"))
	if got, want := string(sortRecent([]byte(nested), now)), fmt.Sprintf(`[ [ %s,%s ] ]`, thing(2, s, "a"), thing(1, s, "b")); got != want {
		t.Errorf("in a list of lists: %s, want %s", got, want)
	}
}

// words9 takes the ids away, which differ from session to session.
func words9(body []byte) []byte {
	for _, n := range "389" {
		body = []byte(strings.ReplaceAll(string(body), fmt.Sprintf(`"id": %c`, n), `"id": …`))
	}
	return body
}
