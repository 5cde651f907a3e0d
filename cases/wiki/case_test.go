// Package wiki_test sets the wiki up for real and looks at it.
package wiki_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/stack"
)

// bench is one running case.
type bench struct {
	t      *testing.T
	script string // case.sh
	dir    string
	stack  *stack.Stack
}

// up brings the wiki up in a directory of its own, with more options of case.sh,
// and takes it down after the test. The first time on a machine it builds the
// content, which takes minutes.
func up(t *testing.T, options ...string) *bench {
	t.Helper()
	path, err := filepath.Abs("case.sh")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, script: path, dir: openDir(t)}
	t.Cleanup(func() { b.run("down", b.dir, "--purge") })
	b.must(append([]string{"up", b.dir}, options...)...)
	b.stack, err = stack.Load(filepath.Join(b.dir, "kasoku.yaml"))
	if err != nil {
		t.Fatalf("kasoku.yaml: %v", err)
	}
	return b
}

// must runs case.sh and fails the test with its output if it fails.
func (b *bench) must(args ...string) string {
	b.t.Helper()
	out, err := b.run(args...)
	if err != nil {
		b.t.Fatalf("case.sh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// run starts case.sh and waits until it ends and nobody holds its output any
// more: a daemon that keeps it open would make this time out.
func (b *bench) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, b.script, args...).CombinedOutput()
	return string(out), err
}

// openDir is a temporary directory with a short path that other users can
// enter, unlike t.TempDir's.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "c")
}

// processes returns every process whose command line names the case's folder.
func (b *bench) processes() []int {
	b.t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		b.t.Fatal(err)
	}
	var pids []int
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), b.dir+"/") {
			continue // ended meanwhile, or another's
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		pids = append(pids, pid)
	}
	return pids
}

// goesAway: no process and no file is left after down --purge, and what the wiki
// shares with Debian's package is a link.
func (b *bench) goesAway() {
	t := b.t
	t.Helper()
	if pids := b.processes(); len(pids) < 3 { // the database, Apache and its workers
		t.Fatalf("only %d processes name %s", len(pids), b.dir)
	}
	link, err := os.Readlink(filepath.Join(b.dir, "wiki", "vendor"))
	if err != nil || link != "/usr/share/mediawiki/vendor" {
		t.Errorf("wiki/vendor leads to %q, %v; want Debian's own", link, err)
	}
	b.must("down", b.dir)
	if out, err := b.run("status", b.dir); err == nil || !strings.Contains(out, "web does not run") {
		t.Errorf("status after down: %v\n%s", err, out)
	}
	if left := b.processes(); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	b.must("down", b.dir, "--purge")
	if _, err := os.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", b.dir, err)
	}
}
