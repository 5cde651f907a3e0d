package stack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// supervised is one line of `supervisorctl status`.
type supervised struct {
	name  string // "web", or "group:web" when it is in a group
	state string // STOPPED, STARTING, RUNNING, BACKOFF, STOPPING, EXITED, FATAL, UNKNOWN
	pid   int    // 0 unless it runs
	text  string // what stands behind the state
}

// up reports whether it has, or is about to have, a process.
func (p supervised) up() bool {
	return slices.Contains([]string{"RUNNING", "STARTING", "BACKOFF", "STOPPING"}, p.state)
}

// supervisorStates by supervisor's manual, "Process States".
var supervisorStates = []string{"STOPPED", "STARTING", "RUNNING", "BACKOFF", "STOPPING", "EXITED", "FATAL", "UNKNOWN"}

// parseSupervisorStatus reads what `supervisorctl status` prints, e.g.
// "web   RUNNING   pid 1234, uptime 0:00:05". Other lines are returned as
// complaints: supervisorctl prints its errors on standard output.
func parseSupervisorStatus(r io.Reader) (programs []supervised, complaints []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 2 || !slices.Contains(supervisorStates, f[1]) {
			if len(f) > 0 {
				complaints = append(complaints, lines.Text())
			}
			continue
		}
		p := supervised{name: f[0], state: f[1], text: strings.Join(f[2:], " ")}
		if len(f) > 3 && f[2] == "pid" {
			p.pid, _ = strconv.Atoi(strings.TrimSuffix(f[3], ","))
		}
		programs = append(programs, p)
	}
	return programs, complaints, lines.Err()
}

// supervisorArgv is a call of supervisorctl with the configuration that names
// supervisord's socket.
func (c *Controller) supervisorArgv(ctx context.Context, args ...string) []string {
	argv := []string{"supervisorctl"}
	if f := c.svc.Control.Config; f != "" {
		argv = append(argv, "-c", f)
	}
	return c.privileged(ctx, append(argv, args...))
}

// supervisorctl gives one order. Its exit status alone does not tell: `start`
// of a program that runs already is an error to it.
func (c *Controller) supervisorctl(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	argv := c.supervisorArgv(ctx, args...)
	res, err := c.h.Run(ctx, host.Command{Argv: argv, Timeout: limit})
	if err != nil {
		return "", fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	out := string(res.Stdout) + string(res.Stderr)
	if hint := supervisorDown(out); hint != "" {
		return out, fmt.Errorf("run %s: %w: %s%s", strings.Join(argv, " "), errSupervisorDown, hint, said(out))
	}
	if res.ExitCode != 0 || strings.Contains(out, "ERROR") {
		return out, fmt.Errorf("run %s: exit status %d%s", strings.Join(argv, " "), res.ExitCode, said(out))
	}
	return out, nil
}

// supervisorDown explains supervisorctl's words when it cannot talk to
// supervisord; "" if it can.
func supervisorDown(out string) string {
	switch {
	case strings.Contains(out, "refused connection"), strings.Contains(out, "no such file"), strings.Contains(out, "FileNotFoundError"), strings.Contains(out, "ConnectionRefusedError"):
		return "supervisord does not run, or control.config names another one's socket"
	case strings.Contains(out, "[Errno 13]"), strings.Contains(out, "PermissionError"), strings.Contains(out, "Permission denied"):
		return "supervisord's socket may not be used by this user; run Kasoku as a user who may (chown in [unix_http_server])"
	case strings.Contains(out, "Server requires authentication"):
		return "supervisord asks for a password; give it in [supervisorctl] of the file that control.config names"
	}
	return ""
}

// programs asks supervisord for the service's programs.
func (c *Controller) programs(ctx context.Context) ([]supervised, error) {
	argv := c.supervisorArgv(ctx, "status", c.svc.Control.Program)
	res, err := c.h.Run(ctx, host.Command{Argv: argv})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	out := append(res.Stdout, res.Stderr...)
	found, complaints, err := parseSupervisorStatus(bytes.NewReader(out))
	if err != nil {
		return nil, fmt.Errorf("read what supervisorctl says of %s: %w", c.svc.Control.Program, err)
	}
	if hint := supervisorDown(string(out)); hint != "" {
		return nil, fmt.Errorf("%s%s", hint, said(string(out)))
	}
	if len(complaints) > 0 || len(found) == 0 {
		return nil, fmt.Errorf("supervisord does not know the program %s; `supervisorctl status` lists them%s",
			c.svc.Control.Program, said(strings.Join(complaints, "\n")))
	}
	return found, nil
}

// programMasters are the processes that supervisord started for the service:
// one for each program of a group.
func (c *Controller) programMasters(ctx context.Context) ([]identity, error) {
	found, err := c.programs(ctx)
	if err != nil {
		return nil, err
	}
	var ids []identity
	var states []string
	for _, p := range found {
		states = append(states, p.name+" "+p.state)
		if p.pid == 0 {
			continue
		}
		if proc, err := readProcess(ctx, c.h, p.pid); err == nil && !proc.dead() {
			ids = append(ids, identity{p.pid, proc.started})
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("under supervisor it %w (%s)", ErrNotRunning, strings.Join(states, ", "))
	}
	return ids, nil
}

// supervisorStart brings supervisord up to date with its files, if they
// changed, and starts what does not run.
func (c *Controller) supervisorStart(ctx context.Context) error {
	if _, err := c.supervisorUpdate(ctx); err != nil {
		return err
	}
	return c.startPrograms(ctx)
}

// startPrograms starts those of the service's programs that do not run.
func (c *Controller) startPrograms(ctx context.Context) error {
	found, err := c.programs(ctx)
	if err != nil {
		return err
	}
	order := []string{"start"}
	for _, p := range found {
		if p.state != "RUNNING" && p.state != "STARTING" {
			order = append(order, p.name)
		}
	}
	if len(order) == 1 {
		return nil
	}
	out, err := c.supervisorctl(ctx, c.patience(), order...)
	if err == nil {
		return nil
	}
	failed := order[1]
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(line, ": ERROR"); ok && slices.Contains(order, name) {
			failed = name
			break
		}
	}
	return fmt.Errorf("%w%s", err, c.programTail(ctx, failed))
}

// supervisorUpdate lets supervisord read its files again. If the service's
// group changed, supervisord stops it and starts it anew; updated then is true.
// Other groups whose files changed are left alone: they are not Kasoku's.
func (c *Controller) supervisorUpdate(ctx context.Context) (updated bool, err error) {
	out, err := c.supervisorctl(ctx, c.patience(), "reread")
	if errors.Is(err, errSupervisorDown) {
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("supervisord cannot use its changed configuration, so nothing was stopped: %w", err)
	}
	group, _, _ := strings.Cut(c.svc.Control.Program, ":")
	switch groupNews(out, group) {
	case "changed", "available":
		_, err = c.supervisorctl(ctx, c.stopWait(ctx)+c.patience(), "update", group)
		return err == nil, err
	case "disappeared":
		return false, fmt.Errorf("supervisord's configuration does not name %s any more, so nothing was stopped; write it in, or correct control.program", group)
	}
	return false, nil
}

// groupNews is what `supervisorctl reread` says of one group: available,
// changed, disappeared; "" if nothing is new.
func groupNews(out, group string) string {
	for line := range strings.Lines(out) {
		if name, news, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name == group {
			return news
		}
	}
	return ""
}

// supervisorStop stops every program of the service. That some do not run is no
// error: they are not asked for before, as each call of supervisorctl takes a third of
// a second of CPU (it starts Python).
func (c *Controller) supervisorStop(ctx context.Context) error {
	out, err := c.supervisorctl(ctx, c.stopWait(ctx)+c.patience(), "stop", c.svc.Control.Program)
	if err != nil && onlyStopped(out) {
		return nil
	}
	return err
}

// onlyStopped reports whether all that `supervisorctl stop` complains of are programs
// that do not run.
func onlyStopped(out string) bool {
	complaints := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasSuffix(line, ": stopped"):
		case strings.HasSuffix(line, ": ERROR (not running)"):
			complaints++
		default:
			return false
		}
	}
	return complaints > 0
}

