package agent

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"syscall"

	"kasoku/internal/host"
)

// sentinels are the errors that callers ask for by errors.Is. Their order is
// part of the protocol.
var sentinels = []error{
	fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, fs.ErrInvalid, fs.ErrClosed,
	host.ErrChanged, host.ErrLocked, context.Canceled, context.DeadlineExceeded, exec.ErrNotFound,
}

// wireError is an error of the helper as it goes over the wire: its text, which
// of the sentinels it is, and its system error number.
type wireError struct {
	Text  string
	Is    []int
	Errno int // 0: none
}

// toWire returns nil for nil.
func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	w := &wireError{Text: err.Error()}
	for i, s := range sentinels {
		if errors.Is(err, s) {
			w.Is = append(w.Is, i)
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		w.Errno = int(errno)
	}
	return w
}

// Error is the text on the helper's side.
func (w *wireError) Error() string { return w.Text }

// Unwrap returns what errors.Is and errors.As look for.
func (w *wireError) Unwrap() []error {
	var out []error
	for _, i := range w.Is {
		if i >= 0 && i < len(sentinels) {
			out = append(out, sentinels[i])
		}
	}
	if w.Errno != 0 {
		out = append(out, syscall.Errno(w.Errno))
	}
	return out
}
