package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// reader is who reads what a command writes into a pipe. When it goes away, as
// head(1) does, the command ends as with Ctrl-C: what it has under way is put back.
// What is written after that goes nowhere, which is nobody's error.
type reader struct {
	w    io.Writer
	gone func()
}

func (r *reader) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		r.gone()
		return len(p), nil
	}
	return n, err
}

// heedPipes lets a write into a pipe that nobody reads be an error, where it would
// end the process at once. The signal is caught and not ignored, because programs
// that Kasoku starts would ignore it, too.
func heedPipes() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// piped is w with its reader watched where w is a pipe or a socket, else w itself.
func piped(w io.Writer, gone func()) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	if st, err := f.Stat(); err != nil || st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return w
	}
	return &reader{w, gone}
}
