package evidence

import (
	"context"
	"fmt"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// fpmSource is one php-fpm service with a status page.
type fpmSource struct {
	h          host.Host
	service    string
	pools      []fpmPool
	missing    []string
	begin, end map[string]string
	err        error
}

func (c *Collector) findProcesses(ctx context.Context, h host.Host, svc *stack.Service) {
	pids, err := servicePIDs(ctx, h, c.st, svc)
	if err != nil {
		c.lacks("processes of "+svc.Name, svc, err)
	}
	c.roots[svc.HostName()][svc.Name] = pids
}

func (c *Collector) findPools(ctx context.Context, h host.Host, svc *stack.Service) {
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	conf, err := ini.Load(svc.Config, ini.FPM, r.read, r.glob)
	if err != nil {
		c.lacks("status of "+svc.Name, svc, err)
		return
	}
	src := &fpmSource{h: h, service: svc.Name}
	for _, p := range fpmPools(conf) {
		if p.StatusPath == "" {
			src.missing = append(src.missing, p.Name)
			continue
		}
		src.pools = append(src.pools, p)
	}
	c.fpms = append(c.fpms, src)
}

func (f *fpmSource) tell(ev *Evidence) {
	source := "status of " + f.service
	switch {
	case f.err != nil:
		ev.Health = append(ev.Health, Health{Source: source, Text: f.err.Error()})
	case len(f.pools) > 0:
		delta, down := countDelta(f.begin, f.end, fpmCount)
		addCounters(ev, f.service, "", delta)
		h := Health{Source: source, OK: true, Text: fmt.Sprintf("%d pools", len(f.pools))}
		if down > 0 {
			h.OK, h.Text = false, f.service+" was restarted during the run; its counters began anew"
		}
		ev.Health = append(ev.Health, h)
	}
	for _, pool := range f.missing {
		ev.Health = append(ev.Health, Health{Source: source, OK: true, Text: fmt.Sprintf("not judged: pool %s has no pm.status_path; add one to it, e.g. pm.status_path = /fpm-status", pool)})
	}
}

func generatorHealth(r *load.Result, foreign bool) Health {
	switch {
	case r.Saturated != "":
		return Health{Source: "generator", Text: r.Saturated}
	case foreign:
		return Health{Source: "generator", OK: true, Text: fmt.Sprintf("%d requests in %.1f s with %.1f s of CPU; not judged: whether the benchmark was the limit",
			r.Requests, r.Window.Seconds(), r.GeneratorCPU.Seconds())}
	}
	return Health{Source: "generator", OK: true, Text: fmt.Sprintf("%d requests in %.1f s; it was not the limit", r.Requests, r.Window.Seconds())}
}
