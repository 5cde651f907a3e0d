package apps

import (
	"fmt"
	"strconv"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planWSGI has mod_wsgi run an application in more processes, of its own where it runs in
// Apache's.
func planWSGI(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	w, err := diagnose.WSGIOf(in.Stack, in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if w == nil || len(f.Settings) == 0 {
		return nil, fmt.Errorf("%s is not run by mod_wsgi", svc.Name)
	}
	n, err := strconv.Atoi(f.Subject["processes"])
	if err != nil {
		return nil, fmt.Errorf("%s: the finding says no number of processes: %w", svc.Name, err)
	}
	threads, err := strconv.Atoi(f.Subject["threads"])
	if err != nil {
		return nil, fmt.Errorf("%s: the finding says no number of threads: %w", svc.Name, err)
	}
	if w.Daemon {
		threads = w.Threads
	}
	if need := f.Settings[0].Memory; need > planning.SpareMemory(in, svc) {
		return nil, fmt.Errorf("%s: %d processes take %d MiB more, which are not free", svc.Name, n, need>>20)
	}
	if most := mostConnections(in, svc); n*threads > most {
		return nil, fmt.Errorf("%s: %d processes with %d threads may hold more connections than a database takes (%d)", svc.Name, n, threads, most)
	}
	if err := w.SetProcesses(n, threads); err != nil {
		return nil, err
	}
	web := in.Stack.Service(svc.RunsIn)
	changes, err := planning.StartChanges(in, web, w.Changed(), f.Text)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("Run %s in %d processes of mod_wsgi instead of %s", svc.Name, n, f.Subject["current"])
	if !w.Daemon {
		title = fmt.Sprintf("Run %s in %d processes of its own (mod_wsgi's daemon mode) instead of within %s", svc.Name, n, web.Name)
	}
	return []planning.Plan{{ID: fmt.Sprintf("app.wsgi:%s:%s", svc.Name, f.Subject["current"]), Reach: planning.WorkersReach(in, svc.Name, wsgiReach), Title: title, Changes: changes}}, nil
}

// wsgiReach is what processes reach of full CPUs, where threads of fewer took turns.
const wsgiReach = 0.5
