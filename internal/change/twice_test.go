package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetRightBeforeTheWrite: what somebody else sets between the look and the
// write stays, when a change is made and when it is taken back.
func TestSetRightBeforeTheWrite(t *testing.T) {
	l := newLab(t)
	o := l.options(l.project(t))
	at := ""
	o.Trace = func(step string) {
		if at != "" && strings.HasSuffix(step, at) {
			l.exec(t, "SET GLOBAL max_connections = 250")
		}
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { x.Close() })
	change := []Change{setVariable("max_connections", "151", "200")}

	at = ".change0.write"
	if _, err := x.Apply(t.Context(), Intent{Title: "t", Changes: change}); !errors.Is(err, ErrChanged) {
		t.Errorf("apply: %v", err)
	}
	wantEqual(t, "after apply", l.variable(t, "max_connections"), "250")

	at = ""
	l.exec(t, "SET GLOBAL max_connections = 151")
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: change})
	must(t, err)
	at = ".undo.change0.write"
	var conflict *ConflictError
	if err := x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) {
		t.Errorf("revert: %v", err)
	}
	wantEqual(t, "after undo", l.variable(t, "max_connections"), "250")
}

// TestLinkedRightBeforeTheWrite: a link that somebody else puts in the place of
// one that is to be removed, and the other way round, stays.
func TestLinkedRightBeforeTheWrite(t *testing.T) {
	f := newFixture(t)
	at, path := "", filepath.Join(f.dir, "off")
	theirs := func() string {
		target, err := os.Readlink(path)
		must(t, err)
		return target
	}
	f.trace = func(step string) {
		if at != "" && strings.HasSuffix(step, at) {
			os.Remove(path)
			must(t, os.Symlink("theirs", path))
		}
	}
	must(t, os.Symlink("ours", path))
	remove := Change{Kind: KindLink, Path: path, Link: &Link{Target: "ours", Remove: true}}

	at = ".change0.write"
	if _, err := f.apply(remove); !errors.Is(err, ErrChanged) {
		t.Errorf("apply: %v", err)
	}
	wantEqual(t, "after apply", theirs(), "theirs")

	at = ""
	must(t, os.Remove(path))
	tx, err := f.apply(Change{Kind: KindLink, Path: path, Link: &Link{Target: "ours"}})
	must(t, err)
	at = ".undo.change0.write"
	var conflict *ConflictError
	if err := f.x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) {
		t.Errorf("revert: %v", err)
	}
	wantEqual(t, "after undo", theirs(), "theirs")
}
