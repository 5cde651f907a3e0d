package tune

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// guarded is one file of the judge.
type guarded struct {
	what string // "the scenario"
	path string // absolute
	// loose: a command of the load names it, and may write it.
	loose bool
	// rerun: it is read anew at each run, so that a change that is taken back
	// before the next look counts, too.
	rerun bool
}

func (f guarded) String() string { return f.what + " (" + f.path + ")" }

// is reports whether a resolved path names the same file.
func (f guarded) is(real string) bool {
	if resolved(f.path) == real {
		return true
	}
	a, errA := os.Stat(f.path)
	b, errB := os.Stat(real)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// print tells states of a file apart.
type print struct {
	target string    // where symbolic links lead
	hash   host.Hash // "" if there is no file
	mode   fs.FileMode
	uid    uint32
	gid    uint32
	// touched is inode and ctime: every write, chmod and rename changes it.
	touched string
	state   *change.FileState // with the bytes, if they were asked for
}

func (p print) same(o print) bool {
	return p.target == o.target && p.hash == o.hash && p.mode == o.mode && p.uid == o.uid && p.gid == o.gid
}

// keptBytes is the largest file whose bytes are kept to put it back. Stack
// files, scenarios and golden answers are far smaller; larger pools and dumps
// are only watched.
const keptBytes = 16 << 20

// printOf looks at a file; keep also takes its bytes.
func printOf(f guarded, keep bool) (print, error) {
	real, err := filepath.EvalSymlinks(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return print{}, nil
	}
	if err != nil {
		return print{}, err
	}
	in, err := os.Open(real)
	if errors.Is(err, fs.ErrNotExist) {
		return print{}, nil
	}
	if err != nil {
		return print{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return print{}, err
	}
	p := print{target: real, mode: info.Mode()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		p.uid, p.gid = st.Uid, st.Gid
		p.touched = fmt.Sprintf("%d %d.%09d", st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
	if !info.Mode().IsRegular() {
		p.hash = "not a file"
		return p, nil
	}
	if keep && info.Size() <= keptBytes {
		data, err := io.ReadAll(in)
		if err != nil {
			return p, err
		}
		p.hash = host.HashOf(data)
		p.state = &change.FileState{Hash: p.hash, Content: data, Mode: p.mode.Perm(), UID: int(p.uid), GID: int(p.gid), ModTime: info.ModTime()}
		return p, nil
	}
	p.hash, err = hashes.of(p.touched, info.Size(), in)
	return p, err
}

// resolved follows the symbolic links of a path as far as it exists.
func resolved(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
