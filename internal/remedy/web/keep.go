package web

import (
	"fmt"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// keepUpstream is how many idle connections to PHP-FPM each worker keeps, at
// most: enough that a steady load hardly ever connects anew.
const keepUpstream = 8

// keepUpstreamIdle is how long one may be idle, to PHP-FPM and to every server that holds
// a process for each (nginx documentation,
// "keepalive_timeout" of upstream, since 1.15.3). A process that waits on a kept
// connection does not hear that it should end, so a reload of PHP-FPM lasts
// until nginx closes it (60 s by default) or process_control_timeout is over.
// A connection idle for longer than this is not what a load reuses.
const keepUpstreamIdle = "200ms"

// planKeepUpstream keeps connections from nginx to PHP-FPM open.
func planKeepUpstream(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		if diagnose.DeliveryGaps(conf, server)["fastcgi_keep_conn"] == "" {
			return fmt.Errorf("no connection to the application at a fixed address is made anew for each request")
		}
		return keepAll(in, f.Service, conf, server)
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.keep-php:" + f.Service, Title: "Keep connections from " + f.Service + " to PHP-FPM open", Changes: changes}}, nil
}

func keepAll(in planning.Input, web string, conf *nginx.Config, server *nginx.Directive) error {
	upstreams := diagnose.Upstreams(conf)
	different := map[string]bool{}
	for _, u := range upstreams {
		different[u.Directive.Args[0]] = true
	}
	workers := diagnose.NginxWorkers(conf, planning.CPUsOf(in, web))
	children := smallestPool(in)
	// A kept connection occupies its PHP-FPM process even when nothing is
	// asked. If all were kept, a request of another worker would wait for one
	// to be closed; so at most half of them are.
	keep := keepUpstream
	if children > 0 {
		keep = min(keep, children/2/(workers*max(len(different), 1)))
	}
	if keep < 1 {
		return fmt.Errorf("pm.max_children is %d: too few for the kept connections of %d workers to %d upstreams", children, workers, len(different))
	}
	names := map[string]string{}
	for _, u := range upstreams {
		if err := keepOne(conf, server, u, names, keep); err != nil {
			return err
		}
	}
	return nil
}

// keepOne gives an upstream idle connections; names holds the blocks made so
// far by address.
func keepOne(conf *nginx.Config, server *nginx.Directive, u diagnose.Upstream, names map[string]string, keep int) error {
	idle := kept{keep, keepUpstreamIdle}
	switch {
	case u.Block == nil && names[u.Address] == "":
		name := freeName(conf, "upstream", "kasoku_php")
		names[u.Address] = name
		if n := timesShown(conf, server); n > 1 {
			return fmt.Errorf("%s:%d is included in %d places; an upstream there would be named twice", server.File.Path, server.Line, n)
		}
		if err := idle.newUpstream(server, name, u.Address); err != nil {
			return err
		}
	case u.Block != nil && u.Block.First("keepalive") == nil:
		if err := idle.write(u.Block); err != nil {
			return err
		}
	}
	if u.Block == nil {
		if err := u.Directive.SetArgs(names[u.Address]); err != nil {
			return err
		}
	}
	return SetDirective(u.Directive.Parent, "fastcgi_keep_conn", "on")
}

// endIdle gives kept connections to a loopback port an idle time where the
// block has none; see keepUpstreamIdle.
func endIdle(conf *nginx.Config, port string) error {
	for _, u := range diagnose.Upstreams(conf) {
		if p, ok := diagnose.Loopback(u.Address); !ok || p != port {
			continue
		}
		if u.Block == nil || u.Block.First("keepalive") == nil || u.Block.First("keepalive_timeout") != nil {
			continue
		}
		if err := u.Block.Append("keepalive_timeout " + keepUpstreamIdle + ";"); err != nil {
			return err
		}
	}
	return nil
}

// smallestPool is the lowest pm.max_children of all pools, 0 if none is known.
func smallestPool(in planning.Input) int {
	n := 0
	for _, fpm := range in.Stack.OfKind(stack.PHPFPM) {
		pools, err := diagnose.FPMPools(in.Snapshot, fpm)
		if err != nil {
			continue
		}
		for _, p := range pools {
			if p.MaxChildren > 0 && (n == 0 || p.MaxChildren < n) {
				n = p.MaxChildren
			}
		}
	}
	return n
}

// keptConnections is how many idle connections to PHP-FPM a worker of this
// configuration keeps in all.
func keptConnections(conf *nginx.Config) int {
	n := 0
	seen := map[*nginx.Directive]bool{}
	for _, u := range diagnose.Upstreams(conf) {
		if u.Block == nil || seen[u.Block] || !diagnose.OnOff(u.Directive.Parent, "fastcgi_keep_conn", false) {
			continue
		}
		seen[u.Block] = true
		if d := u.Block.First("keepalive"); d != nil && len(d.Args) > 0 {
			k, _ := strconv.Atoi(d.Args[0])
			n += k
		}
	}
	return n
}

// LeastChildren is the number of PHP-FPM processes that kept connections ask
// for: twice as many as may be kept.
func LeastChildren(in planning.Input) int {
	n := 0
	for _, web := range in.Stack.OfKind(stack.Nginx) {
		if conf, err := diagnose.NginxConfig(in.Snapshot, web); err == nil {
			n += 2 * keptConnections(conf) * diagnose.NginxWorkers(conf, planning.CPUsOf(in, web.Name))
		}
	}
	return n
}

// keepsRoom refuses a number of workers whose kept connections could occupy
// more than half of a pool.
func keepsRoom(in planning.Input, service string, workers int) error {
	conf, err := diagnose.NginxConfig(in.Snapshot, in.Stack.Service(service))
	if err != nil {
		return err
	}
	kept, children := keptConnections(conf)*workers, smallestPool(in)
	if kept > 0 && children > 0 && workers > diagnose.NginxWorkers(conf, planning.CPUsOf(in, service)) && 2*kept > children {
		return fmt.Errorf("%d workers would keep %d connections to a pool of %d processes", workers, kept, children)
	}
	return nil
}
