package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// GuardSetup gives what the guard needs to work on its own host: Stack, Hosts,
// Control and DB. s is the stack's part on this host, here its name in it;
// logins are what the controller gave, nil after a reboot.
type GuardSetup func(s *stack.Stack, here string, logins map[string]Login) Options

// Phases of a guard, in its state file.
const (
	phaseWatching   = "watching"
	phaseActing     = "putting back"
	phaseDone       = "put back"
	phaseIncomplete = "could not put everything back"
	phaseDisarmed   = "disarmed"
)

// guardState is for people and for the process that arms.
type guardState struct {
	Nonce string    `json:"nonce"`
	PID   int       `json:"pid"`
	Boot  string    `json:"boot"`
	Phase string    `json:"phase"`
	Since time.Time `json:"since"`
	Note  string    `json:"note,omitempty"`
}

// watcher is the process on the host.
type watcher struct {
	dir   string // the project's folder
	arm   armament
	setup GuardSetup
	log   io.Writer
	h     host.Host
}

// Guard is `kasoku guard WHAT DIR` on a host: arm starts a watching process and
// returns when it watches; watch is that process; boot is run when the host has
// been booted anew; revert puts back at once, for a person.
func Guard(ctx context.Context, what, dir string, in io.Reader, log io.Writer, setup GuardSetup) error {
	w := &watcher{dir: dir, setup: setup, log: log, h: host.NewLocal()}
	err := fmt.Errorf("guard %s: it is arm, watch, boot or revert", what)
	switch what {
	case "arm", "watch":
		if err = json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&w.arm); err != nil {
			return fmt.Errorf("guard %s: read the armament from standard input: %w", what, err)
		}
		if what == "arm" {
			err = w.start(ctx)
		} else {
			err = w.watch(ctx)
		}
	case "boot", "revert":
		b, e := w.h.ReadFile(ctx, filepath.Join(dir, armedFile))
		if err = e; err == nil {
			err = json.Unmarshal(b, &w.arm)
		}
		if err == nil {
			err = w.now(ctx, what == "boot")
		}
	}
	if err != nil {
		return fmt.Errorf("guard of %s: %w", dir, err)
	}
	return nil
}

func (w *watcher) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watcher) say(format string, args ...any) {
	fmt.Fprintf(w.log, time.Now().UTC().Format(time.RFC3339)+" "+format+"\n", args...)
}

// tell writes the state. A full disk does not stop a guard.
func (w *watcher) tell(phase, note string) {
	w.say("%s %s", phase, note)
	s := guardState{Nonce: w.arm.Nonce, PID: os.Getpid(), Boot: bootID(), Phase: phase, Since: time.Now().UTC(), Note: note}
	ctx := context.Background()
	err := putJSON(ctx, w.h, w.path(stateFile), s)
	if phase == phaseWatching {
		err = errors.Join(err, putFile(ctx, w.h, w.path(pidFile), fmt.Appendf(nil, "%d %s\n", s.PID, s.Boot)))
	}
	if err != nil {
		w.say("%v", err)
	}
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // then every boot looks the same, and boot looks at the process
	}
	return strings.TrimSpace(string(b))
}

// Bounds of how often the guard looks at its heartbeat: often enough for its
// deadline, and not so often that it uses the machine.
const (
	looksPerDeadline = 20
	longestLook      = time.Second
)

// unheard is how long a guard has heard nothing, in time in which it looked.
type unheard struct{ tick, looked, lasts time.Duration }

// look counts two ticks at most: what makes a look late (a stall, the machine's
// sleep) may hold the controller up as well.
func (u *unheard) look(now time.Duration) {
	u.lasts += min(now-u.looked, 2*u.tick)
	u.looked = now
}

// watch looks at the heartbeat until the controller disarms it, or is silent
// for too long. Only changes of the file's time count, and time is counted from
// when they were seen, so that a clock that is set does no harm.
func (w *watcher) watch(ctx context.Context) error {
	w.tell(phaseWatching, "")
	tick := max(time.Millisecond, min(w.arm.After/looksPerDeadline, longestLook))
	every := time.NewTicker(tick)
	defer every.Stop()
	var last time.Time
	for silent := (unheard{tick: tick, looked: sinceBoot()}); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
		silent.look(sinceBoot())
		info, err := os.Stat(w.path(beatFile))
		nonce, _ := os.ReadFile(w.path(beatFile)) // absent: not ours any more
		if err != nil || string(nonce) != w.arm.Nonce {
			if errors.Is(err, os.ErrNotExist) {
				w.tell(phaseDisarmed, "")
			}
			return nil
		}
		if t := info.ModTime(); !t.Equal(last) {
			last, silent.lasts = t, 0
			continue
		}
		if silent.lasts < w.arm.After {
			continue
		}
		done, err := w.fire(ctx, fmt.Sprintf("the controller was silent for %s", silent.lasts.Round(time.Millisecond)))
		if done || err != nil {
			return err
		}
		silent.lasts = 0 // another Kasoku has the lease; it is given its time
	}
}

