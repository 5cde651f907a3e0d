package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"
)

// conn is a connection that the helper made, as the controller sees it.
type conn struct {
	*yamux.Stream
	client           *Client
	network, address string
	closed           atomic.Bool
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	if err != nil && c.closed.Load() {
		return n, net.ErrClosed
	}
	if err == io.EOF && c.client.session.IsClosed() {
		return n, fmt.Errorf("read from %s: %w", c.address, ErrLost)
	}
	return n, c.plain(err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Stream.Write(p)
	return n, c.plain(err)
}

// Close ends both directions, and reads that wait.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	return c.Stream.Close()
}

// plain turns yamux's errors into those that users of net.Conn know.
func (c *conn) plain(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, yamux.ErrTimeout):
		return os.ErrDeadlineExceeded
	case errors.Is(err, yamux.ErrStreamClosed):
		return net.ErrClosed
	case c.client.session.IsClosed():
		return fmt.Errorf("connection to %s: %w", c.address, ErrLost)
	}
	return err
}

// LocalAddr is not known: the connection begins on the host.
func (c *conn) LocalAddr() net.Addr { return addr{c.network, "through Kasoku's helper"} }

// RemoteAddr is the other end as the host sees it.
func (c *conn) RemoteAddr() net.Addr { return addr{c.network, c.address} }

type addr struct{ network, text string }

func (a addr) Network() string { return a.network }
func (a addr) String() string  { return a.text }
