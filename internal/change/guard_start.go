package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// start writes the armament and starts the watching process, detached from the
// connection: its own session and, under systemd, a scope of its own, so that
// neither the end of the login nor its memory limit takes it along.
func (w *watcher) start(ctx context.Context) error {
	stored := w.arm
	stored.Logins = nil
	if err := putJSON(ctx, w.h, w.path(armedFile), stored); err != nil {
		return err
	}
	if err := putFile(ctx, w.h, w.path(beatFile), []byte(w.arm.Nonce)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	argv := []string{self, "guard", "watch", w.dir}
	if scope := w.scope(); scope != nil {
		if err := w.spawn(ctx, append(scope, argv...)); err == nil {
			return nil
		}
	}
	return w.spawn(ctx, argv)
}

// scope is the command that puts a process under systemd's care; nil where
// there is none.
func (w *watcher) scope() []string {
	if _, err := os.Stat("/run/systemd/system"); err != nil || os.Getuid() != 0 {
		return nil
	}
	run, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil
	}
	return []string{run, "--scope", "--quiet", "--collect", "--unit=kasoku-guard-" + filepath.Base(w.dir) + "-" + newNonce(), "--"}
}

// startLimit is how long the watching process may take to begin.
const startLimit = 15 * time.Second

// spawn starts the process and returns when it watches.
func (w *watcher) spawn(ctx context.Context, argv []string) error {
	in, err := json.Marshal(w.arm)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(w.path(logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = "/", bytes.NewReader(in), log, log
	// Nothing of the login's environment: it may hold secrets, and goes on to
	// the services that the guard restarts.
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + os.Getenv("HOME")}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start the watching process: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(startLimit)
	for {
		var s guardState
		if b, err := os.ReadFile(w.path(stateFile)); err == nil && json.Unmarshal(b, &s) == nil &&
			s.Nonce == w.arm.Nonce && s.PID == c.Process.Pid && s.Phase == phaseWatching {
			return nil
		}
		select {
		case <-tick.C:
		case err := <-ended:
			return fmt.Errorf("the watching process ended (%v): %s", err, w.logTail())
		case <-ctx.Done():
			return errors.Join(ctx.Err(), c.Process.Kill())
		case <-limit:
			return errors.Join(fmt.Errorf("the watching process does not begin within %s: %s", startLimit, w.logTail()), c.Process.Kill())
		}
	}
}

// logTail is the end of the guard's log.
func (w *watcher) logTail() string {
	b, err := os.ReadFile(w.path(logFile))
	if err != nil {
		return err.Error()
	}
	const most = 400 // a few lines
	return strings.TrimSpace(strings.ToValidUTF8(string(b[max(0, len(b)-most):]), ""))
}
