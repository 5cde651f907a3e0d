package main

import (
	"fmt"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// job is what a variant does.
type job struct {
	address netip.AddrPort // IPv4
	conns   int
	until   time.Time
}

// variant is one way to do it; run returns how many answers it got.
type variant struct {
	name, note string
	run        func(job) (int64, error)
}

var variants = []variant{
	{"net.Conn", "a goroutine per connection, Go's own poller", runNet},
	{"epoll", "one loop", loops(1, false)},
	{"epoll, 2 loops", "connections shared out", loops(2, false)},
	{"epoll, coroutines", "one loop, iter.Pull per user", loops(1, true)},
	{"io_uring, 1", "send+receive linked; waits for 1 completion", ring(1)},
	{"io_uring, 8", "waits for 8, at most 100 µs", ring(8)},
	{"io_uring, 16", "waits for 16, at most 100 µs", ring(16)},
}

// loops runs n epoll loops with an equal share of the connections each.
func loops(n int, coroutines bool) func(job) (int64, error) {
	return func(j job) (int64, error) {
		n := min(n, j.conns)
		counts, errs := make([]int64, n), make([]error, n)
		var wait sync.WaitGroup
		for i := range n {
			share := j
			share.conns = (j.conns + i) / n
			wait.Go(func() { counts[i], errs[i] = runEpoll(share, coroutines) })
		}
		wait.Wait()
		var sum int64
		for i := range n {
			if errs[i] != nil {
				return 0, errs[i]
			}
			sum += counts[i]
		}
		return sum, nil
	}
}

func resolve(address string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !a.Addr().Is4() {
		return a, fmt.Errorf("-address %q: write an IPv4 address with a port", address)
	}
	return a, nil
}

// dial opens a blocking TCP socket.
func dial(a netip.AddrPort) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a socket: %w", err)
	}
	err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()})
	}
	if err != nil {
		_ = syscall.Close(fd) // the connection's error is the one to tell
		return -1, fmt.Errorf("connect to %s: %w", a, err)
	}
	return fd, nil
}

// dialAll opens n sockets; on error none stays open.
func dialAll(a netip.AddrPort, n int) ([]int, error) {
	var fds []int
	for range n {
		fd, err := dial(a)
		if err != nil {
			closeAll(fds)
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// closeAll closes sockets at the end; what is lost with them is not needed.
func closeAll(fds []int) {
	for _, fd := range fds {
		_ = syscall.Close(fd)
	}
}
