package store

import (
	"fmt"
	"os"
	"syscall"
)

// Mark is the same as long as nobody but this Store has written to the
// database: SQLite counts what other connections commit (PRAGMA data_version),
// and the file is told apart from another one of its name. Bytes written into
// the open file past SQLite are not seen.
func (s *Store) Mark() (string, error) {
	var version int64
	if err := s.db.QueryRow("PRAGMA data_version").Scan(&version); err != nil {
		return "", s.fail("look for other writers", err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return "", fmt.Errorf("store %s: look for other writers: %w", s.path, err)
	}
	inode := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	return fmt.Sprintf("%d of file %d", version, inode), nil
}
