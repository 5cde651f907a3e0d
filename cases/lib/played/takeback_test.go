package played

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/change"
)

// A copy that is removed takes its journal along, so what a session kept of the machine itself is
// put back before, and only then: the rest goes with the copy.
func TestTakeBack(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(change.JournalDir(filepath.Join(dir, ".kasoku")), 0o755); err != nil {
		t.Fatal(err)
	}
	program, said := filepath.Join(dir, "program"), filepath.Join(dir, "said")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >'"+said+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	take := func(c change.Change) string {
		t.Helper()
		line, err := json.Marshal(map[string]any{"changes": []change.Change{c}})
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(said)
		if err := os.WriteFile(filepath.Join(change.JournalDir(filepath.Join(dir, ".kasoku")), "journal.jsonl"), line, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("../take-back", dir)
		cmd.Env = append(os.Environ(), "KASOKU="+program)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		got, _ := os.ReadFile(said)
		return strings.TrimSpace(string(got))
	}
	want := "-q -f " + dir + "/kasoku.yaml undo --all"
	for _, c := range []struct {
		name string
		c    change.Change
		want string
	}{
		{"a kernel setting", change.Change{Kind: change.KindSysctl, Variable: "net.core.somaxconn"}, want},
		{"a file of the machine", change.Change{Kind: change.KindFile, Path: "/etc/sysctl.d/99.conf"}, want},
		{"a file of the copy", change.Change{Kind: change.KindFile, Path: dir + "/etc/my.cnf"}, ""},
	} {
		if got := take(c.c); got != c.want {
			t.Errorf("%s: said %q, want %q", c.name, got, c.want)
		}
	}
}
