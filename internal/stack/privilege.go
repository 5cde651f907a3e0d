package stack

import (
	"context"
	"strings"

	"kasoku/internal/host"
)

// privileged puts "sudo -n" in front of a service manager's command where the
// user is not root and sudo permits just that command without a password.
// Where it does not, the command is tried as it is: polkit, or the rights of
// supervisord's socket, may permit it.
func (c *Controller) privileged(ctx context.Context, argv []string) []string {
	if Sudo(ctx, c.h, argv) {
		return append([]string{"sudo", "-n", "--"}, argv...)
	}
	return argv
}

// Sudo reports whether a user other than root may run the command by sudo
// without a password. False for root, who needs none, and where sudo is
// missing.
func Sudo(ctx context.Context, h host.Host, argv []string) bool {
	if root(ctx, h) {
		return false
	}
	res, err := h.Run(ctx, host.Command{Argv: append([]string{"sudo", "-n", "-l", "--"}, argv...)})
	return err == nil && res.ExitCode == 0
}

// root reports whether commands on the host run as root.
func root(ctx context.Context, h host.Host) bool {
	res, err := h.Run(ctx, host.Command{Argv: []string{"id", "-u"}})
	return err == nil && strings.TrimSpace(string(res.Stdout)) == "0"
}
