package main

import (
	"context"
	"os"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// GuardCmd runs on a host and puts it back when Kasoku is silent. Kasoku itself
// starts it; a person may run `guard revert` there.
type GuardCmd struct {
	What string `arg:"" enum:"arm,watch,boot,revert" help:"arm, watch: started by Kasoku. boot: started by the host's init. revert: put back now what is pending."`
	Dir  string `arg:"" help:"The project's folder on this host, e.g. /var/lib/kasoku/ID."`
}

// Help is shown below the flags.
func (GuardCmd) Help() string {
	return "The host's own revert: docs/explanation/journal.md tells how it works.\n\nExample:\n  kasoku guard revert /var/lib/kasoku/0123456789abcdef"
}

// Run implements the command.
func (c *GuardCmd) Run(ctx context.Context, a *App) error {
	err := change.Guard(ctx, c.What, c.Dir, os.Stdin, a.Err, func(s *stack.Stack, here string, logins map[string]change.Login) change.Options {
		for name, l := range logins {
			if svc := s.Service(name); svc != nil && svc.Login != nil {
				svc.Login.Give(l.User, l.Password, l.Endpoint)
			}
		}
		local := host.NewLocal()
		return tune.ExecutorOptions(c.Dir, s, map[string]host.Host{stack.LocalHost: local, here: local})
	})
	if err != nil {
		return ui.Coded(ui.NeedsRecovery, err, "look at README.txt in its journal folder, or run `kasoku recover` where Kasoku runs")
	}
	return nil
}

// stateDirEnv names the folder for Kasoku's state on hosts, instead of
// /var/lib/kasoku. Tests need one each.
const stateDirEnv = "KASOKU_STATE_DIR"

func (p *Project) stateDir() string { return os.Getenv(stateDirEnv) }

// safety makes the hosts keep copies of the journal and put themselves back.
func (p *Project) safety(u *ui.UI) func(*change.Options) {
	return func(o *change.Options) {
		o.Unreachable = p.Unreachable
		o.Warn = func(s string) { u.Warn(s, "") }
		o.Target = &change.TargetOptions{Name: p.Stack.Name, Base: p.stateDir(), RevertAfter: p.Stack.Tune.RevertAfter,
			Login: func(ctx context.Context, service string) (change.Login, error) {
				svc := p.Stack.Service(service)
				user, password, endpoint, err := svc.Login.Resolve(ctx, p.Hosts[svc.HostName()])
				return change.Login{User: user, Password: password, Endpoint: endpoint}, err
			}}
	}
}
