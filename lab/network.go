package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// makeNetwork makes the lab's network namespace with its bridge.
func (l *Lab) makeNetwork(ctx context.Context) error {
	ns := l.Namespace
	for _, args := range [][]string{
		{"netns", "add", ns},
		{"-n", ns, "link", "set", "lo", "up"},
		// Frames pass at once: no spanning tree, no wait before a port forwards.
		{"-n", ns, "link", "add", bridge, "type", "bridge", "stp_state", "0", "forward_delay", "0"},
		{"-n", ns, "address", "add", fmt.Sprintf("%s/%d", gateway, prefix), "dev", bridge},
		{"-n", ns, "link", "set", bridge, "up"},
	} {
		if _, err := run(ctx, "ip", args...); err != nil {
			return fmt.Errorf("make the lab's network: %w", err)
		}
	}
	return nil
}

// removeNetwork also ends programs that Exec left in the namespace; else it
// would live on without a name.
func (l *Lab) removeNetwork(ctx context.Context) error {
	var ns unix.Stat_t
	if err := unix.Stat(l.netns(), &ns); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look at the lab's network namespace: %w", err)
	}
	spare := ancestors()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, p := range procs {
		pid, err := strconv.Atoi(filepath.Base(p))
		var own unix.Stat_t
		if err != nil || spare[pid] || unix.Stat(p+"/ns/net", &own) != nil || own.Ino != ns.Ino || own.Dev != ns.Dev {
			continue
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
			return fmt.Errorf("end process %d in the lab's network: %w", pid, err)
		}
	}
	_, err = run(ctx, "ip", "netns", "delete", l.Namespace)
	return err
}

// ancestors are this process and those it was started by.
func ancestors() map[int]bool {
	out := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !out[pid]; {
		out[pid] = true
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		// proc_pid_stat(5): the name in parentheses may hold anything; after it
		// come the state and the parent.
		f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(f) < 2 {
			break
		}
		if pid, err = strconv.Atoi(f[1]); err != nil {
			break
		}
	}
	return out
}

// within runs f on a thread that is in the network namespace at path. Sockets
// that f opens and processes that it starts are in it, and stay there.
func within(path string, f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		back, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			defer unix.Close(back)
			err = enter(path)
		}
		if err != nil {
			runtime.UnlockOSThread()
			result <- err
			return
		}
		result <- f()
		// A thread that cannot go back stays locked, and so ends with this goroutine.
		if unix.Setns(back, unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
	}()
	return <-result
}

// enter moves the calling thread, which must be locked, into a network namespace.
func enter(path string) error {
	ns, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the network namespace %s: %w; is the lab up?", path, err)
	}
	defer unix.Close(ns)
	if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace %s: %w; it needs root", path, err)
	}
	return nil
}

// Dial connects to HOST:PORT, with a host's name or an address, from inside the
// lab's network; it fits net/http's Transport.DialContext.
func (l *Lab) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if h, err := l.Host(host); err == nil {
		host = h.Address
	}
	if net.ParseIP(host) == nil {
		return nil, fmt.Errorf("dial %s: lab %s has no host of that name", address, l.Name)
	}
	var conn net.Conn
	err = within(l.netns(), func() error {
		var d net.Dialer // an address needs no other goroutine, hence no other thread
		var err error
		conn, err = d.DialContext(ctx, network, net.JoinHostPort(host, port))
		return err
	})
	return conn, err
}

// Start starts a command of this machine in the lab's network.
func (l *Lab) Start(cmd *exec.Cmd) error { return within(l.netns(), cmd.Start) }

// Exec runs a command of this machine in the lab's network and returns what it
// printed on standard output. Hosts have their Address there; 127.0.0.1 is the
// lab's own, not the machine's.
func (l *Lab) Exec(ctx context.Context, args ...string) (string, error) {
	return runWithin(ctx, l.netns(), args[0], args[1:]...)
}

// Become replaces this process by a command in the lab's network. It returns
// only if that fails.
func (l *Lab) Become(args []string) error {
	path, err := lookPath(args[0])
	if err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := enter(l.netns()); err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", args[0], syscall.Exec(path, args, os.Environ()))
}

func runWithin(ctx context.Context, ns, name string, args ...string) (string, error) {
	var out string
	err := within(ns, func() error {
		var err error
		out, err = run(ctx, name, args...)
		return err
	})
	return out, err
}

// portOpen reports whether something that greets listens at the host's port:
// SSH's banner comes only from a server that works.
func (h *Host) portOpen(ctx context.Context, port int) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := h.lab.Dial(ctx, "tcp", net.JoinHostPort(h.Address, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return false
	}
	n, err := conn.Read(make([]byte, 8))
	return err == nil && n > 0
}
