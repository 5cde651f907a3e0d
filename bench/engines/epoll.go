package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"syscall"
	"time"
	"unsafe"
)

// connection of an epoll loop.
type connection struct {
	fd   int
	ask  []byte
	buf  []byte
	got  int
	next func() (int64, bool) // the user as a coroutine; nil in the state machine
	err  error                // of the coroutine
}

// epollEdge is EPOLLET, which syscall has with a sign.
const epollEdge = 1 << 31

// epollWait is how long a loop without events sleeps, in ms; it then looks at
// the clock.
const epollWait = 100

// runEpoll is one loop on sockets of its own. The kernel is called without
// telling Go's scheduler (RawSyscall), which saves about 0.1 µs a call; only
// when nothing is ready the loop sleeps in a call that the scheduler knows of.
func runEpoll(j job, coroutines bool) (int64, error) {
	fds, err := dialAll(j.address, j.conns)
	if err != nil {
		return 0, err
	}
	defer closeAll(fds)
	ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("epoll_create1: %w", err)
	}
	defer syscall.Close(ep) // nothing is lost with it
	conns := make([]connection, len(fds))
	for i, fd := range fds {
		c := &conns[i]
		*c = connection{fd: fd, ask: request(j.address), buf: make([]byte, bufferSize)}
		if coroutines {
			var stop func()
			c.next, stop = iter.Pull(c.user())
			defer stop()
		}
		if err := syscall.SetNonblock(fd, true); err != nil {
			return 0, fmt.Errorf("make a socket non-blocking: %w", err)
		}
		// Fd carries the connection's place, not its file.
		ev := syscall.EpollEvent{Events: syscall.EPOLLIN | epollEdge, Fd: int32(i)}
		if err := syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return 0, fmt.Errorf("epoll_ctl: %w", err)
		}
	}
	return turn(ep, conns, j.until)
}

// turn lets every connection send once and then handles what becomes ready.
func turn(ep int, conns []connection, until time.Time) (int64, error) {
	var total int64
	for i := range conns {
		if err := conns[i].begin(); err != nil {
			return total, err
		}
	}
	events := make([]syscall.EpollEvent, min(len(conns), 256))
	for time.Now().Before(until) {
		n, err := wait(ep, events)
		if err != nil {
			return total, err
		}
		for _, ev := range events[:n] {
			done, err := conns[ev.Fd].ready()
			if err != nil {
				return total, err
			}
			total += done
		}
	}
	return total, nil
}

// wait fills events, sleeping only if there is none at once.
func wait(ep int, events []syscall.EpollEvent) (int, error) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if n == 0 && e == 0 {
		n, _, e = syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), epollWait, 0, 0)
	}
	switch {
	case e == syscall.EINTR:
		return 0, nil
	case e != 0:
		return 0, fmt.Errorf("epoll_wait: %w", e)
	}
	return int(n), nil
}

// begin sends the first request.
func (c *connection) begin() error {
	if c.next != nil {
		c.next()
		return c.err
	}
	return c.send()
}

// ready takes what came and returns 1 if that made an answer whole; then the
// next request is on its way.
func (c *connection) ready() (int64, error) {
	if c.next != nil {
		n, _ := c.next()
		return n, c.err
	}
	done, err := c.receive()
	if err != nil || !done {
		return 0, err
	}
	return 1, c.send()
}

// user is the same as a plain loop, which the event loop resumes. It yields
// when it has to wait, with the answers that it got since the last time.
func (c *connection) user() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for got := int64(0); ; got = 1 {
			if c.err = c.send(); c.err != nil {
				return
			}
			for done := false; !done; got = 0 {
				if !yield(got) {
					return
				}
				if done, c.err = c.receive(); c.err != nil {
					return
				}
			}
		}
	}
}

// send writes the request; it always fits into an empty socket buffer.
func (c *connection) send() error {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&c.ask[0])), uintptr(len(c.ask)), syscall.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return fmt.Errorf("send: %w", e)
	}
	if int(n) != len(c.ask) {
		return errors.New("send: the request went out only in part")
	}
	return nil
}

// receive reads once and says whether the answer is whole. With edge-triggered
// events a second read would be due only if the buffer had been too small.
func (c *connection) receive() (bool, error) {
	free := c.buf[c.got:]
	if len(free) == 0 {
		return false, errors.New("receive: the answer is too long")
	}
	n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&free[0])), uintptr(len(free)), 0, 0, 0)
	switch {
	case e == syscall.EAGAIN || e == syscall.EINTR:
		return false, nil
	case e != 0:
		return false, fmt.Errorf("receive: %w", e)
	case n == 0:
		return false, fmt.Errorf("receive: %w", io.ErrUnexpectedEOF)
	}
	c.got += int(n)
	done, err := complete(c.buf[:c.got])
	if done {
		c.got = 0
	}
	return done, err
}
