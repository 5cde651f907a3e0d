package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is a new one after each boot.
const bootID = "/proc/sys/kernel/random/boot_id"

// sshPort is sshd's.
const sshPort = 22

// wait waits until the host answers SSH, has another boot id than before ("" =
// any), and its systemd has started all there is. It returns systemd's word for
// the state: "running", or "degraded" with the units that failed. A host whose
// cable is out cannot be waited for.
func (h *Host) wait(ctx context.Context, before string, ended <-chan error) (string, error) {
	var last error
	for {
		select {
		case err := <-ended:
			return "", fmt.Errorf("host %s ended while it booted (%v)%s", h.Name, err, h.logTail())
		case <-ctx.Done():
			return "", fmt.Errorf("wait for host %s: %w (last: %v)%s", h.Name, ctx.Err(), last, h.logTail())
		case <-time.After(20 * time.Millisecond):
		}
		if !h.portOpen(ctx, sshPort) {
			last = errors.New("nothing answers at its SSH port")
			continue
		}
		state, err := h.state(ctx, before)
		if err != nil {
			last = err
			continue
		}
		f := strings.Fields(state)
		if len(f) == 0 || f[0] != "running" && f[0] != "degraded" {
			last = fmt.Errorf("systemd says %q", state) // nothing: it is the boot before
			continue
		}
		if len(f) > 1 {
			return f[0] + " (" + strings.Join(f[1:], ", ") + ")", nil
		}
		return f[0], nil
	}
}

// state asks systemd for its state, after it has started all there is, and for
// the units that failed. Of a host that is still in the boot before it is empty.
func (h *Host) state(ctx context.Context, before string) (string, error) {
	// An answer can stay away for good: the host may go down meanwhile.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return h.lab.SSH(ctx, h.Name, fmt.Sprintf(`[ "$(cat %s)" = "%s" ] || { systemctl is-system-running --wait; systemctl --failed --no-legend --plain | cut -d' ' -f1; }`, bootID, before))
}

// logTail is the end of what the host said while it booted.
func (h *Host) logTail() string {
	text := ""
	for _, name := range []string{"supervisor.log", "console.log"} {
		if data, err := os.ReadFile(h.file(name)); err == nil {
			text += tail(string(data))
		}
	}
	return text
}

// BootID reads the host's boot id over SSH.
func (h *Host) BootID(ctx context.Context) (string, error) {
	id, err := h.lab.SSH(ctx, h.Name, "cat "+bootID)
	return strings.TrimSpace(id), err
}

// Reboot restarts a host and waits until it is up again, with a new boot id.
// With hard it loses its power: every process is killed where it stands. What
// it wrote to its files before survives, because the page cache is the
// machine's. A host that is off is started. After a reboot or a power cut
// settings like caps and Cut are as before; a host that is cut is waited for only
// until its init runs.
func (l *Lab) Reboot(ctx context.Context, name string, hard bool) error {
	h, err := l.Host(name)
	if err != nil {
		return err
	}
	s, err := h.Settings()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	before := ""
	var ended <-chan error
	if !hard && h.Up() {
		if before, err = h.askReboot(ctx, s); err != nil {
			return fmt.Errorf("reboot host %s: %w", name, err)
		}
	} else {
		if err := h.stop(); err != nil {
			return err
		}
		if ended, err = h.start(); err != nil {
			return err
		}
	}
	if s.Cut {
		return h.waitForInit(ctx, ended)
	}
	_, err = h.wait(ctx, before, ended)
	return err
}

// Wait waits until a host answers SSH and its systemd has started all there is,
// at most three minutes, and returns systemd's word for the state: "running", or
// "degraded" and the units that failed. Use it after Heal of a host that
// rebooted while it was cut off.
func (l *Lab) Wait(ctx context.Context, name string) (string, error) {
	h, err := l.Host(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	return h.wait(ctx, "", nil)
}

// waitForInit waits until the host boots, which can be seen without its network.
func (h *Host) waitForInit(ctx context.Context, ended <-chan error) error {
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("host %s ended while it booted (%v)%s", h.Name, err, h.logTail())
		case <-ctx.Done():
			return fmt.Errorf("wait for host %s: %w%s", h.Name, ctx.Err(), h.logTail())
		case <-time.After(10 * time.Millisecond):
		}
		if _, err := h.leader(); err == nil {
			return nil
		}
	}
}

// askReboot tells the host's init to reboot and returns the boot id until then.
func (h *Host) askReboot(ctx context.Context, s Settings) (before string, err error) {
	if !s.Cut {
		if before, err = h.BootID(ctx); err != nil {
			return "", err
		}
	}
	pid, err := h.leader()
	if err != nil {
		return "", err
	}
	const sigRTMIN = 34 // glibc's, which systemd counts from: systemd(1), SIGRTMIN+5 starts reboot.target
	return before, unix.Kill(pid, unix.Signal(sigRTMIN+5))
}
