package change

import "testing"

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		what, state, position string
		want                  bool
	}{
		{"the same", "0-1-7", "0-1-7", true},
		{"ahead", "0-1-9", "0-1-7", true},
		{"behind", "0-1-6", "0-1-7", false},
		{"by another server, which the state knows", "0-2-5,0-1-9", "0-2-5", true},
		{"by another server, which it knows less of", "0-2-4,0-1-9", "0-2-5", false},
		{"by a server that it does not know", "0-1-9", "0-2-5", false},
		{"two domains", "0-1-9,3-1-2", "3-1-2,0-1-8", true},
		{"a domain that it has not", "0-1-9", "0-1-8,3-1-2", false},
		{"nothing yet", "0-1-9", "", true},
		{"what is none", "0-1-9", "0-1", false},
		{"two lists of which one is empty", ",0-1-9", "0-1-9", true},
	} {
		if got := covers(c.state, c.position); got != c.want {
			t.Errorf("%s: covers(%q, %q) = %v", c.what, c.state, c.position, got)
		}
	}
}
