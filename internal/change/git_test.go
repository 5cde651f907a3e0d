package change

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// theApp belongs to another user than the tests, as an application does.
const appUser = 33 // www-data

func init() {
	plans["git"] = func(l lab) []Change { return []Change{appPatch(l)} }
	plans["gitbeside"] = func(l lab) []Change {
		was := []byte("set -e\n")
		if b, err := os.ReadFile(l.path("app/build.sh")); err == nil {
			was = b
		}
		edit := Change{Kind: KindFile, Path: l.path("app/build.sh"), Before: &FileState{Hash: host.HashOf(was), Content: was},
			After: &FileState{Content: append(slices.Clone(was), "# edited\n"...)}}
		return []Change{edit, appPatch(l)}
	}
	plans["gitagain"] = func(l lab) []Change { return []Change{appAgain(l)} }
}

// appAgain builds what is checked out once more.
func appAgain(l lab) Change {
	c := appPatch(l)
	c.Git.Patch, c.Git.Rev = nil, "main"
	return c
}

// appPatch changes, adds and deletes files, and builds.
func appPatch(l lab) Change {
	return Change{Kind: KindGit, Git: &Git{Dir: l.path("app"), Message: "Cache the list\n\nIt is read often.", Patch: []byte(patch),
		Build: []string{"sh", "build.sh"}, Products: []string{"build", "absent", "one.o"}}}
}

const patch = `diff --git a/app.php b/app.php
index 1111111..2222222 100644
--- a/app.php
+++ b/app.php
@@ -1,3 +1,3 @@
 <?php
-echo 'slow';
+echo 'fast';
 // end
diff --git a/lib/cache/new.php b/lib/cache/new.php
new file mode 100755
index 0000000..3333333
--- /dev/null
+++ b/lib/cache/new.php
@@ -0,0 +1 @@
+<?php // new
diff --git a/old.php b/old.php
deleted file mode 100644
index 4444444..0000000
--- a/old.php
+++ /dev/null
@@ -1 +0,0 @@
-<?php // old
`

// makeApp is a checkout with a build, of which the last is there, and with an
// ignored file of its own.
const makeApp = `
git init -q -b main . && git config user.name a && git config user.email a@localhost
printf "<?php\necho 'slow';\n// end\n" >app.php; echo '<?php // old' >old.php
printf 'build/\n*.o\nabsent\n.env\nslow\n' >.gitignore
printf 'set -e\nrm -rf build\nmkdir build\n[ ! -e slow ] || sleep 600\ncp app.php build/out; ln -s out build/link; echo o >one.o; echo made >absent; id -u >build/user\n' >build.sh
git add -A && git commit -qm first
printf "<?php\necho 'other';\n// end\n" >app.php && git commit -qam second && git branch other
git reset -q --hard HEAD~1
sh build.sh; rm absent; mkdir build/deep; echo x >build/deep/file; chmod 600 build/deep/file; echo secret >.env
chmod 640 app.php; touch -d '2011-11-11 11:11:11.5' app.php old.php build/out build build/deep
git reflog expire --expire=now --all
mkdir -p .git/hooks; printf '#!/bin/sh\ntouch /tmp/kasoku-hook-ran\n' >.git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout
`

func newApp(t *testing.T) lab {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "kgt")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	l := lab{dir}
	must(t, os.Mkdir(l.path("app"), 0o755))
	if os.Geteuid() == 0 {
		must(t, os.Chown(l.path("app"), appUser, appUser))
	}
	l.inApp(t, makeApp)
	return l
}

