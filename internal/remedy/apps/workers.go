package apps

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kasoku/internal/appserver"
	"kasoku/internal/change"
	"kasoku/internal/confedit/args"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// workersReach is the usual reach of another number of workers.
const workersReach = 0.3

// planWorkers searches the number of an application server's workers.
func planWorkers(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	server, err := diagnose.AppServerOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, fmt.Errorf("%s runs no application server that Kasoku knows", svc.Name)
	}
	at := func(n int) ([]change.Change, error) {
		again, err := diagnose.AppServerOf(in.Snapshot, svc) // edits change it
		if err != nil {
			return nil, err
		}
		changed, err := setWorkers(again, svc, n)
		if err != nil {
			return nil, err
		}
		changes, err := planning.StartChanges(in, svc, changed, f.Text)
		if ok, _ := server.Seen(); ok {
			planning.ExpectWorkers(changes, svc, change.Workers{Server: server.Name, Before: server.Now.Workers, Count: n})
		}
		return changes, err
	}
	if threads := threadCounts(in, svc, server); f.Subject["waits"] == "1" && len(threads) > 0 {
		if p, err := planThreads(in, f, svc, server, threads); err == nil {
			return []planning.Plan{p}, nil
		}
	}
	values := workerCounts(in, svc, server, f.Subject["up"] == "1")
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: memory and the databases' max_connections leave no other number", svc.Name)
	}
	p := planning.Plan{Reach: planning.WorkersReach(in, svc.Name, workersReach), ID: fmt.Sprintf("app.workers:%s:%d", svc.Name, server.Now.Workers), Title: fmt.Sprintf("Find the number of %s's workers in %s", server.Name, svc.Name),
		Search: &planning.Search{Name: "workers", Current: server.Now.Workers, Values: values, At: at}}
	if len(values) == 1 { // the experiment itself compares the two; probes would only take its time
		p.Title, p.Search = fmt.Sprintf("Run %d workers of %s in %s instead of %d", values[0], server.Name, svc.Name, server.Now.Workers), nil
	}
	p.Changes, err = at(values[0])
	if ok, why := server.Seen(); !ok {
		p.Why = fmt.Sprintf("%s. How many run afterwards cannot be seen: %s.", strings.TrimSuffix(f.Text, "."), why)
	}
	return []planning.Plan{p}, err
}

// setWorkers writes the number where it counts: where it stands now, else in
// the server's own file, in its environment, in its command.
func setWorkers(s *diagnose.AppServer, svc *stack.Service, n int) (map[string][]byte, error) {
	number := strconv.Itoa(n)
	switch s.Now.Where {
	case appserver.InOption, appserver.InEnvArgs:
		return setOption(s, s.Now.Where, s.Option, number)
	case appserver.InScript:
		file, text := s.SetScript(n)
		return map[string][]byte{file: []byte(text)}, nil
	case appserver.InEnv:
		err := s.Start.SetEnv(s.Now.Variable, number)
		return s.Start.Changed(), err
	}
	if s.Config != "" {
		if text, ok := s.SetConfig(s.Text, n); ok {
			return map[string][]byte{s.Config: []byte(text)}, nil
		}
	}
	if s.Now.Computed != "" && (s.Env == "" || !mentions(s.Now.Computed, s.Env)) {
		return nil, fmt.Errorf("%s computes the number (%s); write a number there, or take it from a variable", cmp.Or(s.Config, svc.Name), s.Now.Computed)
	}
	var env error
	if s.Env != "" {
		if env = s.Start.SetEnv(s.Env, number); env == nil {
			return s.Start.Changed(), nil
		}
	}
	if s.Option == "" {
		return nil, fmt.Errorf("%s: its number of workers is set in a configuration file only, and it reads none", svc.Name)
	}
	if err := s.Start.SetOption(s.Grammar, s.Option, number); err != nil {
		if env != nil {
			return nil, env
		}
		return nil, err
	}
	return s.Start.Changed(), nil
}

// setOption gives an option of the server another value where it stands: in the command, or in
// the variable that holds more options.
func setOption(s *diagnose.AppServer, where appserver.Where, option, value string) (map[string][]byte, error) {
	if where == appserver.InOption {
		if err := s.Start.SetOption(s.Grammar, option, value); err != nil {
			return nil, err
		}
		return s.Start.Changed(), nil
	}
	text, _ := s.Start.Env(s.EnvArgs)
	list := args.Parse(text, args.Shell)
	if _, err := list.Set(s.Grammar, option, value); err != nil {
		return nil, err
	}
	err := s.Start.SetEnv(s.EnvArgs, list.String())
	return s.Start.Changed(), err
}

// workerCounts are the numbers to try: one, two, four and eight processes per
// CPU, above or below the present one, as far as memory and the databases'
// connections allow (Gunicorn's and Puma's own advice is one to four).
func workerCounts(in planning.Input, svc *stack.Service, s *diagnose.AppServer, up bool) []int {
	each := int64(64 * planning.MiB) // an interpreter with a framework, where nothing was measured
	if use, ok := in.Evidence.Services[svc.Name]; ok && use.Processes > 0 && use.RSS > 0 {
		each = max(use.RSS/int64(use.Processes), planning.MiB)
	}
	room, most := planning.SpareMemory(in, svc), mostConnections(in, svc)
	now := max(s.Now.Workers, 1)
	var out []int
	for _, per := range []int{1, 2, 4, 8} {
		n := per * planning.CPUsOf(in, svc.Name)
		switch {
		case n == now, (n > now) != up:
		case n > now && (int64(n-now)*each > room || n*max(s.Now.Threads, 1) > most):
			return out
		default:
			out = append(out, n)
		}
	}
	return out
}

// mostConnections is how many threads may hold one connection each to every
// database that the app calls, with a tenth left for others.
func mostConnections(in planning.Input, svc *stack.Service) int {
	most := math.MaxInt
	for _, name := range svc.TalksTo {
		if db := in.Snapshot.Databases[name]; db != nil {
			if n, err := strconv.Atoi(db.Variables["max_connections"]); err == nil && n > 0 {
				most = min(most, n*9/10)
			}
		}
	}
	return most
}
