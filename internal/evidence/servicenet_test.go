package evidence

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// TestServiceNetLive: a real database counts its bytes; nginx and PHP-FPM share
// their host's interfaces, and that is said.
func TestServiceNetLive(t *testing.T) {
	l := startLive(t)
	ev := collect(t, l, CollectorOptions{}, 30)
	db := ev.Services["db"]
	if db.NetReceived <= 0 || db.NetSent <= 0 {
		t.Errorf("the database received %g and sent %g bytes per second", db.NetReceived, db.NetSent)
	}
	if h := healthOf(ev, "networks by service"); !h.OK || !strings.HasPrefix(h.Text, "of db; not judged: php, web") {
		t.Errorf("%+v", h)
	}
}

// TestServiceNetOfContainer: what a process in a network namespace of its own
// sends goes through its own interfaces.
func TestServiceNetOfContainer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	inside := exec.Command("unshare", "--net", "sleep", "60")
	inside.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := inside.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-inside.Process.Pid, syscall.SIGKILL); _ = inside.Wait() })
	pid := fmt.Sprint(inside.Process.Pid)
	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if err := within("the namespace is there", func() error {
		if its, err := os.Readlink("/proc/" + pid + "/ns/net"); err != nil || its == ours {
			return fmt.Errorf("%s, %v", its, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
	}
	// The pair of interfaces goes with the namespace.
	outer := "kv" + pid
	run("ip", "link", "add", outer, "type", "veth", "peer", "name", "inner", "netns", pid)
	t.Cleanup(func() { _ = exec.Command("ip", "link", "delete", outer).Run() })
	run("ip", "address", "add", "198.51.100.1/30", "dev", outer)
	run("ip", "link", "set", outer, "up")
	run("nsenter", "-t", pid, "-n", "ip", "address", "add", "198.51.100.2/30", "dev", "inner")
	run("nsenter", "-t", pid, "-n", "ip", "link", "set", "inner", "up")
	listener, err := net.Listen("tcp", "198.51.100.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	received := make(chan int64, 1) // a program ends before the last of what it wrote is sent
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		n, _ := io.Copy(io.Discard, c)
		c.Close()
		received <- n
	}()
	_, port, _ := strings.Cut(listener.Addr().String(), ":")
	s := setting{st: &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Host: "local"}}}, hosts: map[string]host.Host{"local": host.NewLocal()},
		roots: map[string]map[string][]int{"local": {"app": {inside.Process.Pid}}}}
	sources, _ := findServiceNet(t.Context(), s)
	ev := &Evidence{Services: map[string]ServiceUse{}}
	x := sources[0].(*serviceNet)
	x.start(t.Context())
	run("nsenter", "-t", pid, "-n", "bash", "-c", "head -c 1000000 /dev/zero >/dev/tcp/198.51.100.1/"+port)
	if n := <-received; n != 1e6 {
		t.Fatalf("%d bytes came", n)
	}
	x.end(t.Context())
	x.tell(t.Context(), ev)
	seconds := x.ended.Sub(x.began).Seconds()
	if sent := ev.Services["app"].NetSent * seconds; sent < 1e6 || sent > 1.5e6 {
		t.Errorf("it sent %.0f bytes, want a million and their headers", sent)
	}
	if got := ev.Services["app"].NetReceived * seconds; got <= 0 || got > 5e5 {
		t.Errorf("it received %.0f bytes, want acknowledgements", got)
	}
	if h := healthOf(ev, "networks by service"); !h.OK || h.Text != "of app" {
		t.Errorf("%+v", h)
	}
}

// A counter that is missing is no zero.
func TestServiceNetCounters(t *testing.T) {
	for name, c := range map[string]struct {
		kind           stack.Kind
		delta          map[string]float64
		received, sent float64
	}{
		"Varnish":   {stack.Varnish, map[string]float64{"MAIN.s_req_hdrbytes": 10, "MAIN.s_req_bodybytes": 2, "MAIN.s_resp_hdrbytes": 30, "MAIN.s_resp_bodybytes": 400}, 6, 215},
		"Redis":     {stack.Redis, map[string]float64{"total_net_input_bytes": 10, "total_net_output_bytes": 20}, 5, 10},
		"memcached": {stack.Memcached, map[string]float64{"bytes_read": 4, "bytes_written": 6}, 2, 3},
		"one only":  {stack.Memcached, map[string]float64{"bytes_read": 4}, 0, 0},
		"none":      {stack.MySQL, nil, 0, 0},
	} {
		at := time.Unix(0, 0)
		x := &serviceNet{st: &stack.Stack{Services: []stack.Service{{Name: "s", Kind: c.kind}}}, began: at, ended: at.Add(2 * time.Second)}
		ev := &Evidence{Services: map[string]ServiceUse{}, Counters: map[string]CounterDelta{"s": {Delta: c.delta}}}
		x.tell(t.Context(), ev)
		if use := ev.Services["s"]; use.NetReceived != c.received || use.NetSent != c.sent {
			t.Errorf("%s: received %g, sent %g, want %g and %g", name, use.NetReceived, use.NetSent, c.received, c.sent)
		}
	}
}
