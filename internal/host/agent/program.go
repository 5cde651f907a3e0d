package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

var programName = regexp.MustCompile(`^kasoku-[0-9a-f]{64}$`)

const (
	// keepSuffix of the file beside a program that is to stay.
	keepSuffix = ".keep"
	// debrisPrefix of what the way there leaves if it is cut (internal/host/ssh).
	debrisPrefix = ".new-"
	debrisAge    = time.Hour
)

// Vanished is part of the error of a helper whose file another one removed just
// before it could be claimed. Connecting again cures it.
const Vanished = "it was removed by the last helper that used it; connect again"

// program is the helper's own file. Every helper that runs it holds a shared
// lock on it, so that the last one knows that it is the last.
type program struct {
	path string
	file *os.File // nil: not a copy of Kasoku's making, nothing to remove
}

// claimProgram finds this process's file and locks it.
func claimProgram() (*program, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the helper's own file: %w", err)
	}
	p := &program{path: path}
	if !programName.MatchString(filepath.Base(path)) {
		return p, nil
	}
	if p.file, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("claim the helper's file: %w", err)
	}
	if err := syscall.Flock(int(p.file.Fd()), syscall.LOCK_SH); err != nil {
		return nil, fmt.Errorf("claim %s: %w", path, err)
	}
	// Another helper may have removed it just before the lock.
	if a, err := p.file.Stat(); err == nil {
		if b, err := os.Stat(path); err != nil || !os.SameFile(a, b) {
			return nil, fmt.Errorf("claim %s: %s", path, Vanished)
		}
	}
	return p, nil
}

// keep says whether the file stays when the last helper has ended.
func (p *program) keep(stay bool) error {
	mark := p.path + keepSuffix
	if stay {
		return os.WriteFile(mark, []byte("Kasoku needs this program; see kasoku recover.\n"), 0o600)
	}
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// leave removes the file and others of its kind that nobody runs or keeps, and
// the folder if it is then empty.
func (p *program) leave() {
	if p.file == nil {
		return
	}
	dir := filepath.Dir(p.path)
	_ = p.file.Close() // before: this helper's own lock must not count
	p.file = nil
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case programName.MatchString(e.Name()):
			removeUnused(path)
		case strings.HasPrefix(e.Name(), debrisPrefix):
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > debrisAge {
				_ = os.Remove(path)
			}
		}
	}
	_ = os.Remove(dir) // fails if something is left in it
}

// removeUnused deletes a program that no process has locked.
func removeUnused(path string) {
	if _, err := os.Lstat(path + keepSuffix); err == nil {
		return
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}
