package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Unit says how a systemd unit or a supervisor's program is to be.
type Unit struct {
	Name string `json:"name"`
	// Variant is the implementation of the change's service (stack.Variant) that
	// it is: it is started and stopped as that, with its drain and until it is
	// healthy. "" for other units.
	Variant string `json:"variant,omitempty"`
	// Supervisor is the configuration file of the supervisord whose program
	// this is; "" for a unit of systemd.
	Supervisor string `json:"supervisor,omitempty"`
	// Before is what prepare found. In After an empty field leaves that as it is.
	Before UnitState `json:"before"`
	After  UnitState `json:"after"`
	// Links are the symlinks "path -> target" through which systemd knew the
	// unit before. The executor fills it in.
	Links []string `json:"links,omitempty"`
}

// UnitState is what survives a boot and what is so now.
type UnitState struct {
	// Enabled is what systemctl is-enabled prints; After takes enabled,
	// disabled or masked. A supervisor's program has none.
	Enabled string `json:"enabled,omitempty"`
	// Active is active or inactive; failed and exited count as inactive.
	Active string `json:"active,omitempty"`
}

func (s UnitState) String() string {
	if s.Enabled == "" || s.Active == "" {
		return s.Enabled + s.Active
	}
	return s.Enabled + " and " + s.Active
}

func (u *Unit) what() string {
	if u != nil && u.Supervisor != "" {
		return "program"
	}
	return "unit"
}

func (u *Unit) title() string {
	if u == nil {
		return "unit (none given)"
	}
	return "make " + u.what() + " " + u.Name + " " + u.After.String()
}

// unitAct enables, disables, masks, starts or stops.
type unitAct struct{ work }

// systemdDir holds the administrator's units and the links of enabled ones.
const systemdDir = "/etc/systemd/system"

// unitTimeout of starting or stopping: systemd's own limit is 90 s by default.
const unitTimeout = 2 * time.Minute

