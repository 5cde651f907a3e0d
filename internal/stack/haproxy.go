package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// haproxyProgram is the name that HAProxy's processes have.
const haproxyProgram = "haproxy"

// IsHAProxy: the service is an app whose program is HAProxy.
func (s *Service) IsHAProxy() bool {
	if s.Kind != App {
		return false
	}
	if path.Base(s.Binary) == haproxyProgram {
		return true
	}
	return len(s.Control.Start) > 0 && path.Base(s.Control.Start[0]) == haproxyProgram
}

// haproxyArgs is HAProxy's command line (management guide, "Starting HAProxy").
type haproxyArgs struct {
	argv     []string // as it would be started anew, program first
	files    []string // -f: files and folders, in their order
	pidFile  string
	checking []string // the options that decide what a configuration means
}

// parseHAProxyArgs reads a command line, with wrappers (env, setpriv) before
// the program or not. What a master process adds when it reloads (-sf, -x) is
// left out.
func parseHAProxyArgs(argv []string) haproxyArgs {
	var a haproxyArgs
	i := slices.IndexFunc(argv, func(w string) bool { return path.Base(w) == haproxyProgram && !strings.Contains(w, "=") })
	if i < 0 {
		return a
	}
	a.argv = slices.Clone(argv[:i+1])
	for i++; i < len(argv); i++ {
		opt, value := argv[i], []string(nil)
		switch {
		case opt == "--":
			a.files = append(a.files, argv[i+1:]...)
			a.argv = append(a.argv, argv[i:]...)
			return a
		case opt == "-sf" || opt == "-st":
			for i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
				i++
			}
			continue
		case slices.Contains([]string{"-f", "-C", "-n", "-m", "-N", "-L", "-p", "-S", "-x"}, opt) && i+1 < len(argv):
			i++
			value = argv[i : i+1]
		}
		switch opt {
		case "-x":
			continue
		case "-f":
			a.files = append(a.files, value...)
		case "-p":
			a.pidFile = strings.Join(value, "")
		}
		a.argv = append(append(a.argv, opt), value...)
		if !slices.Contains([]string{"-f", "-p", "-S", "-D", "-q", "-V", "-d", "-db"}, opt) {
			a.checking = append(append(a.checking, opt), value...)
		}
	}
	return a
}

// haproxyConfig is the service's own configuration, if a process names it, or
// the folder that it is in; else the first one that it names.
func (s *Service) haproxyConfig(p *process) string {
	files := parseHAProxyArgs(p.cmdline).files
	for _, f := range files {
		if f = path.Clean(f); f == s.Config || f == path.Dir(s.Config) {
			return s.Config
		}
	}
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// haproxyRun is the command line of the running HAProxy, or the one that it is
// started with, and the folder that its paths are relative to.
func (c *Controller) haproxyRun(ctx context.Context) (haproxyArgs, string) {
	if m, err := c.master(ctx); err == nil {
		if p, err := readProcess(ctx, c.h, m.pid); err == nil {
			return parseHAProxyArgs(p.cmdline), link(ctx, c.h, m.pid, "cwd")
		}
	}
	return parseHAProxyArgs(c.svc.Control.Start), c.dir()
}

// HAProxyFiles are the files that an HAProxy reads, in their order. A folder
// (-f) stands for what it holds. It is an error if the service's configuration
// is not among them.
func (c *Controller) HAProxyFiles(ctx context.Context) ([]string, error) {
	args, dir := c.haproxyRun(ctx)
	files, err := haproxyFiles(ctx, c.h, args, dir)
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0 && c.svc.Config != "":
		return []string{c.svc.Config}, nil
	case !slices.Contains(files, c.svc.Config):
		return nil, fmt.Errorf("it reads %s, and config in kasoku.yaml is %q; write one of those there", strings.Join(files, ", "), c.svc.Config)
	}
	return files, nil
}

// haproxyFiles makes the paths absolute, and takes what folders hold: files
// that end in .cfg and do not begin with a dot, by the bytes of their names
// (management guide, "-f").
func haproxyFiles(ctx context.Context, h host.Host, args haproxyArgs, dir string) ([]string, error) {
	var out []string
	for _, f := range args.files {
		f = path.Clean(resolveUnder(dir, f))
		entries, err := h.List(ctx, f)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read HAProxy's configuration %s: %w", f, err)
		}
		if err != nil { // no folder
			out = append(out, f)
			continue
		}
		var names []string
		for _, e := range entries {
			if n := filepath.Base(e.Path); strings.HasSuffix(n, ".cfg") && n[0] != '.' && !e.Mode.IsDir() {
				names = append(names, path.Join(f, n))
			}
		}
		slices.Sort(names)
		out = append(out, names...)
	}
	return out, nil
}

