package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kasoku/internal/host"
)

// TargetOptions say how hosts keep copies of the journal and put themselves
// back.
type TargetOptions struct {
	// Name of the stack, for people.
	Name string
	// Base is Kasoku's folder on each host; "": /var/lib/kasoku for root, else
	// the user's $XDG_STATE_HOME/kasoku or ~/.local/state/kasoku there, or
	// /var/tmp/kasoku-state-UID where that cannot be written.
	Base string
	// RevertAfter is how long a host waits for a silent controller before it
	// puts itself back; 0: DefaultRevertAfter.
	RevertAfter time.Duration
	// Login returns user and password of a database service for the guard's
	// memory; nil if the guard has to log in by what the stack names.
	Login func(ctx context.Context, service string) (Login, error)
}

// Login to a database, as the controller resolved it. It is handed to the
// guard through a pipe and never stored.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Endpoint string `json:"endpoint,omitempty"` // as the login names it
}

// DefaultRevertAfter covers a controller that swaps or a network that
// reconverges; a target that is broken longer than this loses requests.
const DefaultRevertAfter = 60 * time.Second

// mirrorTimeout bounds one act on a copy.
const mirrorTimeout = 30 * time.Second

// ErrTakenOver: the host put itself back, because it had not heard of the
// controller for so long. The journal now says what it did.
var ErrTakenOver = errors.New("the host has put itself back meanwhile")

// target is one host with a copy of the journal.
//
// The copy is the beginning of the controller's own file, byte for byte; it may
// lag behind by lines about transactions that do not touch the host, and by
// lines about putting back. Lines after the copy's end are only ever written by
// the host's guard, who marks them.
type target struct {
	x    *Executor
	name string
	h    host.Host
	base string // Kasoku's folder on the host
	dir  string // the project's in it
	boot string // the host's boot ID when it was opened
	root bool

	mu     sync.Mutex // of the fields below: the heartbeat runs beside
	unlock func() error
	me     Owner
	size   int64 // of the copy, in bytes
	blobs  map[host.Hash]bool
	// err is why the host cannot be worked on; nil if it can.
	err   error
	guard *armed
	// adopted counts the lines about transactions that were taken from the copy.
	adopted int
}

// openTargets takes the lease of every host and brings its copy and this
// journal together. A host that cannot be reached is left out; what touches it
// will fail.
func (x *Executor) openTargets(ctx context.Context) error {
	for _, name := range x.targetNames() {
		g := &target{x: x, name: name, h: x.hosts[name]}
		x.targets[name] = g
		if g.h == nil {
			if g.err = x.options.Unreachable[name]; g.err == nil {
				g.err = errors.New("it is not in the stack")
			}
			continue
		}
		err := g.open(ctx)
		if g.err = err; errors.Is(err, ErrBusy) || errors.Is(err, errApart) {
			return err
		}
		if err != nil {
			x.warn("host %s: %v", name, err)
		}
	}
	return nil
}

