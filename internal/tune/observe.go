package tune

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sort"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Observe makes a diagnostic run: it takes a snapshot, sets the statement log
// through the journal, runs the load, takes the instruments away again and
// diagnoses what was seen.
func Observe(ctx context.Context, exec *change.Executor, b *Bench, workload int, label string, ui Reporter) (*store.Run, *evidence.Snapshot, error) {
	snap, err := evidence.Take(ctx, b.Stack, b.Hosts, evidence.TakeOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	b.ConfigHash = snap.Hash()
	run, err := instrumented(ctx, exec, b, snap, workload, label, ui)
	if err != nil {
		return nil, nil, err
	}
	if err := b.Answered(run); err != nil {
		return nil, nil, err
	}
	if b.Foreign() {
		ui.Info("not judged: which files could be served without the application, and whether more users score better; load.command does not tell its answers and has its own users")
	}
	if err := load.ConfirmStatic(ctx, b.loadOptions(workload), run.Evidence.Load.Assets); err != nil {
		return nil, nil, err
	}
	// Again, now that the instruments are gone and the answers are known.
	if snap, err = evidence.Take(ctx, b.Stack, b.Hosts, evidence.TakeOptions{Assets: run.Evidence.Load.Assets}); err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	run.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: b.Stack, Evidence: run.Evidence, Snapshot: snap})
	if err != nil {
		return nil, nil, err
	}
	return run, snap, b.Store.SaveRun(run)
}

// instrumented runs the load with every database's statement log on.
func instrumented(ctx context.Context, exec *change.Executor, b *Bench, snap *evidence.Snapshot, workload int, label string, ui Reporter) (run *store.Run, err error) {
	if cs := instruments(b.Stack, snap); len(cs) > 0 && exec != nil {
		tx, aerr := exec.Apply(ctx, change.Intent{Title: "Record statements for a diagnostic run", Session: b.Session, Changes: cs})
		if aerr != nil {
			if ctx.Err() != nil || len(exec.Pending()) > 0 {
				return nil, aerr
			}
			ui.Warn("statements cannot be recorded: "+aerr.Error(), "the run goes on without them; findings about statements are not judged")
		} else {
			defer func() {
				back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
				defer cancel()
				err = errors.Join(err, exec.Revert(back, tx.ID))
			}()
		}
	}
	return b.Run(ctx, RunOptions{Kind: store.Diagnostic, Label: label, Workload: workload})
}

// instruments plans the statement log of every database: a folder of its own
// for the log, then the variables, the switch last.
func instruments(st *stack.Stack, snap *evidence.Snapshot) []change.Change {
	var out []change.Change
	for _, svc := range st.OfKind(stack.MariaDB, stack.MySQL) {
		db := snap.Databases[svc.Name]
		if db == nil {
			continue
		}
		hostName := svc.Host
		if hostName == "" {
			hostName = "local"
		}
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
	return out
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
