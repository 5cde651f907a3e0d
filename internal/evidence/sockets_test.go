package evidence

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// listener listens with a queue of its own length and never accepts.
func listener(t *testing.T, family int, address unix.Sockaddr, limit int) int {
	t.Helper()
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, address); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, limit); err != nil {
		t.Fatal(err)
	}
	return fd
}

// Connections that nobody accepts are seen in the queues, by both ways of
// looking, and belong to the service that listens there.
func TestQueuesLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.sock")
	listener(t, unix.AF_UNIX, &unix.SockaddrUnix{Name: path}, 5)
	fd := listener(t, unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, 7)
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	tcp := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
	for range 3 {
		for network, address := range map[string]string{"unix": path, "tcp": tcp} {
			c, err := net.Dial(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Listen: []string{tcp}}, {Name: "php", Kind: stack.App, Listen: []string{"unix:" + path}}}}
	roots := map[string]map[string][]int{"local": {"app": {os.Getpid()}, "php": nil}}
	for why, h := range map[string]host.Host{"netlink": host.NewLocal(), "ss": struct{ host.Host }{host.NewLocal()}} {
		ctx := context.Background()
		found, _ := findSockets(ctx, setting{st: st, hosts: map[string]host.Host{"local": h}, roots: roots})
		s := found[0].(*socketSource)
		if !s.look(ctx) {
			t.Fatalf("%s: %v", why, s.queueErr)
		}
		s.end(ctx)
		ev := &Evidence{}
		s.tell(ctx, ev)
		got := map[string]AcceptQueue{}
		for _, q := range ev.System.TCP.Queues {
			got[q.Service] = q
		}
		if got["app"] != (AcceptQueue{tcp, "app", 3, 7}) || got["php"] != (AcceptQueue{"unix:" + path, "php", 3, 5}) {
			t.Errorf("%s: %+v", why, ev.System.TCP.Queues)
		}
		if ev.System.TCP.States["ESTAB"] < 6 || ev.System.TCP.PortsUsed < 3 {
			t.Errorf("%s: %+v", why, ev.System.TCP)
		}
		if h := healthOf(ev, "sockets of local"); !h.OK || strings.Contains(h.Text, "not judged") {
			t.Errorf("%s: %+v", why, h)
		}
	}
}

// BenchmarkQueues is one look at the accept queues, by both ways.
func BenchmarkQueues(b *testing.B) {
	for _, h := range []host.Host{host.NewLocal(), struct{ host.Host }{host.NewLocal()}} {
		name := "netlink"
		if _, is := h.(*host.Local); !is {
			name = "ss"
		}
		b.Run(name, func(b *testing.B) {
			s := &socketSource{h: h, queues: queues{}}
			before := spent(b)
			for b.Loop() {
				if !s.look(context.Background()) {
					b.Fatal(s.queueErr)
				}
			}
			b.ReportMetric(float64((spent(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
