package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// Controller makes a service take changes on. stack.Controller is one. Its
// errors name the service and what was tried.
type Controller interface {
	// Check validates the configuration without touching the service.
	Check(ctx context.Context) error
	Reload(ctx context.Context) error
	Restart(ctx context.Context) error
	// WaitHealthy returns when the service answers, or an error after the
	// service's own health timeout.
	WaitHealthy(ctx context.Context) error
}

// Stater is a Controller that also tells whether a service runs, so that one
// that did not is stopped again. stack.Controller is one.
type Stater interface {
	State(ctx context.Context) (stack.State, error)
	// PutBack brings the service to a state that State told before.
	PutBack(ctx context.Context, was stack.State) error
}

// Starter starts and stops one implementation of a service. stack.Controller is
// one.
type Starter interface {
	// Start returns when it is healthy; nothing happens if it runs.
	Start(ctx context.Context) error
	// Stop returns when all its processes are gone; nothing happens if it does
	// not run.
	Stop(ctx context.Context) error
	State(ctx context.Context) (stack.State, error)
}

// Options of an Executor.
type Options struct {
	// Dir is the .kasoku folder. It is created if absent.
	Dir string
	// Stack tells who talks to whom, for the order of activation.
	Stack *stack.Stack
	// Hosts by name. "local" is always there.
	Hosts map[string]host.Host
	// Control returns the Controller of a service.
	Control func(service string) (Controller, error)
	// Variant returns what starts and stops one implementation of a service
	// (stack.Variant), whichever runs. Needed for KindProcess.
	Variant func(service, name string) (Starter, error)
	// Holders are the services that hold connections to a database or cache now.
	// They are restarted with it: not every client connects anew. nil: none are.
	Holders func(ctx context.Context, service string) []string
	// DB logs in to a database service. The Executor closes the pool.
	DB func(ctx context.Context, service string) (*sql.DB, error)
	// Target makes every host keep a copy of the journal and put itself back
	// when this process is gone; nil: only Dir.
	Target *TargetOptions
	// Unreachable are hosts of the stack that could not be opened, and why.
	// What is on them is left out, and said.
	Unreachable map[string]error
	// Here is the name of this host, where Dir is its copy of a journal: only
	// its own changes are dealt with. A guard sets it.
	Here string
	// Progress is told what is being done, one line at a time; may be nil.
	Progress func(string)
	// Warn is told what a person must know besides; nil: Progress is.
	Warn func(string)
	// Trace is called before every step on the journal or on a host, with its
	// name (tx3.change0.intent). Tests kill the process there; may be nil.
	Trace func(step string)
}

// Executor applies and undoes transactions. One at a time per .kasoku folder,
// among all processes. Its methods may be called from several goroutines and
// run one after the other.
type Executor struct {
	mu       sync.Mutex
	options  Options
	hosts    map[string]host.Host
	journal  *journal
	unlock   func() error
	pools    map[string]*sql.DB
	controls map[string]Controller
	// mine are the transactions that this process began: it knows what
	// services were told.
	mine map[int64]bool
	// times are those of files that were put back, by fileAct.version
	// (Change.SameTime).
	times map[string]time.Time
	// targets are the hosts with copies of the journal.
	targets map[string]*target
	// left: all was put back, so hosts need no copies any more (leave).
	left bool
	// metadataWait (in seconds) and metadataPause are those of the constants;
	// tests wait less.
	metadataWait  int
	metadataPause time.Duration
}

// Open takes the lease on the folder and reads its journal. ErrBusy names the
// process that has the lease. Nothing is put back: see Pending and Recover.
func Open(ctx context.Context, o Options) (*Executor, error) {
	x := &Executor{options: o, hosts: map[string]host.Host{"local": host.NewLocal()},
		pools: map[string]*sql.DB{}, controls: map[string]Controller{}, mine: map[int64]bool{}, times: map[string]time.Time{}, targets: map[string]*target{},
		metadataWait: metadataWait, metadataPause: metadataPause}
	for name, h := range o.Hosts {
		x.hosts[name] = h
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Dir, err)
	}
	local := x.hosts["local"]
	if x.unlock, err = lockFolder(ctx, local, dir); err != nil {
		return nil, err
	}
	if x.journal, err = openJournal(ctx, dir, local); err != nil {
		return nil, errors.Join(err, x.unlock())
	}
	if o.Target != nil {
		if err := x.openTargets(ctx); err != nil {
			return nil, errors.Join(err, x.close(ctx))
		}
	}
	return x, nil
}

// InUse reports whether a Kasoku has the lease on a .kasoku folder. It takes
// nothing, so it may be told by whoever can read the folder.
func InUse(dir string) bool { return lockHolder(filepath.Join(dir, "lock")) != 0 }

