package change

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kasoku/internal/host"
)

// A guard is a process on the host, independent of the connection, which puts
// the host back when it has not heard of the controller for a time. This file
// is the controller's side: arming, heartbeats, disarming.

// Files in the project's folder on the host.
const (
	guardDir    = "guard"
	beatFile    = "guard/beat"       // whose content is the guard's nonce, and whose time is the last heartbeat
	armedFile   = "guard/armed.json" // armament without the logins
	stateFile   = "guard/state.json" // guardState
	pidFile     = "guard/pid"        // process number and boot ID of the watching process
	logFile     = "guard/log"
	programFile = "kasoku" // the program that the guard runs
)

// armament is what a guard is given. Logins go through its standard input and
// stay in its memory.
type armament struct {
	Nonce string        `json:"nonce"`
	Host  string        `json:"host"` // its name in the stack
	After time.Duration `json:"after"`
	Boot  string        `json:"boot"`  // the host's boot ID
	Entry bootEntry     `json:"entry"` // what starts it after a reboot
	// Owner is the nonce of the lease that it may break.
	Owner  string           `json:"owner"`
	Logins map[string]Login `json:"logins,omitempty"`
}

// armed is a guard that this process keeps quiet.
type armed struct {
	armament
	renewed atomic.Int64 // sinceBoot of the last answered heartbeat
	stop    context.CancelFunc
	done    chan struct{}
}

// silent is how long the guard has not heard of this process, at most.
func (a *armed) silent() time.Duration { return sinceBoot() - time.Duration(a.renewed.Load()) }

// newNonce is 8 random bytes in hexadecimal.
func newNonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// sinceBoot does not jump when the clock is set, and goes on while the machine
// sleeps (clock_gettime(2), CLOCK_BOOTTIME).
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Duration(time.Now().UnixNano()) // never: Linux has it since 2.6.39
	}
	return time.Duration(ts.Nano())
}

func (x *Executor) revertAfter() time.Duration {
	if o := x.options.Target; o != nil && o.RevertAfter > 0 {
		return o.RevertAfter
	}
	return DefaultRevertAfter
}

func (g *target) program() string { return filepath.Join(g.dir, programFile) }

// installScript copies a program so that only a whole one has the name $2.
const installScript = `cmp -s "$1" "$2" && exit 0
cp "$1" "$2.new" && chmod 700 "$2.new" && sync "$2.new" && mv -f "$2.new" "$2"`

// arm starts the host's guard, if it has none yet, and begins the heartbeats.
// g.mu is held.
func (g *target) arm(ctx context.Context) error {
	if g.guard != nil {
		return nil
	}
	path, err := g.h.Program(ctx)
	if err != nil {
		return fmt.Errorf("arm the guard of host %s: %w", g.name, err)
	}
	if _, err := g.run(ctx, nil, "sh", "-c", installScript, "kasoku", path, g.program()); err != nil {
		return fmt.Errorf("arm the guard: %w", err)
	}
	a := &armed{armament: armament{Nonce: newNonce(), Host: g.name, After: g.x.revertAfter(), Boot: g.boot, Owner: g.me.Nonce, Logins: g.logins(ctx)}}
	if a.Entry, err = g.installEntry(ctx); err != nil {
		return fmt.Errorf("arm the guard of host %s: %w", g.name, err)
	}
	if err := g.spawn(ctx, a); err != nil {
		return err
	}
	a.renewed.Store(int64(sinceBoot()))
	g.guard = a
	var beating context.Context
	beating, a.stop = context.WithCancel(context.Background())
	a.done = make(chan struct{})
	go func() {
		defer close(a.done)
		g.beatOn(beating, a)
	}()
	return nil
}

// spawn starts the watching process on the host.
func (g *target) spawn(ctx context.Context, a *armed) error {
	in, err := json.Marshal(a.armament)
	if err != nil {
		return fmt.Errorf("arm the guard of host %s: %w", g.name, err)
	}
	if _, err := g.run(ctx, in, g.program(), "guard", "arm", g.dir); err != nil {
		return fmt.Errorf("arm the guard: %w", err)
	}
	return nil
}

// logins of the databases on the host. One that cannot be resolved here may be
// resolved there.
func (g *target) logins(ctx context.Context) map[string]Login {
	out := map[string]Login{}
	s, login := g.x.options.Stack, g.x.options.Target.Login
	if s == nil || login == nil {
		return nil
	}
	for i := range s.Services {
		svc := &s.Services[i]
		if svc.HostName() != g.name || !svc.IsDatabase() || svc.Login == nil {
			continue
		}
		if l, err := login(ctx, svc.Name); err == nil {
			out[svc.Name] = l
		} else {
			g.x.warn("the guard of host %s cannot be given the login of %s: %v", g.name, svc.Name, err)
		}
	}
	return out
}

// beatScript renews $1 and says whether the process that holds the lease $2
// lives (it goes with the connection), and the guard $3 (it goes with a reboot).
const beatScript = `touch -c "$1" && [ -e "$1" ] || exit 3
p=$(cat "$2") && [ -n "$p" ] && [ -d "/proc/$p" ] || exit 5
read -r p boot <"$3" && [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] && [ -d "/proc/$p" ] || exit 6`

// beatsPerDeadline is how many heartbeats may be lost before a host puts itself
// back, less one.
const beatsPerDeadline = 6

func (g *target) beatOn(ctx context.Context, a *armed) {
	every := time.NewTicker(a.After / beatsPerDeadline)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			_ = g.beat(ctx, a) // the next one may pass; what is written asks heard
		}
	}
}

