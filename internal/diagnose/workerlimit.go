package diagnose

import (
	"fmt"
	"strconv"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/stack"
)

// workerLimit finds workers that are fewer than the requests that they could
// be given: of a PHP-FPM pool, of Apache or of an application server.
func (m *model) workerLimit() (service, text string) {
	if name, _, queued := m.fullPool(); name != "" {
		return name, fmt.Sprintf("%s, while CPU is %.0f %% busy", queued, 100*m.at(name).busy)
	}
	m.eachMaxWorkers(func(svc *stack.Service, workers int) {
		if said := m.workersFull(svc, workers); said != "" && service == "" {
			service, text = svc.Name, fmt.Sprintf("all %d workers of %s (MaxRequestWorkers) were busy, while CPU is %.0f %% busy: %s", workers, svc.Name, 100*m.at(svc.Name).busy, cut(said, 200))
		}
	})
	if service != "" {
		return service, text
	}
	m.eachAppServer(func(svc *stack.Service, s *AppServer) {
		if m.fillsWorkers(s, svc.Name) && service == "" && s.Loops() {
			service, text = svc.Name, fmt.Sprintf("the %d workers of %s (%s), each with one thread for its requests, are at work all the time (the busiest %s of it), while CPU is %.0f %% busy", max(s.Now.Workers, 1), svc.Name, s.Name, percent(m.threads[svc.Name]), 100*m.at(svc.Name).busy)
		}
		if m.fillsWorkers(s, svc.Name) && service == "" {
			service, text = svc.Name, fmt.Sprintf("%.1f requests are under way on average and %s of %s has room for %d, while CPU is %.0f %% busy", m.inSystem, s.Name, svc.Name, s.Slots(), 100*m.at(svc.Name).busy)
		}
	})
	return service, text
}

// connectionLimit finds a database that refused connections in the run, or has
// none left at its end. Max_used_connections alone tells of the time since its
// start, so it does not say what binds now.
func (m *model) connectionLimit() (service, text string) {
	_, _ = m.eachDB(func(v dbView) []Finding {
		limit, _, refused, ok := v.connectionUse()
		open, _ := v.value("Threads_connected")
		if ok && service == "" && (refused > 0 || open >= limit) {
			service, text = v.svc.Name, fmt.Sprintf("%s refused %.0f connections and had %.0f of max_connections = %.0f open at the end, while CPU is %.0f %% busy", v.svc.Name, refused, open, limit, 100*m.at(v.svc.Name).busy)
		}
		return nil
	})
	return service, text
}

// otherWorkers says of the workers of Apache and of application servers how
// many there are for the requests under way.
func (m *model) otherWorkers() []string {
	var out []string
	m.eachMaxWorkers(func(svc *stack.Service, workers int) {
		out = append(out, fmt.Sprintf("workers: %s may have %d (MaxRequestWorkers) for %.1f requests under way and %.0f users; it did not say that all were busy", svc.Name, workers, m.inSystem, m.n))
	})
	m.eachAppServer(func(svc *stack.Service, s *AppServer) {
		if s.Loops() {
			out = append(out, fmt.Sprintf("workers: %s of %s has %d, each with one thread for its requests; the busiest thread is at work %s of the time", s.Name, svc.Name, s.Now.Workers, percent(m.threads[svc.Name])))
			return
		}
		out = append(out, fmt.Sprintf("workers: %s of %s has room for %d of %.1f requests under way", s.Name, svc.Name, s.Slots(), m.inSystem))
	})
	return out
}

// eachMaxWorkers calls f for every Apache whose MaxRequestWorkers is known.
func (m *model) eachMaxWorkers(f func(svc *stack.Service, workers int)) {
	_, _ = m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		if n, err := strconv.Atoi(setting(conf, "MaxRequestWorkers")); err == nil {
			f(svc, n)
		}
		return nil
	})
}

// eachAppServer calls f for every application server that is known; others are
// told by app.workers.
func (m *model) eachAppServer(f func(svc *stack.Service, s *AppServer)) {
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		if s, err := AppServerOf(m.in.Snapshot, svc); err == nil && s != nil {
			f(svc, s)
		}
	}
}
