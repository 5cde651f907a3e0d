package host

import (
	"context"
	"fmt"
	"net"
	"os"
)

// DialContext connects from this machine.
func (*Local) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Program is the program that runs.
func (*Local) Program(context.Context) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find Kasoku's own program: %w", err)
	}
	return path, nil
}
