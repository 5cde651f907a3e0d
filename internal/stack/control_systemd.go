package stack

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// unit is what `systemctl show` says about one unit (org.freedesktop.systemd1(5)).
type unit struct {
	name    string
	load    string // LoadState: loaded, not-found, bad-setting, error, masked
	active  string // ActiveState: active, reloading, inactive, failed, activating, deactivating
	sub     string // SubState, e.g. running, auto-restart
	result  string // Result of the last run: success, exit-code, start-limit-hit, …
	enabled string // UnitFileState: enabled, disabled, static, masked, …
	mainPID int
	status  int      // ExecMainStatus: exit status or signal of the last main process
	cgroup  string   // ControlGroup below the hierarchy's root
	stale   bool     // NeedDaemonReload: the files are newer than what systemd has read
	file    string   // FragmentPath
	reloads bool     // CanReload: the unit has an ExecReload
	dropIns []string // DropInPaths
}

// unitProperties that parseUnit reads.
var unitProperties = []string{"LoadState", "ActiveState", "SubState", "Result", "UnitFileState", "MainPID", "ExecMainStatus",
	"ControlGroup", "NeedDaemonReload", "CanReload", "FragmentPath", "DropInPaths"}

// parseUnit reads what `systemctl show --property=…` prints: one Name=value a
// line. Properties that it does not know are left out.
func parseUnit(r io.Reader) (unit, error) {
	var u unit
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		switch name {
		case "LoadState":
			u.load = value
		case "ActiveState":
			u.active = value
		case "SubState":
			u.sub = value
		case "Result":
			u.result = value
		case "UnitFileState":
			u.enabled = value
		case "MainPID":
			u.mainPID, _ = strconv.Atoi(value)
		case "ExecMainStatus":
			u.status, _ = strconv.Atoi(value)
		case "ControlGroup":
			u.cgroup = value
		case "NeedDaemonReload":
			u.stale = value == "yes"
		case "CanReload":
			u.reloads = value == "yes"
		case "FragmentPath":
			u.file = value
		case "DropInPaths":
			u.dropIns = strings.Fields(value)
		}
	}
	if err := lines.Err(); err != nil {
		return u, err
	}
	if u.load == "" || u.active == "" {
		return u, fmt.Errorf("systemctl show did not tell LoadState and ActiveState; is systemd running there?")
	}
	return u, nil
}

// describe says the state as a person would.
func (u unit) describe() string {
	s := u.active
	if u.sub != "" && u.sub != u.active {
		s += "/" + u.sub
	}
	if u.result != "" && u.result != "success" {
		s += ", " + u.result
		if u.result == "exit-code" {
			s += " " + strconv.Itoa(u.status)
		}
	}
	return s
}

// usable says why the unit cannot be started at all; nil if it can.
func (u unit) usable() error {
	switch u.load {
	case "loaded":
		return nil
	case "not-found":
		return fmt.Errorf("there is no unit %s; `systemctl list-unit-files` lists them", u.name)
	case "masked":
		return fmt.Errorf("unit %s is masked, so systemd refuses to start it; `systemctl unmask %s` allows it", u.name, u.name)
	}
	return fmt.Errorf("systemd could not read unit %s (%s); `systemd-analyze verify %s` tells why", u.name, u.load, u.name)
}

// unit asks systemd for the service's unit. What cannot be started at all is
// no error here.
func (c *Controller) unit(ctx context.Context) (unit, error) {
	name := c.svc.Control.Unit
	res, err := run(ctx, c.h, "", 0, "systemctl", "--no-pager", "show", "--property="+strings.Join(unitProperties, ","), name)
	if err != nil {
		return unit{}, err
	}
	u, err := parseUnit(bytes.NewReader(res.Stdout))
	u.name = name
	if err != nil {
		return u, fmt.Errorf("ask systemd for unit %s: %w", name, err)
	}
	return u, nil
}

// systemctl gives one order about the service's unit.
func (c *Controller) systemctl(ctx context.Context, limit time.Duration, args ...string) error {
	argv := append([]string{"systemctl", "--no-ask-password"}, args...)
	_, err := run(ctx, c.h, "", limit, c.privileged(ctx, argv)...)
	return err
}

