package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// boxScript runs a program where a mutant can do no harm: packages that remove
// files and kill processes do that with one of their checks turned round. It
// is process 1 of a PID namespace, which the kernel empties when it ends, and
// every folder of the machine is the lower layer of an overlay in memory; only
// the box's own folder is the real one, and its t is /tmp (on a disk, for tests
// mount overlays, too). The runtime folders stay, for sockets, and /media is
// where the layers lie.
const boxScript = `set -e
own=$1; root=$2; dir=$3; shift 3
mount --make-rprivate /
mount -t tmpfs none /media
mkdir /media/own /media/root
mount --bind "$own" /media/own
for x in /*; do
  [ -d "$x" ] && [ ! -L "$x" ] || continue
  case $x in /proc|/sys|/dev|/run|/media|/lost+found) continue ;; esac
  mkdir "/media$x.up" "/media$x.work"
  chmod --reference="$x" "/media$x.up"
  mount -t overlay -o "lowerdir=$x,upperdir=/media$x.up,workdir=/media$x.work" overlay "$x"
done
mount --bind /media/own "$own"
mount --bind "$root" /media/root
mount --bind /media/own/t /tmp
case $root in /tmp/*) mkdir -p "$root"; mount --bind /media/root "$root" ;; esac
mount -t tmpfs -o mode=1777 none /dev/shm
ulimit -d 4194304 # KiB: a loop that a mutant made endless may gather things
cd "$dir"
"$@"
`

// box runs test binaries.
type box struct {
	root  string // the repository
	own   string // a folder of its own, emptied before each run
	apart bool   // namespaces are to be had: this is Linux's root
}

// newBox makes the folder and looks whether namespaces are to be had.
func newBox(ctx context.Context, root string) (*box, error) {
	own, err := os.MkdirTemp("/var/tmp", "kmut") // /tmp is another in the box
	if err != nil {
		return nil, err
	}
	b := &box{root: root, own: own, apart: true}
	if err := b.clear(); err != nil {
		return nil, err
	}
	if _, err := b.run(ctx, own, time.Minute, "true"); err != nil {
		b.apart = false
	}
	return b, nil
}

func (b *box) path(name string) string { return filepath.Join(b.own, name) }

// clear empties the folder, but for the test binaries.
func (b *box) clear() error {
	entries, err := os.ReadDir(b.own)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".test") {
			if err := os.RemoveAll(b.path(e.Name())); err != nil {
				return err
			}
		}
	}
	tmp := b.path("t") // short: paths of sockets have 107 bytes
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return err
	}
	for _, dir := range []string{b.own, tmp} {
		if err := os.Chmod(dir, 0o755); err != nil { // other users' servers read it
			return err
		}
	}
	return os.Chmod(tmp, 0o1777|os.ModeSticky)
}

func (b *box) close() { os.RemoveAll(b.own) }

// errLate says that the program was ended because its time was up.
var errLate = errors.New("its time was up")

// run runs a program in dir and returns what it printed.
func (b *box) run(ctx context.Context, dir string, limit time.Duration, argv ...string) ([]byte, error) {
	if err := b.clear(); err != nil {
		return nil, fmt.Errorf("empty %s: %w", b.own, err)
	}
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	if b.apart {
		argv = append([]string{"unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", boxScript, "box", b.own, b.root, dir}, argv...)
	}
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+b.path("t"))
	cmd.WaitDelay = 5 * time.Second // a server that a mutant left holds the pipe
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if limited.Err() != nil {
		return out, errLate
	}
	if err != nil && errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out, err
}
