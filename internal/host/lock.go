package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
)

// Lock takes an flock(2) on path, without waiting. The kernel gives it back
// when the process ends, however it ends. The file holds the owner's pid, so
// that ErrLocked can name it.
func (l *Local) Lock(ctx context.Context, path string) (func() error, error) {
	held, err := l.Hold(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	return held.Unlock, nil
}

// Held is a lock that this process has.
type Held struct {
	mu sync.Mutex
	f  *os.File // nil: given back
}

// Hold is Lock, with a choice of how the lock is given back. If was is not 0, it
// is a lock that process was had and dropped, or died with: ErrLocked if
// somebody else has had it since, because whoever takes a lock writes his number
// into the file, and whoever gives it back empties it.
func (*Local) Hold(ctx context.Context, path string, was int) (*Held, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, cause(err))
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, fmt.Errorf("lock %s: %w (%s)", path, ErrLocked, holder(f))
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !same(f, path) {
			f.Close() // someone deleted the file meanwhile: lock the one that counts
			continue
		}
		if last := holder(f); was != 0 && last != fmt.Sprint("process ", was) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w since it was lost (last holder: %s; it was process %d)", path, ErrLocked, last, was)
		}
		if err := sign(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: write pid: %w", path, cause(err))
		}
		return &Held{f: f}, nil
	}
}

// Unlock gives the lock back. The file stays: deleting it would let two
// processes each hold a lock on a file of that name.
func (h *Held) Unlock() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f == nil {
		return nil
	}
	err := errors.Join(h.f.Truncate(0), h.f.Close())
	h.f = nil
	return err
}

// Drop lets go of the lock as the end of the process would: the file still
// names this process, so that its successor sees that nobody had it since.
func (h *Held) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f != nil {
		h.f.Close()
		h.f = nil
	}
}

func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func holder(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 64))
	pid := strings.TrimSpace(string(b))
	if err != nil || pid == "" {
		return "process not known"
	}
	return "process " + pid
}

func same(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}
