package hosttest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/host"
)

// Suite checks the contract of host.Host on a host that shares this machine's
// file system and processes.
func Suite(t *testing.T, open func(t *testing.T) host.Host) {
	t.Run("Run", func(t *testing.T) { suiteRun(t, open(t)) })
	t.Run("RunEnds", func(t *testing.T) { suiteRunEnds(t, open(t)) })
	t.Run("RunWatched", func(t *testing.T) { suiteRunWatched(t, open(t)) })
	t.Run("Read", func(t *testing.T) { suiteRead(t, open(t)) })
	t.Run("Replace", func(t *testing.T) { suiteReplace(t, open(t)) })
	t.Run("ReplaceRefuses", func(t *testing.T) { suiteReplaceRefuses(t, open(t)) })
	t.Run("ReplaceIsAtomic", func(t *testing.T) { suiteAtomic(t, open(t)) })
	t.Run("Remove", func(t *testing.T) { suiteRemove(t, open(t)) })
	t.Run("Dir", func(t *testing.T) { suiteDir(t, open(t)) })
	t.Run("Lock", func(t *testing.T) { suiteLock(t, open(t)) })
	t.Run("Attributes", func(t *testing.T) { suiteAttributes(t, open(t)) })
	t.Run("Symlinks", func(t *testing.T) { suiteSymlinks(t, open(t)) })
	t.Run("Names", func(t *testing.T) { suiteNames(t, open(t)) })
	t.Run("Dial", func(t *testing.T) { suiteDial(t, open(t)) })
	t.Run("Program", func(t *testing.T) { suiteProgram(t, open(t)) })
	t.Run("Cancelled", func(t *testing.T) { suiteCancelled(t, open(t)) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, is error) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Fatalf("error %v, want %v", err, is)
	}
}

// wantOnly fails if dir holds other names; a temporary file would be one.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Fatalf("%s holds %v, want %v", dir, got, names)
	}
}

// alive is false for a zombie, which only waits to be reaped.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	rest := b[bytes.LastIndexByte(b, ')')+1:]
	return !bytes.HasPrefix(rest, []byte(" Z")) && !bytes.HasPrefix(rest, []byte(" X"))
}

func suiteRead(t *testing.T, h host.Host) {
	begun := time.Now().Add(-time.Second) // a file has the time of the tick before
	dir, ctx := t.TempDir(), t.Context()
	file := filepath.Join(dir, "b")
	must(t, os.WriteFile(file, []byte("bytes"), 0o640))
	must(t, os.Symlink("b", filepath.Join(dir, "a")))
	must(t, os.Mkdir(filepath.Join(dir, "c"), 0o755))
	must(t, syscall.Mkfifo(filepath.Join(dir, "d"), 0o600))

	b, err := h.ReadFile(ctx, filepath.Join(dir, "a"))
	must(t, err)
	if string(b) != "bytes" {
		t.Fatalf("read %q", b)
	}
	l, err := h.List(ctx, dir)
	must(t, err)
	if len(l) != 4 || l[0].Target != "b" || l[0].Mode&fs.ModeSymlink == 0 || l[1].Path != file ||
		l[1].Size != 5 || l[1].Mode != 0o640 || !l[2].Mode.IsDir() {
		t.Fatalf("listed %+v", l)
	}
	s, err := h.Stat(ctx, file)
	must(t, err)
	if s != l[1] || s.UID != os.Getuid() || s.GID != os.Getgid() || s.ModTime.Before(begun) {
		t.Fatalf("stat %+v, list %+v", s, l[1])
	}
	for _, path := range []string{filepath.Join(dir, "d"), dir, "/dev/zero"} {
		if _, err := h.ReadFile(ctx, path); err == nil {
			t.Fatalf("%s is no regular file; reading it must fail at once", path)
		}
	}
	missing := filepath.Join(dir, "x")
	_, err = h.ReadFile(ctx, missing)
	wantErr(t, err, fs.ErrNotExist)
	_, err = h.Stat(ctx, missing)
	wantErr(t, err, fs.ErrNotExist)
	_, err = h.List(ctx, missing)
	wantErr(t, err, fs.ErrNotExist)
}

