package apps

import (
	"fmt"
	"strconv"

	"kasoku/internal/appserver"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// mostSlots of an application server: more requests at once than that wait for each other.
const mostSlots = 1024

// threadCounts are the numbers of threads to try in place of more workers, where CPU is idle
// while all threads are at work, so that they wait for something: two, four and eight times
// as many, as far as the databases' connections allow. None where the application is not run
// in threads: whether it could be is not known.
func threadCounts(in planning.Input, svc *stack.Service, s *diagnose.AppServer) (out []int) {
	now := s.Now.Threads
	if now < 2 || s.Now.ThreadsWhere == appserver.Nowhere {
		return nil
	}
	workers, most := max(s.Now.Workers, 1), min(mostConnections(in, svc), mostSlots)
	for _, n := range []int{2 * now, 4 * now, 8 * now} {
		if n*workers <= most {
			out = append(out, n)
		}
	}
	return out
}

// planThreads searches the number of threads of an application server's workers.
func planThreads(in planning.Input, f diagnose.Finding, svc *stack.Service, s *diagnose.AppServer, values []int) (planning.Plan, error) {
	at := func(n int) ([]change.Change, error) {
		again, err := diagnose.AppServerOf(in.Snapshot, svc) // edits change it
		if err != nil {
			return nil, err
		}
		changed, err := setThreads(again, n)
		if err != nil {
			return nil, err
		}
		return planning.StartChanges(in, svc, changed, f.Text)
	}
	p := planning.Plan{Reach: planning.WorkersReach(in, svc.Name, workersReach), ID: fmt.Sprintf("app.workers:%s:threads-%d", svc.Name, s.Now.Threads),
		Title:  fmt.Sprintf("Find the number of threads in each worker of %s in %s", s.Name, svc.Name),
		Search: &planning.Search{Name: "threads", Current: s.Now.Threads, Values: values, At: at}}
	if len(values) == 1 { // the experiment itself compares the two
		p.Title, p.Search = fmt.Sprintf("Run %d threads in each worker of %s in %s instead of %d", values[0], s.Name, svc.Name, s.Now.Threads), nil
	}
	var err error
	p.Changes, err = at(values[0])
	return p, err
}

// setThreads writes the number where it stands now.
func setThreads(s *diagnose.AppServer, n int) (map[string][]byte, error) {
	number := strconv.Itoa(n)
	switch s.Now.ThreadsWhere {
	case appserver.InOption, appserver.InEnvArgs:
		return setOption(s, s.Now.ThreadsWhere, s.Threads, number)
	case appserver.InEnv:
		err := s.Start.SetEnv(s.EnvThreads, number)
		return s.Start.Changed(), err
	}
	if text, ok := s.SetConfigThreads(s.Text, n); ok {
		return map[string][]byte{s.Config: []byte(text)}, nil
	}
	return nil, fmt.Errorf("%s: the number of threads is not written where it could be set", s.Name)
}
