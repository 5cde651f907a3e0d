package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kasoku/internal/await"
)

func testBuild(t *testing.T) *build {
	dir := t.TempDir()
	return &build{src: &sources{Codename: "x"}, dir: filepath.Join(dir, "x-1"), cache: filepath.Join(dir, "debs"), progress: func(string) {}, packages: []string{"p"}}
}

func writeMark(_ context.Context, root string) error {
	return os.WriteFile(filepath.Join(root, "mark"), []byte("x"), 0o644)
}

func TestBaseIsBuiltOnce(t *testing.T) {
	await.SkipShort(t)
	b := testBuild(t)
	var builds atomic.Int32
	var asked atomic.Int32
	slow := func(ctx context.Context, root string) error {
		builds.Add(1)
		await.For(t, "the others to ask", func() bool { return asked.Load() == 3 })
		return writeMark(ctx, root)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			asked.Add(1)
			info, err := b.once(t.Context(), slow)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(info.Root, "mark")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times", builds.Load())
	}
}

func TestFailedBuildLeavesNoBase(t *testing.T) {
	b := testBuild(t)
	broken := errors.New("the archive is away")
	if _, err := b.once(t.Context(), func(context.Context, string) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("the build ended with %v", err)
	}
	if _, err := b.ready(); err == nil {
		t.Error("a failed build is taken for a base")
	}
	if _, err := b.once(t.Context(), writeMark); err != nil {
		t.Errorf("the next build fails: %v", err)
	}
}

// TestKilledBuild: what a killed build left, also mounted, does not get into the base.
func TestKilledBuild(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	b := testBuild(t)
	left := filepath.Join(b.dir+".building", "root", "proc")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", left, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	// A folder without base.json is not a base either: base.json is written last.
	if err := os.MkdirAll(filepath.Join(b.dir, "root", "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := b.once(t.Context(), writeMark)
	if err != nil {
		unix.Unmount(left, unix.MNT_DETACH)
		t.Fatal(err)
	}
	for _, name := range []string{"proc", "half"} {
		if _, err := os.Stat(filepath.Join(info.Root, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of the killed build is in the base (%v)", name, err)
		}
	}
}

// TestBuildCommand: a failing program's words are in the error, and cancelling
// ends it with all that it started.
func TestBuildCommand(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	b := testBuild(t)
	if err := b.apart(t.Context(), "sh", "-c", "echo no such package >&2; exit 100", "apt-get"); err == nil || err.Error() != "apt-get: exit status 100: no such package" {
		t.Errorf("a failing command: %v", err)
	}
	// Whoever holds the pipe keeps its reader waiting.
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ended atomic.Bool
	go func() {
		f, err := os.Open(pipe)
		cancel() // it runs
		if err == nil {
			_, _ = io.Copy(io.Discard, f)
			f.Close()
		}
		ended.Store(true)
	}()
	if err := b.apart(ctx, "sh", "-c", "exec 9>"+pipe+"; sleep 1000 & sleep 1000", "apt-get"); err == nil {
		t.Error("a cancelled command ended without an error")
	}
	await.For(t, "what the cancelled command started to end", ended.Load)
}

func TestMemoryIsLookedAt(t *testing.T) {
	var cannot *CannotError
	if err := checkMemory(10_000_000, 0); !errors.As(err, &cannot) || cannot.Hint() == "" {
		t.Errorf("ten million hosts: %v", err)
	}
	if err := checkMemory(1, 0); err != nil {
		t.Error(err)
	}
}