func suiteReplace(t *testing.T, h host.Host) {
	begun := time.Now().Add(-time.Second) // a file has the time of the tick before
	dir, ctx := t.TempDir(), t.Context()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	old := []byte("old")
	when := time.Date(2001, 2, 3, 4, 5, 6, 789000000, time.UTC)

	// Created: mode and owner are those asked for, whatever the umask.
	must(t, h.ReplaceFile(ctx, file, old, host.Replace{Mode: 0o666 | fs.ModeSetgid, UID: -1, GID: -1, ModTime: when}))
	s, err := h.Stat(ctx, file)
	must(t, err)
	if s.Mode != 0o666|fs.ModeSetgid || !s.ModTime.Equal(when) {
		t.Fatalf("created with mode %v, time %v", s.Mode, s.ModTime)
	}
	// Replaced through a symlink: link stays, mode, owner, attributes too.
	must(t, os.Symlink("file", link))
	must(t, os.Chmod(file, 0o604|fs.ModeSetuid))
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 33, 34
		must(t, os.Chown(file, uid, gid))
		must(t, os.Chmod(file, 0o604|fs.ModeSetuid))
	}
	attributes := syscall.Setxattr(file, "user.kasoku", []byte("kept"), 0) == nil
	must(t, h.ReplaceFile(ctx, link, []byte("new"), host.Replace{Expect: host.HashOf(old), Mode: 0o777}))
	s, err = h.Stat(ctx, file)
	must(t, err)
	if s.Mode != 0o604|fs.ModeSetuid || s.UID != uid || s.GID != gid || s.ModTime.Before(begun) {
		t.Fatalf("replaced: %+v", s)
	}
	value := make([]byte, 10)
	if n, err := syscall.Getxattr(file, "user.kasoku", value); attributes && (err != nil || string(value[:n]) != "kept") {
		t.Fatalf("attribute %q, %v", value[:max(n, 0)], err)
	}
	if target, err := os.Readlink(link); err != nil || target != "file" {
		t.Fatalf("the symlink became %q, %v", target, err)
	}
	wantContent(t, file, "new")
	// A symlink to nothing: its target is created.
	must(t, os.Symlink("later", filepath.Join(dir, "dangling")))
	must(t, h.ReplaceFile(ctx, filepath.Join(dir, "dangling"), nil, host.Replace{Mode: 0o600, UID: -1, GID: -1}))
	wantContent(t, filepath.Join(dir, "later"), "")
	wantOnly(t, dir, "dangling", "file", "later", "link")
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	if string(b) != want {
		t.Fatalf("%s holds %q, want %q", path, b, want)
	}
}

func suiteReplaceRefuses(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	file, new := filepath.Join(dir, "file"), []byte("new")
	must(t, os.WriteFile(file, []byte("edited"), 0o644))

	wantErr(t, h.ReplaceFile(ctx, file, new, host.Replace{Expect: host.HashOf([]byte("planned"))}), host.ErrChanged)
	wantErr(t, h.ReplaceFile(ctx, file, new, host.Replace{}), host.ErrChanged)
	gone := host.Replace{Expect: host.HashOf([]byte("planned"))}
	wantErr(t, h.ReplaceFile(ctx, filepath.Join(dir, "gone"), new, gone), host.ErrChanged)
	wantErr(t, h.ReplaceFile(ctx, filepath.Join(dir, "no", "parent"), new, host.Replace{UID: -1, GID: -1}), fs.ErrNotExist)
	if err := h.ReplaceFile(ctx, dir, new, host.Replace{}); err == nil {
		t.Fatal("a directory was replaced")
	}
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	wantErr(t, h.ReplaceFile(ctx, filepath.Join(dir, "loop"), new, host.Replace{}), syscall.ELOOP)
	must(t, os.Remove(filepath.Join(dir, "loop")))
	must(t, os.Link(file, filepath.Join(dir, "hard")))
	if err := h.ReplaceFile(ctx, file, new, host.Replace{Expect: host.HashOf([]byte("edited"))}); err == nil {
		t.Fatal("a file with two names was replaced")
	}
	if os.Getuid() != 0 {
		must(t, os.Remove(filepath.Join(dir, "hard")))
		must(t, os.Chmod(dir, 0o500))
		wantErr(t, h.ReplaceFile(ctx, file, new, host.Replace{Expect: host.HashOf([]byte("edited"))}), fs.ErrPermission)
		must(t, os.Chmod(dir, 0o700))
		must(t, os.Link(file, filepath.Join(dir, "hard")))
	}
	wantContent(t, file, "edited")
	wantOnly(t, dir, "file", "hard")
}