// order brings systemd up to date with the unit's files and gives the order
// (start, restart, stop). A unit that was started too often in a short time
// (start-limit-hit, systemd.unit(5) StartLimitBurst) is let start once more:
// experiments restart a service more often than people do.
func (c *Controller) order(ctx context.Context, limit time.Duration, verb string) error {
	u, err := c.unit(ctx)
	if err != nil {
		return err
	}
	if u, err = c.refreshed(ctx, u); err != nil {
		return err
	}
	if verb == "stop" {
		return c.systemctl(ctx, limit, "stop", u.name)
	}
	if err := u.usable(); err != nil {
		return err
	}
	if u.active == "failed" {
		if err := c.systemctl(ctx, 0, "reset-failed", u.name); err != nil {
			return err
		}
	}
	err = c.systemctl(ctx, limit, verb, u.name)
	if err == nil {
		return nil
	}
	now, e := c.unit(ctx)
	if e != nil {
		return err
	}
	if now.result == "start-limit-hit" {
		if e := c.systemctl(ctx, 0, "reset-failed", u.name); e != nil {
			return fmt.Errorf("%w; it was started too often (start-limit-hit), and that could not be reset: %w", err, e)
		}
		if err = c.systemctl(ctx, limit, "start", u.name); err == nil {
			return nil
		}
		if again, e := c.unit(ctx); e == nil {
			now = again
		}
	}
	return fmt.Errorf("%w\n  unit %s is now %s", err, u.name, now.describe())
}

// dropInRoots are where administrators and Kasoku write units and drop-ins.
var dropInRoots = []string{"/etc/systemd/system", "/run/systemd/system"}

// newDropIns reports whether there are drop-ins that systemd has not read.
// NeedDaemonReload does not tell about the first one of a unit: systemd looks
// for them only in folders that it knew when it last read all units.
func (c *Controller) newDropIns(ctx context.Context, u unit) bool {
	for _, root := range dropInRoots {
		found, err := c.h.List(ctx, root+"/"+UnitName(u.name)+".d")
		if err != nil {
			continue
		}
		for _, f := range found {
			if strings.HasSuffix(f.Path, ".conf") && !slices.Contains(u.dropIns, f.Path) {
				return true
			}
		}
	}
	return false
}

// mayBeOlder reports whether a file of the unit is one that Kasoku or a person writes. It
// may have been put back with the time that it had before, and NeedDaemonReload tells only
// of files that are newer than what systemd has read (systemd 252, core/unit.c,
// fragment_mtime_newer): the unit would go on as it was changed.
func (u unit) mayBeOlder() bool {
	for _, file := range append([]string{u.file}, u.dropIns...) {
		for _, root := range dropInRoots {
			if strings.HasPrefix(file, root+"/") {
				return true
			}
		}
	}
	return false
}

// refreshed makes systemd read its unit files again if they changed since, or may have
// been, and returns the unit as it is then.
func (c *Controller) refreshed(ctx context.Context, u unit) (unit, error) {
	if !u.stale && !u.mayBeOlder() && !c.newDropIns(ctx, u) {
		return u, nil
	}
	if err := c.systemctl(ctx, 0, "daemon-reload"); err != nil {
		return u, fmt.Errorf("let systemd read the changed files of unit %s: %w", u.name, err)
	}
	return c.unit(ctx)
}

// reloadUnit reloads by the unit's ExecReload, or by the kind's signal where
// the unit has none. It never restarts: kasoku.yaml may forbid that.
func (c *Controller) reloadUnit(ctx context.Context, master identity) error {
	u, err := c.unit(ctx)
	if err != nil {
		return err
	}
	if u, err = c.refreshed(ctx, u); err != nil {
		return err
	}
	if u.reloads {
		return c.systemctl(ctx, c.patience(), "reload", u.name)
	}
	signal, err := c.reloadSignal(ctx)
	if err != nil {
		return fmt.Errorf("unit %s cannot reload (it has no ExecReload); restart it, or write control.reload in kasoku.yaml", u.name)
	}
	return master.signal(ctx, c.h, signal)
}

