package ssh

import (
	"context"
	"io"
	"time"
)

// OpenWith opens a host whose program is changed under way (alter, may be nil)
// or does not wait long for a lost controller.
func OpenWith(ctx context.Context, o Options, linger time.Duration, alter func(io.Reader) io.Reader) (*Host, error) {
	h, err := newHost(o)
	if err != nil {
		return nil, err
	}
	h.linger, h.alter = linger, alter
	_, err = h.connected(ctx)
	return h, err
}

// Lost is closed when the host has noticed that its present connection is lost.
func (h *Host) Lost() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.link.client.Lost()
}

// Ssh is the process number of the present ssh.
func (h *Host) Ssh() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.link.cmd.Process.Pid
}
