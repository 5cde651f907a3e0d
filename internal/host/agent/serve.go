package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"kasoku/internal/host"
)

// Options of Serve.
type Options struct {
	Version string        // of Kasoku, told in the Hello
	Nonce   string        // stands before the Hello
	Silence time.Duration // after which the controller counts as gone; 0: DefaultSilence
	// Linger is how long the helper's file waits for a controller whose
	// connection was lost; the helper itself does nothing meanwhile.
	Linger time.Duration
	// After is the helper of a lost connection, which is ended first.
	After *Process
}

// callEnd is how long the end of all calls is waited for. Killing a process
// group takes milliseconds; a file system that hangs must not hold the rest.
const callEnd = 5 * time.Second

// server is one helper with its one controller.
type server struct {
	local   *host.Local
	own     *program
	session *yamux.Session
	ctx     context.Context // of all calls
	cancel  context.CancelFunc
	calls   atomic.Int64  // under way
	bye     chan struct{} // closed when the controller has said so
}

// Serve does what the controller at the other end of conn asks for, until the
// connection ends, the controller says goodbye, or ctx ends. When it returns,
// no command of this helper runs any more, its locks end with the process, and
// its file is gone unless somebody keeps it or also runs it.
func Serve(ctx context.Context, conn io.ReadWriteCloser, o Options) error {
	// Writing to a connection that is gone must not kill the helper before it
	// has put its commands down. Not ignored: they would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	own, err := claimProgram()
	if err != nil {
		return err
	}
	defer own.leave()
	if o.After != nil {
		if err := o.After.end(ctx); err != nil {
			return err
		}
	}
	me, err := thisProcess()
	if err != nil {
		return err
	}
	hello := Hello{Protocol: Protocol, Version: o.Version, Program: own.path, UID: os.Getuid(), Helper: me}
	if err := hello.write(conn, o.Nonce); err != nil {
		return fmt.Errorf("greet the controller: %w", err)
	}
	session, err := yamux.Server(conn, sessionConfig(o.Silence))
	if err != nil {
		return err
	}
	s := &server{local: host.NewLocal(), own: own, session: session, bye: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.serve(ctx)
	if own.file == nil {
		return nil // nothing that would have to wait for the controller
	}
	select {
	case <-s.bye:
	case <-ctx.Done():
	case <-time.After(o.Linger):
	}
	return nil
}

// serve accepts calls until there can be no more, and ends what is under way.
func (s *server) serve(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { s.session.Close() })
	defer stop()
	for {
		stream, err := s.session.AcceptStream()
		if err != nil {
			break
		}
		s.calls.Add(1)
		go func() {
			defer s.calls.Add(-1)
			defer stream.Close()
			c := &call{server: s, stream: stream}
			c.handle()
		}()
	}
	s.endCalls(0)
	s.session.Close()
}

// endCalls cancels all calls and waits until only so many are left.
func (s *server) endCalls(left int64) {
	s.cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(callEnd); s.calls.Load() > left && time.Now().Before(deadline); {
		<-tick.C
	}
}
