package change

import "testing"

// A restart leaves nothing on the target, so it is nothing to undo.
func TestInForce(t *testing.T) {
	restart, file := Change{Kind: KindRestart}, Change{Kind: KindFile}
	for _, c := range []struct {
		name string
		tx   Tx
		want bool
	}{
		{"a kept file", Tx{State: StateKept, Changes: []Change{file, restart}}, true},
		{"a kept restart", Tx{State: StateKept, Changes: []Change{restart}}, false},
		{"a file put back", Tx{State: StateReverted, Changes: []Change{file}}, false},
	} {
		if got := c.tx.InForce(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