// inApp runs a script in the checkout as its owner.
func (l lab) inApp(t *testing.T, script string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Dir = l.path("app")
	c.Env = append(os.Environ(), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null")
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: appUser, Gid: appUser}}
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// seenApp is the whole tree except git's own files, with owner, mode and time,
// and what git knows.
func (l lab) seenApp(t *testing.T) string {
	t.Helper()
	tree := strings.Split(treeOf(t, l.path("app")), "\n")
	tree = slices.DeleteFunc(tree, func(line string) bool {
		return strings.Contains(line, "/app/.git ") || strings.Contains(line, "/app/.git/")
	})
	return strings.Join(tree, "\n") + "\n" + l.inApp(t, "git symbolic-ref -q HEAD || echo detached; git rev-parse HEAD; git for-each-ref; git ls-files -s; GIT_OPTIONAL_LOCKS=0 git status --porcelain --ignored; ls .git/*.lock 2>/dev/null || true")
}

func (l lab) app(t *testing.T) *Executor {
	t.Helper()
	x, err := Open(t.Context(), l.options(l.project(t)))
	must(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

func TestGit(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	x := l.app(t)
	for _, c := range []struct {
		name   string
		before string // done first
		change Change
		wants  map[string]string // script to what it prints
	}{
		{"a patch on a branch", "", appPatch(l), map[string]string{
			"cat build/out":               "<?php\necho 'fast';\n// end",
			"git log -1 --format=%s%n%an": "Cache the list\nKasoku",
			"git rev-parse HEAD~1":        "", "ls old.php lib/cache/new.php 2>/dev/null || true": "lib/cache/new.php",
			"stat -c '%a' app.php lib/cache/new.php": "640\n755", "cat build/user": itoa(ownerOf(t, l.path("app"))), "cat .env": "secret"}},
		{"a branch", "", Change{Kind: KindGit, Git: &Git{Dir: l.path("app"), Rev: "other"}}, map[string]string{"sed -n 2p app.php": "echo 'other';"}},
		{"the same commit, built again", "", appAgain(l), map[string]string{"cat build/user": itoa(ownerOf(t, l.path("app"))), "git rev-parse main HEAD | uniq | wc -l": "1", "ls build/deep 2>&1 | wc -l": "1"}},
		{"a patch on a detached head", "git checkout -q --detach", appPatch(l), map[string]string{"cat build/out": "<?php\necho 'fast';\n// end"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.before != "" {
				l.inApp(t, "rm -f .git/hooks/post-checkout; "+c.before)
			}
			before := l.seenApp(t)
			tx, err := x.Apply(t.Context(), Intent{Title: c.name, Changes: []Change{c.change}})
			must(t, err)
			for script, want := range c.wants {
				if want == "" {
					want = tx.Changes[0].Git.Before
				}
				wantEqual(t, script, l.inApp(t, script), want)
			}
			wantEqual(t, "commit", l.inApp(t, "git rev-parse HEAD"), tx.Changes[0].Reported)
			drift, err := x.Verify(t.Context())
			if err != nil || len(drift) > 0 {
				t.Fatalf("drift %v, %v", drift, err)
			}
			must(t, x.Keep(t.Context(), tx.ID))
			must(t, x.Undo(t.Context(), tx.ID, false))
			wantEqual(t, "undone", l.seenApp(t), before)
			if _, err := os.Stat("/tmp/kasoku-hook-ran"); !errors.Is(err, fs.ErrNotExist) {
				t.Fatal("the checkout's hook ran")
			}
		})
	}
}

// A file of the checkout that an earlier change has edited is nobody's work: what is
// committed beside it, and taken back, leaves it alone. With other bytes it is someone's.
func TestGitBesideAnEditedFile(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	x := l.app(t)
	l.inApp(t, "rm -f .git/hooks/post-checkout; mkdir sql; echo 'CREATE TABLE t (a int);' >sql/schema.sql; git add sql; git commit -qm schema")
	asFound := l.seenApp(t)
	was := []byte("CREATE TABLE t (a int);\n")
	edit, err := x.Apply(t.Context(), Intent{Title: "index", Changes: []Change{{Kind: KindFile, Path: l.path("app/sql/schema.sql"), Before: &FileState{Hash: host.HashOf(was), Content: was},
		After: &FileState{Content: []byte("CREATE TABLE t (a int, KEY (a));\n")}}}})
	must(t, err)
	must(t, x.Keep(t.Context(), edit.ID))
	edited := l.seenApp(t)
	if held := HeldFiles(x.Kept(), "local"); !slices.Equal(held, []string{l.path("app/sql/schema.sql")}) {
		t.Errorf("held: %v", held)
	}

	commit, err := x.Apply(t.Context(), Intent{Title: "patch", Changes: []Change{appPatch(l)}})
	must(t, err)
	wantEqual(t, "both", l.inApp(t, "cat sql/schema.sql build/out"), "CREATE TABLE t (a int, KEY (a));\n<?php\necho 'fast';\n// end")
	wantEqual(t, "committed", l.inApp(t, "git show --stat --format= HEAD -- sql | wc -l"), "0")
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Fatalf("drift %v, %v", drift, err)
	}
	must(t, x.Keep(t.Context(), commit.ID))
	must(t, x.Undo(t.Context(), commit.ID, false))
	wantEqual(t, "the commit undone", l.seenApp(t), edited)

	l.inApp(t, "echo 'mine' >>sql/schema.sql")
	if _, err := x.Apply(t.Context(), Intent{Title: "patch", Changes: []Change{appPatch(l)}}); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "sql/schema.sql") {
		t.Errorf("over someone's work: %v", err)
	}
	l.inApp(t, "sed -i '/^mine$/d' sql/schema.sql")

	// Somebody commits what Kasoku has edited: taken back, it is not as committed any more.
	l.inApp(t, "git -c user.name=a -c user.email=a@localhost commit -qam tuned")
	commit, err = x.Apply(t.Context(), Intent{Title: "patch", Changes: []Change{appPatch(l)}})
	must(t, err)
	must(t, x.Keep(t.Context(), commit.ID))
	must(t, x.UndoAll(t.Context()))
	wantEqual(t, "taken back beneath a commit", l.inApp(t, "cat sql/schema.sql; git log -1 --format=%s; git status --porcelain"), "CREATE TABLE t (a int);\ntuned\n M sql/schema.sql")
	l.inApp(t, "git reset -q --soft HEAD~1; git add sql/schema.sql")
	wantEqual(t, "as found again", l.seenApp(t), asFound)
	edit, err = x.Apply(t.Context(), Intent{Title: "index", Changes: []Change{{Kind: KindFile, Path: l.path("app/sql/schema.sql"), Before: &FileState{Hash: host.HashOf(was), Content: was},
		After: &FileState{Content: []byte("CREATE TABLE t (a int, KEY (a));\n")}}}})
	must(t, err)
	must(t, x.Keep(t.Context(), edit.ID))

	// Undone in the other order.
	commit, err = x.Apply(t.Context(), Intent{Title: "patch", Changes: []Change{appPatch(l)}})
	must(t, err)
	must(t, x.Keep(t.Context(), commit.ID))
	must(t, x.Undo(t.Context(), edit.ID, false))
	must(t, x.Undo(t.Context(), commit.ID, false))
	wantEqual(t, "all undone", l.seenApp(t), asFound)
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	var s syscall.Stat_t
	must(t, syscall.Stat(path, &s))
	return int(s.Uid)
}

