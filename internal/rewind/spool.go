package rewind

import (
	"bufio"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// spool is a file without a name that grows at its end: what it holds (rows of
// people, sessions) is gone when the process is.
type spool struct {
	file *os.File
	out  *bufio.Writer
	size int64
	dir  string
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, "kept-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for the copy: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("make a file for the copy: %w", err)
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 1<<20), dir: dir}, nil
}

// free is how many bytes the spool's disk has left.
func (s *spool) free() (int64, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(s.file.Fd()), &st); err != nil {
		return 0, fmt.Errorf("how much room %s has: %w", s.dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// add appends b and returns where it stands.
func (s *spool) add(b []byte) (int64, error) {
	at := s.size
	if _, err := s.out.Write(b); err != nil {
		return 0, fmt.Errorf("write the copy into %s: %w", s.dir, err)
	}
	s.size += int64(len(b))
	return at, nil
}

// get reads n bytes from at; what was added last must have been flushed.
func (s *spool) get(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := s.file.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read the copy: %w", err)
	}
	return b, nil
}

// reader reads from at on.
func (s *spool) reader(at, n int64) io.Reader { return io.NewSectionReader(s.file, at, n) }

func (s *spool) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("write the copy into %s: %w", s.dir, err)
	}
	return nil
}

// A row is kept as its values one after the other: 0 for NULL; else one more than the
// value's length, as a varint, and the value as text or bytes. Equal rows have equal
// bytes.
func appendValue(b []byte, v sql.RawBytes) []byte {
	if v == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(v))+1), v...)
}

// values are a kept row's values as arguments of a statement.
func values(row []byte) ([]any, error) {
	var out []any
	for len(row) > 0 {
		n, used := binary.Uvarint(row)
		if used <= 0 || n > uint64(len(row)-used)+1 {
			return nil, io.ErrUnexpectedEOF
		}
		row = row[used:]
		if n == 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, append([]byte{}, row[:n-1]...))
		row = row[n-1:]
	}
	return out, nil
}
