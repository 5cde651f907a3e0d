package hosttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort is a TCP port of loopback that nobody listens on and that no other
// test is given, of other packages neither, until t ends. It is from 10000 to
// 17999: below those that a system takes by itself (ip_local_port_range), so that
// no connection has it before the test's server.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(8000)
		// A name without a file, which every network namespace has for itself, as ports.
		mark, err := net.Listen("unix", fmt.Sprintf("@kasoku-test-port-%d", port))
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			mark.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { mark.Close() })
		return port
	}
	t.Fatal("found no free port from 10000 to 17999")
	return 0
}
