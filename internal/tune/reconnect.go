package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

// reconnect restarts the services that hold connections to a database since before
// its statements were recorded: a session has its own long_query_time from the moment
// at which it connects, so nothing that they ask is in the log (a Starman, Puma or
// Node with one connection for life, a pool). again: they were restarted, and the run
// is to be made once more. What may not be restarted is told.
func (b *Bench) reconnect(ctx context.Context, exec *change.Executor, run *store.Run, ui Reporter) (again bool, err error) {
	if b.Instruments.restarts == nil || exec == nil {
		return false, nil
	}
	names := b.holders(oldConnections(run))
	if len(names) == 0 {
		return false, nil
	}
	restarts, not := b.restartsOf(names)
	for _, x := range not {
		if slices.Contains(names, x.Service) {
			ui.Warn(fmt.Sprintf("%s holds connections to the database since before its statements were recorded, and may not be restarted: %s", x.Service, x.Why),
				"what it asks is not judged; restart it by hand while `kasoku tune` makes a diagnostic run, or permit it")
		}
	}
	if len(restarts) == 0 {
		return false, nil
	}
	text := servicesOf(restarts)
	ui.Info(fmt.Sprintf("most statements came by connections that are older than their record: %s is restarted, so that it connects anew, and the run is made again", text))
	failed, err := b.restartNow(ctx, exec, "Restart "+text+", so that its statements are recorded", restarts)
	if failed != nil {
		ui.Warn(fmt.Sprintf("%s could not be restarted: %v", text, failed), "what it asks is not judged")
	}
	return failed == nil && err == nil, err
}

// restartsOf are those of a session's restarts that are of these services.
func (b *Bench) restartsOf(names []string) (restarts []change.Change, not []store.NotRestarted) {
	restarts, not = b.Instruments.restarts()
	return slices.DeleteFunc(restarts, func(c change.Change) bool { return !slices.Contains(names, c.Service) }), not
}

// oldConnections are the databases whose statements were not recorded for that reason.
func oldConnections(run *store.Run) []string {
	var out []string
	for _, h := range run.Evidence.Health {
		if h.OldConnections != "" {
			out = append(out, h.OldConnections)
		}
	}
	return out
}

// holders are the services with processes of their own that talk to one of the
// databases: applications, and what applications run in.
func (b *Bench) holders(databases []string) []string {
	var out []string
	for i := range b.Stack.Services {
		svc := &b.Stack.Services[i]
		if !slices.ContainsFunc(databases, func(db string) bool { return slices.Contains(svc.TalksTo, db) }) {
			continue
		}
		name := svc.Name
		if svc.RunsIn != "" {
			name = svc.RunsIn
		}
		if in := b.Stack.Service(name); in != nil && !in.IsDatabase() && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// forget restarts them once more where the log is on as found: connections that were
// made while all statements were recorded would go on to be.
func (b *Bench) forget(ctx context.Context, exec *change.Executor, snap *evidence.Snapshot, run *store.Run) error {
	on := slices.DeleteFunc(oldConnections(run), func(db string) bool {
		d := snap.Databases[db]
		return d == nil || d.Variables["slow_query_log"] != "ON"
	})
	names := b.holders(on)
	restarts, _ := b.restartsOf(names)
	if len(restarts) == 0 {
		return nil
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	tx, err := exec.Apply(back, change.Intent{Title: "Restart " + strings.Join(names, ", ") + ", so that its statements are recorded as before", Session: b.Stamp.Session, Changes: restarts})
	if err != nil {
		return err
	}
	return exec.Keep(back, tx.ID)
}
