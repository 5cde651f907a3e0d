package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeDir creates one directory with exactly this mode, whatever the umask.
func (l *Local) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) (err error) {
	defer func() { Wrote(ctx, l.Name(), "make directory", path, -1, err) }()
	if err := makeDir(ctx, path, mode, uid, gid); err != nil {
		return fmt.Errorf("make directory %s: %w", path, err)
	}
	return nil
}

func makeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return cause(err)
	}
	err := os.Lchown(path, uid, gid)
	if err == nil {
		err = syscall.Chmod(path, unixMode(mode))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
		return cause(err)
	}
	return nil
}

// RemoveDir deletes a directory and everything in it, without following
// symlinks.
func (l *Local) RemoveDir(ctx context.Context, path string) (err error) {
	defer func() { Wrote(ctx, l.Name(), "remove directory", path, -1, err) }()
	if err := removeDir(ctx, path); err != nil {
		return fmt.Errorf("remove directory %s: %w", path, err)
	}
	return nil
}

func removeDir(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cause(err)
	}
	if !info.IsDir() {
		return fmt.Errorf("not a directory (%s)", info.Mode().Type())
	}
	if clean := filepath.Clean(path); clean == "/" || clean == "." {
		return fmt.Errorf("refused")
	}
	if err := empty(ctx, path); err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil {
		return cause(err)
	}
	return syncDir(filepath.Dir(path))
}

// empty removes what is in dir and stops when ctx ends.
func empty(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return cause(err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			if err := empty(ctx, path); err != nil {
				return err
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
