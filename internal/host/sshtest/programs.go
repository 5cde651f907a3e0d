package sshtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Programs returns a folder with a static build of this repository's Kasoku for
// this machine, for ssh.Options.Programs. It is built once per test process,
// into a folder that test processes share, so that little is built anew. If
// KASOKU_PROGRAMS is set, that folder is taken as it is.
func Programs(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("KASOKU_PROGRAMS"); dir != "" {
		return dir
	}
	dir, err := whole()
	check(t, err, "build Kasoku for a target")
	return dir
}

// Helper returns such a folder with only the part that serves a controller: the
// whole program takes a second of CPU to pack, send and unpack.
func Helper(t testing.TB) string {
	t.Helper()
	dir, err := helper()
	check(t, err, "build the helper for a target")
	return dir
}

var (
	whole  = sync.OnceValues(func() (string, error) { return build("programs", "./cmd/kasoku") })
	helper = sync.OnceValues(func() (string, error) { return build("helper", "./internal/host/sshtest/helper") })
)

// build builds a command of this repository into the folder of that name.
func build(folder, command string) (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	if err != nil || root == "." || root == "/dev" {
		return "", fmt.Errorf("find the repository: %s: %w", mod, err)
	}
	// One folder per repository, because others may be tested at the same time.
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("kasoku-%s-%d-%s", folder, os.Getuid(), strings.ReplaceAll(strings.Trim(root, "/"), "/", "-")))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "kasoku-linux-"+runtime.GOARCH)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, command)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
}
