package lazyregexp

import "testing"

// A wrong text is found by Check, and by nobody before it is used.
func TestCheck(t *testing.T) {
	word := New(`(\w+)=`)
	if m := word.FindStringSubmatch("a=b"); len(m) != 2 || m[1] != "a" {
		t.Errorf("%q", m)
	}
	if n, err := Check(); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	New(`(`)
	if n, err := Check(); n != 2 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
}
