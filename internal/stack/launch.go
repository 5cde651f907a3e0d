package stack

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	envfile "kasoku/internal/confedit/unit"
	"kasoku/internal/host"
)

// inherited is what a process got from the one that started it and that would
// silently differ after a restart by Kasoku: a service measured before with
// 65536 files and after with 1024 is not the same service.
type inherited struct {
	fileLimit string   // "soft:hard" of prlimit(1); "" unknown
	env       []string // of envKept
}

// envKept are the environment variables that change how a server performs, or where it puts
// files of its own, and hold no secrets. Everything else an operator writes into control.start as
// [env, NAME=value, program, …].
var envKept = []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "MALLOC_CONF", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "PHP_INI_SCAN_DIR", "TZ", "LANG", "LC_ALL", "TMPDIR", "HOME"}

func readInherited(ctx context.Context, h host.Host, pid int) inherited {
	var in inherited
	dir := "/proc/" + strconv.Itoa(pid)
	if data, err := h.ReadFile(ctx, dir+"/limits"); err == nil {
		in.fileLimit = parseFileLimit(data)
	}
	if data, err := h.ReadFile(ctx, dir+"/environ"); err == nil {
		for e := range strings.SplitSeq(string(data), "\x00") {
			name, _, ok := strings.Cut(e, "=")
			if ok && slices.Contains(envKept, name) {
				in.env = append(in.env, e)
			}
		}
	}
	return in
}

// launchScript detaches a program from Kasoku: no controlling terminal
// (setsid), no pipe of ours, its output in a log of its own. Its arguments are
// log, PID file, folder, file limit ("" keeps ours), program and arguments.
const launchScript = `exec </dev/null >"$1" 2>&1
echo $$ >"$2"
cd "$3" || exit 1
if [ -n "$4" ]; then prlimit --pid $$ --nofile="$4" || echo "kasoku: could not set the file limit $4"; fi
umask 022
shift 4
exec "$@"`

