package stack

import (
	"context"
	"fmt"
	"strings"

	"kasoku/internal/host"
)

// HostAddresses are the addresses of a host that other hosts may reach it by:
// its own IPv4 and IPv6 addresses, but those of loopback and of a single link.
// The error is for a host that does not tell its IPv4 addresses.
func HostAddresses(ctx context.Context, h host.Host) ([]string, error) {
	data, err := h.ReadFile(ctx, "/proc/net/fib_trie")
	if err != nil {
		return nil, fmt.Errorf("read the addresses of %s: %w", h.Name(), err)
	}
	var out []string
	for _, a := range parseLocalAddresses(data) {
		if !strings.HasPrefix(a, "127.") {
			out = append(out, a)
		}
	}
	// A host without IPv6 has no such file.
	if data, err := h.ReadFile(ctx, "/proc/net/if_inet6"); err == nil {
		for _, a := range parseInet6(data) {
			if a != "::1" {
				out = append(out, a)
			}
		}
	}
	return out, nil
}
