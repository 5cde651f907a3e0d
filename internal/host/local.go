package host

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Local is the machine that Kasoku itself runs on. It has no state; one value
// may be used by many goroutines.
type Local struct{}

// NewLocal returns the machine that Kasoku runs on.
func NewLocal() *Local { return &Local{} }

// Name is "local".
func (*Local) Name() string { return "local" }

// ReadFile returns a regular file's bytes, following symlinks.
func (*Local) ReadFile(ctx context.Context, path string) ([]byte, error) {
	f, err := openRegular(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(ctxReader{ctx, f})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

// openRegular never blocks on a pipe or a device, because it opens without
// waiting and then looks at what it got.
func openRegular(ctx context.Context, path string) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	if err != nil {
		f.Close()
		return nil, cause(err)
	}
	return f, nil
}

// cause takes the path out of an os error, because the caller names it.
func cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		err = cause(err)
	}
	return n, err
}

// Stat tells about path without following a symlink at the last step.
func (*Local) Stat(ctx context.Context, path string) (FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return FileInfo{}, fmt.Errorf("stat %s: %w", path, err)
	}
	fi, err := fileInfo(path)
	if err != nil {
		return FileInfo{}, fmt.Errorf("stat %s: %w", path, err)
	}
	return fi, nil
}

func fileInfo(path string) (FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return FileInfo{}, cause(err)
	}
	fi := FileInfo{Path: path, Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime(), UID: -1, GID: -1}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		fi.UID, fi.GID = int(st.Uid), int(st.Gid)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if fi.Target, err = os.Readlink(path); err != nil {
			return FileInfo{}, cause(err)
		}
	}
	return fi, nil
}

// List returns what is in dir, sorted by name.
func (*Local) List(ctx context.Context, dir string) ([]FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, cause(err))
	}
	out := make([]FileInfo, 0, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		fi, err := fileInfo(filepath.Join(dir, e.Name()))
		if os.IsNotExist(err) {
			continue // gone since the directory was read
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %s: %w", dir, e.Name(), err)
		}
		out = append(out, fi)
	}
	return out, nil
}
