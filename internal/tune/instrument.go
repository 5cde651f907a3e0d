package tune

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// instrument is what a diagnostic run sets up on the target, as one
// transaction, and puts back when it ends.
type instrument struct {
	title   string // of the transaction
	changes []change.Change
	// fails and without are told when it cannot be set up.
	fails, without string
	// not says why it could not even be planned; "" it could.
	not string
	// watch tells the collectors what it put in place, and also that it was not
	// planned; nil: they find it by themselves.
	watch func(*evidence.CollectorOptions)
}

// planned adds the instrument to out: if there is something to change, or, with
// the reason, if it could not be planned.
func (in instrument) planned(out []instrument, err error) []instrument {
	if err != nil {
		in.not = err.Error()
	}
	if err == nil && len(in.changes) == 0 {
		return out
	}
	return append(out, in)
}

// instrumentPlans are all kinds of instruments. They are pure. Each is planned
// when those before are in place.
var instrumentPlans = []func(b *Bench, snap *evidence.Snapshot) []instrument{statementLog, accessLog, phpProfiles, fpmStatus, stubStatus, opcacheStatus}

// place sets instruments up, each in a transaction of its own, so that one that
// cannot be had does not cost the others. away takes them away again, the last
// one first; it is to be called also after an error, and when ctx is over.
func place(ctx context.Context, exec *change.Executor, b *Bench, snap *evidence.Snapshot, plans []func(*Bench, *evidence.Snapshot) []instrument, ui Reporter) (watch []func(*evidence.CollectorOptions), away func() error, err error) {
	var placed []int64
	away = func() (err error) {
		for _, id := range slices.Backward(placed) {
			back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
			err = errors.Join(err, exec.Revert(back, id))
			cancel()
		}
		return err
	}
	if exec == nil {
		return nil, away, nil
	}
	for _, plan := range plans {
		for _, in := range plan(b, snap) {
			tx, is, err := in.apply(ctx, exec, b.Stamp.Session, ui)
			if err != nil {
				return nil, away, err
			}
			if !is {
				continue
			}
			if tx != 0 {
				placed = append(placed, tx)
				snap = withEdits(snap, in.changes)
			}
			if in.watch != nil {
				watch = append(watch, in.watch)
			}
		}
	}
	return watch, away, nil
}

// apply puts an instrument in place; tx is 0 if nothing had to be changed for it. is
// says whether it is there now: one that cannot be had is told. It is an error if it
// was interrupted, or left something to be put back.
func (in instrument) apply(ctx context.Context, exec *change.Executor, session int64, ui Reporter) (tx int64, is bool, err error) {
	if in.not != "" {
		ui.Warn(in.fails+": "+in.not, "the run goes on without; "+in.without)
	}
	if len(in.changes) == 0 {
		return 0, true, nil
	}
	pending := len(exec.Pending())
	applied, err := exec.Apply(ctx, change.Intent{Title: in.title, Session: session, Changes: in.changes})
	if err != nil && (ctx.Err() != nil || len(exec.Pending()) > pending) {
		return 0, false, err
	}
	if err != nil {
		ui.Warn(in.fails+": "+err.Error(), "the run goes on without; "+in.without)
		return 0, false, nil
	}
	return applied.ID, true, nil
}

// statementLog plans the statement log of every database: a folder of its own
// for the log, then the variables, the switch last.
func statementLog(b *Bench, snap *evidence.Snapshot) []instrument {
	var out []change.Change
	for _, svc := range b.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		db := snap.Databases[svc.Name]
		if db == nil {
			continue
		}
		hostName := svc.HostName()
		user := snap.Users[hostName+"/"+svc.Name]
		dir := path.Join(firstDir(db.Variables["tmpdir"]), fmt.Sprintf("kasoku-%s-%d", svc.Name, time.Now().UnixNano()))
		out = append(out, change.Change{Kind: change.KindDir, Host: hostName, Path: dir,
			After: &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID}, Why: "a folder for the statement log of a diagnostic run"})
		vars := evidence.SlowLogVariables(db, path.Join(dir, "statements.log"))
		names := make([]string, 0, len(vars))
		for n := range vars {
			names = append(names, n)
		}
		sort.Slice(names, func(i, j int) bool {
			if a, b := names[i] == "slow_query_log", names[j] == "slow_query_log"; a != b {
				return b
			}
			return names[i] < names[j]
		})
		for _, n := range names {
			out = append(out, change.Change{Kind: change.KindVariable, Host: hostName, Service: svc.Name,
				Variable: n, BeforeValue: db.Variables[n], AfterValue: vars[n], Why: "record every statement during a diagnostic run"})
		}
	}
	return []instrument{{title: "Record statements for a diagnostic run", changes: out,
		fails: "statements cannot be recorded", without: "findings about statements are not judged"}}
}

// firstDir: tmpdir may be a list (MariaDB manual, "tmpdir").
func firstDir(list string) string {
	for i := range len(list) {
		if list[i] == ':' {
			return list[:i]
		}
	}
	if list == "" {
		return "/tmp"
	}
	return list
}