// unitMaster is the unit's main process. A unit without one (an init script, one whose
// program goes into the background) is looked up in its control group: the oldest of
// those whose parents are outside.
func (c *Controller) unitMaster(ctx context.Context) (identity, error) {
	u, err := c.unit(ctx)
	if err != nil {
		return identity{}, err
	}
	return c.masterOf(ctx, u)
}

func (c *Controller) masterOf(ctx context.Context, u unit) (identity, error) {
	pid := u.mainPID
	if pid == 0 && slices.Contains([]string{"active", "reloading"}, u.active) {
		if tops := c.cgroupTops(ctx, u.cgroup); len(tops) > 0 {
			return tops[0], nil
		}
	}
	if pid != 0 {
		if p, err := readProcess(ctx, c.h, pid); err == nil && !p.dead() {
			return identity{pid, p.started}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return identity{}, err
	}
	return identity{}, fmt.Errorf("unit %s (%s) %w", u.name, u.describe(), ErrNotRunning)
}

// cgroupRoots are where systemd's own hierarchy is mounted: v1 beside the
// controllers, hybrid, v2.
var cgroupRoots = []string{"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}

// cgroupTops are the processes of a control group, and of those within it, whose
// parents are outside of it, the oldest first: a unit's main process, and what it left
// to init (PID 1). None if the group is empty or cannot be read.
func (c *Controller) cgroupTops(ctx context.Context, group string) []identity {
	if group == "" || group == "/" {
		return nil
	}
	for _, root := range cgroupRoots {
		if _, err := c.h.ReadFile(ctx, root+group+"/cgroup.procs"); err != nil {
			continue
		}
		res, err := c.h.Run(ctx, host.Command{Argv: []string{"find", root + group, "-name", "cgroup.procs", "-exec", "cat", "{}", "+"}})
		if err != nil {
			return nil
		}
		in := map[int]*process{}
		for word := range strings.FieldsSeq(string(res.Stdout)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			if p, err := readProcess(ctx, c.h, pid); err == nil && !p.dead() {
				in[pid] = p
			}
		}
		var tops []identity
		for pid, p := range in {
			if in[p.ppid] == nil {
				tops = append(tops, identity{pid, p.started})
			}
		}
		slices.SortFunc(tops, func(a, b identity) int { return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.pid, b.pid)) })
		return tops
	}
	return nil
}

// unitRoots are the unit's main process and what else is topmost in its control group.
func (c *Controller) unitRoots(ctx context.Context) ([]identity, error) {
	u, err := c.unit(ctx)
	if err != nil {
		return nil, err
	}
	m, err := c.masterOf(ctx, u)
	if err != nil {
		return nil, err
	}
	roots := []identity{m}
	for _, id := range c.cgroupTops(ctx, u.cgroup) {
		if id != m {
			roots = append(roots, id)
		}
	}
	return roots, nil
}

// journalCursor is the place in systemd's log after which new lines come; ""
// if there is none or it may not be read.
func (c *Controller) journalCursor(ctx context.Context) string {
	res, err := c.h.Run(ctx, host.Command{Argv: []string{"journalctl", "--lines=0", "--show-cursor", "--no-pager", "--quiet"}})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	_, cursor, _ := strings.Cut(string(res.Stdout), "-- cursor: ")
	return strings.TrimSpace(cursor)
}

// journalTail is what the unit, and systemd about it, wrote since the cursor.
func (c *Controller) journalTail(ctx context.Context) []byte {
	argv := []string{"journalctl", "--unit", c.svc.Control.Unit, "--lines", strconv.Itoa(outputLines), "--no-pager", "--quiet", "--output", "cat"}
	if c.cursor != "" {
		argv = append(argv, "--after-cursor="+c.cursor)
	}
	res, err := c.h.Run(ctx, host.Command{Argv: argv})
	if err != nil || res.ExitCode != 0 {
		return nil
	}
	return res.Stdout
}