// launch starts the service's program detached and waits until its main
// process is there. An error carries what the program said.
func (c *Controller) launch(ctx context.Context) error {
	argv, err := c.startArgv(ctx)
	if err != nil {
		return err
	}
	dir, err := c.runDir(ctx)
	if err != nil {
		return err
	}
	c.output = path.Join(dir, c.fileName()+".log")
	pidFile := path.Join(dir, c.fileName()+".launched")
	if _, err := run(ctx, c.h, "", 0, "rm", "-f", pidFile); err != nil {
		return err
	}
	full := []string{"setsid", "-f", "sh", "-c", launchScript, "kasoku", c.output, pidFile, c.dir(), c.inherited.fileLimit,
		"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}
	env, err := c.environment(ctx)
	if err != nil {
		return err
	}
	full = append(full, env...)
	res, err := run(ctx, c.h, "", 0, append(full, argv...)...)
	if err != nil {
		return err
	}
	id, err := c.launchedProcess(ctx, pidFile)
	if err != nil {
		return fmt.Errorf("launch %s: %w%s", argv[0], err, said(string(res.Stderr)))
	}
	c.launched = id
	return c.awaitMaster(ctx, argv)
}

// environment is what the program gets: what its env_file says, else what the
// process before had of envKept.
func (c *Controller) environment(ctx context.Context) ([]string, error) {
	if c.svc.Control.EnvFile == "" {
		return c.inherited.env, nil
	}
	data, err := c.h.ReadFile(ctx, c.svc.Control.EnvFile)
	if err != nil {
		return nil, fmt.Errorf("read control.env_file: %w", err)
	}
	file := envfile.ParseEnv(c.svc.Control.EnvFile, data)
	var out []string
	for _, name := range file.Keys() {
		v, _ := file.Get(name)
		out = append(out, name+"="+v.Text)
	}
	return out, nil
}

// launchedProcess reads the PID that the launch script wrote.
func (c *Controller) launchedProcess(ctx context.Context, pidFile string) (identity, error) {
	var id identity
	ok, err := poll(ctx, 10*time.Second, func() (bool, error) {
		data, err := c.h.ReadFile(ctx, pidFile)
		if err != nil {
			return false, ctx.Err()
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			return false, nil // not written to its end yet
		}
		id.pid = pid
		if p, err := readProcess(ctx, c.h, pid); err == nil {
			id.started = p.started
		}
		return true, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("no process was started (nothing wrote %s)", pidFile)
	}
	return id, err
}

// afterExit is how long a service may be without any process after the program
// that was launched has ended: a daemon's parent ends before the daemon has
// written its PID file.
const afterExit = 2 * time.Second

// awaitMaster waits until the main process of what was launched is there.
func (c *Controller) awaitMaster(ctx context.Context, argv []string) error {
	var gone time.Time
	ok, err := poll(ctx, c.svc.Health.Wait(), func() (bool, error) {
		if _, err := c.master(ctx); err == nil || ctx.Err() != nil {
			return err == nil, ctx.Err()
		}
		alive, err := c.launched.alive(ctx, c.h)
		if err != nil || alive {
			return false, err
		}
		if gone.IsZero() {
			gone = time.Now()
		}
		if time.Since(gone) > afterExit {
			return false, fmt.Errorf("%s ended and left no process of %s", argv[0], c.svc.Name)
		}
		return false, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("no main process of %s after %s; check control.pid_file and listen in kasoku.yaml", c.svc.Name, c.svc.Health.Wait())
	}
	return err
}

// runDir is where launch keeps a service's output, made if it is absent:
// .kasoku/run beside kasoku.yaml, on another host a temporary folder.
func (c *Controller) runDir(ctx context.Context) (string, error) {
	if c.s.Dir == "" || c.svc.HostName() != LocalHost {
		res, err := run(ctx, c.h, "", 0, "mktemp", "-d", "-t", "kasoku-run.XXXXXX")
		return strings.TrimSpace(string(res.Stdout)), err
	}
	dir := path.Join(c.s.Dir, ".kasoku", "run")
	_, err := run(ctx, c.h, "", 0, "mkdir", "-p", dir)
	return dir, err
}

// startArgv is control.start, or what binary and config say for the kinds
// whose command line is known.
func (c *Controller) startArgv(ctx context.Context) ([]string, error) {
	if len(c.svc.Control.Start) > 0 {
		return c.svc.Control.Start, nil
	}
	bin, err := c.binary(ctx)
	if err != nil {
		return nil, err
	}
	argv := defaultStart(c.svc, bin)
	if argv == nil {
		return nil, fmt.Errorf("kasoku.yaml does not say how to start it; write control.start as [program, argument, …]")
	}
	return argv, nil
}

// defaultStart is the command line of the kinds that need nothing but their
// configuration; nil for the others.
func defaultStart(svc *Service, bin string) []string {
	switch svc.Kind {
	case Nginx:
		return nginxArgv(svc, bin)
	case PHPFPM:
		return fpmArgv(svc, bin)
	case MariaDB, MySQL:
		return []string{bin, "--defaults-file=" + svc.Config}
	case Apache:
		return []string{bin, "-f", svc.Config, "-k", "start"}
	case Redis:
		if svc.Config != "" {
			return []string{bin, svc.Config}
		}
	default: // is started by a command that a person wrote
	}
	return nil
}

func nginxArgv(svc *Service, bin string) []string {
	argv := []string{bin, "-c", svc.Config}
	if svc.Prefix != "" {
		argv = append(argv, "-p", svc.Prefix)
	}
	return argv
}

func fpmArgv(svc *Service, bin string) []string {
	argv := []string{bin, "-y", svc.Config}
	if svc.Prefix != "" {
		argv = append(argv, "-p", svc.Prefix)
	}
	if svc.PHPIni != "" {
		argv = append(argv, "-c", svc.PHPIni)
	}
	return argv
}

// binary finds the service's program: as written, as it runs, or on the PATH.
func (c *Controller) binary(ctx context.Context) (string, error) {
	if c.svc.Binary != "" {
		return c.svc.Binary, nil
	}
	if m, err := c.master(ctx); err == nil {
		if exe := link(ctx, c.h, m.pid, "exe"); exe != "" {
			return exe, nil
		}
	}
	for _, e := range programs {
		if e.kind == c.svc.Kind {
			if bin := lookUp(ctx, c.h, e.defaults...); bin != "" {
				return bin, nil
			}
		}
	}
	return "", fmt.Errorf("its program was not found; write binary in kasoku.yaml")
}
