package agent

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"kasoku/internal/host"
)

// call is one stream of a controller.
type call struct {
	server *server
	stream *yamux.Stream
	q      request
	body   []byte
	mu     sync.Mutex // of writing answers
}

// handle reads the request, does it, and answers.
func (c *call) handle() {
	if err := readFrame(c.stream, &c.q); err != nil {
		return // the controller is gone, or cancelled before it asked
	}
	var err error
	if c.body, err = readBody(c.stream, c.q.Body); err != nil {
		c.done(answer{Err: toWire(fmt.Errorf("%s %s: %w (the request did not arrive whole)", c.q.Op, c.q.Path, context.Canceled))})
		return
	}
	ctx, stop := c.watch()
	defer stop()
	switch c.q.Op {
	case opRun:
		c.run(ctx)
	case opRead:
		b, err := c.server.local.ReadFile(ctx, c.q.Path)
		c.done(answer{Err: toWire(err)}, b)
	case opStat:
		fi, err := c.server.local.Stat(ctx, c.q.Path)
		c.done(answer{Err: toWire(err), Files: utc(fi)})
	case opList:
		l, err := c.server.local.List(ctx, c.q.Path)
		c.done(answer{Err: toWire(err), Files: utc(l...)})
	case opLock:
		c.lock(ctx, stop)
	case opDial:
		c.dial(ctx, stop)
	case opBye:
		stop()
		c.goodbye()
	default:
		c.done(answer{Err: toWire(c.write(ctx))})
	}
}

// write does the operations that change something and answer only an error.
func (c *call) write(ctx context.Context) error {
	l, q := c.server.local, &c.q
	switch q.Op {
	case opReplace:
		return l.ReplaceFile(ctx, q.Path, c.body, q.Replace)
	case opRemove:
		return l.Remove(ctx, q.Path, q.Expect)
	case opMakeDir:
		return l.MakeDir(ctx, q.Path, q.Mode, q.UID, q.GID)
	case opRmDir:
		return l.RemoveDir(ctx, q.Path)
	case opKeep:
		return c.server.own.keep(q.Keep)
	}
	return fmt.Errorf("the helper of Kasoku does not know the operation %q: use builds of one version", q.Op)
}

// watch returns a context that ends when the controller closes its side of the
// stream. stop ends the watching, after which the stream may be read.
func (c *call) watch() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(c.server.ctx)
	ended, stopping := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var b [1]byte
		_, _ = c.stream.Read(b[:])
		select {
		case <-stopping:
		default:
			cancel()
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			close(stopping)
			_ = c.stream.SetReadDeadline(time.Unix(1, 0))
			<-ended
			_ = c.stream.SetReadDeadline(time.Time{})
			context.AfterFunc(c.server.ctx, cancel)
		})
	}
}

// done sends the last answer.
func (c *call) done(a answer, bodies ...[]byte) {
	a.Done = true
	c.answer(a, bodies...)
}

// answer sends one answer. An error means that nobody is there to hear it.
func (c *call) answer(a answer, bodies ...[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range bodies {
		a.Bodies = append(a.Bodies, int64(len(b)))
	}
	_ = writeFrame(c.stream, a, bodies...)
}

func (c *call) run(ctx context.Context) {
	k := c.q.Command
	cmd := host.Command{Argv: k.Argv, Env: k.Env, Dir: k.Dir, Timeout: k.Timeout, Keep: k.Keep, EndGroup: k.EndGroup}
	if k.HasStdin {
		cmd.Stdin = c.body
	}
	if k.Watched {
		cmd.Started = func(pid int) { c.answer(answer{Started: pid}) }
	}
	r, err := c.server.local.Run(ctx, cmd)
	c.done(answer{Err: toWire(err), Exit: r.ExitCode, Took: r.Took, CPU: r.CPU}, r.Stdout, r.Stderr)
}

// lock holds a lock until the controller gives it back or closes the stream. If
// the connection is lost it is dropped: so the next helper sees whether somebody
// had it since.
func (c *call) lock(ctx context.Context, stop func()) {
	held, err := c.server.local.Hold(ctx, c.q.Path, c.q.Was)
	if err != nil {
		c.done(answer{Err: toWire(err)})
		return
	}
	stop()
	c.answer(answer{})
	defer c.readUntilEnd()()
	var b [1]byte
	_, err = c.stream.Read(b[:])
	if err != nil && c.server.ctx.Err() != nil || c.server.session.IsClosed() {
		held.Drop()
		return
	}
	c.done(answer{Err: toWire(held.Unlock())})
}

// readUntilEnd makes reads of the stream end when all calls do.
func (c *call) readUntilEnd() (stop func() bool) {
	return context.AfterFunc(c.server.ctx, func() { _ = c.stream.SetReadDeadline(time.Unix(1, 0)) })
}

func (c *call) dial(ctx context.Context, stop func()) {
	conn, err := c.server.local.DialContext(ctx, c.q.Network, c.q.Path)
	if err != nil {
		c.done(answer{Err: toWire(err)})
		return
	}
	stop()
	defer c.readUntilEnd()()
	defer context.AfterFunc(c.server.ctx, func() { conn.Close() })()
	c.done(answer{Address: conn.RemoteAddr().String()})
	splice(conn, c.stream)
}

// splice copies both ways. When the controller's side ends, all ends; when the
// other does, what it sent last still arrives.
func splice(conn net.Conn, stream *yamux.Stream) {
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(stream, conn)
		stream.Close()
	}()
	_, _ = io.Copy(conn, stream)
	conn.Close()
	<-back
}

// goodbye ends the helper: nothing runs and its file is gone when the answer
// arrives.
func (c *call) goodbye() {
	s := c.server
	s.endCalls(1) // but this one
	s.own.leave()
	c.done(answer{})
	close(s.bye)
	s.session.Close()
}
