package patch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
)

const someoneElse = 33 // www-data

// A checkout that belongs to the application's user, as most do, is worked on by root as
// that user: git accepts it, everything new in it is his, and the series may be written
// where he may not.
func TestCheckoutOfAnotherUser(t *testing.T) {
	await.SkipShort(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can work as another user")
	}
	dir := checkout(t, map[string]string{"go.mod": "module app\n\ngo 1.22\n", "app.go": twoReads})
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // he must get there
		t.Fatal(err)
	}
	each := func(do func(name string, uid uint32)) {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			var st syscall.Stat_t
			if err == nil {
				err = syscall.Lstat(name, &st)
			}
			do(name, st.Uid)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	each(func(name string, _ uint32) {
		if err := os.Lchown(name, someoneElse, someoneElse); err != nil {
			t.Fatal(err)
		}
	})
	p, offered, _ := found(t, dir)
	if len(offered) == 0 {
		t.Fatal("no patch is offered")
	}
	repo, err := OpenRepo(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Clean(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Commits(t.Context(), offered[:1])
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Branch(t.Context(), "kasoku/once", commit); err != nil {
		t.Fatal(err)
	}
	his := filepath.Join(t.TempDir(), "series")
	if names, err := repo.Export(t.Context(), his, commit); err != nil || len(names) != 1 || filepath.Dir(names[0]) != his {
		t.Errorf("%v, %v", names, err)
	}
	each(func(name string, uid uint32) {
		if uid != someoneElse {
			t.Errorf("%s belongs to user %d", name, uid)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "app.go"), []byte(twoReads+"// edited\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := repo.Clean(t.Context(), p); err == nil {
		t.Error("work that is not committed was not seen")
	}
	if err := repo.Clean(t.Context(), p, filepath.Join(dir, "app.go")); err != nil {
		t.Errorf("what Kasoku has edited is nobody's work: %v", err)
	}
}

// The owner's modules are used, none is fetched into his folders.
func TestModulesOfTheOwner(t *testing.T) {
	for _, name := range []string{"GOMODCACHE", "GOPATH"} {
		t.Setenv(name, "") // restores it
		os.Unsetenv(name)
	}
	home := t.TempDir()
	his := &owner{uid: someoneElse, gid: someoneElse, home: home}
	if env := his.goEnv(); slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "GOMODCACHE=") }) {
		t.Error("a folder that is not there is the cache of modules")
	}
	if err := os.MkdirAll(filepath.Join(home, "go/pkg/mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOMODCACHE=" + home + "/go/pkg/mod", "GOPROXY=off"} {
		if !slices.Contains(his.goEnv(), want) {
			t.Errorf("no %s", want)
		}
	}
	var nobody *owner
	if !slices.Equal(nobody.goEnv(), os.Environ()) {
		t.Error("whoever builds his own has another environment")
	}
}

// Where PATH names no Go tool, that of the owner is found.
func TestGoOfTheOwner(t *testing.T) {
	home := t.TempDir()
	tool := filepath.Join(home, "local/golang/bin/go")
	if err := os.MkdirAll(filepath.Dir(tool), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/nowhere")
	(&owner{home: home}).findGo()
	if dirs := filepath.SplitList(os.Getenv("PATH")); len(dirs) != 2 || dirs[0] != "/nowhere" || !strings.HasSuffix(dirs[1], "/bin") {
		t.Errorf("PATH is %v", dirs)
	}
	was := os.Getenv("PATH")
	(&owner{home: home}).findGo()
	if os.Getenv("PATH") != was {
		t.Errorf("PATH grows: %s", os.Getenv("PATH"))
	}
}
