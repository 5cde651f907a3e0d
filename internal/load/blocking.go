package load

import (
	"net"
	"sync"
	"time"
)

// blocking drives one user with a goroutine of its own and a net.Conn: for
// TLS, for setup and teardown, and where asked for.
type blocking struct {
	user *user
	mu   sync.Mutex // guards conn against interrupt
	conn net.Conn
	kept bool
	// exchange sends the user's request and reads the answer into its wire.
	exchange func(*blocking, time.Time) error
	timer    *time.Timer
	buf      []byte
	freeAt   time.Duration
	engaged  bool // by a planned session
	http2    *http2Client
}

func newBlocking(u *user) *blocking {
	b := &blocking{user: u, exchange: (*blocking).transact, timer: time.NewTimer(time.Hour), buf: make([]byte, 4*minRead)}
	b.timer.Stop()
	return b
}

// work drives the user until it is finished.
func (b *blocking) work() {
	u, m := b.user, b.user.run.meter
	defer b.disconnect()
	d := u.proceed(m.now())
	for {
		switch d {
		case sending:
			d = b.send()
		case pausing:
			if !b.sleep(u.until) {
				return
			}
			d = u.proceed(m.now())
		case idle:
			if !b.await() {
				return
			}
			d = u.proceed(m.now())
		case finished:
			return
		}
	}
}

// once does setup or teardown.
func (b *blocking) once(s *session) bool {
	b.user.do(s, 0, false)
	b.work()
	return b.user.at == atEnd && !b.user.failed
}

// send does one request. A kept connection that broke before an answer is
// replaced once.
func (b *blocking) send() doing {
	u, m := b.user, b.user.run.meter
	u.began = m.now()
	deadline := m.base.Add(u.began + u.limit)
	for {
		u.wire.begin(u.method == "HEAD")
		kept := b.kept
		err := b.connect(deadline)
		if err == nil {
			err = b.exchange(b, deadline)
		}
		now := m.now()
		if err == nil {
			b.kept = !u.wire.res.close
			if u.wire.res.close {
				b.disconnect()
			}
			return u.answered(now)
		}
		b.disconnect()
		if !u.retry(kept, err) {
			return u.unanswered(err, now)
		}
	}
}

// connect makes sure that there is a connection.
func (b *blocking) connect(deadline time.Time) error {
	u := b.user
	if b.conn != nil {
		return nil
	}
	conn, err := u.run.target.dial(u.run.ctx, deadline, b.http2 != nil)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.conn = conn
	b.mu.Unlock()
	if u.shard != nil {
		u.shard.connected(u.run.meter.now())
	}
	return nil
}

// transact sends the request and reads the answer.
func (b *blocking) transact(deadline time.Time) error {
	u := b.user
	if err := b.conn.SetDeadline(deadline); err != nil {
		return err
	}
	// After the deadline is set: interrupt first notes the cancellation, then
	// moves the deadline, so one of the two is seen here.
	if u.run.cancelled.Load() {
		return u.run.ctx.Err()
	}
	if len(u.request) > maxAtOnce {
		return b.transactLarge()
	}
	if _, err := b.conn.Write(u.request); err != nil {
		// The server may have answered before it read everything.
		if u.wire.readFrom(b.conn, b.buf) == nil {
			u.wire.res.close = true
			return nil
		}
		return err
	}
	return u.wire.readFrom(b.conn, b.buf)
}

// maxAtOnce is a request that a socket takes without waiting for the server to
// read, with the usual send buffers (net.ipv4.tcp_wmem).
const maxAtOnce = 16 << 10

// sentGrace is how long the sender may take to say that it is done when the
// answer is there: a scheduler's turn.
const sentGrace = 10 * time.Millisecond

// transactLarge reads while it sends: a server may answer before it has read
// everything, or anything.
func (b *blocking) transactLarge() error {
	u, conn := b.user, b.conn
	sent := make(chan error, 1)
	go func() {
		_, err := conn.Write(u.request)
		sent <- err
	}()
	err := u.wire.readFrom(conn, b.buf)
	select {
	case failed := <-sent:
		if failed != nil && err != nil {
			return err
		}
		u.wire.res.close = u.wire.res.close || failed != nil
	case <-time.After(sentGrace):
		u.wire.res.close = true // it answered early; the rest is not sent
		conn.SetWriteDeadline(time.Unix(1, 0))
		<-sent
	}
	return err
}

func (b *blocking) disconnect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = false
	if b.conn != nil {
		b.conn.Close()
		b.conn = nil
	}
	if b.http2 != nil {
		b.http2.conn = nil
	}
}

// interrupt ends the request under way.
func (b *blocking) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		b.conn.SetDeadline(time.Unix(1, 0))
	}
}

// sleep until a time since the meter's base; false if the run is over
// meanwhile. Setup and teardown only end when the run is cancelled.
func (b *blocking) sleep(until time.Duration) bool {
	u := b.user
	stop := u.run.stop
	if u.shard == nil {
		stop = nil
	}
	b.timer.Reset(until - u.run.meter.now())
	select {
	case <-b.timer.C:
		return true
	case <-stop:
	case <-u.run.ctx.Done():
	}
	b.timer.Stop()
	return false
}

// await takes the next planned session and waits for its time; false if the
// run is over or no more are planned.
func (b *blocking) await() bool {
	u, m := b.user, b.user.run.meter
	b.freeAt = m.now()
	if b.engaged {
		b.engaged = false
		u.run.engaged.Add(-1)
	}
	for {
		a, ok := u.run.plan.take()
		if !ok {
			// Nothing now: perhaps when the window has begun.
			if !b.sleep(m.now() + 10*time.Millisecond) {
				return false
			}
			continue
		}
		if m.now()-a.at > u.run.patience {
			u.run.plan.drop(a)
			continue
		}
		if a.at > m.now() && !b.sleep(a.at) {
			return false
		}
		if _, _, started := m.bounds(); started && a.warm {
			continue // the window's own plan holds now
		}
		u.shard.started(a.at, m.now()-max(a.at, b.freeAt))
		b.engaged = true
		u.run.engage()
		u.arrive(a)
		return true
	}
}