// checkHAProxy lets HAProxy read the files with the options that it runs with.
// Environment variables of its unit are not known to this check.
func (c *Controller) checkHAProxy(ctx context.Context) error {
	if c.svc.Config == "" {
		return nil
	}
	bin, err := c.binary(ctx)
	if err != nil {
		return err
	}
	files, err := c.HAProxyFiles(ctx)
	if err != nil {
		return err
	}
	args, _ := c.haproxyRun(ctx)
	argv := append([]string{bin, "-c"}, args.checking...)
	for _, f := range files {
		argv = append(argv, "-f", f)
	}
	_, err = run(ctx, c.h, c.dir(), checkTimeout, argv...)
	return err
}

// reloadSignal is what makes the main process read its configuration again; an
// error says what to do where nothing does.
func (c *Controller) reloadSignal(ctx context.Context) (string, error) {
	if signal, ok := reloadSignals[c.svc.Kind]; ok {
		return signal, nil
	}
	if !c.svc.IsHAProxy() {
		return "", fmt.Errorf("a %s service cannot re-read its configuration; restart it, or write control.reload in kasoku.yaml", c.svc.Kind)
	}
	t, err := readProcesses(ctx, c.h)
	if err != nil {
		return "", err
	}
	if m, err := c.master(ctx); err == nil && t.hasWorker(m.pid) {
		return "USR2", nil
	}
	return "", errors.New("HAProxy that runs without a master process (option -W) is not reloaded by a signal; start it with -W, or write control.reload in kasoku.yaml")
}

// hasWorker: the process is HAProxy's master; one without a child of its own
// kind serves by itself, and ends by the master's signal.
func (t *processes) hasWorker(pid int) bool {
	for _, p := range t.byPID {
		if p.ppid == pid && t.byPID[pid] != nil && p.comm == t.byPID[pid].comm {
			return true
		}
	}
	return false
}

// askAgain is when HAProxy is asked a second time to reload. It needs some
// milliseconds.
const askAgain = 5 * time.Second

// firstWorker is how long a master that was started a moment ago is given to start its
// worker: it listens, and is well, before that.
const firstWorker = 5 * time.Second

// withHAProxyWorker is the family of an HAProxy whose worker was not there yet. One that
// runs without a master has none.
func (c *Controller) withHAProxyWorker(ctx context.Context) (family []identity, err error) {
	m, err := c.master(ctx)
	if err != nil {
		return nil, err
	}
	p, err := readProcess(ctx, c.h, m.pid)
	if err != nil {
		return nil, err
	}
	wait := time.Duration(0)
	if slices.ContainsFunc(p.cmdline, func(a string) bool { return a == "-W" || a == "-Ws" }) {
		wait = firstWorker
	}
	_, err = poll(ctx, wait, func() (bool, error) {
		family, err = c.family(ctx)
		return len(family) > 1, err
	})
	return family, err
}

// awaitHAProxyWorkers waits until the master has a worker that was not there
// before, and those that were take no more connections. A master that cannot
// use the new configuration keeps the old ones. One that was started a moment ago
// may miss the signal, or its worker that of the new one; so it is asked once more.
func (c *Controller) awaitHAProxyWorkers(ctx context.Context, family []identity) error {
	if len(family) < 2 {
		return nil // no master, or one of a kind that control.reload replaces
	}
	asked, again := time.Now(), false
	ok, err := poll(ctx, reloadWait, func() (bool, error) {
		if !again && time.Since(asked) > askAgain {
			again = true
			if err := c.askReload(ctx, family[0]); err != nil {
				return false, err
			}
		}
		t, err := readProcesses(ctx, c.h)
		if err != nil {
			return false, err
		}
		master := t.byPID[family[0].pid]
		if master == nil || master.started != family[0].started {
			return false, fmt.Errorf("its main process %d ended", family[0].pid)
		}
		fresh, stale := false, false
		for _, p := range t.byPID {
			switch {
			case p.ppid != master.pid || p.comm != master.comm:
			case !slices.Contains(family, identity{p.pid, p.started}):
				fresh = true
			case len(c.svc.Listen) > 0:
				stale = stale || c.listens(ctx, t, p)
			}
		}
		return fresh && !stale, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("its old workers still serve after %s, so it did not take the new configuration", reloadWait)
	}
	if err != nil {
		return err
	}
	// They finish what they began, as nginx's do.
	_, err = waitGone(ctx, c.h, family[1:], c.drained())
	return err
}
