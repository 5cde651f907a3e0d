package change

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kasoku/internal/host"
)

// overlay is a whole Debian system for one test: this machine's own below, and
// a folder in memory above it that takes what is written. Commands run in it
// by chroot(8). apt, dpkg and systemctl are the real ones, and their lists,
// locks and links are its own.
type overlay struct {
	local *host.Local
	root  string
}

// newOverlay mounts one; the processes that are killed find it by its folder.
// below are the upper folders of others, which lie between the machine and it.
func newOverlay(t *testing.T, dir string, below ...string) overlay {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("an overlay of the machine's files needs root")
	}
	o := overlayIn(dir)
	for _, d := range []string{"up", "work", "root"} {
		must(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	lower := strings.Join(append(below, "/"), ":")
	if err := unix.Mount("overlay", o.root, "overlay", 0, "lowerdir="+lower+",upperdir="+o.upper()+",workdir="+filepath.Join(dir, "work")); err != nil {
		t.Skipf("this machine cannot mount an overlay of its own files: %v", err)
	}
	t.Cleanup(func() { o.unmount(t) })
	// Nothing of the machine's is bound in, so that removing the folder can
	// never remove more than that, whatever became of the test.
	must(t, unix.Mount("proc", filepath.Join(o.root, "proc"), "proc", 0, ""))
	must(t, unix.Mount("tmpfs", filepath.Join(o.root, "dev"), "tmpfs", 0, "mode=755"))
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "random": 8, "urandom": 9} { // major 1: mem(4), random(4)
		node := filepath.Join(o.root, "dev", name)
		must(t, unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))))
		must(t, os.Chmod(node, 0o666))
	}
	must(t, unix.Mount("tmpfs", filepath.Join(o.root, "tmp"), "tmpfs", 0, "mode=1777"))
	// The machine's own policy about services is not part of the test.
	if err := os.Remove(filepath.Join(o.root, policyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return o
}

// upper is the folder that takes what is written.
func (o overlay) upper() string { return filepath.Join(filepath.Dir(o.root), "up") }

// unmount leaves only the upper folder's files. It may have been done before.
func (o overlay) unmount(t *testing.T) {
	for _, d := range []string{"tmp", "dev", "proc", ""} {
		err := unix.Unmount(filepath.Join(o.root, d), unix.MNT_DETACH)
		if err != nil && !errors.Is(err, unix.EINVAL) && d == "" { // EINVAL: nothing is mounted there
			t.Errorf("unmount %s: %v", o.root, err)
		}
	}
}

func overlayIn(dir string) overlay {
	return overlay{host.NewLocal(), filepath.Join(dir, "root")}
}

// at is a path as this process sees it. What the kernel tells is the same.
func (o overlay) at(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return path
	}
	return filepath.Join(o.root, path)
}

func (o overlay) Name() string { return "local" }

func (o overlay) Run(ctx context.Context, c host.Command) (host.Result, error) {
	dir := c.Dir
	if dir == "" {
		dir = "/"
	}
	c.Argv = append([]string{"chroot", o.root, "env", "-C", dir, "--"}, c.Argv...)
	c.Dir = "/"
	return o.local.Run(ctx, c)
}

func (o overlay) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return o.local.ReadFile(ctx, o.at(path))
}

func (o overlay) Stat(ctx context.Context, path string) (host.FileInfo, error) {
	i, err := o.local.Stat(ctx, o.at(path))
	i.Path = path
	return i, err
}

func (o overlay) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	entries, err := o.local.List(ctx, o.at(dir))
	for i := range entries {
		entries[i].Path = filepath.Join(dir, filepath.Base(entries[i].Path))
	}
	return entries, err
}

func (o overlay) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	return o.local.ReplaceFile(ctx, o.at(path), data, r)
}

func (o overlay) Remove(ctx context.Context, path string, expect host.Hash) error {
	return o.local.Remove(ctx, o.at(path), expect)
}

func (o overlay) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error {
	return o.local.MakeDir(ctx, o.at(path), mode, uid, gid)
}

func (o overlay) RemoveDir(ctx context.Context, path string) error {
	return o.local.RemoveDir(ctx, o.at(path))
}

func (o overlay) Lock(ctx context.Context, path string) (func() error, error) {
	return o.local.Lock(ctx, path) // of the .kasoku folder, which is outside
}

func (o overlay) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return o.local.DialContext(ctx, network, address)
}

func (o overlay) Program(ctx context.Context) (string, error) { return o.local.Program(ctx) }

// sh runs a script in the overlay.
func (o overlay) sh(t *testing.T, script string) string {
	t.Helper()
	r, err := o.Run(t.Context(), host.Command{Argv: []string{"sh", "-ec", script}, Timeout: 2 * time.Minute, Env: []string{"LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"}})
	must(t, err)
	if r.ExitCode != 0 {
		t.Fatalf("%s: exit status %d: %s%s", script, r.ExitCode, r.Stdout, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}
