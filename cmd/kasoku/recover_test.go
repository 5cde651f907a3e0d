package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// recovering is a project with two files that changes are made of.
type recovering struct {
	t   *testing.T
	dir string
}

func (r recovering) path(name string) string { return filepath.Join(r.dir, name) }

func (r recovering) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r recovering) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// want runs the command line, checks its exit code and what it says.
func (r recovering) want(code int, says []string, args ...string) string {
	r.t.Helper()
	var out, errs bytes.Buffer
	got := run(append([]string{"-f", r.path("kasoku.yaml")}, args...), &out, &errs)
	all := out.String() + errs.String()
	if got != code {
		r.t.Fatalf("kasoku %v ended with %d, want %d\n%s", args, got, code, all)
	}
	for _, s := range says {
		if !strings.Contains(all, s) {
			r.t.Fatalf("kasoku %v does not say %q:\n%s", args, s, all)
		}
	}
	return out.String()
}

// apply makes one change of one file and leaves it applied, or keeps it.
func (r recovering) apply(name, after string, keep bool) {
	r.t.Helper()
	st, err := stack.Load(r.path("kasoku.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	x, err := tune.OpenExecutor(r.t.Context(), r.path(".kasoku"), st, map[string]host.Host{"local": host.NewLocal()})
	if err != nil {
		r.t.Fatal(err)
	}
	before := []byte(r.read(name))
	tx, err := x.Apply(r.t.Context(), change.Intent{Title: "edit " + name, Changes: []change.Change{{Kind: change.KindFile, Path: r.path(name),
		Before: &change.FileState{Hash: host.HashOf(before), Content: before}, After: &change.FileState{Content: []byte(after)}}}})
	if err == nil && keep {
		err = x.Keep(r.t.Context(), tx.ID)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// TestRecoverAndVerify: what a person sees who comes after an interrupted
// Kasoku, after a colleague's edit, and after losing the journal.
func TestRecoverAndVerify(t *testing.T) {
	await.SkipShort(t)
	r := recovering{t, t.TempDir()}
	t.Setenv(stateDirEnv, stateDir(t))
	r.write("kasoku.yaml", fmt.Sprintf("version: 1\nname: shop\nservices:\n  - {name: app, kind: app, root: %q, control: {start: [/bin/true]}}\nload: {scenario: s.yaml, url: http://127.0.0.1:1}\n", r.dir))
	r.write("kept.conf", "a\n")
	r.write("open.conf", "a\n")
	r.want(ui.OK, []string{"nothing to recover"}, "recover", "--dry-run")
	r.apply("kept.conf", "b\n", true)
	r.apply("open.conf", "b\n", false)

	r.want(ui.NeedsRecovery, []string{"#2 edit open.conf", "host local", "put it back"}, "recover", "--dry-run")
	fits(t, "recover --dry-run", r.want(ui.NeedsRecovery, nil, "--json", "recover", "--dry-run"))
	if r.read("open.conf") != "b\n" {
		t.Fatal("the dry run changed something")
	}
	r.want(ui.NeedsRecovery, []string{"#2 edit open.conf is unfinished"}, "verify")
	// What is only being tried is nothing to plan from.
	a := newApp(&CLI{File: r.path("kasoku.yaml")}, io.Discard, io.Discard)
	if _, err := a.planStored(t.Context(), &store.Run{}); ui.Code(err) != ui.Busy || !strings.Contains(err.Error(), "#2 (edit open.conf) is in place and not decided upon") {
		t.Fatalf("planning beside a change under trial: %v", err)
	}
	r.want(ui.OK, []string{"put back #2 edit open.conf"}, "recover")
	r.want(ui.OK, []string{"nothing to recover"}, "recover")
	if r.read("open.conf") != "a\n" {
		t.Fatal("it is not put back")
	}
	r.want(ui.OK, []string{"matches the journal: 1 kept"}, "verify")

	r.write("kept.conf", "b\nmine\n")
	r.want(ui.Failure, []string{"kept.conf: the journal (tx 1) says", "last changed at", "+mine", "saved in"}, "verify")
	v := decode[verification](t, r.want(ui.Failure, nil, "--json", "verify"))
	if len(v.Drift) != 1 || v.Drift[0].Trace == nil || v.Drift[0].Trace.UID != os.Getuid() || v.Kept != 1 {
		t.Fatalf("as JSON: %+v", v)
	}
	if saved, err := os.ReadFile(v.Drift[0].Saved); err != nil || string(saved) != "b\nmine\n" {
		t.Fatalf("their bytes are not saved: %q, %v", saved, err)
	}

	if err := os.RemoveAll(r.path(".kasoku/journal")); err != nil {
		t.Fatal(err)
	}
	r.want(ui.BadInput, []string{`no host "db9"`}, "recover", "--from-target", "db9")
	r.want(ui.Usage, []string{"--from-target"}, "recover", "--project", "x")
	r.want(ui.OK, nil, "recover", "--from-target", "local")
	r.want(ui.Failure, []string{"kept.conf: the journal (tx 1) says"}, "verify")
	r.write("kept.conf", "b\n")
	r.want(ui.OK, []string{"put back #1 edit kept.conf"}, "undo", "--all")
	if r.read("kept.conf") != "a\n" {
		t.Fatal("the journal from the host did not bring it back")
	}
}
