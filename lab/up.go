package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options of Up.
type Options struct {
	Dir      string   // the state folder; "" = $KASOKU_LAB, else DefaultDir
	Name     string   // "" = "lab"; up to 32 lower-case letters, digits and dashes
	Count    int      // of hosts, 1 to 99; 0 = 1
	CPUs     float64  // each host's cap; 0 = none
	Memory   int64    // each host's cap in bytes; 0 = none
	Packages []string // nil = DefaultPackages, empty = a bare Debian
	Base     string   // a root file system with systemd and sshd instead of packages
	Off      []string // services that boots do not start, though the packages say so ("mariadb"), as after systemctl disable
	// Program is the kasoku that supervises the hosts; it must stay where it is
	// while the lab is up. "": this process's own, if it calls Helper.
	Program  string
	Progress func(string) // told what goes on; may be nil
}

// ErrExists is wrapped by Up's error when there is a lab of that name.
var ErrExists = errors.New("there is a lab of that name already")

// bootTime is how long a host may take from start to SSH: seen are 2 to 10
// seconds; twenty hosts on two processors take a minute.
const bootTime = 3 * time.Minute

// Up makes a lab and returns when every host has booted and answers SSH. The
// hosts outlive the process: call Down. If Up fails or ctx ends, nothing
// remains but the base.
func Up(ctx context.Context, o Options) (*Lab, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Name == "" {
		o.Name = "lab"
	}
	o.Count = max(o.Count, 1)
	if err := o.check(); err != nil {
		return nil, err
	}
	var err error
	if o.Program, err = helperProgram(o.Program); err != nil {
		return nil, err
	}
	base := o.Base
	if base == "" {
		info, err := Base(ctx, o.Dir, o.Packages, o.Progress)
		if err != nil {
			return nil, err
		}
		base = info.Root
	} else if base, err = checkBase(base); err != nil {
		return nil, err
	}
	l := newLab(o)
	l.Base = base
	if err := os.MkdirAll(filepath.Dir(l.Dir), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of labs: %w", err)
	}
	if err := os.Mkdir(l.Dir, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make lab %s: %w", l.Name, ErrExists)
	} else if err != nil {
		return nil, fmt.Errorf("make lab %s: %w", l.Name, err)
	}
	if err := l.make(ctx, o); err != nil {
		return nil, errors.Join(err, l.Down(context.WithoutCancel(ctx)))
	}
	return l, nil
}

func (o Options) check() error {
	if err := checkName(o.Name); err != nil {
		return err
	}
	if o.Count > maxHosts {
		return wrong("%d hosts: a lab has %d at most", o.Count, maxHosts)
	}
	if o.CPUs != 0 && (o.CPUs < 0.01 || o.CPUs > 1024) {
		return wrong("a cap of %g CPUs: give 0.01 or more, or 0 for none", o.CPUs)
	}
	if strings.ContainsAny(stateDir(o.Dir), ":,\\ ") {
		return wrong("the state folder %s: overlays cannot be in a path with a colon, comma, backslash or space", stateDir(o.Dir))
	}
	if err := Check(); err != nil {
		return err
	}
	return checkMemory(o.Count, o.Memory)
}

// checkBase looks whether a folder can be booted.
func checkBase(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, file := range []string{"lib/systemd/systemd", "usr/sbin/sshd", "etc/passwd"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return "", fmt.Errorf("the base %s is no root file system with systemd and sshd: %w", dir, err)
		}
	}
	return dir, nil
}

// make does all of Up that Down has to undo.
func (l *Lab) make(ctx context.Context, o Options) error {
	if err := l.save(); err != nil {
		return err
	}
	if err := l.makeNetwork(ctx); err != nil {
		return err
	}
	if err := l.makeKey(ctx); err != nil {
		return err
	}
	o.Progress(fmt.Sprintf("starting %d hosts", len(l.Hosts)))
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	err := l.each(func(h *Host) error {
		if err := h.prepare(ctx, Settings{CPUs: o.CPUs, Memory: o.Memory}, o.Off); err != nil {
			return fmt.Errorf("prepare host %s: %w", h.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := l.writeSSH(); err != nil {
		return err
	}
	err = l.each(func(h *Host) error {
		ended, err := h.start()
		if err != nil {
			return err
		}
		if h.State, err = h.wait(ctx, "", ended); err == nil {
			o.Progress(fmt.Sprintf("%s is %s", h.Name, h.State))
		}
		return err
	})
	if err != nil {
		return err
	}
	return l.save()
}

// each does f for all hosts at the same time.
func (l *Lab) each(f func(*Host) error) error {
	errs := make([]error, len(l.Hosts))
	var all sync.WaitGroup
	for i, h := range l.Hosts {
		all.Go(func() { errs[i] = f(h) })
	}
	all.Wait()
	return errors.Join(errs...)
}
