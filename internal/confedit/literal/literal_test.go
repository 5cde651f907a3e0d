package literal

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestReplace(t *testing.T) {
	tests := []struct {
		why, src, old, new string
		want               string
		count              int
	}{
		{"in quotes", `dsn = "u:p@tcp(127.0.0.1:3306)/db" # x`, "u:p@tcp(127.0.0.1:3306)/db", "u:p@unix(/s)/db", `dsn = "u:p@unix(/s)/db" # x`, 1},
		{"part of a longer address is not it", "127.0.0.1:33060 127.0.0.1:3306", "127.0.0.1:3306", "x", "127.0.0.1:33060 x", 1},
		{"a longer address before", "10.127.0.0.1:3306", "127.0.0.1:3306", "x", "10.127.0.0.1:3306", 0},
		{"behind //", "redis://127.0.0.1:6379/0", "127.0.0.1:6379", "h:1", "redis://h:1/0", 1},
		{"a longer path", "/var/tmp/a /tmp/a.sock /tmp/a/b /tmp/a", "/tmp/a", "/x", "/var/tmp/a /tmp/a.sock /tmp/a/b /x", 1},
		{"a path in brackets and behind a colon", "unix(/tmp/a) unix:/tmp/a;", "/tmp/a", "/x", "unix(/x) unix:/x;", 2},
		{"a path behind a scheme", "unix:///tmp/a x//tmp/a", "/tmp/a", "/x", "unix:///x x//tmp/a", 1},
		{"a word", "db my-db db_test db2 xdb db.", "db", "x", "x my-db db_test db2 xdb x.", 2},
		{"next to each other", "a,a,a", "a", "b", "b,b,b", 3},
		{"a full stop behind", "host 127.0.0.1.", "127.0.0.1", "h", "host h.", 1},
		{"nothing", "abc", "", "x", "abc", 0},
		{"the whole", "a", "a", "", "", 1},
		{"not ASCII", "äa a", "a", "b", "äa b", 1},
	}
	for _, tt := range tests {
		got, n := Replace([]byte(tt.src), tt.old, tt.new)
		if string(got) != tt.want || n != tt.count {
			t.Errorf("%s: got %q (%d), want %q (%d)", tt.why, got, n, tt.want, tt.count)
		}
	}
}

// TestReplaceOnlyPlaces checks that what lies between the places is as it was,
// and that replacing a text by itself changes nothing.
func TestReplaceOnlyPlaces(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab1./:-_ \"é\n")))
	rapid.Check(t, func(t *rapid.T) {
		src, old := text.Draw(t, "src"), text.Draw(t, "old")
		got, n := Replace([]byte(src), old, "\x00")
		if back := strings.ReplaceAll(string(got), "\x00", old); back != src {
			t.Fatalf("%q in %q gave %q", old, src, got)
		}
		if bytes.Count(got, []byte{0}) != n {
			t.Fatalf("%q in %q: counted %d in %q", old, src, n, got)
		}
		if same, _ := Replace([]byte(src), old, old); string(same) != src {
			t.Fatalf("%q by itself in %q gave %q", old, src, same)
		}
	})
}