func TestGitRefusals(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		name, script string
		edit         func(g *Git)
		says         []string
	}{
		{"an edited file", "echo >>app.php", nil, []string{"app.php", "not as committed"}},
		{"a staged file", "echo >>app.php; git add app.php", nil, []string{"app.php"}},
		{"an unknown file", "echo >mine.php", nil, []string{"mine.php"}},
		{"an ignored file that the commit adds", "mkdir -p lib/cache; echo mine >lib/cache/new.php; echo lib/ >>.git/info/exclude", nil, []string{"lib/cache/new.php", "ignored by git"}},
		{"a merge under way", "git rev-parse HEAD >.git/MERGE_HEAD", nil, []string{"MERGE_HEAD", "in the middle"}},
		{"a lock", "touch .git/index.lock", nil, []string{"index.lock"}},
		{"a patch that does not fit", "sed -i s/slow/swift/ app.php; git commit -qam x", nil, []string{"cannot be committed", "app.php"}},
		{"a revision that is not there", "", func(g *Git) { g.Patch, g.Rev = nil, "nothing" }, []string{"rev-parse"}},
		{"no top", "mkdir sub; touch sub/x; git add sub; git commit -qm x", func(g *Git) { g.Dir += "/sub" }, []string{"not the top"}},
		{"a tracked product", "", func(g *Git) { g.Products = []string{"app.php"} }, []string{"must not be tracked"}},
		{"a product outside", "", func(g *Git) { g.Products = []string{"../x"} }, []string{"inside the checkout"}},
		{"a relative path", "", func(g *Git) { g.Dir = "app" }, []string{"absolute"}},
		{"what is checked out, with nothing to build", "", func(g *Git) { g.Patch, g.Build, g.Rev = nil, nil, "main" }, []string{"checked out already"}},
		{"both", "", func(g *Git) { g.Rev = "other" }, []string{"either a patch or a revision"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newApp(t)
			x := l.app(t)
			if c.script != "" {
				l.inApp(t, c.script)
			}
			before := l.seenApp(t)
			change := appPatch(l)
			if c.edit != nil {
				c.edit(change.Git)
			}
			objects := l.inApp(t, "find .git/objects -type f | sort")
			_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{change}})
			wantText(t, err, c.says...)
			if len(x.History()) > 0 {
				t.Fatal("it is in the journal")
			}
			wantEqual(t, "after the refusal", l.seenApp(t), before)
			wantEqual(t, "objects", l.inApp(t, "find .git/objects -type f | sort"), objects)
		})
	}
}

