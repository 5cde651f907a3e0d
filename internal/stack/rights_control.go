package stack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// activation asks whether the service can be made to take changes on.
func (p *probe) activation(ctx context.Context, svc *Service) {
	c, err := NewController(p.h, p.s, svc)
	if err != nil || c.choose(ctx) != nil {
		return
	}
	svc = c.svc
	reload := Right{Need: NeedReload, Service: svc.Name, Object: "*", Without: "changes that need a reload"}
	restart := Right{Need: NeedRestart, Service: svc.Name, Object: "*", Without: "changes that need a restart"}
	switch svc.ControlMethod() {
	case MethodSystemd:
		p.unitRights(ctx, c, reload, restart)
	case MethodSupervisor:
		_, err := c.programs(ctx)
		why, grant := "", ""
		if err != nil {
			why = firstLine(err.Error())
			grant = fmt.Sprintf("chown=%s in [unix_http_server] of supervisord.conf", p.me.name)
		}
		p.add(reload, why, grant)
		p.add(restart, why, grant)
	case MethodCommand:
		// They are the operator's own words; whether they work only they tell.
		p.add(reload, p.executable(ctx, svc.Control.Reload), "")
		p.add(restart, p.executable(ctx, svc.Control.Start), "")
	default:
		p.signalRights(ctx, c, reload, restart)
	}
	p.validation(ctx, c)
}

// executable says why a command's program cannot be run; "" if it can, or if
// there is none.
func (p *probe) executable(ctx context.Context, argv []string) string {
	if len(argv) == 0 || !strings.Contains(argv[0], "/") || p.test(ctx, "-x", argv[0]) {
		return ""
	}
	return fmt.Sprintf("%s may not run %s", p.me.name, argv[0])
}

// unitOrders are what Kasoku asks of systemctl about a unit, as sudoers must
// spell them.
func unitOrders(unit string) map[Need][][]string {
	sc := func(args ...string) []string { return append([]string{"systemctl", "--no-ask-password"}, args...) }
	return map[Need][][]string{
		NeedReload:  {sc("reload", unit)},
		NeedRestart: {sc("restart", unit), sc("start", unit), sc("stop", unit), sc("reset-failed", unit), sc("daemon-reload")},
	}
}

func (p *probe) unitRights(ctx context.Context, c *Controller, reload, restart Right) {
	u, err := c.unit(ctx)
	if err == nil {
		err = u.usable()
	}
	if err != nil {
		p.add(reload, firstLine(err.Error()), "")
		p.add(restart, firstLine(err.Error()), "")
		return
	}
	polkit := !p.me.root() && p.polkit(ctx)
	orders := unitOrders(u.name)
	for _, x := range []Right{reload, restart} {
		lacks := ""
		for _, argv := range orders[x.Need] {
			if !p.me.root() && !polkit && !Sudo(ctx, p.h, argv) {
				lacks = strings.Join(argv, " ")
				break
			}
		}
		if lacks == "" {
			p.add(x, "", "")
			continue
		}
		p.add(x, fmt.Sprintf("neither polkit nor sudo lets %s run \"%s\" without a password", p.me.name, lacks), p.sudoers(ctx, orders[x.Need]))
	}
}

// polkit reports whether systemd lets the user manage units (org.freedesktop.
// systemd1.manage-units), without asking anybody.
func (p *probe) polkit(ctx context.Context) bool {
	res, err := p.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", `pkcheck --action-id org.freedesktop.systemd1.manage-units --process $$`}})
	return err == nil && res.ExitCode == 0
}

// sudoers is the command that lets the user give these orders.
func (p *probe) sudoers(ctx context.Context, orders [][]string) string {
	var allowed []string
	for _, argv := range orders {
		if bin := lookUp(ctx, p.h, argv[0]); bin != "" {
			argv = append([]string{bin}, argv[1:]...)
		}
		allowed = append(allowed, strings.Join(argv, " "))
	}
	line := fmt.Sprintf("%s ALL=(root) NOPASSWD: %s", p.me.name, strings.Join(allowed, ", "))
	return fmt.Sprintf("echo '%s' | sudo tee -a /etc/sudoers.d/kasoku", line)
}

// signalRights: a process of one's own can be signalled, and what is started
// again then runs as the same user.
func (p *probe) signalRights(ctx context.Context, c *Controller, reload, restart Right) {
	m, err := c.master(ctx)
	why := ""
	switch {
	case errors.Is(err, ErrNotRunning):
		why = "it does not run"
	case err != nil:
		why = firstLine(err.Error())
	case !p.me.root():
		res, err := p.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", `kill -0 "$1"`, "sh", strconv.Itoa(m.pid)}})
		if err != nil || res.ExitCode != 0 {
			why = fmt.Sprintf("process %d belongs to another user, whom %s may not signal", m.pid, p.me.name)
		}
	}
	grant := ""
	if why != "" && err == nil {
		grant = "run kasoku as the service's user or as root"
	}
	p.add(reload, why, grant)
	if why == "" {
		if _, err := c.startArgv(ctx); err != nil {
			why = firstLine(err.Error())
		}
	}
	p.add(restart, why, grant)
}

// validation asks the service's own checker, which may need more rights than
// reading: nginx -t opens its logs and keys.
func (p *probe) validation(ctx context.Context, c *Controller) {
	x := Right{Need: NeedValidate, Service: c.svc.Name, Object: "*", Without: "changes of its files: they cannot be checked before they are taken on"}
	err := c.check(ctx)
	if err == nil {
		p.add(x, "", "")
		return
	}
	grant := ""
	if !p.me.root() {
		grant = "run kasoku as root, or let " + p.me.name + " read what the checker opens"
	}
	p.add(x, "its checker does not pass the present configuration: "+inOneLine(err.Error()), grant)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, ":")
}

// inOneLine joins the lines of an error and keeps its end, where the cause is.
func inOneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = "…" + strings.ToValidUTF8(s[len(s)-300:], "")
	}
	return s
}
