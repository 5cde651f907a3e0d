package stack

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"kasoku/internal/host"
)

// What the kernel tells of this process's sockets when it is asked is what its files tell.
func TestAskedSocketsAreThoseOfTheFiles(t *testing.T) {
	ctx := t.Context()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(address, err) // no IPv6 here
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	own := func(h host.Host) socketTable {
		table, err := readSockets(ctx, h, os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		held, err := table.of(ctx, h, []int{os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		out := socketTable{}
		for _, s := range held {
			if s.path == "" && s.local.IsValid() {
				out[s.inode] = s
			}
		}
		return out
	}
	if !(socketTable{}).ask(ctx, host.NewLocal(), os.Getpid(), 1<<host.TCPListen) {
		t.Fatal("the kernel was not asked")
	}
	asked, files := own(host.NewLocal()), own(struct{ host.Host }{host.NewLocal()})
	if len(files) < 4 || !maps.Equal(asked, files) {
		t.Errorf("asked %+v, files tell %+v", asked, files)
	}
}

// A process in another network namespace, as in a container, has sockets of its own: its
// files tell them.
func TestSocketsOfAnotherNamespace(t *testing.T) {
	ctx, h := t.Context(), host.NewLocal()
	if (socketTable{}).ask(ctx, h, 1<<22, 1<<host.TCPListen) { // no process has that number (pid_max)
		t.Error("a process that is not there has Kasoku's sockets")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pid := startUnshared(t)
	table, err := readSockets(ctx, h, pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table {
		if s.local.IsValid() && s.endpoint() == l.Addr().String() {
			t.Errorf("the socket of another namespace is seen: %+v", s)
		}
	}
}

// startUnshared starts a process in a network namespace of its own.
func startUnshared(t *testing.T) int {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() }) // its exit status tells nothing
	return cmd.Process.Pid
}
