package stack

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"kasoku/internal/host"
)

// dial connects to an endpoint ("host:port" or "unix:/path") as seen from the
// host.
func dial(ctx context.Context, h host.Host, endpoint string) (net.Conn, error) {
	network, address := "tcp", connectAddress(endpoint)
	if path, ok := strings.CutPrefix(endpoint, "unix:"); ok {
		network, address = "unix", path
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return h.DialContext(ctx, network, address)
}

// connectAddress replaces the wildcard that a server listens on by the loopback
// address a client can reach it at.
func connectAddress(endpoint string) string {
	name, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return endpoint
	}
	switch name {
	case "", "*", "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	return net.JoinHostPort(name, port)
}

// sameEndpoint reports whether a connection to one of the endpoints reaches a
// server on the other: they are equal, or have the same port and one is the
// wildcard or "localhost" where the other is a loopback address.
func sameEndpoint(a, b string) bool {
	if a == b {
		return true
	}
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || strings.HasPrefix(a, "unix:") || strings.HasPrefix(b, "unix:") {
		return false
	}
	loopA, anyA := local(hostA)
	loopB, anyB := local(hostB)
	return hostA == hostB || (loopA || anyA) && (loopB || anyB) && (anyA || anyB)
}

// local classifies a host name: a loopback address, or one that stands for any
// local address ("localhost" may be 127.0.0.1 or ::1).
func local(name string) (loopback, wildcard bool) {
	switch name {
	case "", "*", "localhost":
		return false, true
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return false, false
	}
	return a.IsLoopback(), a.IsUnspecified()
}
