package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// writeJSON replaces a file at once, so that a reader sees the old or the new.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, append(data, '\n'), 0o644)
}

func writeFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if cerr := tmp.Chmod(mode); err == nil {
		err = cerr
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w; remove the lab with kasoku lab down", path, err)
	}
	return nil
}

// lock takes a file's lock, which ends with the process. With wait unset and
// the lock taken it returns unix.EWOULDBLOCK.
func lock(path string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		if err = unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// own takes a lock that tells others who has it; it ends with the process, or
// when the process closes the file. With the lock taken it returns an error.
func own(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// owner is the process that has the lock of own, 0 if none has. A process does
// not see its own.
func owner(path string) int {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return listedOwner(path)
	}
	if err != nil {
		return 0
	}
	defer f.Close()
	found := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &found); err != nil || found.Type == unix.F_UNLCK {
		return 0
	}
	return int(found.Pid)
}

// listedOwner is owner for a user who may not open the file: the kernel lists
// all locks by inode (proc(5), /proc/locks).
func listedOwner(path string) int {
	var st unix.Stat_t
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || unix.Stat(path, &st) != nil {
		return 0
	}
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line) // 1: POSIX ADVISORY WRITE 1234 08:01:5678 0 EOF
		if len(f) < 6 || f[1] != "POSIX" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
