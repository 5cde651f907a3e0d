package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Stdio is this process's standard input and output as one connection. Closing
// it ends reads and writes that wait.
func Stdio() (io.ReadWriteCloser, error) {
	var s stdio
	for fd, f := range map[int]**os.File{0: &s.in, 1: &s.out} {
		// Only a file that does not block can be closed under a reader.
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("standard input and output: %w", err)
		}
		*f = os.NewFile(uintptr(fd), [...]string{"stdin", "stdout"}[fd])
	}
	return s, nil
}

type stdio struct{ in, out *os.File }

func (s stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }
