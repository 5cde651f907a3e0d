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
func (*Local) Lock(ctx context.Context, path string) (func() error, error) {
	return lock(ctx, path, nil)
}

// Relock takes a lock again whose holder, process was, has ended without giving
// it back. ErrLocked if somebody else has it or had it since: whoever gives a
// lock back empties the file, and whoever takes it writes his own number.
func (*Local) Relock(ctx context.Context, path string, was int) (func() error, error) {
	return lock(ctx, path, func(f *os.File) error {
		if last := holder(f); last != fmt.Sprint("process ", was) {
			return fmt.Errorf("%w since it was lost (last holder: %s, ours was process %d)", ErrLocked, last, was)
		}
		return nil
	})
}

// lock takes an flock(2). check, if not nil, may refuse the file once it is
// locked.
func lock(ctx context.Context, path string, check func(*os.File) error) (func() error, error) {
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
		if check != nil {
			if err := check(f); err != nil {
				f.Close()
				return nil, fmt.Errorf("lock %s: %w", path, err)
			}
		}
		if err := sign(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: write pid: %w", path, cause(err))
		}
		var once sync.Once
		return func() (err error) {
			once.Do(func() {
				// The file stays: deleting it would let two processes each
				// hold a lock on a file of that name.
				err = errors.Join(f.Truncate(0), f.Close())
			})
			return err
		}, nil
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
