package stack

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// ErrNotRunning is returned by PIDs and Reload when the service has no process.
var ErrNotRunning = errors.New("is not running")

// Controller checks, starts, stops and probes one service. An app that runs in
// another service is controlled through that one. A Controller is not safe for
// use by several goroutines.
type Controller struct {
	h   host.Host
	s   *Stack
	svc *Service // the one with processes, as the implementation in use
	// named is svc as the caller gave it, preferred what to act on while no
	// implementation of it runs.
	named     *Service
	preferred string
	// logs are the sizes of the service's logs before the last act, so that an
	// error shows only what was written since.
	logs map[string]int64
	// inherited of the process that a restart replaces.
	inherited inherited
	// launched is the process that Start made.
	launched identity
	// output is the file that gets what the launched program prints.
	output string
	// cursor is where systemd's log ended before the last act.
	cursor string
	// drainFailed: control.drain was asked and did not do it.
	drainFailed bool
}

// NewController returns a controller for svc, which must be one of s.
func NewController(h host.Host, s *Stack, svc *Service) (*Controller, error) {
	if svc == nil {
		return nil, errors.New("control a service: none was given")
	}
	if svc.RunsIn != "" {
		in := s.Service(svc.RunsIn)
		if in == nil {
			return nil, fmt.Errorf("control %s: it runs in %q, which is not a service of the stack", svc.Name, svc.RunsIn)
		}
		svc = in
	}
	return &Controller{h: h, s: s, svc: svc, named: svc}, nil
}

// chosen makes the Controller act on the implementation in use, and then acts.
func (c *Controller) chosen(ctx context.Context, name string, act func(context.Context) error) error {
	err := c.choose(ctx)
	if err == nil {
		err = act(ctx)
	}
	return c.fail(name, err)
}

// fail names the act and the service in front of an error.
func (c *Controller) fail(act string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", act, c.svc.Name, err)
}

// Start starts the service and waits until it is healthy. A service that runs
// already is left alone. The daemon is detached: it outlives Kasoku and holds
// none of its pipes.
func (c *Controller) Start(ctx context.Context) error { return c.chosen(ctx, "start", c.start) }

