package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// modsEnabled is a folder as Debian's Apache has it.
func modsEnabled(t *testing.T, dir string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "mods-enabled"), 0o755))
	must(t, os.Symlink("../mods-available/mpm_prefork.load", filepath.Join(dir, "mods-enabled/mpm_prefork.load")))
}

func linkPlan(dir string) []Change {
	old, fresh := filepath.Join(dir, "mods-enabled/mpm_prefork.load"), filepath.Join(dir, "mods-enabled/mpm_event.load")
	return []Change{
		{Kind: KindLink, Path: old, Link: &Link{Target: "../mods-available/mpm_prefork.load", Remove: true}},
		{Kind: KindLink, Path: fresh, Link: &Link{Target: "../mods-available/mpm_event.load"}},
	}
}

func init() { plans["link"] = func(l lab) []Change { return linkPlan(l.dir) } }

// seenLinks tells every name in the folder with its target and time.
func seenLinks(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, "mods-enabled"))
	must(t, err)
	var out []string
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
		target, err := os.Readlink(filepath.Join(dir, "mods-enabled", e.Name()))
		must(t, err)
		out = append(out, e.Name()+" "+target+" "+info.ModTime().String())
	}
	return strings.Join(out, "\n")
}

// TestLinks makes and removes links and puts them back, time included, also
// when Kasoku is killed before every step.
func TestLinks(t *testing.T) {
	await.SkipShort(t)
	dir := t.TempDir()
	modsEnabled(t, dir)
	l := lab{dir}
	before := seenLinks(t, dir)
	for _, job := range []string{"link-apply", "link-revert"} {
		killedEverywhere(t, l, job, func() string { return seenLinks(t, dir) })
	}
	wantEqual(t, "links", seenLinks(t, dir), before)
	for _, c := range linkPlan(dir) {
		wantText(t, errors.New(Diff(c)), "mods-enabled", "undo")
	}
}

// TestLinkOfSomeoneElse: what someone else put there is neither overwritten
// nor removed.
func TestLinkOfSomeoneElse(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	modsEnabled(t, dir)
	plan := linkPlan(dir)
	must(t, os.Symlink("elsewhere", plan[1].Path))
	_, err := f.apply(plan...)
	wantText(t, err, "elsewhere")
	must(t, os.Remove(plan[1].Path))
	before := seenLinks(t, dir)
	tx, err := f.apply(linkPlan(dir)...)
	must(t, err)
	must(t, os.Symlink("theirs", plan[0].Path))
	var conflict *ConflictError
	if err := f.x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) {
		t.Fatalf("error %v", err)
	}
	if target, _ := os.Readlink(plan[0].Path); target != "theirs" {
		t.Fatalf("someone else's link is now one to %q", target)
	}
	must(t, os.Remove(plan[0].Path))
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "links", seenLinks(t, dir), before)
}