// suiteAtomic: a reader never sees a mix, and of two writers that expect the
// same bytes one is refused or comes second.
func suiteAtomic(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	file := filepath.Join(dir, "file")
	a, b := bytes.Repeat([]byte("a"), 200000), bytes.Repeat([]byte("b"), 100000)
	must(t, os.WriteFile(file, a, 0o644))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if got, err := h.ReadFile(ctx, file); err != nil || !bytes.Equal(got, a) && !bytes.Equal(got, b) {
				t.Errorf("a reader saw %d bytes (%.3s…), %v", len(got), got, err)
				return
			}
		}
	})
	for range 10 {
		must(t, h.ReplaceFile(ctx, file, b, host.Replace{Expect: host.HashOf(a)}))
		must(t, h.ReplaceFile(ctx, file, a, host.Replace{Expect: host.HashOf(b)}))
	}
	close(stop)
	wg.Wait()
	wantOnly(t, dir, "file")
}

func suiteRemove(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("x"), 0o644))
	wantErr(t, h.Remove(ctx, file, host.HashOf([]byte("y"))), host.ErrChanged)
	wantErr(t, h.Remove(ctx, file, ""), host.ErrChanged)
	wantOnly(t, dir, "file")
	must(t, os.Symlink("file", filepath.Join(dir, "link")))
	must(t, h.Remove(ctx, filepath.Join(dir, "link"), host.HashOf([]byte("x"))))
	wantOnly(t, dir, "link")
	wantErr(t, h.Remove(ctx, file, host.HashOf([]byte("x"))), fs.ErrNotExist)
	if err := h.Remove(ctx, dir, ""); err == nil {
		t.Fatal("a directory was removed as a file")
	}
}

func suiteDir(t *testing.T, h host.Host) {
	dir, ctx := t.TempDir(), t.Context()
	made := filepath.Join(dir, "made")
	must(t, h.MakeDir(ctx, made, 0o777|fs.ModeSticky, -1, -1))
	s, err := h.Stat(ctx, made)
	must(t, err)
	if s.Mode != fs.ModeDir|fs.ModeSticky|0o777 {
		t.Fatalf("made with mode %v", s.Mode)
	}
	wantErr(t, h.MakeDir(ctx, made, 0o755, -1, -1), fs.ErrExist)
	wantErr(t, h.MakeDir(ctx, filepath.Join(dir, "no", "parent"), 0o755, -1, -1), fs.ErrNotExist)

	outside := filepath.Join(dir, "outside")
	must(t, os.WriteFile(outside, nil, 0o644))
	must(t, os.MkdirAll(filepath.Join(made, "a", "b"), 0o755))
	must(t, os.WriteFile(filepath.Join(made, "a", "b", "f"), nil, 0o644))
	must(t, os.Symlink(outside, filepath.Join(made, "l")))
	must(t, h.RemoveDir(ctx, made))
	must(t, h.RemoveDir(ctx, made))
	wantOnly(t, dir, "outside")
	for _, path := range []string{outside, "/"} {
		if err := h.RemoveDir(ctx, path); err == nil {
			t.Fatalf("%s was removed as a directory", path)
		}
	}
}

func suiteLock(t *testing.T, h host.Host) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "lock")
	unlock, err := h.Lock(ctx, file)
	must(t, err)
	_, err = h.Lock(ctx, file)
	wantErr(t, err, host.ErrLocked)
	// The holder is a process of the host, not necessarily this one.
	holder, _ := os.ReadFile(file)
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(holder))); !alive(pid) || !strings.Contains(err.Error(), "process "+strconv.Itoa(pid)) {
		t.Fatalf("%q does not name the holder %q", err, holder)
	}
	must(t, unlock())
	must(t, unlock())
	unlock, err = h.Lock(ctx, file)
	must(t, err)
	must(t, unlock())
}

func suiteCancelled(t *testing.T, h host.Host) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("x"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Run":         func() error { _, err := h.Run(ctx, host.Command{Argv: []string{"true"}}); return err },
		"ReadFile":    func() error { _, err := h.ReadFile(ctx, file); return err },
		"Stat":        func() error { _, err := h.Stat(ctx, file); return err },
		"List":        func() error { _, err := h.List(ctx, dir); return err },
		"ReplaceFile": func() error { return h.ReplaceFile(ctx, file, nil, host.Replace{Expect: host.HashOf([]byte("x"))}) },
		"Remove":      func() error { return h.Remove(ctx, file, host.HashOf([]byte("x"))) },
		"MakeDir":     func() error { return h.MakeDir(ctx, filepath.Join(dir, "d"), 0o755, -1, -1) },
		"RemoveDir":   func() error { return h.RemoveDir(ctx, dir) },
		"Lock":        func() error { _, err := h.Lock(ctx, filepath.Join(dir, "lock")); return err },
		"DialContext": func() error { _, err := h.DialContext(ctx, "unix", filepath.Join(dir, "socket")); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	wantContent(t, file, "x")
	wantOnly(t, dir, "file")
}
