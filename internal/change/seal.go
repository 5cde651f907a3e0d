package change

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Seal is what a journal's folder held at a moment. Since tells whether anybody
// but this process has written there.
type Seal struct {
	file  string
	inode uint64
	size  int64
	hash  [sha256.Size]byte
	blobs map[string]string // by name: size, inode and time of the last change
}

// Seal takes the journal as it is.
func (x *Executor) Seal() (Seal, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.journal.seal()
}

func (j *journal) seal() (Seal, error) {
	s := Seal{file: filepath.Join(j.dir, journalFile)}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return s, fmt.Errorf("seal the journal: %w", err)
	}
	if s.inode, err = inode(s.file); err != nil {
		return s, fmt.Errorf("seal the journal: %w", err)
	}
	s.size, s.hash = int64(len(data)), sha256.Sum256(data)
	s.blobs, err = j.listBlobs()
	return s, err
}

// listBlobs tells the saved bytes' states apart without reading them: whoever
// writes to a file changes its ctime, which no call can set back (inode(7)).
func (j *journal) listBlobs() (map[string]string, error) {
	out := map[string]string{}
	entries, err := os.ReadDir(j.blobDir())
	if err != nil {
		return nil, fmt.Errorf("seal the journal: %w", err)
	}
	for _, e := range entries {
		var st syscall.Stat_t
		if err := syscall.Lstat(filepath.Join(j.blobDir(), e.Name()), &st); err != nil {
			continue // a temporary file that has just gone
		}
		out[e.Name()] = fmt.Sprintf("%d %d %d.%09d", st.Size, st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
	return out, nil
}

// Since says what somebody else has done to the journal since it was sealed;
// "" if nothing. Lines that this process has added do not count.
func (x *Executor) Since(s Seal) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now, err := inode(s.file)
	if err != nil || now != s.inode {
		return fmt.Sprintf("%s is gone or another file", s.file), nil
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return "", fmt.Errorf("look at the journal: %w", err)
	}
	if int64(len(data)) != x.journal.size || s.size > x.journal.size || sha256.Sum256(data[:s.size]) != s.hash {
		return fmt.Sprintf("lines of %s were changed, added or removed", s.file), nil
	}
	told, _, err := replay(s.file, data)
	if err != nil {
		return fmt.Sprintf("%s can no longer be read: %v", s.file, err), nil
	}
	if !sameTxs(told.txs, x.journal.txs) {
		return fmt.Sprintf("%s tells of other changes than were made", s.file), nil
	}
	blobs, err := x.journal.listBlobs()
	if err != nil {
		return "", err
	}
	for name, was := range s.blobs {
		if blobs[name] != was {
			return fmt.Sprintf("the saved bytes %s were changed or removed", filepath.Join(x.journal.blobDir(), name)), nil
		}
	}
	return "", nil
}

func sameTxs(a, b []*txn) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ID != b[i].ID || a[i].State != b[i].State || a[i].Title != b[i].Title || len(a[i].Changes) != len(b[i].Changes) {
			return false
		}
	}
	return true
}

func inode(path string) (uint64, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return 0, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return st.Ino, nil
}
