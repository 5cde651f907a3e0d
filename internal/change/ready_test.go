package change

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host"
)

func init() {
	plans["ready"] = func(l lab) []Change {
		b, err := os.ReadFile(l.path("archive"))
		if err != nil {
			panic(err)
		}
		return []Change{l.ready(host.HashOf(b))}
	}
	// The journal of a new project does not have the archive yet.
	setups["ready"] = func(l lab, o *Options) {
		blobs := filepath.Join(JournalDir(o.Dir), "blobs")
		b, err := os.ReadFile(l.path("archive"))
		if err == nil {
			err = os.MkdirAll(blobs, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(blobs, string(host.HashOf(b))), b, 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
}

var readyProducts = []string{"build", "absent", "one.o"}

func (l lab) ready(built host.Hash) Change {
	return Change{Kind: KindReady, Ready: &Ready{Dir: l.path("app"), Products: readyProducts, From: "new", Built: built}}
}

// newReady is an application with a build in place, and another that is ready
// and lacks one of its products.
func newReady(t *testing.T) lab {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "krd")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := lab{dir}
	must(t, os.Chmod(dir, 0o755))
	for _, name := range []string{"app", "new"} {
		must(t, os.Mkdir(l.path(name), 0o755))
		if os.Geteuid() == 0 {
			must(t, os.Chown(l.path(name), appUser, appUser))
		}
	}
	l.inApp(t, `
mkdir -p build/deep; echo old >build/out; ln -s out build/link; echo x >build/deep/file; chmod 600 build/deep/file; echo o >one.o; echo mine >data
touch -d '2011-11-11 11:11:11.5' build/out build one.o
cd ../new; mkdir build; echo new >build/out; echo more >build/more; chmod 755 build/more; echo made >absent; echo theirs >data`)
	return l
}

func TestReady(t *testing.T) {
	l := newReady(t)
	x, err := Open(t.Context(), l.options(l.project(t)))
	must(t, err)
	t.Cleanup(func() { x.Close() })
	tree := func() string { return treeOf(t, l.path("app")) }
	before := tree()
	built, err := x.Pack(t.Context(), "local", l.path("new"), readyProducts)
	must(t, err)
	wantEqual(t, "after packing", tree(), before)
	for range 2 { // as the sides of a comparison take turns
		tx, err := x.Apply(t.Context(), Intent{Title: "ready", Changes: []Change{l.ready(built)}})
		must(t, err)
		wantEqual(t, "the new build", l.inApp(t, "cat build/out data absent; find build | sort; ls | grep -c one.o || true; stat -c %a build/more"), "new\nmine\nmade\nbuild\nbuild/more\nbuild/out\n0\n755")
		drift, err := x.Verify(t.Context())
		if err != nil || len(drift) > 0 {
			t.Fatalf("drift %v, %v", drift, err)
		}
		if text := Diff(tx.Changes[0]); !strings.Contains(text, "rm -rf -- build absent one.o") || !strings.Contains(text, string(built)) || !strings.Contains(text, "# undo: tar") {
			t.Errorf("as a person would type it: %s", text)
		}
		l.inApp(t, "echo cache >build/cache") // what a service writes beside it goes with it
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "put back", tree(), before)
	}
	// What is in place already: nothing to tell apart, and nothing changes.
	same, err := x.Pack(t.Context(), "local", l.path("app"), readyProducts)
	must(t, err)
	tx, err := x.Apply(t.Context(), Intent{Title: "same", Changes: []Change{l.ready(same)}})
	must(t, err)
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "the same build", tree(), before)

	_, err = x.Pack(t.Context(), "local", l.path("new"), []string{"none"})
	wantText(t, err, "holds none of the products none")
	_, err = x.Pack(t.Context(), "local", l.path("new"), []string{"../app"})
	wantText(t, err, "inside")
	_, err = x.Pack(t.Context(), "elsewhere", l.path("new"), readyProducts)
	wantText(t, err, "not in the stack")
	c := l.ready("")
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
	wantText(t, err, "a build that was packed")
	wantEqual(t, "after refusals", tree(), before)
}

// A copy of another host's folder is taken when it is applied, and put back to
// what was there, or to nothing.
func TestReadyCopied(t *testing.T) {
	l := newReady(t)
	x, err := Open(t.Context(), l.options(l.project(t)))
	must(t, err)
	t.Cleanup(func() { x.Close() })
	tree := func() string { return treeOf(t, l.path("app")) }
	before := tree()
	copied := func(from string, products ...string) Change {
		return Change{Kind: KindReady, Ready: &Ready{Dir: l.path("app"), Products: products, From: from}}
	}
	c := copied("local:"+l.path("new"), "build", "absent")
	if text := Diff(c); !strings.Contains(text, "rsync -a --delete local:"+l.path("new/build")) {
		t.Errorf("as a person would type it: %s", text)
	}
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: []Change{c}})
	must(t, err)
	wantEqual(t, "the copy", l.inApp(t, "cat build/out absent data; find build | sort; stat -c %a build/more"), "new\nmade\nmine\nbuild\nbuild/more\nbuild/out\n755")
	if c.Ready.Built != "" || tx.Changes[0].Ready.Built == "" {
		t.Errorf("the plan %+v, the journal %+v", c.Ready, tx.Changes[0].Ready)
	}
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "put back", tree(), before)
	for says, c := range map[string]Change{
		"not in the stack":  copied("elsewhere:"+l.path("new"), "build"),
		"cannot access":     copied("local:"+l.path("new"), "none"),
		"HOST:FOLDER":       copied("new", "build"),
		"inside the checko": copied("local:"+l.path("new"), "../new"),
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
		wantText(t, err, says)
	}
	wantEqual(t, "after refusals", tree(), before)
}

// TestReadyKilledAtEveryStep: recovery puts the old build back whole.
func TestReadyKilledAtEveryStep(t *testing.T) {
	l := newReady(t)
	x, err := Open(t.Context(), l.options(l.project(t)))
	must(t, err)
	built, err := x.Pack(t.Context(), "local", l.path("new"), readyProducts)
	must(t, err)
	b, err := x.Blob(built)
	must(t, err)
	must(t, os.WriteFile(l.path("archive"), b, 0o600))
	must(t, x.Close())
	for _, job := range []string{"ready-apply", "ready-revert"} {
		killedEverywhere(t, l, job, func() string { return treeOf(t, l.path("app")) })
	}
}