var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@-]*$`)

func (a *unitAct) prepare(ctx context.Context) ([][]byte, error) {
	u := a.c.Unit
	if u == nil || !unitName.MatchString(u.Name) || u.After == (UnitState{}) {
		return nil, fmt.Errorf("%s: it needs the name of a unit and what it is to be", u.title())
	}
	n := *u // the plan's own stays as it is
	u, a.c.Unit = &n, &n
	if !slices.Contains([]string{"", "active", "inactive"}, u.After.Active) || !slices.Contains([]string{"", "enabled", "disabled", "masked"}, u.After.Enabled) {
		return nil, fmt.Errorf("%s: a unit can be made enabled, disabled or masked, and active or inactive", u.title())
	}
	if u.Supervisor == "" && !strings.Contains(u.Name, ".") {
		return nil, fmt.Errorf("%s: a unit's name has an ending, e.g. %s.service", u.title(), u.Name)
	}
	if u.Supervisor != "" && u.After.Enabled != "" {
		return nil, fmt.Errorf("%s: whether supervisord starts a program by itself is autostart= in its configuration: edit that file instead", u.title())
	}
	if u.After.Enabled == "masked" && u.After.Active == "active" {
		return nil, fmt.Errorf("%s: a masked unit cannot be started", u.title())
	}
	now, err := a.state(ctx)
	if err != nil {
		return nil, err
	}
	if planned := u.Before; planned.Enabled != "" && planned.Enabled != now.Enabled || planned.Active != "" && planned.Active != now.Active {
		return nil, fmt.Errorf("%s: %w: it is %s, the plan saw %s", a.subject(), ErrChanged, now, planned)
	}
	u.Before = now
	if u.After.Enabled == "" {
		u.After.Enabled = now.Enabled
	}
	if u.After.Active == "" {
		u.After.Active = now.Active
	}
	if u.After == u.Before {
		return nil, fmt.Errorf("%s: %w: it is %s already", a.subject(), ErrChanged, now)
	}
	if err := a.canSwitch(ctx); err != nil {
		return nil, err
	}
	u.Links, err = a.links(ctx)
	return nil, err
}

// canSwitch refuses what systemctl would refuse, or what it could not take back.
func (a *unitAct) canSwitch(ctx context.Context) error {
	u := a.c.Unit
	if u.Before.Enabled == u.After.Enabled {
		return nil
	}
	switch u.Before.Enabled {
	case "enabled", "disabled", "masked":
	case "static", "indirect", "generated":
		if u.After.Enabled != "masked" {
			return fmt.Errorf("%s: it is %s: it has no [Install] section of its own, so it can only be masked", a.subject(), u.Before.Enabled)
		}
	default:
		return fmt.Errorf("%s: it is %s, which systemctl could not make it again; change that by hand", a.subject(), u.Before.Enabled)
	}
	if u.After.Enabled == "masked" {
		if _, err := a.h.Stat(ctx, path.Join(systemdDir, u.Name)); err == nil {
			return fmt.Errorf("%s: it cannot be masked, because its file is itself in %s, where the mask would have to stand; disable it instead", a.subject(), systemdDir)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// systemctl runs it and returns what it printed. Exit statuses of is-enabled
// and is-active are answers, not failures.
func (a *unitAct) systemctl(ctx context.Context, args ...string) (host.Result, error) {
	argv := append([]string{"systemctl", "--no-ask-password", "--quiet"}, args...)
	if strings.HasPrefix(args[0], "is-") {
		argv = append([]string{"systemctl"}, args...)
	}
	if a.c.Unit.Supervisor != "" {
		argv = append([]string{"supervisorctl", "-c", a.c.Unit.Supervisor}, args...)
	}
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Timeout: unitTimeout, Env: []string{"LC_ALL=C"}})
	if err != nil {
		return r, fmt.Errorf("%s: %w", a.subject(), err)
	}
	return r, nil
}

// act runs systemctl or supervisorctl for its effect.
func (a *unitAct) act(ctx context.Context, verb string) error {
	if a.c.Unit.Variant != "" && (verb == "start" || verb == "stop") && a.x.options.Variant != nil {
		return a.turn(ctx, a.c.Unit.Variant, verb == "start")
	}
	r, err := a.systemctl(ctx, verb, a.c.Unit.Name)
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%s %s: exit status %d: %s", verb, a.subject(), r.ExitCode, tail(r))
	}
	return err
}

// state reads both sides of a unit's state.
func (a *unitAct) state(ctx context.Context) (UnitState, error) {
	if a.c.Unit.Supervisor != "" {
		return a.programState(ctx)
	}
	enabled, err := a.systemctl(ctx, "is-enabled", a.c.Unit.Name)
	if err != nil {
		return UnitState{}, err
	}
	word := strings.TrimSpace(string(enabled.Stdout))
	if word == "" || word == "not-found" {
		return UnitState{}, fmt.Errorf("%s: systemd does not know it: %s", a.subject(), tail(enabled))
	}
	active, err := a.systemctl(ctx, "is-active", a.c.Unit.Name)
	if err != nil {
		return UnitState{}, err
	}
	s := UnitState{Enabled: word}
	switch now := strings.TrimSpace(string(active.Stdout)); now {
	case "active", "reloading", "activating":
		s.Active = "active"
	case "inactive", "failed", "deactivating", "unknown": // a masked one that is not loaded is unknown to old versions
		s.Active = "inactive"
	default:
		return UnitState{}, fmt.Errorf("%s: systemctl is-active says %q, which tells neither that it runs nor that it does not: %s", a.subject(), now, tail(active))
	}
	return s, nil
}

// programState asks supervisord.
func (a *unitAct) programState(ctx context.Context) (UnitState, error) {
	r, err := a.systemctl(ctx, "status", a.c.Unit.Name)
	if err != nil {
		return UnitState{}, err
	}
	f := strings.Fields(string(r.Stdout))
	if len(f) >= 2 && f[0] == a.c.Unit.Name {
		switch f[1] {
		case "RUNNING", "STARTING":
			return UnitState{Active: "active"}, nil
		case "STOPPED", "EXITED", "FATAL", "BACKOFF", "STOPPING":
			return UnitState{Active: "inactive"}, nil
		}
	}
	return UnitState{}, fmt.Errorf("%s: supervisorctl status does not tell its state: %s", a.subject(), tail(r))
}

func (a *unitAct) look(ctx context.Context) (sight, error) {
	now, err := a.state(ctx)
	if err != nil {
		return sight{}, err
	}
	u := a.c.Unit
	s := sight{got: now.String(), before: now == u.Before, after: now == u.After}
	if s.before {
		links, err := a.links(ctx)
		if err != nil {
			return sight{}, err
		}
		if !slices.Equal(links, u.Links) {
			s.before, s.got = false, now.String()+" through other links in "+systemdDir
		}
	}
	return s, nil
}

// claim: between the steps there and back a unit has one side as before and
// the other as after, and while it is unmasked it may be what it was under the
// mask.
func (a *unitAct) claim(ctx context.Context, s sight) (sight, error) {
	now, err := a.state(ctx)
	if err != nil {
		return s, err
	}
	u := a.c.Unit
	enabled := now.Enabled == u.Before.Enabled || now.Enabled == u.After.Enabled || u.Before.Enabled == "masked" || u.After.Enabled == "masked"
	active := now.Active == u.Before.Active || now.Active == u.After.Active
	s.after = enabled && active
	return s, nil
}

func (a *unitAct) write(ctx context.Context) (string, error) {
	return "", a.make(ctx, a.c.Unit.After)
}

func (a *unitAct) restore(ctx context.Context) error {
	if err := a.make(ctx, a.c.Unit.Before); err != nil {
		return err
	}
	return a.restoreLinks(ctx)
}

// make brings the unit to a state: it is stopped before it is disabled, and
// enabled before it is started.
func (a *unitAct) make(ctx context.Context, want UnitState) error {
	now, err := a.state(ctx)
	if err != nil {
		return err
	}
	if want.Active == "inactive" && now.Active == "active" {
		if err := a.act(ctx, "stop"); err != nil {
			return err
		}
	}
	if now.Enabled == "masked" && want.Enabled != "masked" {
		if err := a.act(ctx, "unmask"); err != nil {
			return err
		}
		if now, err = a.state(ctx); err != nil {
			return err
		}
	}
	if verb := map[string]string{"enabled": "enable", "disabled": "disable", "masked": "mask"}[want.Enabled]; verb != "" && now.Enabled != want.Enabled {
		if err := a.act(ctx, verb); err != nil {
			return err
		}
	}
	if want.Active == "active" && now.Active == "inactive" {
		if err := a.act(ctx, "start"); err != nil {
			return err
		}
	}
	return a.settled(ctx, want)
}

// settled checks the result: systemctl start of a simple service succeeds even
// if the service ends at once, and supervisorctl reports some failures only in
// words.
func (a *unitAct) settled(ctx context.Context, want UnitState) error {
	now, err := a.state(ctx)
	if err == nil && now != want {
		err = fmt.Errorf("%s: it was to be %s, it is %s", a.subject(), want, now)
	}
	return err
}

func (a *unitAct) conflict(s sight) *ConflictError {
	return a.differs(a.c.Unit.Before.String(), a.c.Unit.After.String(), s.got)
}
