package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// TempPrefix begins the name of every temporary file that ReplaceFile makes
// beside path, with symlinks resolved. One that is found after a crash is
// debris. The leading dot keeps it out of the include patterns (*.conf, *) of
// nginx, php-fpm and MariaDB.
func TempPrefix(path string) string {
	s := sha256.Sum256([]byte(path))
	return ".kasoku-" + hex.EncodeToString(s[:4]) + "-"
}

// maxLinks that a path may be resolved through, as in the kernel.
const maxLinks = 40

// resolve follows symlinks at the last step of path.
func resolve(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", cause(err)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", syscall.ELOOP
}

// ReplaceFile puts data in the place of path, or creates it.
func (l *Local) ReplaceFile(ctx context.Context, path string, data []byte, r Replace) (err error) {
	defer func() { Wrote(ctx, l.Name(), "replace", path, len(data), err) }()
	if err := replaceFile(ctx, path, data, r); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

func replaceFile(ctx context.Context, path string, data []byte, r Replace) error {
	real, err := resolve(path)
	if err != nil {
		return err
	}
	old, err := look(ctx, real)
	if err != nil {
		return err
	}
	if err := old.expect(r.Expect); err != nil {
		return err
	}
	if old.present && old.stat.Nlink > 1 {
		return fmt.Errorf("it has %d hard links, which replacing would part: make it a file of its own first (cp FILE NEW && mv NEW FILE)", old.stat.Nlink)
	}
	temp, err := writeTemp(ctx, real, data, old, r)
	if err != nil {
		return err
	}
	if err := moveInto(ctx, temp, real, old); err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(real))
}

// seen is a file as it was found before it is replaced or removed.
type seen struct {
	present bool
	hash    Hash
	stat    syscall.Stat_t
}

func look(ctx context.Context, path string) (seen, error) {
	f, err := openRegular(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return seen{}, nil
	}
	if err != nil {
		return seen{}, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, ctxReader{ctx, f}); err != nil {
		return seen{}, err
	}
	s := seen{present: true, hash: Hash(hex.EncodeToString(h.Sum(nil)))}
	return s, syscall.Fstat(int(f.Fd()), &s.stat)
}

func (s seen) expect(h Hash) error {
	switch {
	case s.hash == h:
		return nil
	case h == "":
		return fmt.Errorf("%w: it exists already", ErrChanged)
	case !s.present:
		return fmt.Errorf("%w: it does not exist (%w)", ErrChanged, fs.ErrNotExist)
	}
	return fmt.Errorf("%w: its hash is %.12s, expected %.12s", ErrChanged, s.hash, h)
}

// still reports whether path is the very file that was looked at. It narrows
// the time in which another writer could go unseen to one rename.
func (s seen) still(path string) bool {
	var now syscall.Stat_t
	if err := syscall.Lstat(path, &now); err != nil {
		return !s.present && errors.Is(err, fs.ErrNotExist)
	}
	return s.present && now.Ino == s.stat.Ino && now.Dev == s.stat.Dev &&
		now.Size == s.stat.Size && now.Mtim == s.stat.Mtim && now.Ctim == s.stat.Ctim
}

// writeTemp writes data durably to a new file beside path, which has the mode,
// owner and attributes that the result must have, and returns its name.
func writeTemp(ctx context.Context, path string, data []byte, old seen, r Replace) (string, error) {
	var salt [6]byte
	_, _ = rand.Read(salt[:]) // never fails (crypto/rand)
	temp := filepath.Join(filepath.Dir(path), TempPrefix(path)+hex.EncodeToString(salt[:]))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", cause(err)
	}
	err = fill(ctx, f, data, path, old, r)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(temp)
		return "", cause(err)
	}
	return temp, nil
}

func fill(ctx context.Context, f *os.File, data []byte, path string, old seen, r Replace) error {
	for rest := data; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(rest), 1<<20)
		if _, err := f.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	mode, uid, gid := unixMode(r.Mode), r.UID, r.GID
	if old.present {
		mode, uid, gid = old.stat.Mode&0o7777, int(old.stat.Uid), int(old.stat.Gid)
	}
	// The order matters: chown clears set-user-id and capabilities, chmod
	// changes the mask of an access control list.
	if err := f.Chown(uid, gid); err != nil {
		return fmt.Errorf("keep owner %d:%d: %w", uid, gid, cause(err))
	}
	if err := syscall.Fchmod(int(f.Fd()), mode); err != nil {
		return fmt.Errorf("set mode %04o: %w", mode, err)
	}
	if old.present {
		if err := copyAttributes(path, f); err != nil {
			return err
		}
	}
	if !r.ModTime.IsZero() {
		ts := []unix.Timespec{unix.NsecToTimespec(time.Now().UnixNano()), unix.NsecToTimespec(r.ModTime.UnixNano())}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, f.Name(), ts, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("set modification time: %w", err)
		}
	}
	return f.Sync()
}

// unixMode turns permission bits into what chmod(2) takes.
func unixMode(m fs.FileMode) uint32 {
	u := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		u |= syscall.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		u |= syscall.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		u |= syscall.S_ISVTX
	}
	return u
}

// copyAttributes gives f the extended attributes of path: access control
// lists, capabilities, security labels and the user's own.
func copyAttributes(path string, f *os.File) error {
	names, err := attributes(path)
	if err != nil {
		return fmt.Errorf("list extended attributes: %w", err)
	}
	for _, name := range names {
		value, err := attribute(path, name)
		if err != nil {
			return fmt.Errorf("read extended attribute %s: %w", name, err)
		}
		if has, err := attribute(f.Name(), name); err == nil && string(has) == string(value) {
			continue // a security label that the kernel gave by itself
		}
		if err := unix.Fsetxattr(int(f.Fd()), name, value, 0); err != nil {
			return fmt.Errorf("keep extended attribute %s: %w", name, err)
		}
	}
	return nil
}

func attributes(path string) ([]string, error) {
	n, err := unix.Listxattr(path, nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && n == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	buf := make([]byte, n)
	if n, err = unix.Listxattr(path, buf); err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 }), nil
}

func attribute(path, name string) ([]byte, error) {
	n, err := unix.Getxattr(path, name, nil)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, n)
	n, err = unix.Getxattr(path, name, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// moveInto renames temp to path if path is still what it was.
func moveInto(ctx context.Context, temp, path string, old seen) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !old.still(path) {
		return fmt.Errorf("%w while the new bytes were written", ErrChanged)
	}
	if old.present {
		return cause(os.Rename(temp, path))
	}
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it exists already", ErrChanged)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return cause(os.Rename(temp, path)) // a file system without that flag
	}
	return err
}

// syncDir makes a rename, creation or removal in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return cause(err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync directory %s: %w", dir, cause(err))
	}
	return nil
}

// Remove deletes a file whose hash is expect.
func (l *Local) Remove(ctx context.Context, path string, expect Hash) (err error) {
	defer func() { Wrote(ctx, l.Name(), "remove", path, -1, err) }()
	if err := remove(ctx, path, expect); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

func remove(ctx context.Context, path string, expect Hash) error {
	real, err := resolve(path)
	if err != nil {
		return err
	}
	old, err := look(ctx, real)
	if err != nil {
		return err
	}
	if !old.present {
		return fs.ErrNotExist
	}
	if err := old.expect(expect); err != nil {
		return err
	}
	if !old.still(real) {
		return ErrChanged
	}
	if err := os.Remove(real); err != nil {
		return cause(err)
	}
	return syncDir(filepath.Dir(real))
}
