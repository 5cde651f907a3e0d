package php

import (
	"fmt"
	"math"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/web"
	"kasoku/internal/stack"
)

// workersReach is the usual reach of another number of processes.
const workersReach = 0.1

// planWorkers searches the number of processes of a pool, all of which stay
// alive; the present number in that mode is planMode's.
func planWorkers(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	pool := f.Subject["pool"]
	current, err := strconv.Atoi(f.Subject["current"])
	if err != nil || current < 1 {
		return nil, fmt.Errorf("pool %s: pm.max_children is no number of processes", pool)
	}
	at := func(n int) ([]change.Change, error) {
		conf, err := diagnose.FPMConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		if err := conf.Set(pool, "pm.max_children", strconv.Itoa(n)); err != nil {
			return nil, err
		}
		if err := conf.Set(pool, "pm", "static"); err != nil {
			return nil, err
		}
		changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
		planning.ExpectWorkers(changes, svc, change.Workers{Server: stack.FPMServer, Pool: pool, Before: before(f, current), Count: n})
		return changes, err
	}
	values := WorkerCounts(in, svc.Name, pool, current)
	if len(values) == 0 {
		return nil, fmt.Errorf("pool %s: memory, kept connections and the database's max_connections leave no other number", pool)
	}
	p := planning.Plan{Reach: planning.WorkersReach(in, svc.Name, workersReach), ID: fmt.Sprintf("php.workers:%s:%s:%s-%d", svc.Name, pool, f.Subject["pm"], current),
		Title:  fmt.Sprintf("Find the number of processes of pool %s in %s", pool, svc.Name),
		Search: &planning.Search{Name: "pm.max_children", Current: current, Values: values, At: at}}
	p.Changes, err = at(values[0])
	return []planning.Plan{p}, err
}

// before is how many processes of a pool run as it is: those of one whose processes come
// and go may be any number.
func before(f diagnose.Finding, current int) int {
	if f.Subject["pm"] == "static" {
		return current
	}
	return change.AnyWorkers
}

// planMode keeps all processes alive that a pool may have.
func planMode(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	pool := f.Subject["pool"]
	n, err := strconv.Atoi(f.Subject["current"])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("pool %s: pm.max_children is no number of processes", pool)
	}
	if !fit(in, svc, pool, n) {
		return nil, fmt.Errorf("pool %s: memory has no room for all of its %d processes at once", pool, n)
	}
	conf, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if err := conf.Set(pool, "pm", "static"); err != nil {
		return nil, err
	}
	changes, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	planning.ExpectWorkers(changes, svc, change.Workers{Server: stack.FPMServer, Pool: pool, Before: change.AnyWorkers, Count: n})
	return []planning.Plan{{ID: "php.mode:" + svc.Name + ":" + pool,
		Title: fmt.Sprintf("Keep all %d processes of pool %s in %s alive (pm = %s → static)", n, pool, svc.Name, f.Subject["pm"]), Changes: changes}}, err
}

// WorkerCounts are the numbers to try: one, two, four and eight processes per
// CPU, as far as memory and the database's connections allow, and not so few
// that connections kept by nginx occupy them all.
func WorkerCounts(in planning.Input, service, pool string, current int) []int {
	svc := in.Stack.Service(service)
	least, most := web.LeastChildren(in), mostConnections(in)
	var out []int
	for _, per := range []int{1, 2, 4, 8} {
		n := per * planning.CPUsOf(in, service)
		switch {
		case n == current, n < least:
		case !fit(in, svc, pool, n), n > current && n > most:
			return out
		default:
			out = append(out, n)
		}
	}
	return out
}

// fit reports whether n processes of a pool can be alive at once, and all of
// those that static pools beside it have: those that are not yet must find room
// beside the regulation's headroom.
func fit(in planning.Input, svc *stack.Service, pool string, n int) bool {
	perProcess := int64(32 * planning.MiB) // PHP's own default limit is 128 MiB; few use a quarter
	if use := in.Evidence.Services[svc.Name]; use.Processes > 1 && use.RSS > 0 {
		perProcess = max(use.RSS/int64(use.Processes), planning.MiB)
	}
	static, alive := beside(in, svc, pool)
	more := n + static - alive
	return more <= 0 || int64(more)*perProcess <= planning.SpareMemory(in, svc)
}

// beside is how many processes the static pools beside this one have, and how
// many run at least that are theirs or this pool's: those that other pools,
// whose processes come and go, cannot have.
func beside(in planning.Input, svc *stack.Service, pool string) (static, alive int) {
	alive = in.Evidence.Services[svc.Name].Processes - 1 // one is the main process
	pools, err := diagnose.FPMPools(in.Snapshot, svc)
	if err != nil {
		return 0, 0
	}
	for _, p := range pools {
		switch {
		case p.Name == pool:
		case p.PM == "static":
			static += p.MaxChildren
		default:
			alive -= p.MaxChildren
		}
	}
	return static, max(alive, 0)
}

// mostConnections is how many processes may hold one connection each to every
// database, with a tenth left for others.
func mostConnections(in planning.Input) int {
	most := math.MaxInt
	for _, svc := range in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		if db := in.Snapshot.Databases[svc.Name]; db != nil {
			if n, err := strconv.Atoi(db.Variables["max_connections"]); err == nil && n > 0 {
				most = min(most, n*9/10)
			}
		}
	}
	return most
}
