package change

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// prepared is a fixture in which two transactions prepared a switch: files of
// other services first, then web's.
func prepared(t *testing.T) (f *fixture, ids []int64) {
	f = newFixture(t)
	for i, in := range []Intent{
		{Title: "install", Plan: Prepares("p"), Changes: []Change{edit1(f.file("one", "0"), "0", "1", "db", Restart)}},
		{Title: "start", Plan: Prepares("p"), Changes: []Change{edit1(f.file("two", "0"), "0", "1", "php", Reload)}},
		{Title: "switch", Plan: "p", Changes: []Change{edit1(f.file("web.conf", "0"), "0", "1", "web", Reload)}},
		{Title: "another", Plan: "q", Changes: []Change{edit1(f.file("other", "0"), "0", "1", "web", Reload)}},
	} {
		tx, err := f.x.Apply(t.Context(), in)
		must(t, err)
		if tx.ID != int64(i+1) {
			t.Fatalf("tx %d", tx.ID)
		}
		ids = append(ids, tx.ID)
	}
	return f, ids
}

// What prepares is not taken away from under its switch.
func TestPrepareIsBeneath(t *testing.T) {
	f, ids := prepared(t)
	var e *LaterError
	if err := f.x.Revert(t.Context(), ids[0]); !errors.As(err, &e) {
		t.Fatalf("the first was put back alone: %v", err)
	}
	for _, id := range ids {
		must(t, f.x.Keep(t.Context(), id))
	}
	for id, want := range map[int64]string{1: "3 kept, 2 kept", 2: "3 kept"} {
		if err := f.x.Undo(t.Context(), id, false); !errors.As(err, &e) {
			t.Fatalf("undo %d: %v", id, err)
		}
		wantEqual(t, "on it", states(e.Later), want)
	}
	must(t, f.x.Undo(t.Context(), 3, false)) // nothing builds on the switch
	f.did()
	must(t, f.x.Undo(t.Context(), 1, true))
	wantEqual(t, "activation", f.did(), "reload php, restart db")
	wantEqual(t, "kept", states(f.x.Kept()), "4 kept")
}

// When all of it is put back at once, the switch is back and taken on before
// what it needed goes; if it cannot be, that stays.
func TestPrepareGoesLast(t *testing.T) {
	f, _ := prepared(t)
	var steps []string
	f.trace = func(s string) {
		if strings.Contains(s, "undo.") && (strings.HasSuffix(s, ".look") || strings.Contains(s, "activate")) {
			steps = append(steps, s)
		}
	}
	f.reopen()
	_, err := f.x.Recover(t.Context())
	must(t, err)
	last := -1
	for _, want := range []string{"tx3.undo.change0.look", "activate.web", "tx2.undo.change0.look", "activate.php", "tx1.undo.change0.look", "activate.db"} {
		i := slices.IndexFunc(steps, func(s string) bool { return strings.HasSuffix(s, want) })
		if i <= last {
			t.Errorf("%s is not where it should be in %v", want, steps)
		}
		last = i
	}

	f, _ = prepared(t)
	f.file("web.conf", "somebody's")
	f.reopen()
	_, err = f.x.Recover(t.Context())
	wantText(t, err, "web.conf")
	wantEqual(t, "what it needs", content(t, f.dir+"/one")+content(t, f.dir+"/two"), "11")
}

// A switch may edit what its preparing has edited: both are kept, in that order,
// and a third hand is still seen.
func TestPreparedAndSwitchedFile(t *testing.T) {
	f := newFixture(t)
	path := f.file("my.cnf", "0")
	first, err := f.x.Apply(t.Context(), Intent{Title: "set", Plan: Prepares("p"), Changes: []Change{edit1(path, "0", "1", "db", Restart)}})
	must(t, err)
	second, err := f.x.Apply(t.Context(), Intent{Title: "switch", Plan: "p", Changes: []Change{edit1(path, "1", "2", "db", None)}})
	must(t, err)
	must(t, f.x.Keep(t.Context(), first.ID))
	must(t, os.WriteFile(path, []byte("3"), 0o640))
	wantErr(t, f.x.Keep(t.Context(), second.ID), ErrChanged)
	must(t, os.WriteFile(path, []byte("2"), 0o640))
	must(t, f.x.Keep(t.Context(), second.ID))
	must(t, f.x.UndoAll(t.Context()))
	wantEqual(t, "undone", content(t, path), "0")
}
