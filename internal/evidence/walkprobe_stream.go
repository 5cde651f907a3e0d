package evidence

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// maxProbe is how much of one stream is kept, bytes: some 300,000 calls. A
// walk makes thousands.
const maxProbe = 32 << 20

// probeTime bounds one mark, and the wait for a stream's end. memcached's log
// thread sleeps for up to a second (logger.h, MAX_LOGGER_SLEEP).
const probeTime = 10 * time.Second

// capture keeps what a connection sends.
type capture struct {
	conn net.Conn
	done chan struct{}

	mu   sync.Mutex
	data []byte
	full bool // more than maxProbe came
	err  error
}

func startCapture(conn net.Conn) *capture {
	c := &capture{conn: conn, done: make(chan struct{})}
	go c.run()
	return c
}

func (c *capture) run() {
	defer close(c.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.conn.Read(buf)
		c.mu.Lock()
		if room := maxProbe - len(c.data); n > room {
			c.full = true
			c.data = append(c.data, buf[:room]...)
		} else {
			c.data = append(c.data, buf[:n]...)
		}
		if err != nil {
			c.err = err
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits until ready says that the data is complete, or probeTime passed.
func (c *capture) until(ctx context.Context, ready func(data []byte) bool) ([]byte, error) {
	deadline := time.Now().Add(probeTime)
	for {
		c.mu.Lock()
		data, full, err := bytes.Clone(c.data), c.full, c.err
		c.mu.Unlock()
		switch {
		case full:
			return data, fmt.Errorf("more than %d MiB were asked of it during the walk; stop what else uses it", maxProbe>>20)
		case ready(data):
			return data, nil
		case err != nil:
			return data, errEnded
		case ctx.Err() != nil:
			return data, ctx.Err()
		case time.Now().After(deadline):
			return data, fmt.Errorf("its stream did not come to its end in %s", probeTime)
		}
		time.Sleep(20 * time.Millisecond) // between looks
	}
}

func (c *capture) close() {
	c.conn.Close()
	<-c.done
}

// bounded gives a connection the time of ctx, at most probeTime. release ends
// that.
func bounded(ctx context.Context, conn net.Conn) (release func(), err error) {
	deadline := time.Now().Add(probeTime)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }, nil
}