func (c *Controller) start(ctx context.Context) error {
	_, err := c.master(ctx)
	if err == nil {
		return c.waitHealthy(ctx)
	}
	if !errors.Is(err, ErrNotRunning) {
		return err
	}
	c.markLogs(ctx)
	switch c.svc.ControlMethod() {
	case MethodSystemd:
		err = c.order(ctx, c.patience(), "start")
	case MethodSupervisor:
		err = c.supervisorStart(ctx)
	case MethodCommand:
		_, err = run(ctx, c.h, c.dir(), c.patience(), c.svc.Control.Start...)
	default:
		err = c.launch(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	return c.waitHealthy(ctx)
}

// Stop ends the service and waits until all its processes are gone. Nothing
// happens if it does not run. A service that loses data when killed (a database)
// is only asked; the error says so when it takes too long.
func (c *Controller) Stop(ctx context.Context) error { return c.chosen(ctx, "stop", c.stop) }

func (c *Controller) stop(ctx context.Context) error {
	family, err := c.family(ctx)
	if errors.Is(err, ErrNotRunning) {
		return c.stopManaged(ctx)
	}
	if err != nil {
		return err
	}
	if err := c.drain(ctx); err != nil {
		return err
	}
	c.markLogs(ctx)
	plan := c.stopPlan(ctx, family[0])
	limit := plan.total()
	switch {
	case c.svc.ControlMethod() == MethodSystemd:
		err = c.order(ctx, limit+c.patience(), "stop")
	case c.svc.ControlMethod() == MethodSupervisor:
		limit = max(limit, c.stopWait(ctx))
		err = c.supervisorStop(ctx)
	case len(c.svc.Control.Stop) > 0:
		_, err = run(ctx, c.h, c.dir(), limit+c.patience(), c.svc.Control.Stop...)
	default:
		return c.stopBySignal(ctx, family, plan)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	left, err := waitGone(ctx, c.h, family, limit)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %d still runs %s after the stop command", left[0].pid, limit)
	}
	return err
}

// Restart stops the service, starts it and waits until it is healthy.
func (c *Controller) Restart(ctx context.Context) error {
	return c.chosen(ctx, "restart", c.restart)
}

func (c *Controller) restart(ctx context.Context) error {
	if m := c.svc.ControlMethod(); m == MethodSystemd || m == MethodSupervisor {
		return c.restartManaged(ctx, m)
	}
	// A service that could not be started again must not be stopped.
	if c.svc.ControlMethod() == MethodProcess {
		if _, err := c.startArgv(ctx); err != nil {
			return err
		}
	}
	if m, err := c.master(ctx); err == nil {
		c.inherited = readInherited(ctx, c.h, m.pid)
		if c.svc.Kind == Memcached {
			// It bounds its own files by its connections (-c), both limits; the
			// next one may be told to take more.
			c.inherited.fileLimit = ""
		}
	}
	if err := c.stop(ctx); err != nil {
		return err
	}
	return c.start(ctx)
}

// PIDs returns the service's main process and all its descendants, or
// ErrNotRunning (wrapped).
func (c *Controller) PIDs(ctx context.Context) ([]int, error) {
	var family []identity
	err := c.chosen(ctx, "find the processes of", func(ctx context.Context) (err error) {
		family, err = c.family(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	pids := make([]int, len(family))
	for i, id := range family {
		pids[i] = id.pid
	}
	return pids, nil
}

// patience bounds commands that start, stop or reload.
func (c *Controller) patience() time.Duration { return max(time.Minute, 2*c.svc.Health.Wait()) }

// dir is where the service's commands run.
func (c *Controller) dir() string {
	if c.svc.Kind == App && c.svc.Root != "" {
		return c.svc.Root
	}
	if c.s.Dir != "" && c.svc.HostName() == LocalHost {
		return c.s.Dir
	}
	return "/"
}

// master finds the service's main process, or ErrNotRunning (wrapped).
func (c *Controller) master(ctx context.Context) (identity, error) {
	switch c.svc.ControlMethod() {
	case MethodSystemd:
		return c.unitMaster(ctx)
	case MethodSupervisor:
		all, err := c.programMasters(ctx)
		if err != nil {
			return identity{}, err
		}
		return all[0], nil
	}
	for _, path := range c.pidFiles(ctx) {
		data, err := c.h.ReadFile(ctx, path)
		if err != nil {
			if ctx.Err() != nil {
				return identity{}, err
			}
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil || pid < 2 {
			continue
		}
		if p, err := readProcess(ctx, c.h, pid); err == nil && !p.dead() && c.svc.runs(ctx, c.h, p) {
			return identity{pid, p.started}, nil
		}
		// The PID was given to another program, or the file is stale.
	}
	if c.svc.using != "" {
		return identity{}, ErrNotRunning // another implementation may listen there
	}
	return c.scanForMaster(ctx)
}

// pidFiles that may name the main process: kasoku.yaml's, else the
// configuration's.
func (c *Controller) pidFiles(ctx context.Context) []string {
	if f := c.svc.Control.PIDFile; f != "" {
		return []string{f}
	}
	if f := readSettings(ctx, c.h, c.svc).pidFile; f != "" {
		return []string{f}
	}
	return nil
}

// scanForMaster looks through the process table for the topmost process of the
// service's program that was started with its configuration or listens where it
// should. Before one listens it is what was launched, while that is there.
func (c *Controller) scanForMaster(ctx context.Context) (identity, error) {
	t, err := readProcesses(ctx, c.h)
	if err != nil {
		return identity{}, err
	}
	all := t.masters(ctx, c.svc)
	var byConfig, byListen []*process
	for _, p := range all {
		switch named := c.svc.namedConfig(p); {
		case named != "" && c.svc.Config != "" && filepath.Clean(named) == filepath.Clean(c.svc.Config):
			byConfig = append(byConfig, p)
		case named != "" && c.svc.Config != "":
			// another instance
		case c.listens(ctx, t, p):
			byListen = append(byListen, p)
		}
	}
	found := byConfig
	if len(found) == 0 {
		found = byListen
	}
	switch len(found) {
	case 0:
		p := t.byPID[c.launched.pid]
		if p != nil && p.started == c.launched.started && (c.svc.Kind == App || slices.Contains(all, p)) {
			return c.launched, nil // it does not listen yet, or is a start script whose name differs
		}
		return identity{}, ErrNotRunning
	case 1:
		return identity{found[0].pid, found[0].started}, nil
	}
	return identity{}, fmt.Errorf("processes %d and %d could both be it; write control.pid_file in kasoku.yaml", found[0].pid, found[1].pid)
}

// masters returns the processes of the service's program whose parent is not
// one of them.
func (t *processes) masters(ctx context.Context, svc *Service) []*process {
	mine := map[int]bool{}
	for _, p := range t.sorted() {
		if len(p.cmdline) > 0 && svc.runs(ctx, t.h, p) {
			mine[p.pid] = true
		}
	}
	var out []*process
	for _, p := range t.sorted() {
		if up := t.byPID[p.ppid]; mine[p.pid] && up != nil && len(up.cmdline) == 0 && t.settles(ctx, up) && svc.runs(ctx, t.h, up) {
			mine[up.pid] = true
		}
	}
	for _, p := range t.sorted() {
		if mine[p.pid] && !mine[p.ppid] {
			out = append(out, p)
		}
	}
	return out
}

// listens reports whether the process or a descendant listens on one of the
// service's endpoints. Where no endpoint is known, a process that keeps its
// command line must have been started with control.start.
func (c *Controller) listens(ctx context.Context, t *processes, p *process) bool {
	want := slices.Clone(readSettings(ctx, c.h, c.svc).endpoints)
	if c.svc.Kind == Memcached || c.svc.Kind == Redis {
		// While one moves, its configuration is ahead of the process.
		want = slices.Concat(want, c.svc.Listen)
	}
	if len(want) == 0 && c.svc.FrontFor != "" {
		return false // while it serves nothing, any nginx without -c would be taken for it
	}
	if len(want) == 0 {
		writesTitle := c.svc.Kind == Nginx || c.svc.Kind == PHPFPM || c.svc.Kind == Redis
		return writesTitle || len(c.svc.Control.Start) == 0 && c.svc.Kind != App || sameCommand(p.cmdline, c.svc.Control.Start)
	}
	// A server that starts has none yet; to read the host's sockets takes longer.
	inodes, _ := socketInodes(ctx, c.h, t.family(p.pid))
	if len(inodes) == 0 {
		return false
	}
	table, err := readListeners(ctx, c.h, p.pid)
	if err != nil {
		return false
	}
	for i := range want {
		want[i] = realEndpoint(ctx, c.h, want[i])
	}
	for _, s := range table.these(inodes) {
		for _, w := range want {
			if s.serves(w) {
				return true
			}
		}
	}
	return false
}

// sameCommand reports whether a command line is what start leads to: start
// itself, or what is left of it behind wrappers (env, setpriv). An interpreter
// may stand in front (a script's #! line).
func sameCommand(cmdline, start []string) bool {
	for skip := range min(len(cmdline), 3) {
		own := cmdline[skip:]
		if n := len(start) - len(own); n >= 0 {
			rest := start[n:]
			if filepath.Base(own[0]) == filepath.Base(rest[0]) && slices.Equal(own[1:], rest[1:]) {
				return true
			}
		}
		if skip == 0 && len(start) > 0 && filepath.Base(own[0]) == filepath.Base(start[0]) {
			return false // the same program with other arguments
		}
	}
	return false
}
