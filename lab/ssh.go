package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// key is the lab's private SSH key.
func (l *Lab) key() string { return filepath.Join(l.Dir, "key") }

func (l *Lab) makeKey(ctx context.Context) error {
	if _, err := run(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "kasoku-lab-"+l.Name, "-f", l.key()); err != nil {
		return fmt.Errorf("make the lab's SSH key: %w", err)
	}
	return nil
}

// writeSSH writes ssh_config, and known_hosts with the keys that stand in the
// hosts' file systems: nothing is trusted on first use.
func (l *Lab) writeSSH() error {
	known := ""
	config := "# Written by kasoku lab up. Use: ssh -F FILE h1\n"
	hosts := filepath.Join(l.Dir, "known_hosts")
	for _, h := range l.Hosts {
		public, err := os.ReadFile(filepath.Join(h.Root, "etc/ssh/ssh_host_ed25519_key.pub"))
		if err != nil {
			return fmt.Errorf("read the SSH host key of %s: %w", h.Name, err)
		}
		known += h.Name + "," + h.Address + " " + strings.TrimSpace(string(public)) + "\n"
		config += fmt.Sprintf("\nHost %s\n    HostName %s\n    HostKeyAlias %s\n    ProxyCommand %s lab connect %s %s\n",
			h.Name, h.Address, h.Name, sshQuote(l.Program), sshQuote(l.Dir), h.Name)
	}
	config += fmt.Sprintf("\nHost *\n    User root\n    IdentityFile %s\n    IdentitiesOnly yes\n    IdentityAgent none\n    UserKnownHostsFile %s\n    GlobalKnownHostsFile /dev/null\n"+
		"    StrictHostKeyChecking yes\n    BatchMode yes\n    ConnectTimeout 10\n    LogLevel ERROR\n", sshQuote(l.key()), sshQuote(hosts))
	if err := writeFile(hosts, []byte(known), 0o644); err != nil {
		return err
	}
	return writeFile(l.SSHConfig, []byte(config), 0o644)
}

// sshQuote writes a path for ssh_config: % begins a token there.
func sshQuote(s string) string { return `"` + strings.ReplaceAll(s, "%", "%%") + `"` }

// SSH runs a shell command as root on a host and returns what it printed on
// standard output. A command that fails is an error with what it printed.
func (l *Lab) SSH(ctx context.Context, name, command string) (string, error) {
	if _, err := l.Host(name); err != nil {
		return "", err
	}
	return run(ctx, "ssh", "-F", l.SSHConfig, name, command)
}
