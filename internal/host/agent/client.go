package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"kasoku/internal/host"
)

// ErrLost is told by everything that was under way, or is asked for, when the
// connection to the helper has ended. Whether the operation happened is not
// known.
var ErrLost = errors.New("connection lost")

// cancelPatience is how long a cancelled call waits for the helper's word that
// the operation has ended. Killing a process group takes milliseconds.
const cancelPatience = 5 * time.Second

// Client is the controller's end of one connection. Its methods are those of
// host.Host; after the connection is lost all of them tell ErrLost. It may be
// used by many goroutines.
type Client struct {
	session *yamux.Session
	hello   Hello
}

// NewClient speaks to a helper whose Hello has been read from conn. silence is
// what the helper was started with.
func NewClient(conn io.ReadWriteCloser, hello Hello, silence time.Duration) (*Client, error) {
	session, err := yamux.Client(conn, sessionConfig(silence))
	if err != nil {
		return nil, err
	}
	return &Client{session: session, hello: hello}, nil
}

// Hello is what the helper said first.
func (c *Client) Hello() Hello { return c.hello }

// Lost is closed when the connection has ended.
func (c *Client) Lost() <-chan struct{} { return c.session.CloseChan() }

// Alive reports whether the connection has not ended yet.
func (c *Client) Alive() bool { return !c.session.IsClosed() }

// Close cuts the connection without saying goodbye.
func (c *Client) Close() error { return c.session.Close() }

// Bye ends the helper. When it returns without error, none of its commands
// runs, and its file is gone unless it is kept or another helper runs it.
func (c *Client) Bye(ctx context.Context) error {
	_, _, err := c.call(ctx, request{Op: opBye}, nil, nil)
	return errors.Join(err, c.session.Close())
}

// Keep makes the helper's file stay when the helper ends, or no longer stay.
func (c *Client) Keep(ctx context.Context, stay bool) error {
	_, _, err := c.call(ctx, request{Op: opKeep, Keep: stay}, nil, nil)
	return err
}

// call asks and waits for the last answer. each is told those before it.
func (c *Client) call(ctx context.Context, q request, body []byte, each func(answer)) (answer, [][]byte, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, nil, fmt.Errorf("%s: %w", subject(q), err)
	}
	stream, err := c.session.OpenStream()
	if err != nil {
		return answer{}, nil, c.fault(ctx, q, err)
	}
	defer stream.Close()
	defer cancelling(ctx, stream)()
	q.Body = int64(len(body))
	if err := writeFrame(stream, q, body); err != nil && ctx.Err() == nil {
		return answer{}, nil, c.fault(ctx, q, err)
	}
	for {
		a, bodies, err := readAnswer(stream)
		switch {
		case err != nil:
			return a, nil, c.fault(ctx, q, err)
		case !a.Done:
			if each != nil {
				each(a)
			}
		case a.Err != nil:
			return a, bodies, told(ctx, a.Err)
		default:
			return a, bodies, nil
		}
	}
}

// cancelling closes the stream's way there when ctx ends, which the helper
// takes for a cancellation, and bounds the wait for its word.
func cancelling(ctx context.Context, stream *yamux.Stream) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = stream.SetReadDeadline(time.Now().Add(cancelPatience))
		stream.Close()
	})
}

func readAnswer(r io.Reader) (answer, [][]byte, error) {
	var a answer
	if err := readFrame(r, &a); err != nil {
		return a, nil, err
	}
	var bodies [][]byte
	for _, n := range a.Bodies {
		b, err := readBody(r, n)
		if err != nil {
			return a, nil, err
		}
		bodies = append(bodies, b)
	}
	return a, bodies, nil
}

// fault is the error of a call that was not answered.
func (c *Client) fault(ctx context.Context, q request, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w (its end was not confirmed: %w)", subject(q), cause, ErrLost)
	}
	if c.session.IsClosed() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", subject(q), ErrLost)
	}
	return fmt.Errorf("%s: %w (%w)", subject(q), ErrLost, err)
}

// told is the helper's error as the caller is to see it. The helper knows only
// that it was cancelled, not why.
func told(ctx context.Context, w *wireError) error {
	if err := ctx.Err(); err != nil && errors.Is(w, context.Canceled) {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(w.Text, ": "+context.Canceled.Error()), err)
	}
	return w
}

func subject(q request) string {
	what := q.Path
	if q.Op == opRun {
		what = strings.Join(q.Command.Argv, " ")
	}
	return strings.TrimSpace(string(q.Op) + " " + what)
}

