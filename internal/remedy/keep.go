package remedy

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/stack"
)

// keepUpstream is how many idle connections to PHP-FPM each worker keeps: one
// per process of a small pool. More would hold processes of the pool busy.
const keepUpstream = 8

// planKeepUpstream keeps connections from nginx to PHP-FPM open.
func planKeepUpstream(in Input, f diagnose.Finding) ([]Plan, error) {
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		if diagnose.DeliveryGaps(conf, server)["fastcgi_keep_conn"] == "" {
			return fmt.Errorf("connections to the application are kept already")
		}
		return keepAll(in, conf, server)
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.keep-php:" + f.Service, Title: "Keep connections from " + f.Service + " to PHP-FPM open", Changes: changes}}, nil
}

func keepAll(in Input, conf *nginx.Config, server *nginx.Directive) error {
	keep := smallestPool(in)
	names := map[string]string{}
	for _, u := range diagnose.Upstreams(conf) {
		name := names[u.Address]
		if name == "" {
			name = fmt.Sprintf("kasoku_php%d", len(names))
			names[u.Address] = name
			if u.Block != nil {
				if u.Block.First("keepalive") == nil {
					if err := u.Block.Append(fmt.Sprintf("keepalive %d;", keep)); err != nil {
						return err
					}
				}
			} else {
				text := fmt.Sprintf("upstream %s {\n    server %s;\n    keepalive %d;\n}", name, u.Address, keep)
				if err := server.InsertBefore(text); err != nil {
					return err
				}
			}
		}
		if u.Block == nil {
			if err := u.Directive.SetArgs(name); err != nil {
				return err
			}
		}
		if err := setDirective(u.Directive.Parent, "fastcgi_keep_conn", "on"); err != nil {
			return err
		}
	}
	return nil
}

// smallestPool bounds the idle connections kept: each one occupies a process.
func smallestPool(in Input) int {
	n := keepUpstream
	for _, fpm := range in.Stack.OfKind(stack.PHPFPM) {
		pools, err := diagnose.FPMPools(in.Snapshot, fpm)
		if err != nil {
			continue
		}
		for _, p := range pools {
			if p.MaxChildren > 0 {
				n = min(n, max(1, p.MaxChildren/2))
			}
		}
	}
	return n
}