// TestGitSomeoneElse: work done in the checkout meanwhile is not overwritten.
func TestGitSomeoneElse(t *testing.T) {
	await.SkipShort(t)
	for name, script := range map[string]string{
		"an edit of a changed file": "echo mine >>app.php", "an edit of another file": "echo mine >>build.sh",
		"a file of theirs": "echo mine >mine.php", "a commit": "git -c core.hooksPath=/dev/null commit -q --allow-empty -m mine",
		"another branch": "git -c core.hooksPath=/dev/null checkout -q other",
	} {
		t.Run(name, func(t *testing.T) {
			l := newApp(t)
			x := l.app(t)
			tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{appPatch(l)}})
			must(t, err)
			l.inApp(t, script)
			theirs := l.seenApp(t)
			var conflict *ConflictError
			if err := x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) {
				t.Fatalf("error %v", err)
			}
			wantEqual(t, "left alone", l.seenApp(t), theirs)
		})
	}
}

// TestGitCommittedMeanwhile: a commit that comes between the look and the
// checkout stays checked out.
func TestGitCommittedMeanwhile(t *testing.T) {
	l := newApp(t)
	var theirs string
	o := l.options(l.project(t))
	o.Trace = func(step string) {
		if strings.HasSuffix(step, ".change0.write") {
			l.inApp(t, "git -c core.hooksPath=/dev/null commit -q --allow-empty -m mine")
			theirs = l.inApp(t, "git rev-parse HEAD")
		}
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { x.Close() })
	if _, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{appPatch(l)}}); !errors.Is(err, ErrChanged) || theirs == "" {
		t.Errorf("error %v", err)
	}
	wantEqual(t, "checked out", l.inApp(t, "git rev-parse HEAD"), theirs)
}

// TestGitBuildFails: everything comes back, and the error has the build's words.
func TestGitBuildFails(t *testing.T) {
	l := newApp(t)
	x := l.app(t)
	before := l.seenApp(t)
	c := appPatch(l)
	c.Git.Build = []string{"sh", "-c", "rm -rf build; echo no compiler >&2; exit 3"}
	_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
	wantText(t, err, "exit status 3", "no compiler")
	wantEqual(t, "after", l.seenApp(t), before)
	if len(x.Pending()) > 0 {
		t.Fatal("pending")
	}
}

