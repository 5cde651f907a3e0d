package trace

import (
	"reflect"
	"strconv"
	"testing"
)

// said are events of one connection: "P" prepares, "E" executes, "Q" sends.
func said(conn uint64, lines ...string) (out []Event) {
	kinds := map[byte]string{'P': Prepare, 'E': Execute, 'Q': ""}
	for _, l := range lines {
		out = append(out, Event{Call: Call{System: SQL, Conn: conn, Kind: kinds[l[0]], Text: l[2:]}})
	}
	return out
}

// byKey are prepared reads by these keys.
func byKey(keys ...int) (out []string) {
	for _, k := range keys {
		out = append(out, "P SELECT name FROM users WHERE id = ?", "E SELECT name FROM users WHERE id = "+strconv.Itoa(k))
	}
	return out
}

func TestFollows(t *testing.T) {
	list := "Q SELECT id, user_id FROM posts ORDER BY id LIMIT 20"
	for name, one := range map[string]struct {
		lines []string
		want  []Follow
	}{
		"a loop": {
			append(append([]string{"Q START TRANSACTION", "P SELECT 1 FROM config WHERE k = ?", "E SELECT 1 FROM config WHERE k = 'x'", list}, byKey(5, 3, 5, 9)...), "Q COMMIT"),
			[]Follow{{Statement: "SELECT name FROM users WHERE id = ?", Fingerprint: "SELECT name FROM users WHERE id = ?", Runs: 4, Turns: []Turn{{
				Keys: []string{"5", "3", "9"}, Before: []Earlier{{list[2:], list[2:], true}, {"SELECT 1 FROM config WHERE k = ?", "SELECT 1 FROM config WHERE k = 'x'", false}}}}}},
		},
		"outside of a transaction": {append([]string{list}, byKey(5, 3, 9)...), []Follow{{Statement: "SELECT name FROM users WHERE id = ?", Fingerprint: "SELECT name FROM users WHERE id = ?", Runs: 3, Outside: 3}}},
		"two of them are no loop":  {append(append([]string{"Q BEGIN", list}, byKey(5, 3, 3)...), "Q COMMIT"), nil},
		"values put in": {[]string{"Q BEGIN", list, "Q SELECT name FROM users WHERE id = 5", "Q SELECT name FROM users WHERE id = 3", "Q SELECT name FROM users WHERE id = 9", "Q ROLLBACK"},
			[]Follow{{Fingerprint: "SELECT name FROM users WHERE id = ?", Runs: 3, Turns: []Turn{{Keys: []string{"SELECT name FROM users WHERE id = 5", "SELECT name FROM users WHERE id = 3", "SELECT name FROM users WHERE id = 9"}, Before: []Earlier{{list[2:], list[2:], true}}}}}}},
		"writes between": {append(append([]string{"Q BEGIN", list}, append(append(byKey(5), "Q UPDATE posts SET seen = 1"), byKey(3, 9)...)...), "Q COMMIT"),
			[]Follow{{Statement: "SELECT name FROM users WHERE id = ?", Fingerprint: "SELECT name FROM users WHERE id = ?", Runs: 3, Turns: []Turn{{Keys: []string{"5", "3", "9"}, Before: []Earlier{{list[2:], list[2:], true}}, Wrote: 1}}}}},
		"a locking read is none": {append(append([]string{"Q BEGIN", "Q SELECT user_id FROM posts FOR UPDATE"}, byKey(5, 3, 9)...), "Q COMMIT"),
			[]Follow{{Statement: "SELECT name FROM users WHERE id = ?", Fingerprint: "SELECT name FROM users WHERE id = ?", Runs: 3, Turns: []Turn{{Keys: []string{"5", "3", "9"}}}}}},
	} {
		if got := Follows(said(1, one.lines...)); !reflect.DeepEqual(got, one.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, one.want)
		}
	}
	// Connections are apart.
	mixed := append(said(1, append([]string{"Q BEGIN", list}, byKey(5, 3)...)...), said(2, append([]string{"Q BEGIN", list}, byKey(9, 4)...)...)...)
	if got := Follows(mixed); got != nil {
		t.Errorf("two connections: %+v", got)
	}
}

func TestOnlyValue(t *testing.T) {
	for _, one := range []struct {
		statement, text, want string
		ok                    bool
	}{
		{"SELECT a FROM t WHERE id = ?", "SELECT a FROM t WHERE id = 5", "5", true},
		{"SELECT a FROM t WHERE id=? LIMIT 1", "SELECT a FROM t WHERE id=-5 LIMIT 1", "-5", true},
		{"SELECT a FROM t WHERE id = ?", "SELECT a FROM t WHERE id = 'x y'", "'x y'", true},
		{"SELECT a FROM t WHERE id = ? AND b = ?", "SELECT a FROM t WHERE id = 5 AND b = 6", "", false},
		{"SELECT a FROM t", "SELECT a FROM t", "", false},
		{"SELECT a FROM t WHERE id = ?", "SELECT b FROM t WHERE id = 5", "", false},
		{"", "SELECT b FROM t WHERE id = 5", "", false},
	} {
		if got, ok := onlyValue(one.statement, one.text); got != one.want || ok != one.ok {
			t.Errorf("%s: %q, %v", one.text, got, ok)
		}
	}
}