// lockFolder creates a .kasoku folder and takes its lease.
func lockFolder(ctx context.Context, local host.Host, dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	unlock, err = local.Lock(ctx, filepath.Join(dir, "lock"))
	if errors.Is(err, host.ErrLocked) {
		err = fmt.Errorf("%w: %w; wait for it or end it", ErrBusy, err)
	}
	return unlock, err
}

// Close gives the leases back. Pending transactions stay pending here; where a
// guard is armed, the host puts them back by itself after its time.
func (x *Executor) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.close(context.Background())
}

func (x *Executor) close(ctx context.Context) error {
	for name := range x.pools {
		x.forget(name)
	}
	return errors.Join(x.closeTargets(ctx), x.journal.out.Close(), x.unlock())
}

// History returns all transactions, oldest first, without bytes.
func (x *Executor) History() []Tx { return x.list(func(*txn) bool { return true }) }

// Kept returns the transactions that are in effect for good, oldest first.
// Restarts alone leave nothing behind and are not among them.
func (x *Executor) Kept() []Tx {
	return x.list(func(t *txn) bool { return t.InForce() })
}

// Pending returns the transactions that were begun and neither kept nor put
// back, oldest first.
func (x *Executor) Pending() []Tx { return x.list((*txn).isPending) }

func (t *txn) isPending() bool { return t.Pending() }

func (x *Executor) list(want func(*txn) bool) []Tx {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []Tx
	for _, t := range x.journal.txs {
		if want(t) {
			out = append(out, t.copy())
		}
	}
	return out
}

// BeforeBytes returns a file's bytes from before the change, nil if it did not
// exist.
func (x *Executor) BeforeBytes(c Change) ([]byte, error) { return x.journal.bytes(c.Before) }

// AfterBytes returns the bytes that a file change wrote.
func (x *Executor) AfterBytes(c Change) ([]byte, error) { return x.journal.bytes(c.After) }

func (j *journal) bytes(s *FileState) ([]byte, error) {
	switch {
	case s == nil || s.Hash == "":
		return nil, nil
	case s.Content != nil:
		return s.Content, nil
	}
	return j.loadBlob(s.Hash)
}

// Load returns t with the bytes of its file changes, for Diff and export.
func (x *Executor) Load(t Tx) (Tx, error) { return x.journal.load(t) }

// Load fills the bytes of a transaction that Read returned.
func Load(dir string, t Tx) (Tx, error) { return (&journal{dir: JournalDir(dir)}).load(t) }

func (j *journal) load(t Tx) (Tx, error) {
	changes := make([]Change, len(t.Changes))
	for i, c := range t.Changes {
		if c.Kind == KindGit && c.Git != nil && c.Git.PatchHash != "" && c.Git.Patch == nil {
			b, err := j.loadBlob(c.Git.PatchHash)
			if err != nil {
				return t, err
			}
			g := *c.Git
			g.Patch, c.Git = b, &g
		}
		for _, side := range []**FileState{&c.Before, &c.After} {
			if c.Kind != KindFile || *side == nil {
				continue
			}
			b, err := j.bytes(*side)
			if err != nil {
				return t, err
			}
			s := **side
			s.Content = b
			*side = &s
		}
		changes[i] = c
	}
	t.Changes = changes
	return t, nil
}

// say tells progress.
func (x *Executor) say(format string, args ...any) {
	if x.options.Progress != nil {
		x.options.Progress(fmt.Sprintf(format, args...))
	}
}

// warn tells what a person must know.
func (x *Executor) warn(format string, args ...any) {
	if x.options.Warn == nil {
		x.say(format, args...)
		return
	}
	x.options.Warn(fmt.Sprintf(format, args...))
}

// step is the point before a step at which tests kill the process.
func (x *Executor) step(t *txn, format string, args ...any) {
	if x.options.Trace != nil {
		x.options.Trace(fmt.Sprintf("tx%d.", t.ID) + fmt.Sprintf(format, args...))
	}
}

// note writes one line of the journal about t.
func (x *Executor) note(t *txn, r record) error {
	name := string(r.Op)
	if r.Change != nil {
		name = fmt.Sprintf("change%d.%s", *r.Change, r.Op)
	}
	if r.Service != "" {
		name += "." + r.Service
	}
	x.step(t, "%s", name)
	r.Tx = t.ID
	if x.options.Here != "" {
		r.By, r.Host = byGuard, x.options.Here
	}
	return x.writeLine(t, r)
}

// names lists transactions for a message.
func names(txs []*txn) string {
	var out []string
	for _, t := range txs {
		out = append(out, fmt.Sprintf("tx %d (%s, %s)", t.ID, t.Title, t.State))
	}
	return strings.Join(out, ", ")
}
