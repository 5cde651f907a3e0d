package tune

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/trace"
)

// longestWalk bounds the walk; what it has seen by then counts.
const longestWalk = 20 * time.Second

func (b *Bench) walkLimit() time.Duration {
	if b.Instruments.Walk > 0 {
		return min(b.Instruments.Walk, longestWalk)
	}
	return longestWalk
}

// walkRounds through every session: the first warms up and is left out; with
// three more, a connection that is new in each is told from one that is new once.
const walkRounds = 4

// walkOnce sends every session of the scenario one request at a time, with the
// databases' general log and the caches' command streams marked between them,
// and sums up what single requests call. Like the statement log, the general
// log is set and taken away through the journal. What cannot be had is told as
// health; an error is one of the target's state.
func walkOnce(ctx context.Context, exec *change.Executor, b *Bench, snap *evidence.Snapshot, ui Reporter) (sum *trace.Summary, health []evidence.Health, err error) {
	const source = "requests one at a time"
	if b.Scenario == nil {
		return nil, []evidence.Health{{Source: source, OK: true, Text: "not judged: load.command's requests cannot be sent one at a time; OpenTelemetry spans (evidence.otlp) tell the same"}}, nil
	}
	if len(b.Stack.OfKind(stack.MariaDB, stack.MySQL, stack.Memcached, stack.Redis)) == 0 {
		return nil, []evidence.Health{{Source: source, OK: true, Text: "not judged: the stack has no database or cache whose calls could be seen"}}, nil
	}
	cs, logs := generalLogs(b, snap)
	if len(cs) > 0 && exec != nil {
		tx, aerr := exec.Apply(ctx, change.Intent{Title: "Record what single requests send to the database", Session: b.Stamp.Session, Changes: cs})
		if aerr != nil {
			if ctx.Err() != nil || len(exec.Pending()) > 0 {
				return nil, nil, aerr
			}
			ui.Warn("what single requests send cannot be recorded: "+aerr.Error(), "the run goes on without; findings about statements per request are not judged")
			logs = nil
		} else {
			defer func() {
				back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
				defer cancel()
				err = errors.Join(err, exec.Revert(back, tx.ID))
			}()
		}
	}
	requests, health, werr := walkRequests(ctx, b, logs)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if werr != nil {
		return nil, append(health, evidence.Health{Source: source, Text: werr.Error()}), nil
	}
	sum = trace.Summarize(requests, trace.Options{Source: "walk"})
	right := 0
	for _, r := range requests {
		if r.Status > 0 && r.Status < 400 {
			right++
		}
	}
	health = append(health, evidence.Health{Source: source, OK: right > 0, Text: fmt.Sprintf("%d requests of every session, one after another, %d of them answered below 400", len(requests), right)})
	return sum, health, nil
}

// walkRequests joins what was sent with what the services behind were asked.
func walkRequests(ctx context.Context, b *Bench, logs map[string]string) ([]trace.Request, []evidence.Health, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, nil, err
	}
	probe, err := evidence.StartProbe(ctx, b.Stack, b.Hosts, evidence.ProbeOptions{GeneralLogs: logs})
	if err != nil {
		return nil, nil, err
	}
	defer probe.Close()
	visits, werr := load.Walk(ctx, b.loadOptions(1), load.WalkOptions{Rounds: walkRounds, Limit: b.walkLimit(), Before: probe.Mark})
	if err := b.noteDrawn(); err != nil {
		return nil, nil, err
	}
	if len(visits) == 0 && werr != nil {
		return nil, nil, werr
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	calls, health, err := probe.Finish(ctx)
	if err != nil {
		return nil, health, err
	}
	if werr != nil && !errors.Is(werr, context.DeadlineExceeded) {
		health = append(health, evidence.Health{Source: "requests one at a time", Text: "it ended early: " + werr.Error()})
	}
	var out []trace.Request
	for i, v := range visits {
		r := trace.Request{Method: v.Method, Route: v.Route, Target: v.Target, Status: v.Status, Took: v.Took}
		if i < len(calls) {
			r.Calls = calls[i]
		}
		// The first round opens connections and fills caches that stay; what it
		// sends once for all is no pattern of a request.
		if v.Round == 0 && hasLater(visits, v) {
			continue
		}
		out = append(out, r)
	}
	return out, health, nil
}

// hasLater reports whether a later round visited the same step.
func hasLater(visits []load.Visit, v load.Visit) bool {
	return slices.ContainsFunc(visits, func(o load.Visit) bool {
		return o.Round > v.Round && o.Session == v.Session && o.Step == v.Step && o.Route == v.Route && o.Method == v.Method
	})
}

// generalLogs plans a general log of its own for every database, the switch
// last, and says where each will be.
func generalLogs(b *Bench, snap *evidence.Snapshot) ([]change.Change, map[string]string) {
	var out []change.Change
	files := map[string]string{}
	for _, svc := range b.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		db := snap.Databases[svc.Name]
		if db == nil {
			continue
		}
		host := svc.HostName()
		user := snap.Users[host+"/"+svc.Name]
		dir := path.Join(firstDir(db.Variables["tmpdir"]), fmt.Sprintf("kasoku-%s-walk-%d", svc.Name, time.Now().UnixNano()))
		file := path.Join(dir, "general.log")
		out = append(out, change.Change{Kind: change.KindDir, Host: host, Path: dir,
			After: &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID}, Why: "a folder for the log of single requests"})
		vars := evidence.GeneralLogVariables(db, file)
		var names []string
		for n := range vars {
			names = append(names, n)
		}
		slices.SortFunc(names, func(a, b string) int {
			if (a == "general_log") != (b == "general_log") {
				if a == "general_log" {
					return 1
				}
				return -1
			}
			return strings.Compare(a, b)
		})
		for _, n := range names {
			out = append(out, change.Change{Kind: change.KindVariable, Host: host, Service: svc.Name,
				Variable: n, BeforeValue: db.Variables[n], AfterValue: vars[n], Why: "record what single requests send"})
		}
		files[svc.Name] = file
	}
	return out, files
}

// confirmConnections takes away patterns of connections for each request that
// the load contradicts: a pool, or processes that each open one and keep it,
// look the same while requests come one at a time.
func confirmConnections(run *store.Run, st *stack.Stack) {
	ev := run.Evidence
	if ev.Requests == nil || ev.Load == nil || ev.Load.Succeeded == 0 {
		return
	}
	ev.Requests.Patterns = slices.DeleteFunc(ev.Requests.Patterns, func(p trace.Pattern) bool {
		if p.Kind != trace.RowConnects {
			return false
		}
		svc := st.Service(p.Service)
		if svc == nil {
			return false
		}
		counter := "Connections"
		switch svc.Kind {
		case stack.Memcached:
			counter = "total_connections"
		case stack.Redis:
			counter = "total_connections_received"
		default: // the databases' name, as above
		}
		n, known := ev.Counters[svc.Name].Delta[counter]
		// Below one in twenty, no route of any weight connects anew.
		return known && n < 0.05*float64(ev.Load.Succeeded)
	})
}