// targetNames are the hosts that services run on, that pending or kept changes
// are on, and all that were given if there is no stack.
func (x *Executor) targetNames() []string {
	names := map[string]bool{}
	if s := x.options.Stack; s != nil {
		for i := range s.Services {
			names[s.Services[i].HostName()] = true
		}
	} else {
		for name := range x.hosts {
			names[name] = true
		}
	}
	for _, t := range x.journal.txs {
		if t.Pending() || t.State == StateKept {
			for _, name := range x.touchedHosts(t) {
				names[name] = true
			}
		}
	}
	var out []string
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// hostOf names the host that a change acts on.
func (x *Executor) hostOf(c *Change) string {
	if c.Host == "" && c.Service != "" && x.options.Stack != nil {
		if s := x.options.Stack.Service(c.Service); s != nil {
			return s.HostName()
		}
	}
	return c.hostName()
}

// touchedHosts are the hosts that a transaction acts on, sorted.
func (x *Executor) touchedHosts(t *txn) []string {
	var out []string
	for i := range t.Changes {
		if h := x.hostOf(&t.Changes[i]); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	slices.Sort(out)
	return out
}

// reach reports why a change's host cannot be worked on; nil if it can.
func (x *Executor) reach(c *Change) error {
	g := x.targets[x.hostOf(c)]
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return fmt.Errorf("host %s is left out: %w", g.name, g.err)
	}
	return nil
}

// run runs a command on the host and returns what it printed.
func (g *target) run(ctx context.Context, in []byte, argv ...string) (string, error) {
	r, err := g.h.Run(ctx, host.Command{Argv: argv, Stdin: in, Timeout: mirrorTimeout})
	if err != nil {
		return "", fmt.Errorf("host %s: %w", g.name, err)
	}
	if r.ExitCode != 0 {
		return "", fmt.Errorf("host %s: %w", g.name, &exitError{argv[0], r.ExitCode, tail(r)})
	}
	return string(r.Stdout), nil
}

// exitError is a command that ended with a status other than 0.
type exitError struct {
	program string
	code    int
	said    string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("%s: exit status %d: %s", e.program, e.code, e.said)
}

// readOwn reads a file of Kasoku's own; nil if it is not there.
func readOwn(ctx context.Context, h host.Host, path string) ([]byte, error) {
	b, err := h.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}

// appendScript adds standard input to the file $1 if that has $2 bytes, durably
// or not at all. Exit status 3: it has another size.
const appendScript = `s=$(stat -c %s "$1" 2>/dev/null || echo 0)
if [ "$s" != "$2" ]; then echo "it has $s bytes instead of $2" >&2; exit 3; fi
umask 077
dd of="$1" oflag=append conv=notrunc,fsync bs=1M iflag=fullblock status=none && exit 0
truncate -s "$2" "$1"
exit 4`

// catchUp sends the lines that the copy does not have yet, and more, which the
// controller's own file does not have yet.
func (g *target) catchUp(ctx context.Context, more []byte) error {
	if g.err != nil {
		return fmt.Errorf("host %s is left out: %w", g.name, g.err)
	}
	lines, err := g.x.journal.from(g.size)
	if err != nil {
		return err
	}
	lines = append(lines, more...)
	if len(lines) == 0 {
		return nil
	}
	path := filepath.Join(JournalDir(g.dir), journalFile)
	_, err = g.run(ctx, lines, "sh", "-c", appendScript, "kasoku", path, fmt.Sprint(g.size))
	if err != nil {
		err = g.settle(ctx, path, lines, err)
	}
	if err == errGrown && len(more) == 0 {
		return g.catchUp(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("write the journal's copy: %w", err)
	}
	g.size += int64(len(lines))
	return nil
}

// settle finds out what became of an append whose answer was lost, or whose
// file has grown.
func (g *target) settle(ctx context.Context, path string, lines []byte, cause error) error {
	theirs, err := readOwn(ctx, g.h, path)
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case int64(len(theirs)) == g.size+int64(len(lines)) && bytes.HasSuffix(theirs, lines):
		return nil
	case int64(len(theirs)) <= g.size:
		return cause
	}
	putBack, err := g.comeBack(ctx)
	if err != nil {
		return errors.Join(cause, err)
	}
	if !putBack {
		return errGrown
	}
	return fmt.Errorf("%w: host %s did not hear of this Kasoku for %s", ErrTakenOver, g.name, g.x.revertAfter())
}

// fatalOps are the lines without which nothing may go on. The others tell what was
// done or put back, which a full disk must not hinder; copies get them later.
var fatalOps = []op{opBegin, opIntent, opActivating, opUndoing, opDeciding}

// writeLine puts one line into the journal and its copies, in that order.
func (x *Executor) writeLine(t *txn, r record) error {
	if len(x.targets) == 0 {
		return x.journal.append(r)
	}
	ctx, cancel := context.WithTimeout(context.Background(), undoTimeout)
	defer cancel()
	names := x.touchedHosts(t)
	if r.Op == opKept && len(names) == 1 {
		return x.keepOn(ctx, x.targets[names[0]], r)
	}
	if err := x.journal.append(r); err != nil {
		return err
	}
	if r.Op == opBegin { // Apply calls ready next, and puts back if that fails
		return nil
	}
	var errs []error
	for _, name := range names {
		g := x.targets[name]
		g.mu.Lock()
		err := g.catchUp(ctx, nil)
		g.mu.Unlock()
		switch {
		case err == nil:
		case slices.Contains(fatalOps, r.Op) || errors.Is(err, ErrTakenOver):
			errs = append(errs, err)
		case g.reachable():
			x.warn("%v", err)
		}
	}
	return errors.Join(errs...)
}

func (g *target) reachable() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err == nil
}

// keepOn decides on the host first: a controller that is killed after that line
// learns it from there, whereas a host that did not get it would put back what
// the controller calls kept.
func (x *Executor) keepOn(ctx context.Context, g *target, r record) error {
	line, err := x.journal.encode(&r)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx, line); err != nil {
		return err
	}
	err = x.journal.put(r, line)
	if err != nil {
		g.size -= int64(len(line))
		_, back := g.run(ctx, nil, "truncate", "-s", fmt.Sprint(g.size), filepath.Join(JournalDir(g.dir), journalFile))
		err = errors.Join(err, back)
	}
	return err
}

// from returns the journal's bytes after the first n.
func (j *journal) from(n int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(j.dir, journalFile))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	b := make([]byte, j.size-n)
	if _, err := f.ReadAt(b, n); err != nil {
		return nil, fmt.Errorf("journal: read what a copy lacks: %w", err)
	}
	return b, nil
}