// Run runs a command on the host.
func (c *Client) Run(ctx context.Context, k host.Command) (host.Result, error) {
	q := request{Op: opRun, Command: command{Argv: k.Argv, HasStdin: k.Stdin != nil, Env: k.Env, Dir: k.Dir,
		Timeout: k.Timeout, Keep: k.Keep, EndGroup: k.EndGroup, Watched: k.Started != nil}}
	a, bodies, err := c.call(ctx, q, k.Stdin, func(a answer) {
		if k.Started != nil && a.Started > 0 {
			k.Started(a.Started)
		}
	})
	r := host.Result{ExitCode: a.Exit, Took: a.Took, CPU: a.CPU}
	if len(bodies) == 2 {
		r.Stdout, r.Stderr = bodies[0], bodies[1]
	}
	return r, err
}

// ReadFile returns a regular file's bytes.
func (c *Client) ReadFile(ctx context.Context, path string) ([]byte, error) {
	_, bodies, err := c.call(ctx, request{Op: opRead, Path: path}, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(bodies) != 1 {
		return nil, fmt.Errorf("read %s: the helper's answer has %d parts", path, len(bodies))
	}
	return bodies[0], nil
}

// Stat tells about path.
func (c *Client) Stat(ctx context.Context, path string) (host.FileInfo, error) {
	a, _, err := c.call(ctx, request{Op: opStat, Path: path}, nil, nil)
	if err != nil {
		return host.FileInfo{}, err
	}
	if len(a.Files) != 1 {
		return host.FileInfo{}, fmt.Errorf("stat %s: the helper told of %d files", path, len(a.Files))
	}
	return local(a.Files)[0], nil
}

// List returns what is in dir.
func (c *Client) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	a, _, err := c.call(ctx, request{Op: opList, Path: dir}, nil, nil)
	if err != nil {
		return nil, err
	}
	if a.Files == nil {
		return []host.FileInfo{}, nil
	}
	return local(a.Files), nil
}

// ReplaceFile puts data in the place of path.
func (c *Client) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	_, _, err := c.call(ctx, request{Op: opReplace, Path: path, Replace: r}, data, nil)
	return err
}

// Remove deletes a file whose hash is expect.
func (c *Client) Remove(ctx context.Context, path string, expect host.Hash) error {
	_, _, err := c.call(ctx, request{Op: opRemove, Path: path, Expect: expect}, nil, nil)
	return err
}

// MakeDir creates one directory.
func (c *Client) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error {
	_, _, err := c.call(ctx, request{Op: opMakeDir, Path: path, Mode: mode, UID: uid, GID: gid}, nil, nil)
	return err
}

// RemoveDir deletes a directory and everything in it.
func (c *Client) RemoveDir(ctx context.Context, path string) error {
	_, _, err := c.call(ctx, request{Op: opRmDir, Path: path}, nil, nil)
	return err
}

// Lock takes a lock, which lasts until unlock or the connection's end. was is
// the helper that held it on a lost connection; 0: a new lock.
func (c *Client) Lock(ctx context.Context, path string, was int) (unlock func() error, err error) {
	q := request{Op: opLock, Path: path, Was: was}
	stream, _, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error { return c.unlock(stream, q) }), nil
}

// unlock gives a lock back and waits for the helper's word.
func (c *Client) unlock(stream *yamux.Stream, q request) error {
	defer stream.Close()
	_ = stream.SetDeadline(time.Now().Add(cancelPatience))
	q.Op = "Unlock"
	if _, err := stream.Write([]byte{'u'}); err != nil {
		return c.fault(context.Background(), q, err)
	}
	a, _, err := readAnswer(stream)
	if err != nil {
		return c.fault(context.Background(), q, err)
	}
	if a.Err != nil {
		return a.Err
	}
	return nil
}

// DialContext connects from the host to address.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	stream, a, err := c.open(ctx, request{Op: opDial, Network: network, Path: address})
	if err != nil {
		return nil, err
	}
	return &conn{Stream: stream, client: c, network: network, address: a.Address}, nil
}

// open makes a call whose stream goes on to be used after the first answer.
func (c *Client) open(ctx context.Context, q request) (*yamux.Stream, answer, error) {
	var a answer
	if err := ctx.Err(); err != nil {
		return nil, a, fmt.Errorf("%s: %w", subject(q), err)
	}
	stream, err := c.session.OpenStream()
	if err != nil {
		return nil, a, c.fault(ctx, q, err)
	}
	stop := cancelling(ctx, stream)
	if err = writeFrame(stream, q); err == nil || ctx.Err() != nil {
		a, _, err = readAnswer(stream)
	}
	switch {
	case err != nil:
		err = c.fault(ctx, q, err)
	case a.Err != nil:
		err = told(ctx, a.Err)
	case !stop():
		err = fmt.Errorf("%s: %w", subject(q), ctx.Err())
	}
	if err != nil {
		stop()
		stream.Close()
		return nil, a, err
	}
	return stream, a, nil
}