// supervisorRestart stops and starts every program of the service, with its
// configuration as it is now on disk.
func (c *Controller) supervisorRestart(ctx context.Context) error {
	updated, err := c.supervisorUpdate(ctx)
	if err == nil && !updated {
		err = c.supervisorStop(ctx)
	}
	if err != nil {
		return err
	}
	return c.startPrograms(ctx) // update starts only what has autostart
}

// supervisorDefaultStopWait is stopwaitsecs' default: after it supervisord
// kills.
const supervisorDefaultStopWait = 10 * time.Second

// stopWait is the longest stopwaitsecs of the service's group, which bounds how
// long its workers may finish what they do.
func (c *Controller) stopWait(ctx context.Context) time.Duration {
	wait := supervisorDefaultStopWait
	_, name, grouped := strings.Cut(c.svc.Control.Program, ":")
	if !grouped {
		name = c.svc.Control.Program
	}
	for _, s := range c.supervisorSections(ctx) {
		if s.kind != "program" || !grouped && s.name != name {
			continue
		}
		if secs, err := strconv.Atoi(s.keys["stopwaitsecs"]); err == nil {
			wait = max(wait, time.Duration(secs)*time.Second)
		}
	}
	return wait
}

// programTail is the end of what a program wrote, formatted as the tail of an
// error.
func (c *Controller) programTail(ctx context.Context, name string) string {
	ctx = context.WithoutCancel(ctx)
	var text strings.Builder
	for _, channel := range []string{"stderr", "stdout"} {
		argv := c.supervisorArgv(ctx, "tail", "-2048", name, channel)
		res, err := c.h.Run(ctx, host.Command{Argv: argv})
		if err == nil && res.ExitCode == 0 && !strings.Contains(string(res.Stdout), "ERROR") {
			text.Write(res.Stdout)
		}
	}
	if tail := said(text.String()); tail != "" {
		return "\n  its last words" + tail
	}
	return ""
}

// supervisorState is the State of a service under supervisor.
func (c *Controller) supervisorState(ctx context.Context) (State, error) {
	found, err := c.programs(ctx)
	if err != nil {
		return "", err
	}
	state := Stopped
	for _, p := range found {
		switch {
		case p.up():
			return Running, nil
		case p.state == "FATAL" || p.state == "UNKNOWN":
			state = Failed
		}
	}
	return state, nil
}

// errSupervisorDown: supervisorctl cannot talk to supervisord.
var errSupervisorDown = errors.New("supervisord does not answer")

// errNoSupervisorConfig: the file that control.config leaves to supervisorctl
// is not known.
var errNoSupervisorConfig = errors.New("no supervisord.conf was found; write control.config in kasoku.yaml")