// TestGitBuiltBefore: two revisions are built once, then one stands on the
// other and both change places without a build.
func TestGitBuiltBefore(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	x := l.app(t)
	before := l.seenApp(t)
	side := func(rev string) Change {
		c := appAgain(l)
		c.Git.Rev = rev
		built, err := x.Build(t.Context(), "build "+rev, c)
		must(t, err)
		wantEqual(t, "after the build of "+rev, l.seenApp(t), before)
		// A build would be seen.
		c.Git.Built, c.Git.Build = built, []string{"sh", "-c", "echo built >build/again"}
		return c
	}
	base, head := side("main"), side("other")
	tx, err := x.Apply(t.Context(), Intent{Title: "base", Changes: []Change{base}})
	must(t, err)
	asBase := l.seenApp(t)
	wantEqual(t, "base", l.inApp(t, "sed -n 2p build/out; ls build/again 2>/dev/null || true"), "echo 'slow';")
	for range 2 {
		top, err := x.Apply(t.Context(), Intent{Title: "head", Changes: []Change{head}})
		must(t, err)
		wantEqual(t, "head", l.inApp(t, "sed -n 2p app.php; sed -n 2p build/out; ls build/again 2>/dev/null || true"), "echo 'other';\necho 'other';")
		must(t, x.Revert(t.Context(), top.ID))
		wantEqual(t, "base again", l.seenApp(t), asBase)
	}
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "as found", l.seenApp(t), before)

	bad := appAgain(l)
	bad.Git.Rev, bad.Git.Build = "other", []string{"sh", "-c", "echo no compiler >&2; exit 3"}
	_, err = x.Build(t.Context(), "build other", bad)
	wantText(t, err, "exit status 3", "no compiler")
	bad.Git.Build, bad.Git.Products = []string{"true"}, []string{"none"}
	_, err = x.Build(t.Context(), "build other", bad)
	wantText(t, err, "made none of its products none")
	wantEqual(t, "after failures", l.seenApp(t), before)
}

// TestGitKilledAtEveryStep: each step calls git and builds a dozen times, so a run takes a
// third of them, which KASOKU_SEED draws.
func TestGitKilledAtEveryStep(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	for _, job := range []string{"git-apply", "git-revert", "gitagain-apply", "gitbeside-apply", "gitbeside-revert"} {
		if n := l.matrix(job, func() string { return l.seenApp(t) }).thinned(3).killed(t); n < 2 {
			t.Errorf("%s: killed at %d steps", job, n)
		}
	}
}

// TestGitKilledInBuild: the build of a killed Kasoku does not go on and write
// into what recovery has put back.
func TestGitKilledInBuild(t *testing.T) {
	l := newApp(t)
	l.inApp(t, "touch slow")
	before := l.seenApp(t)
	dir := l.project(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "KASOKU_TEST_VICTIM=git-apply", "KASOKU_TEST_LAB="+l.dir, "KASOKU_TEST_DIR="+dir)
	must(t, c.Start())
	must(t, await.Until(func() error {
		if _, err := os.Stat(l.path("app/build/out")); err == nil {
			return errors.New("the last build is still there")
		}
		b, err := os.ReadFile(filepath.Join(JournalDir(dir), journalFile))
		if err != nil || !strings.Contains(string(b), `"op":"intent"`) {
			return errors.Join(errors.New("not begun"), err)
		}
		return nil
	}))
	must(t, c.Process.Kill())
	c.Wait()
	x, err := Open(t.Context(), l.options(dir))
	must(t, err)
	defer x.Close()
	_, err = x.Recover(t.Context())
	must(t, err)
	await.For(t, "the end of what works in the checkout", func() bool {
		all, err := filepath.Glob("/proc/[0-9]*/cwd")
		must(t, err)
		return !slices.ContainsFunc(all, func(link string) bool {
			in, err := os.Readlink(link)
			return err == nil && (in == l.path("app") || strings.HasPrefix(in, l.path("app")+"/"))
		})
	})
	wantEqual(t, "recovered", l.seenApp(t), before)
}