// beat renews the guard's deadline once.
func (g *target) beat(ctx context.Context, a *armed) error {
	ctx, cancel := context.WithTimeout(ctx, a.After/2)
	defer cancel()
	sent := sinceBoot()
	r, err := g.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", beatScript, "kasoku",
		filepath.Join(g.dir, beatFile), filepath.Join(g.base, leaseFile), filepath.Join(g.dir, pidFile)}, Timeout: a.After / 2})
	switch {
	case err != nil:
		return err
	case r.ExitCode == 3:
		return ErrTakenOver
	}
	a.renewed.Store(int64(sent))
	switch r.ExitCode {
	case 5:
		return g.leaseAgain(ctx)
	case 6:
		return g.spawn(ctx, a)
	}
	return nil
}

// leaseAgain takes the lease that was lost with a connection.
func (g *target) leaseAgain(ctx context.Context) error {
	if !g.mu.TryLock() {
		return nil // whoever has it takes the lease, or the next heartbeat does
	}
	defer g.mu.Unlock()
	if g.unlock == nil {
		return nil
	}
	unlock, err := takeLease(ctx, g.h, g.base, g.me)
	if err != nil {
		if errors.Is(err, ErrBusy) && !strings.HasPrefix(readOwner(ctx, g.h, g.base).Dir, g.base+"/") {
			g.err = err // another controller came in between
		}
		return err
	}
	_ = g.unlock() // of a process that is gone
	g.unlock = unlock
	return nil
}

// heard makes sure, right before a change is written, that its host's guard has
// heard of this process and leaves it in peace for long enough.
func (x *Executor) heard(ctx context.Context, c *Change) error {
	g := x.targets[x.hostOf(c)]
	if g == nil || g.guard == nil {
		return nil
	}
	a := g.guard
	silent := a.silent()
	if silent < a.After/2 {
		return nil
	}
	if err := g.beat(ctx, a); err != nil {
		return fmt.Errorf("host %s has not heard of this Kasoku for %s: %w", g.name, silent.Round(time.Millisecond), err)
	}
	return nil
}

// elsewhere reports whether a change is left to another host or the controller,
// as everything is that two databases must be reached for and can wait.
func (x *Executor) elsewhere(c *Change) bool {
	return x.options.Here != "" && (x.hostOf(c) != x.options.Here || c.Kind == KindReplica)
}

// openElsewhere reports whether t has changes in effect that are left to others.
func (x *Executor) openElsewhere(t *txn) bool {
	for i := range t.Changes {
		if p := t.progress[i]; x.elsewhere(&t.Changes[i]) && p.intent && !p.skipped && !p.restored {
			return true
		}
	}
	return false
}

// notHere reports whether this host has nothing to do about a pending
// transaction: it is done here, does not touch it, or is the controller's to
// decide.
func (x *Executor) notHere(t *txn) bool {
	here := x.options.Here
	return here != "" && (t.deciding || t.back[here] || !slices.Contains(x.touchedHosts(t), here))
}

// within drops services whose host is not dealt with: it is another's, or out of
// reach, or it has put itself back and activated them.
func (x *Executor) within(t *txn, need map[string]Activation) map[string]Activation {
	out := map[string]Activation{}
	for service, how := range need {
		c := Change{Service: service}
		if s := x.options.Stack; x.options.Here != "" && (s == nil || s.Service(service) == nil) {
			continue
		}
		if !x.elsewhere(&c) && !t.back[x.hostOf(&c)] && x.reach(&c) == nil {
			out[service] = how
		}
	}
	return out
}

// stray puts back what this process wrote after the host had put itself back.
func (x *Executor) stray(ctx context.Context, t *txn) error {
	var errs []error
	found := false
	for i := range slices.Backward(t.Changes) {
		if p := t.progress[i]; !p.intent || p.skipped {
			continue
		}
		a, err := x.act(t, i)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s, err := a.look(ctx)
		if err == nil && s.after && !s.before {
			found = true
			err = a.restore(ctx)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if need := x.needs(t, t.all()); found {
		for _, service := range x.inOrder(need) {
			errs = append(errs, x.revive(ctx, service, need[service]))
		}
	}
	return errors.Join(errs...)
}

// decide makes sure that a transaction may be kept: that nobody else changed
// what it changed, and that no host puts it back while the others keep it.
func (x *Executor) decide(ctx context.Context, t *txn) error {
	if err := x.untouched(ctx, t); err != nil {
		return err
	}
	if len(x.targets) == 0 || len(x.touchedHosts(t)) == 1 {
		return nil
	}
	return x.note(t, record{Op: opDeciding})
}

// disarm ends the host's guard, of whatever Kasoku, and removes what would
// start it after a reboot. g.mu is held.
func (g *target) disarm(ctx context.Context) error {
	entry, journaled := g.x.journal.entries[g.name]
	path := filepath.Join(g.dir, beatFile)
	beat, err := readOwn(ctx, g.h, path)
	if err == nil && beat != nil {
		err = g.h.Remove(ctx, path, host.HashOf(beat))
	}
	if err != nil {
		return fmt.Errorf("disarm the guard of host %s: %w", g.name, err)
	}
	g.guard = nil
	if !journaled {
		return nil
	}
	if err := parseEntry(entry).remove(ctx, g.h); err != nil {
		return fmt.Errorf("disarm the guard of host %s: %w", g.name, err)
	}
	return g.x.journal.append(record{Op: opDisarmed, Host: g.name})
}
