package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// undoProject is a project whose journal keeps four changes of files: #1 and
// #3 of a, #2 of b, #4 of a folder with a file of its own.
func undoProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	yaml := "version: 1\nname: x\nservices: [{name: app, kind: app, control: {start: [sleep, \"1\"]}}]\nload: {scenario: s.yaml, url: \"http://127.0.0.1:1\"}\n"
	for name, text := range map[string]string{"kasoku.yaml": yaml, "s.yaml": "", "a": "one\n", "b": "one\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), st, map[string]host.Host{"local": host.NewLocal()})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	edit := func(name, from, to string) change.Change {
		side := func(text string) *change.FileState {
			return &change.FileState{Hash: host.HashOf([]byte(text)), Content: []byte(text), Mode: 0o644}
		}
		return change.Change{Kind: change.KindFile, Path: filepath.Join(dir, name), Before: side(from), After: side(to)}
	}
	for _, ch := range []change.Change{edit("a", "one\n", "two\n"), edit("b", "one\n", "two\n"), edit("a", "two\n", "three\n"), edit("b", "two\n", "three\n")} {
		tx, err := x.Apply(t.Context(), change.Intent{Title: "edit " + filepath.Base(ch.Path), Changes: []change.Change{ch}})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Keep(t.Context(), tx.ID); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUndo(t *testing.T) {
	await.SkipShort(t)
	for _, row := range []struct {
		name, args string
		code       int
		a, b       string
		says       string
	}{
		{"one that is last", "3", ui.OK, "two", "three", "put back #3"},
		{"one in the middle", "1", ui.BadInput, "three", "three", "kasoku undo 3 1, or the same by kasoku undo 1 --with-later"},
		{"one in the middle with later ones", "1 --with-later", ui.OK, "one", "three", "put back #1"},
		{"a range", "2-4", ui.OK, "two", "one", "put back #2"},
		{"an open range", "3-", ui.OK, "two", "two", "put back #4"},
		{"several", "#3 1", ui.OK, "one", "three", "put back #1"},
		{"a range and its later ones", "1-2 --with-later", ui.OK, "one", "one", "put back #4"},
		{"all", "--all", ui.OK, "one", "one", "put back #4"},
		{"one that never was", "9", ui.BadInput, "three", "three", "kasoku history"},
		{"a range of none", "7-9", ui.BadInput, "three", "three", "none of #7-9 is kept"},
		{"a word", "last", ui.Usage, "three", "three", "neither a number"},
		{"a range backwards", "4-2", ui.Usage, "three", "three", "ends before it begins"},
		{"nothing", "", ui.Usage, "three", "three", "--all"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := undoProject(t)
			var out, errs strings.Builder
			args := append([]string{"-f", filepath.Join(dir, "kasoku.yaml"), "undo"}, strings.Fields(row.args)...)
			if code := run(args, &out, &errs); code != row.code {
				t.Errorf("ended with %d, want %d\n%s%s", code, row.code, &out, &errs)
			}
			if text := out.String() + errs.String(); !strings.Contains(text, row.says) {
				t.Errorf("no %q in:\n%s", row.says, text)
			}
			for name, want := range map[string]string{"a": row.a, "b": row.b} {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want+"\n" {
					t.Errorf("%s is %q, want %q, %v", name, got, want, err)
				}
			}
		})
	}
}

// Somebody else's edit is not overwritten, and the way on is told.
func TestUndoConflict(t *testing.T) {
	dir := undoProject(t)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code := run([]string{"-f", filepath.Join(dir, "kasoku.yaml"), "--json", "undo", "3", "4"}, &out, &errs)
	if code != ui.NeedsRecovery || !strings.Contains(errs.String(), "kasoku recover --abandon 3") {
		t.Errorf("ended with %d\n%s", code, &errs)
	}
	// What was put back before is told all the same.
	var undone []change.Tx
	if err := json.Unmarshal([]byte(out.String()), &undone); err != nil || len(undone) != 1 || undone[0].ID != 4 {
		t.Errorf("%v: %s", err, &out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != "mine\n" {
		t.Errorf("it was overwritten: %q, %v", got, err)
	}
}
