package evidence

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// cacheTimeout bounds one question to a cache: a hundred times what a busy one
// takes.
const cacheTimeout = 2 * time.Second

// cacheConn is a kept connection to memcached or Redis. It connects when it is
// first asked and again after an error.
type cacheConn struct {
	h    host.Host
	svc  *stack.Service
	conn net.Conn
	r    *bufio.Reader
}

// ask sends request and lets answer read what comes back.
func (c *cacheConn) ask(ctx context.Context, request string, answer func(r *bufio.Reader) error) error {
	if c.conn == nil {
		conn, err := stack.DialCache(ctx, c.h, c.svc)
		if err != nil {
			return err
		}
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	err := c.conn.SetDeadline(time.Now().Add(cacheTimeout))
	if err == nil {
		_, err = io.WriteString(c.conn, request)
	}
	if err == nil {
		err = answer(c.r)
	}
	if err != nil {
		c.close()
		return fmt.Errorf("ask %s: %w", c.svc.Name, err)
	}
	return nil
}

func (c *cacheConn) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
