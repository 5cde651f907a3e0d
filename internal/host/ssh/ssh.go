// Package ssh is a host that is reached by the system's ssh.
//
// In comes a destination as ssh(1) takes it; out goes a host.Host. One ssh
// process with the user's own configuration, keys, agent and jump hosts runs
// /bin/sh on the target. A short script there looks for Kasoku's program by its
// checksum, takes it over the same connection if it is not there, and becomes
// "kasoku agent serve" (package agent), which then does what host.Local does.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host/agent"
)

// Options say how a host is reached.
type Options struct {
	Name        string // of the host in kasoku.yaml
	Destination string // as ssh(1) takes it
	ConfigFile  string // ssh -F; "": the user's own
	Sudo        bool   // the helper runs by "sudo -n"

	// Programs is a folder with builds of Kasoku for targets of another
	// architecture, named kasoku-linux-amd64, kasoku-linux-arm64 and so on. ""
	// means $KASOKU_PROGRAMS. Without a fitting one there, this very program is
	// used, if the target can run it.
	Programs string
	// Version of this program. A build from Programs must be of the same; "":
	// any that speaks the same protocol.
	Version string
	// Folder on the target that the program is put into. "": ~/.cache/kasoku,
	// /var/tmp/kasoku-UID or /tmp/kasoku-UID, the first where it can run.
	Folder string
	// Silence after which a connection counts as lost; 0: agent.DefaultSilence.
	Silence time.Duration
	// ConnectTimeout for TCP and login; 0: 15 s.
	ConnectTimeout time.Duration
	// Moved, if not nil, is called whenever some of the program has gone out, so that who
	// waits can tell a slow line from a dead one.
	Moved func()
}

// Host is a machine behind ssh. It may be used by many goroutines.
//
// A lost connection is made anew by the next call. Reading methods, RemoveDir,
// DialContext and ReplaceFile, which can be repeated safely, are then tried
// again by themselves, three times within ten seconds; others tell ErrLost. Locks
// are taken again before anything else happens; if somebody else had one of
// them meanwhile, writing methods and Run tell ErrLost until it is given back.
type Host struct {
	options Options
	nonce   string
	linger  time.Duration
	alter   func(io.Reader) io.Reader // tests only: changes the program under way

	connecting chan struct{} // holds one token: only one goroutine connects
	mu         sync.Mutex
	link       *link          // nil before the first and after Close
	last       *agent.Process // helper of the connection before
	locks      map[*lock]bool
	closed     bool
}

const (
	defaultConnectTimeout = 15 * time.Second
	// lingering is how long the program waits on the target for a lost
	// controller: long enough for a reconnect, short enough to be "removed".
	lingering = time.Minute
)

// Open connects to a host and starts Kasoku's helper there. ctx bounds
// connecting only. Errors: ErrUnreachable, ErrHostKey, ErrRefused, ErrProgram.
func Open(ctx context.Context, o Options) (*Host, error) {
	h, err := newHost(o)
	if err != nil {
		return nil, err
	}
	if _, err := h.connected(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func newHost(o Options) (*Host, error) {
	if o.Name == "" {
		o.Name = o.Destination
	}
	switch {
	case o.Destination == "" || strings.HasPrefix(o.Destination, "-"):
		return nil, fmt.Errorf("host %s: %q is no ssh destination; write user@name or a Host of the ssh configuration", o.Name, o.Destination)
	case strings.ContainsAny(o.Folder, "\n\r\x00"):
		return nil, fmt.Errorf("host %s: the folder %q has a line break in its name", o.Name, o.Folder)
	}
	if o.Silence <= 0 {
		o.Silence = agent.DefaultSilence
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	h := &Host{options: o, nonce: newNonce(), linger: lingering, connecting: make(chan struct{}, 1), locks: map[*lock]bool{}}
	h.connecting <- struct{}{}
	return h, nil
}

// Name is the host's in kasoku.yaml.
func (h *Host) Name() string { return h.options.Name }

// Destination is where ssh goes.
func (h *Host) Destination() string { return h.options.Destination }

// closePatience is how long a goodbye may take.
const closePatience = 10 * time.Second

// Close ends the helper with everything that it runs or holds, removes the
// program from the target, and ends ssh. Further calls tell ErrClosed.
func (h *Host) Close() error {
	<-h.connecting // nobody connects any more
	defer func() { h.connecting <- struct{}{} }()
	h.mu.Lock()
	l := h.link
	h.link, h.closed = nil, true
	h.mu.Unlock()
	if l == nil {
		return nil
	}
	defer l.end()
	if !l.client.Alive() {
		return nil // the helper removes its program by itself
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err := l.client.Bye(ctx); err != nil && !errors.Is(err, agent.ErrLost) {
		return h.wrap(fmt.Errorf("end Kasoku's helper: %w", err))
	}
	return nil
}

// wrap names the host in an error.
func (h *Host) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("host %s: %w", h.options.Name, err)
}
