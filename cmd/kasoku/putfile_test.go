package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file is written whole or stays as it was, also on a full disk.
func TestPutFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kasoku.yaml")
	if err := putFile(file, []byte("one"), false); err != nil {
		t.Fatal(err)
	}
	if err := putFile(file, []byte("two"), false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the file exists: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink(file, link), putFile(link, []byte("two"), true)); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "two" {
		t.Errorf("through a link: %q, %v", b, err)
	}
	if os.Getuid() != 0 {
		t.Skip("the rest needs root, for a small disk")
	}
	small := filepath.Join(dir, "small")
	if err := errors.Join(os.Mkdir(small, 0o700), syscall.Mount("small", small, "tmpfs", 0, "size=16k")); err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(small, syscall.MNT_DETACH)
	file = filepath.Join(small, "kasoku.yaml")
	if err := putFile(file, []byte("good"), false); err != nil {
		t.Fatal(err)
	}
	if err := putFile(file, bytes.Repeat([]byte("x"), 1<<20), true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	b, err := os.ReadFile(file)
	left, _ := filepath.Glob(filepath.Join(small, ".kasoku-*")) // the pattern is well-formed
	if err != nil || string(b) != "good" || len(left) > 0 {
		t.Errorf("after that it holds %q, %v; left behind: %v", b, err, left)
	}
}
