package ssh

import (
	"errors"
	"fmt"
	"strings"

	"kasoku/internal/host/agent"
)

// Errors of connecting; the text around them says what ssh said and what to do.
var (
	// ErrLost is told by what was under way when the connection was lost.
	ErrLost = agent.ErrLost
	// ErrUnreachable: no name, no route, no answer, no sshd.
	ErrUnreachable = errors.New("not reachable by ssh")
	// ErrHostKey: the host's key is not known, or is another one than before.
	ErrHostKey = errors.New("the host key is not the one to expect")
	// ErrRefused: the login, or sudo, was refused.
	ErrRefused = errors.New("login refused")
	// ErrProgram: Kasoku's program cannot be run on the target.
	ErrProgram = errors.New("the helper of Kasoku cannot run there")
	// ErrClosed: the Host was closed.
	ErrClosed = errors.New("the host was closed")
)

// sshFault is one kind of failure of ssh, known by what it prints.
type sshFault struct {
	says []string // one of these is in its standard error, in lower case
	kind error
	hint string // %s is the destination
}

// sshFaults are looked through in this order. The texts are OpenSSH's
// (sshconnect.c, sshconnect2.c, misc.c) and sudo's; neither is translated when
// LC_ALL is C.
var sshFaults = []sshFault{
	{[]string{"remote host identification has changed"}, ErrHostKey,
		"the host shows another key than before: somebody may be in between, or it was installed anew. Compare its fingerprint on the host itself (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub); only then remove the old key as ssh says above, or with ssh-keygen -R"},
	{[]string{"host key verification failed", "host key is known for", "no matching host key"}, ErrHostKey,
		"connect once by hand (ssh %s), compare the fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), and accept it"},
	{[]string{"a password is required", "is not in the sudoers", "may not run sudo", "is not allowed to execute", "sudo: not found", "sudo: a terminal is required", "sudo: sorry"}, ErrRefused,
		"allow the user to run sudo without a password, log in as root, or leave out sudo: true"},
	{[]string{"permission denied (", "too many authentication failures", "no supported authentication methods"}, ErrRefused,
		"Kasoku needs a key or an agent that works without asking: ssh -o BatchMode=yes %s true must succeed"},
	{[]string{"could not resolve", "connection refused", "connection timed out", "no route to host", "network is unreachable", "operation timed out", "connection closed", "connection reset", "banner exchange", "broken pipe", "timeout, server"}, ErrUnreachable,
		"check with: ssh %s true"},
	{[]string{"bad configuration option", "can't open user config file", "terminating, "}, ErrUnreachable,
		"correct the ssh configuration file"},
}

// explain turns the end of ssh before the helper's greeting into an error.
func explain(destination, stage, stderr string, exit error) error {
	said := strings.ToLower(stderr)
	shown := strings.TrimSpace(stderr)
	if shown == "" {
		shown = fmt.Sprint("ssh said nothing: ", exit)
	}
	for _, f := range sshFaults {
		for _, text := range f.says {
			if strings.Contains(said, text) {
				hint := strings.ReplaceAll(f.hint, "%s", destination)
				return fmt.Errorf("%s: %w: %s\n  %s", stage, f.kind, shown, hint)
			}
		}
	}
	kind := ErrUnreachable
	if stage != stageLogin {
		kind = ErrProgram
	}
	return fmt.Errorf("%s: %w: %s", stage, kind, shown)
}
