// Package hosttest has the contract suite that every host.Host must pass, a
// host that fails on demand, and what tests share a machine by: HoldMachine for
// its settings, FreePort for its ports.
package hosttest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"kasoku/internal/host"
)

// Op is a method of host.Host.
type Op string

const (
	Run     Op = "Run"
	Read    Op = "ReadFile"
	Stat    Op = "Stat"
	List    Op = "List"
	Replace Op = "ReplaceFile"
	Remove  Op = "Remove"
	MakeDir Op = "MakeDir"
	RmDir   Op = "RemoveDir"
	Lock    Op = "Lock"
)

// Errors to inject, as the kernel or a network would give them.
var (
	ErrDiskFull = fmt.Errorf("injected: %w", syscall.ENOSPC)
	ErrDenied   = fmt.Errorf("injected: %w", fs.ErrPermission)
	// ErrLost is what a host tells whose connection was cut.
	ErrLost = fmt.Errorf("injected: connection lost: %w", io.ErrUnexpectedEOF)
)

// Fault is one failure that is to happen.
type Fault struct {
	Op Op
	// Match must be part of the path or of the command line; "" matches all.
	Match string
	// N is the call that fails, from 1, among those that match. Times is how
	// many calls in a row fail from there; 0 means one, -1 all.
	N, Times int
	// Err is returned instead of acting.
	Err error
	// Cut makes the operation happen and then loses its answer (Err, or ErrLost).
	Cut bool
	// Exit makes Run return this exit status without running anything.
	Exit   int
	Stderr string
	// Before is called first, to let someone else interfere. If nothing else
	// is set the operation then goes on undisturbed.
	Before func()
}

// Faulty passes everything on to another host and fails where a Fault says.
type Faulty struct {
	host.Host
	mu     sync.Mutex
	faults []*armed
	calls  map[Op]int
}

type armed struct {
	Fault
	seen, hit int
}

// NewFaulty wraps h. Without a fault armed it behaves exactly as h.
func NewFaulty(h host.Host) *Faulty { return &Faulty{Host: h, calls: map[Op]int{}} }

// Arm adds a fault. N counts from now on.
func (f *Faulty) Arm(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault.N < 1 {
		fault.N = 1
	}
	if fault.Times == 0 {
		fault.Times = 1
	}
	f.faults = append(f.faults, &armed{Fault: fault})
}

// Disarm removes all faults.
func (f *Faulty) Disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Hits is how many calls the armed faults have met.
func (f *Faulty) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, a := range f.faults {
		n += a.hit
	}
	return n
}

// Calls is how often an operation was called.
func (f *Faulty) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// meet returns the fault that this call runs into, nil if none.
func (f *Faulty) meet(op Op, subject string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	var met *Fault
	for _, a := range f.faults {
		if a.Op != op || !strings.Contains(subject, a.Match) {
			continue
		}
		a.seen++
		if a.seen >= a.N && (a.Times < 0 || a.seen < a.N+a.Times) && met == nil {
			a.hit++
			met = &a.Fault
		}
	}
	return met
}

// do runs act unless a fault stands before or after it.
func (f *Faulty) do(op Op, subject string, act func() error) error {
	return f.meet(op, subject).around(op, subject, act)
}

func (fault *Fault) around(op Op, subject string, act func() error) error {
	if fault == nil {
		return act()
	}
	if fault.Before != nil {
		fault.Before()
	}
	switch {
	case fault.Cut:
		if err := act(); err != nil {
			return err
		}
		if fault.Err != nil {
			return fmt.Errorf("%s %s: %w", op, subject, fault.Err)
		}
		return fmt.Errorf("%s %s: %w", op, subject, ErrLost)
	case fault.Err != nil:
		return fmt.Errorf("%s %s: %w", op, subject, fault.Err)
	}
	return act()
}

func (f *Faulty) Run(ctx context.Context, c host.Command) (r host.Result, err error) {
	subject := strings.Join(c.Argv, " ")
	fault := f.meet(Run, subject)
	if fault != nil && fault.Exit != 0 {
		if fault.Before != nil {
			fault.Before()
		}
		return host.Result{ExitCode: fault.Exit, Stderr: []byte(fault.Stderr)}, nil
	}
	err = fault.around(Run, subject, func() (err error) { r, err = f.Host.Run(ctx, c); return })
	if err != nil {
		return host.Result{}, err
	}
	return r, nil
}

func (f *Faulty) ReadFile(ctx context.Context, path string) (b []byte, err error) {
	err = f.do(Read, path, func() (err error) { b, err = f.Host.ReadFile(ctx, path); return })
	return b, err
}

func (f *Faulty) Stat(ctx context.Context, path string) (i host.FileInfo, err error) {
	err = f.do(Stat, path, func() (err error) { i, err = f.Host.Stat(ctx, path); return })
	return i, err
}

func (f *Faulty) List(ctx context.Context, dir string) (l []host.FileInfo, err error) {
	err = f.do(List, dir, func() (err error) { l, err = f.Host.List(ctx, dir); return })
	return l, err
}

func (f *Faulty) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	return f.do(Replace, path, func() error { return f.Host.ReplaceFile(ctx, path, data, r) })
}

func (f *Faulty) Remove(ctx context.Context, path string, expect host.Hash) error {
	return f.do(Remove, path, func() error { return f.Host.Remove(ctx, path, expect) })
}

func (f *Faulty) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error {
	return f.do(MakeDir, path, func() error { return f.Host.MakeDir(ctx, path, mode, uid, gid) })
}

func (f *Faulty) RemoveDir(ctx context.Context, path string) error {
	return f.do(RmDir, path, func() error { return f.Host.RemoveDir(ctx, path) })
}

func (f *Faulty) Lock(ctx context.Context, path string) (unlock func() error, err error) {
	err = f.do(Lock, path, func() (err error) { unlock, err = f.Host.Lock(ctx, path); return })
	return unlock, err
}
