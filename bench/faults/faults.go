package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kasoku/internal/host/hosttest"
)

// fault is something that breaks. strike runs in the victim before its step;
// heal and clear run in the matrix, when the victim has ended.
type fault struct {
	name, what string
	strike     func(ctx context.Context, s *session, v task, k *kind)
	prepare    func(ctx context.Context, t *target, v *task) error
	healing    func(ctx context.Context, t *target, v task) error
	clearing   func(t *target, v *task)
	applies    func(k *kind) bool
	slow       bool // takes seconds
	edits      bool // someone else edits the object
	cuts       bool // the connection must be made anew, which takes seconds
	once       bool // one case is enough
}

func (f *fault) title() string { return f.name }

func faultNamed(name string) *fault {
	for _, f := range faults {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (f *fault) heal(ctx context.Context, t *target, v task) error {
	if f.healing == nil {
		return nil
	}
	return f.healing(ctx, t, v)
}

func (f *fault) clear(t *target, v *task) {
	if f.clearing != nil {
		f.clearing(t, v)
	}
}

// filler takes the rest of a disk.
const filler = "filler"

// faults in the order of the table.
var faults = []*fault{
	{name: "none", what: "nothing breaks: the change is kept, and undone afterwards.", once: true,
		strike: func(context.Context, *session, task, *kind) {}},
	{name: "controller killed", what: "SIGKILL of the process that applies the change.",
		strike: func(context.Context, *session, task, *kind) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}},
	{name: "helper killed", what: "SIGKILL of Kasoku's helper on the target; the controller lives on.", cuts: true,
		strike: func(ctx context.Context, s *session, v task, _ *kind) {
			must(v.Target.sh(ctx, `pkill -KILL -f 'agent serve' || true`))
		}},
	{name: "SSH cut", what: "the controller's ssh processes are killed; the target sees a closed connection.", cuts: true,
		strike: func(ctx context.Context, s *session, v task, _ *kind) {
			exec.Command("pkill", "-KILL", "-f", "ssh.*"+v.Target.Config).Run()
		}},
	{name: "target rebooted", what: "power is cut: the host's processes are killed, and it boots again.", slow: true,
		strike: func(ctx context.Context, s *session, v task, _ *kind) { must(v.Target.reboot(ctx)) }},
	{name: "disk full", what: "the disk with Kasoku's own journal is full (a small tmpfs, filled).",
		prepare: func(ctx context.Context, t *target, v *task) error {
			if err := os.MkdirAll(v.Project, 0o700); err != nil {
				return err
			}
			return syscall.Mount("kasoku-faults", v.Project, "tmpfs", 0, "size=2m,mode=700")
		},
		strike: func(ctx context.Context, s *session, v task, _ *kind) {
			fill(filepath.Join(v.Project, filler))
		},
		healing: func(ctx context.Context, t *target, v task) error {
			return os.RemoveAll(filepath.Join(v.Project, filler))
		},
		clearing: func(t *target, v *task) { syscall.Unmount(v.Project, syscall.MNT_DETACH) }},
	{name: "target disk full", what: "every write on the target is refused with ENOSPC from that step on (injected at the host's interface).",
		applies: func(k *kind) bool { return k.writesFiles },
		strike: func(ctx context.Context, s *session, v task, _ *kind) {
			for _, op := range []hosttest.Op{hosttest.Replace, hosttest.MakeDir} {
				s.faulty.Arm(hosttest.Fault{Op: op, Times: -1, Err: hosttest.ErrDiskFull})
			}
		}},
	{name: "permission lost", what: "files and commands are refused from that step on (injected at the host's interface); the database account is locked and its connections are killed.",
		strike: func(ctx context.Context, s *session, v task, k *kind) {
			if k.database {
				must(v.Target.sh(ctx, `mariadb -e "ALTER USER kasoku@localhost ACCOUNT LOCK; KILL USER kasoku@localhost" 2>&1 || mariadb -e "ALTER USER kasoku@localhost ACCOUNT LOCK"`))
				return
			}
			for _, op := range []hosttest.Op{hosttest.Replace, hosttest.MakeDir, hosttest.Remove, hosttest.RmDir, hosttest.Run} {
				s.faulty.Arm(hosttest.Fault{Op: op, Times: -1, Err: hosttest.ErrDenied})
			}
		},
		healing: func(ctx context.Context, t *target, v task) error {
			if k := kindNamed(v.Kind); k.database {
				return t.access.sh(ctx, `mariadb -e "ALTER USER kasoku@localhost ACCOUNT UNLOCK"`)
			}
			return nil
		}},
	{name: "service fails", what: "the unit's start and reload fail from that step on (a drop-in), or the start of a process.",
		applies: func(k *kind) bool { return k.unit != "" || k.fail != "" },
		strike:  func(ctx context.Context, s *session, v task, k *kind) { must(v.Target.sh(ctx, k.failing())) },
		healing: func(ctx context.Context, t *target, v task) error {
			return t.access.sh(ctx, kindNamed(v.Kind).mending())
		}},
	{name: "edited meanwhile", what: "someone else changes the very object; their work must stay as it is.", edits: true,
		applies: func(k *kind) bool { return k.edit != "" },
		strike:  func(ctx context.Context, s *session, v task, k *kind) { must(v.Target.sh(ctx, k.edit)) }},
}

// failing is the script that makes the kind's service fail.
func (k *kind) failing() string {
	if k.unit == "" {
		return k.fail
	}
	return fmt.Sprintf(`mkdir -p /run/systemd/system/%[1]s.d
printf '[Service]\nExecStartPre=/bin/false\nExecReload=\nExecReload=/bin/false\n' > /run/systemd/system/%[1]s.d/zz-faults.conf
systemctl daemon-reload`, k.unit)
}

// mending takes back what failing did.
func (k *kind) mending() string {
	if k.unit == "" {
		return k.mend
	}
	return fmt.Sprintf(`rm -f /run/systemd/system/%[1]s.d/zz-faults.conf; systemctl daemon-reload; systemctl reset-failed %[1]s || true`, k.unit)
}

// fill writes until the disk is full.
func fill(path string) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer f.Close()
	for size := 1 << 16; size > 0; size /= 2 {
		b := make([]byte, size)
		for {
			if _, err := f.Write(b); err != nil {
				break
			}
		}
	}
}

// must ends the victim if the fault itself could not be made to happen.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "strike:", err)
		os.Exit(2)
	}
}

// settle is how long a killed process may take to be gone.
const settle = 200 * time.Millisecond
