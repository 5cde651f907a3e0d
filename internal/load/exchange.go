package load

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"
)

// cleanTarget makes a link that a page gave a request target.
func (u *user) cleanTarget() bool {
	path, ok := u.run.target.inside(u.target)
	if ok {
		clean := appendTarget(u.scratch[:0], path)
		u.scratch, u.target = u.target, clean
	}
	return ok
}

// appendTarget cuts a fragment off and encodes what cannot stand in a request
// line.
func appendTarget(dst, path []byte) []byte {
	path, _ = cutByte(path, '#')
	for _, c := range path {
		if c <= ' ' || c >= 0x7f {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// build renders the request.
func (u *user) build(st *step, method string) {
	r := u.run
	b := append(u.out[:0], method...)
	b = append(b, ' ')
	b = append(b, u.target...)
	b = append(b, " HTTP/1.1\r\n"...)
	if !st.own.host {
		b = append(b, r.hostLine...)
	}
	if !st.own.agent {
		b = append(b, "User-Agent: kasoku\r\n"...)
	}
	if !st.own.accept {
		b = append(b, "Accept: */*\r\n"...)
	}
	b = st.headers.append(b, u.vars)
	if !st.own.cookie {
		b = u.jar.append(b, u.target)
	}
	switch {
	case st.hasBody && method == st.method:
		if st.bodyType != "" {
			b = append(append(append(b, "Content-Type: "...), st.bodyType...), "\r\n"...)
		}
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(u.body)), 10), "\r\n\r\n"...)
		b = append(b, u.body...)
	case method == "POST" || method == "PUT" || method == "PATCH":
		b = append(b, "Content-Length: 0\r\n\r\n"...)
	default:
		b = append(b, "\r\n"...)
	}
	u.out = b
}

// exchange sends u.out and reads the answer. A kept connection that the
// server closed before the first byte of an answer is replaced once: it may
// have been idle too long for the server, which is no fault (RFC 9112, 9.3.1).
func (u *user) exchange(head bool, timeout time.Duration) (at span, err error) {
	m := u.run.meter
	at.sent = m.now()
	deadline := m.base.Add(at.sent + timeout)
	for again := false; ; again = true {
		kept := u.conn != nil
		u.wire.end = 0
		if !kept {
			err = u.connect(deadline)
		}
		if err == nil {
			err = u.transact(head, deadline)
		}
		if err == nil {
			break
		}
		u.disconnect()
		if again || !kept || u.wire.end > 0 || !isClosed(err) {
			break
		}
		err = nil
	}
	at.done = m.now()
	if err == nil && u.wire.res.close {
		u.disconnect()
	}
	return at, err
}

func (u *user) transact(head bool, deadline time.Time) error {
	if err := u.conn.SetDeadline(deadline); err != nil {
		return err
	}
	// After the deadline is set: interrupt first notes the cancellation, then
	// moves the deadline, so one of the two is seen here.
	if u.run.cancelled.Load() {
		return u.run.ctx.Err()
	}
	if _, err := u.conn.Write(u.out); err != nil {
		return err
	}
	return u.wire.read(head)
}

func (u *user) connect(deadline time.Time) error {
	conn, err := u.run.target.dial(u.run.ctx, deadline)
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.conn = conn
	u.mu.Unlock()
	u.wire.attach(conn)
	if u.shard != nil {
		u.run.meter.connected(u.shard, u.run.meter.now())
	}
	return nil
}

func (u *user) disconnect() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn != nil {
		u.conn.Close()
		u.conn = nil
	}
}

// interrupt ends the request under way.
func (u *user) interrupt() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn != nil {
		u.conn.SetDeadline(time.Unix(1, 0))
	}
}

// redirect finds where the answer's Location leads and notes it in u.next.
func (u *user) redirect(location []byte) bool {
	if path, ok := u.run.target.inside(location); ok {
		u.next = appendTarget(u.next[:0], path)
		return true
	}
	base, err := url.Parse(string(u.target))
	if err != nil || len(location) == 0 {
		return false
	}
	to, err := base.Parse(string(location)) // relative to the present page
	if err != nil || to.Host != "" || to.Scheme != "" {
		return false
	}
	u.next = appendTarget(u.next[:0], []byte(to.RequestURI()))
	return true
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrUnexpectedEOF)
}
