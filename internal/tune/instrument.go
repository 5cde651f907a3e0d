package tune

import (
	"fmt"
	"path"
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
}

// instrumentPlans are all kinds of instruments. They are pure.
var instrumentPlans = []func(b *Bench, snap *evidence.Snapshot) []instrument{statementLog, accessLog, phpProfiles}

// instruments plans all of them.
func instruments(b *Bench, snap *evidence.Snapshot) []instrument {
	var out []instrument
	for _, plan := range instrumentPlans {
		out = append(out, plan(b, snap)...)
	}
	return out
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