// now is for boot and revert: nobody is waited for.
func (w *watcher) now(ctx context.Context, booted bool) error {
	why := "a person asked for it"
	if booted {
		if w.watched() {
			w.say("nothing to do: a guard of this boot is watching")
			return nil
		}
		why = "the host was booted anew"
	}
	done, err := w.fire(ctx, why)
	if err == nil && !done {
		err = fmt.Errorf("%w: %s; it deals with what is pending", ErrBusy, readOwner(ctx, w.h, filepath.Dir(w.dir)))
		if booted {
			w.say("%v", err)
			return nil
		}
	}
	return err
}

// watched reports whether a guard is at work since this boot.
func (w *watcher) watched() bool {
	var pid int
	var boot string
	b, err := os.ReadFile(w.path(pidFile))
	if err != nil {
		return false
	}
	if _, err := fmt.Sscan(string(b), &pid, &boot); err != nil || boot != bootID() {
		return false
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(args), "guard\x00watch\x00"+w.dir)
}

// attempts that a guard makes when something cannot be put back, e.g. because a
// database is not up yet. The waits between them double from After, up to five
// minutes.
const (
	attempts    = 6
	longestWait = 5 * time.Minute
)

// fire takes the lease and puts the host back. It returns false if another
// Kasoku than the silent one is at work here.
func (w *watcher) fire(ctx context.Context, why string) (done bool, err error) {
	wait := w.arm.After
	for n := 1; ; n++ {
		unlock, err := w.lease(ctx)
		if errors.Is(err, ErrBusy) {
			return false, nil
		}
		if err == nil {
			err = errors.Join(w.putBack(ctx, why), unlock())
		}
		if err == nil {
			return true, nil
		}
		w.tell(phaseIncomplete, err.Error())
		if n == attempts {
			return true, err
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(wait):
		}
		if wait = min(2*wait, longestWait); w.rearmed() {
			return true, nil
		}
	}
}

// rearmed reports whether a controller came back and armed another guard.
func (w *watcher) rearmed() bool {
	nonce, err := os.ReadFile(w.path(beatFile))
	return err == nil && string(nonce) != w.arm.Nonce
}

// lease takes the host's lease. If the silent controller, or the helper at the
// end of its dead connection, still has it, that process is ended: it must not
// go on writing when the host has put itself back.
func (w *watcher) lease(ctx context.Context) (unlock func() error, err error) {
	base := filepath.Dir(w.dir)
	me := self(filepath.Base(w.dir), "guard of "+w.arm.Host, w.dir)
	me.Nonce = newNonce()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		unlock, err = takeLease(ctx, w.h, base, me)
		if !errors.Is(err, ErrBusy) || !w.pending() || time.Now().After(deadline) {
			return unlock, err
		}
		o := readOwner(ctx, w.h, base)
		if o.Nonce != w.arm.Owner {
			return nil, err
		}
		pid := lockHolder(filepath.Join(base, leaseFile))
		if pid > 0 && o.Holder == fmt.Sprint(pid) {
			w.say("ending process %d, which holds the lease and is silent", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// pending reports whether this host has something to put back.
func (w *watcher) pending() bool {
	txs, err := Read(w.dir)
	return err != nil || slices.ContainsFunc(txs, Tx.Pending)
}

// lockHolder finds who holds an flock(2), as /proc/locks tells; 0: nobody.
func lockHolder(path string) int {
	var st syscall.Stat_t
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || syscall.Stat(path, &st) != nil {
		return 0
	}
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line) // 1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		pid := 0
		if _, err := fmt.Sscan(f[4], &pid); err == nil && pid > 1 {
			return pid
		}
	}
	return 0
}

// putBack does what Recover does, on the host's own copy. The heartbeat file
// goes first: a controller that comes back now learns that it is too late.
func (w *watcher) putBack(ctx context.Context, why string) error {
	if err := os.Remove(w.path(beatFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	w.tell(phaseActing, why)
	s := &stack.Stack{}
	if b, err := readOwn(ctx, w.h, w.path(stackFile)); err != nil {
		return err
	} else if b != nil {
		if err := json.Unmarshal(b, s); err != nil {
			return fmt.Errorf("read %s: %w", w.path(stackFile), err)
		}
	}
	o := w.setup(s, w.arm.Host, w.arm.Logins)
	o.Dir, o.Here, o.Target, o.Progress = w.dir, w.arm.Host, nil, func(line string) { w.say("%s", line) }
	x, err := Open(ctx, o)
	if err != nil {
		return err
	}
	txs, err := x.recoverHere(ctx, why)
	err = errors.Join(err, x.Close())
	if err == nil {
		w.tell(phaseDone, fmt.Sprintf("%d transactions: %s", len(txs), why))
	}
	return err
}

// recoverHere puts this host back, and removes what would do so after a reboot.
func (x *Executor) recoverHere(ctx context.Context, why string) ([]Tx, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	here := x.options.Here
	txs, err := x.recoverAll(ctx, fmt.Sprintf("%s; host %s put itself back at %s", why, here, time.Now().UTC().Format(time.RFC3339)))
	if err != nil {
		return txs, err
	}
	undecided := slices.ContainsFunc(x.journal.txs, func(t *txn) bool { return t.Pending() && t.deciding })
	entry, there := x.journal.entries[here]
	if !there || undecided {
		return txs, nil
	}
	if err := parseEntry(entry).remove(ctx, x.hosts[here]); err != nil {
		return txs, err
	}
	return txs, x.journal.append(record{Op: opDisarmed, Host: here, By: byGuard})
}
