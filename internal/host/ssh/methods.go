package ssh

import (
	"context"
	"errors"
	"io/fs"
	"net"

	"kasoku/internal/host"
	"kasoku/internal/host/agent"
)

var _ host.Host = (*Host)(nil)

var (
	reading     = kind{again: true}
	writing     = kind{writes: true}
	writingSafe = kind{again: true, writes: true} // what may be done twice
)

// Run runs a command on the host. It is never repeated: after ErrLost it may
// have run. The helper kills it as soon as it sees that nobody listens; the next
// connection makes sure of that before anything else happens.
func (h *Host) Run(ctx context.Context, c host.Command) (r host.Result, err error) {
	defer func() { host.Ran(ctx, h.Name(), c, r, err) }()
	err = h.do(ctx, writing, func(a *agent.Client, _ bool) (err error) { r, err = a.Run(ctx, c); return })
	return r, err
}

// ReadFile returns a regular file's bytes.
func (h *Host) ReadFile(ctx context.Context, path string) (b []byte, err error) {
	err = h.do(ctx, reading, func(a *agent.Client, _ bool) (err error) { b, err = a.ReadFile(ctx, path); return })
	return b, err
}

// Stat tells about path without following a symlink at the last step.
func (h *Host) Stat(ctx context.Context, path string) (fi host.FileInfo, err error) {
	err = h.do(ctx, reading, func(a *agent.Client, _ bool) (err error) { fi, err = a.Stat(ctx, path); return })
	return fi, err
}

// List returns what is in dir, sorted by name.
func (h *Host) List(ctx context.Context, dir string) (l []host.FileInfo, err error) {
	err = h.do(ctx, reading, func(a *agent.Client, _ bool) (err error) { l, err = a.List(ctx, dir); return })
	return l, err
}

// ReplaceFile puts data in the place of path. If the answer is lost, it is done
// again; what the first try wrote is known by its hash, and written once more
// so that it is durable for sure.
func (h *Host) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) (err error) {
	defer func() { host.Wrote(ctx, h.Name(), "replace", path, len(data), err) }()
	return h.do(ctx, writingSafe, func(a *agent.Client, lost bool) error {
		err := a.ReplaceFile(ctx, path, data, r)
		if !lost || !errors.Is(err, host.ErrChanged) {
			return err
		}
		own := r
		own.Expect = host.HashOf(data)
		if again := a.ReplaceFile(ctx, path, data, own); !errors.Is(again, host.ErrChanged) {
			return again
		}
		return err
	})
}

// Remove deletes a file whose hash is expect. It is not repeated: after
// ErrLost it may have happened.
func (h *Host) Remove(ctx context.Context, path string, expect host.Hash) (err error) {
	defer func() { host.Wrote(ctx, h.Name(), "remove", path, -1, err) }()
	return h.do(ctx, writing, func(a *agent.Client, _ bool) error { return a.Remove(ctx, path, expect) })
}

// MakeDir creates one directory. It is not repeated: after ErrLost it may have
// happened.
func (h *Host) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) (err error) {
	defer func() { host.Wrote(ctx, h.Name(), "make directory", path, -1, err) }()
	return h.do(ctx, writing, func(a *agent.Client, _ bool) error { return a.MakeDir(ctx, path, mode, uid, gid) })
}

// RemoveDir deletes a directory and everything in it.
func (h *Host) RemoveDir(ctx context.Context, path string) (err error) {
	defer func() { host.Wrote(ctx, h.Name(), "remove directory", path, -1, err) }()
	return h.do(ctx, writingSafe, func(a *agent.Client, _ bool) error { return a.RemoveDir(ctx, path) })
}

// DialContext connects from the host to address, through the same ssh. Ending
// one direction alone is not possible. The connection ends when the host's is
// lost, and is not made again.
func (h *Host) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = h.do(ctx, writingSafe, func(a *agent.Client, _ bool) (err error) {
		conn, err = a.DialContext(ctx, network, address)
		return
	})
	return conn, err
}

// Program is the path of Kasoku's program on the host, which is removed when
// the Host is closed unless Keep was called.
func (h *Host) Program(ctx context.Context) (path string, err error) {
	err = h.do(ctx, reading, func(a *agent.Client, _ bool) error { path = a.Hello().Program; return nil })
	return path, err
}

// Keep makes the program stay on the host after Close, for what must run there
// without a controller. Discard takes that back.
func (h *Host) Keep(ctx context.Context) error {
	return h.do(ctx, writingSafe, func(a *agent.Client, _ bool) error { return a.Keep(ctx, true) })
}

// Discard takes Keep back: the program is removed by the last helper that ends.
func (h *Host) Discard(ctx context.Context) error {
	return h.do(ctx, writingSafe, func(a *agent.Client, _ bool) error { return a.Keep(ctx, false) })
}
