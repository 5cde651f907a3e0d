package stack

import (
	"context"
	"kasoku/internal/host"
)

// Discover is DiscoverHosts for this one.
func Discover(ctx context.Context, h host.Host) (*Stack, []string, error) {
	return DiscoverHosts(ctx, []Place{{Name: LocalHost, Host: h}})
}
