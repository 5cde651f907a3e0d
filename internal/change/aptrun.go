package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kasoku/internal/host"
)

// onlyOurs refuses a way back that would touch packages beyond the set, e.g.
// remove what someone has since installed on top.
func (a *packageAct) onlyOurs(ctx context.Context, args []string) error {
	would, err := a.simulate(ctx, args)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range a.c.Package.Set {
		known[p.Name] = true
	}
	var more []string
	for _, w := range would {
		if !known[w.Name] {
			more = append(more, w.Name)
		}
	}
	if len(more) > 0 {
		return fmt.Errorf("%s: going back would also change %s, which came later and builds on it; remove or pin that by hand, then recover again", a.subject(), strings.Join(more, ", "))
	}
	return nil
}

// purge removes the configuration of packages that were not there at all.
func (a *packageAct) purge(ctx context.Context) error {
	now, err := a.states(ctx)
	if err != nil {
		return err
	}
	argv := []string{"dpkg", "--purge"}
	for _, p := range a.c.Package.Set {
		if p.Before == "" && !p.Residual && now[p.Name].residual {
			argv = append(argv, p.Name)
		}
	}
	if len(argv) == 2 {
		return nil
	}
	return a.aptRun(ctx, false, argv...)
}

// restoreMarks says to apt again which packages were installed by need.
func (a *packageAct) restoreMarks(ctx context.Context) error {
	for _, verb := range []string{"auto", "manual"} {
		argv := []string{"apt-mark", verb}
		for _, p := range a.c.Package.Set {
			if p.Before != "" && p.Auto == (verb == "auto") {
				argv = append(argv, p.Name)
			}
		}
		if len(argv) == 2 {
			continue
		}
		if _, err := a.dpkg(ctx, argv...); err != nil {
			return err
		}
	}
	return nil
}

// aptGet runs apt-get for its effect.
func (a *packageAct) aptGet(ctx context.Context, args ...string) error {
	return a.aptRun(ctx, a.c.Package.Start, append(append([]string{"apt-get"}, aptArgs...), args...)...)
}

// aptRun runs apt-get or dpkg so that packages ask nothing and, unless start is
// set, start no service.
func (a *packageAct) aptRun(ctx context.Context, start bool, argv ...string) error {
	if err := a.unlocked(ctx); err != nil {
		return err
	}
	if !start {
		err := a.h.ReplaceFile(ctx, policyFile, policy, host.Replace{Mode: 0o755, UID: -1, GID: -1})
		if err != nil && !errors.Is(err, host.ErrChanged) { // the operator has a policy: it counts
			return fmt.Errorf("%s: %w", a.subject(), err)
		}
		defer func() {
			if err := a.sweep(context.WithoutCancel(ctx)); err != nil {
				a.x.say("%v", err)
			}
		}()
	}
	r, err := a.h.Run(ctx, host.Command{Argv: argv, Timeout: aptTimeout,
		Env: []string{"LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical", "APT_LISTCHANGES_FRONTEND=none", "NEEDRESTART_SUSPEND=1", "UCF_FORCE_CONFFOLD=1", a.mark()}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", commandLine(argv), r.ExitCode, tail(r))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.subject(), err)
	}
	return nil
}

// sweep removes Kasoku's own policy-rc.d and packages laid down for the way
// back, which a kill may have left. Someone else's policy stays.
func (a *packageAct) sweep(ctx context.Context) error {
	if err := a.unlocked(ctx); err != nil { // a dpkg that still works needs it
		return err
	}
	err := a.h.Remove(ctx, policyFile, host.HashOf(policy))
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, host.ErrChanged) {
		err = a.h.RemoveDir(ctx, a.debDir())
	}
	if err != nil {
		return fmt.Errorf("%s: remove what a killed Kasoku left: %w", a.subject(), err)
	}
	return nil
}
