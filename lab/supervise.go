package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// rebootStatus is systemd-nspawn's exit status when the host asked for a reboot.
const rebootStatus = 133

// joinScript puts its process into the cgroups before -- and becomes the command after it.
const joinScript = `while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"`

// RunHost is a host's supervisor: it boots the host in dir, starts it again
// whenever it reboots, and returns when it is powered off or dies. `kasoku lab
// host` runs it, in a process of its own; the host ends with that process.
func RunHost(ctx context.Context, dir string) error {
	l, err := openDir(filepath.Dir(filepath.Dir(dir)))
	if err != nil {
		return err
	}
	h, err := l.Host(filepath.Base(dir))
	if err != nil {
		return err
	}
	held, err := own(h.supervisor())
	if err != nil {
		return fmt.Errorf("supervise host %s of lab %s, which seems to run: %w", h.Name, l.Name, err)
	}
	defer held.Close()
	cgroups, err := h.makeCgroups()
	if err != nil {
		return err
	}
	// The host's process is killed when the thread that started it ends, so
	// this one is kept; and it has to be in the lab's network.
	runtime.LockOSThread()
	if err := enter(l.netns()); err != nil {
		return err
	}
	defer os.Remove(h.file("nspawn.pid"))
	for {
		if err := h.removePort(ctx); err != nil {
			return err
		}
		start := time.Now()
		status, err := h.boot(ctx, cgroups)
		fmt.Fprintf(os.Stderr, "%s: systemd-nspawn ended with %d (%v) after %s\n", time.Now().UTC().Format(time.RFC3339), status, err, time.Since(start).Round(time.Millisecond))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case status == 0 && err == nil:
			return nil // powered off
		case status != rebootStatus:
			return fmt.Errorf("boot host %s: %w; console.log and supervisor.log beside it tell more", h.Name, err)
		}
	}
}

// removePort removes the cable of the boot before. The kernel does so by itself,
// but takes its time after the host's last process.
func (h *Host) removePort(ctx context.Context) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		ports, err := run(ctx, "ip", "-n", h.lab.Namespace, "-o", "link", "show", "master", bridge)
		if err != nil || !strings.Contains(ports, " "+h.port()+"@") {
			return err
		}
		// It may go between the two commands.
		if _, err := run(ctx, "ip", "-n", h.lab.Namespace, "link", "delete", "dev", h.port()); err != nil && time.Now().After(deadline) {
			return fmt.Errorf("remove the network cable of host %s: %w", h.Name, err)
		}
	}
}

// boot runs the host until it ends.
func (h *Host) boot(ctx context.Context, cgroups []string) (status int, err error) {
	console, err := os.OpenFile(h.file("console.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return -1, err
	}
	defer console.Close()
	nspawn, err := h.nspawn()
	if err != nil {
		return -1, err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append(append(append([]string{"-c", joinScript, "sh"}, cgroups...), "--"), nspawn...)...)
	cmd.Stdout, cmd.Stderr = console, console
	cmd.Env = append(os.Environ(), "SYSTEMD_NSPAWN_LOCK=0") // it would leave a file in /run
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return -1, fmt.Errorf("start systemd-nspawn: %w", err)
	}
	if err := writeFile(h.file("nspawn.pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		return -1, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	watched, stop := context.WithCancel(ctx)
	plugged := make(chan error, 1)
	go func() { plugged <- h.plugIn(watched) }()
	err = cmd.Wait()
	stop()
	if perr := <-plugged; perr != nil && err == nil {
		fmt.Fprintln(os.Stderr, perr)
	}
	return cmd.ProcessState.ExitCode(), err
}

// nspawn is the command that boots the host.
func (h *Host) nspawn() ([]string, error) {
	path, err := lookPath("systemd-nspawn")
	if err != nil {
		return nil, err
	}
	return []string{path, "--boot", "--quiet", "--directory=" + h.Root, "--machine=" + h.Machine, "--hostname=" + h.Name,
		"--register=no", "--keep-unit", "--network-bridge=" + bridge,
		"--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe",
		// What perf needs inside.
		"--capability=CAP_PERFMON,CAP_BPF,CAP_SYSLOG", "--system-call-filter=perf_event_open bpf"}, nil
}

// supervisor is the file that the host's supervisor holds a lock on.
func (h *Host) supervisor() string { return h.file("supervisor.lock") }

// Up reports whether the host runs, or boots.
func (h *Host) Up() bool { return owner(h.supervisor()) != 0 }

// start starts a supervisor, which outlives this process and its terminal. The
// channel tells when it ends, if that is while this process is there.
func (h *Host) start() (<-chan error, error) {
	if err := h.mount(); err != nil {
		return nil, err
	}
	if err := h.cap(); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(h.file("supervisor.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(h.lab.Program, "lab", "host", h.dir())
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor of host %s: %w", h.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

// cap sets up the host's cgroups with its caps.
func (h *Host) cap() error {
	if _, err := h.makeCgroups(); err != nil {
		return err
	}
	s, err := h.Settings()
	if err != nil {
		return err
	}
	if s.CPUs > 0 {
		if err := h.capCPUs(s.CPUs); err != nil {
			return err
		}
	}
	if s.Memory > 0 {
		return h.capMemory(s.Memory)
	}
	return nil
}

// stop ends supervisor and host at once, like a power cut. It is fine with a
// host of which only a part is there.
func (h *Host) stop() error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		pid := owner(h.supervisor())
		if pid == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("end the supervisor of host %s: process %d is still there", h.Name, pid)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("end the supervisor of host %s: %w", h.Name, err)
		}
	}
	return errors.Join(h.killAll(), ignoreMissing(os.Remove(h.file("nspawn.pid"))))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
