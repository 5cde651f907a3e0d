package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// afterRestart restarts every service that can be, says which could not, and
// measures again: what is kept must not live in a process's memory only.
func (t *Tuner) afterRestart(ctx context.Context) error {
	if t.Options.NoRestart {
		return nil
	}
	restarts, not := t.restartable()
	t.session.NotRestarted = not
	for _, x := range not {
		t.UI.Info(fmt.Sprintf("%s is not restarted: %s", x.Service, x.Why))
	}
	if len(restarts) == 0 {
		return nil
	}
	title := "Restart every service"
	if len(not) > 0 {
		title = "Restart every service that can be restarted"
	}
	t.UI.Step(title + " and measure again")
	if err := t.restartAll(ctx, title, restarts); err != nil {
		return err
	}
	scores, err := t.measure(ctx, "after a restart", 1)
	if err != nil {
		return err
	}
	if scores[0] < restartWorse*t.session.Final { // by chance, or it lost something
		again, err := t.measure(ctx, "after a restart", 1)
		if err != nil {
			return err
		}
		scores = append(scores, again...)
	}
	t.session.AfterRestart = level(scores)
	return nil
}

// restartWorse is the share of the final score below which the score after a
// restart is looked at twice: two runs of one state differ by about 5 %.
const restartWorse = 0.95

// restartable are restarts of all services that the stack can control, however
// it is told to (control.method, unit, program, or what binary and config say),
// and those that it cannot or may not, with the reason.
func (t *Tuner) restartable() (restarts []change.Change, not []store.NotRestarted) {
	for _, svc := range t.Stack.Services {
		if svc.RunsIn != "" {
			continue // it has no processes of its own
		}
		if svc.SpareFor != "" && t.seen.evidence != nil && t.seen.evidence.Services[svc.Name].Processes == 0 {
			not = append(not, store.NotRestarted{Service: svc.Name, Why: "it is spare for " + svc.SpareFor + " and does not run"})
			continue
		}
		if svc.FrontFor != "" && t.seen.evidence != nil && t.seen.evidence.Services[svc.Name].Processes == 0 {
			not = append(not, store.NotRestarted{Service: svc.Name, Why: "it is not in front of " + svc.FrontFor + " and does not run"})
			continue
		}
		why := t.Stack.Regulation.Refuses(nil, nil, []string{svc.Name})
		if why == "" {
			why = t.Rights.Refuses(stack.NeedRestart, svc.Name, "")
		}
		if why != "" {
			not = append(not, store.NotRestarted{Service: svc.Name, Why: why})
			continue
		}
		restarts = append(restarts, change.Change{Kind: change.KindRestart, Host: svc.HostName(), Service: svc.Name, Activate: change.Restart})
	}
	return restarts, not
}

// restartAll restarts services, databases first, front doors last.
func (t *Tuner) restartAll(ctx context.Context, title string, restarts []change.Change) error {
	tx, err := t.Exec.Apply(ctx, change.Intent{Title: title, Session: t.session.ID, Changes: restarts})
	if err != nil {
		return fmt.Errorf("restart every service: %w", err)
	}
	return t.Exec.Keep(ctx, tx.ID)
}

// restartApps restarts the applications, and what they run in, so that what they draw at
// their start is seen. false: none may be.
func (t *Tuner) restartApps(ctx context.Context) (bool, error) {
	if t.Options.NoRestart {
		return false, nil
	}
	restarts, _ := t.restartable()
	apps := appServers(t.Stack)
	restarts = slices.DeleteFunc(restarts, func(c change.Change) bool { return !slices.Contains(apps, c.Service) })
	if len(restarts) == 0 {
		return false, nil
	}
	t.UI.Info("answers differ from those as found: the applications are restarted once more, to see what they draw at each start")
	return true, t.restartAll(ctx, "Restart the applications, to see what they draw at their start", restarts)
}

// appServers are the services in whose processes applications run.
func appServers(st *stack.Stack) (names []string) {
	for _, app := range st.OfKind(stack.App, stack.PHPFPM) {
		name := app.Name
		if app.RunsIn != "" {
			name = app.RunsIn
		}
		if st.Service(name) != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// restartNow restarts services, beside changes that are pending, and keeps that. failed says
// why they could not be, where the target is as it was; err where it may not be.
func (b *Bench) restartNow(ctx context.Context, exec *change.Executor, title string, restarts []change.Change) (failed, err error) {
	_, failed, err = applyNow(ctx, exec, change.Intent{Title: title, Session: b.Stamp.Session, Changes: restarts})
	return failed, err
}

// applyNow makes changes beside what is pending, and keeps them. id is 0 where they are not kept;
// failed says why they could not be made, where the target is as it was; err where it may not be.
func applyNow(ctx context.Context, exec *change.Executor, in change.Intent) (id int64, failed, err error) {
	pending := len(exec.Pending())
	tx, err := exec.Apply(ctx, in)
	switch {
	case err != nil && (len(exec.Pending()) > pending || ctx.Err() != nil):
		return 0, nil, err
	case err != nil:
		return 0, err, nil
	}
	if err := exec.Keep(ctx, tx.ID); err != nil {
		return 0, nil, err
	}
	return tx.ID, nil, nil
}

// servicesOf are the names of those that are restarted.
func servicesOf(restarts []change.Change) string {
	var names []string
	for _, c := range restarts {
		names = append(names, c.Service)
	}
	return strings.Join(names, ", ")
}
