package topology

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/web"
)

// PlanSpare lets nginx pass requests to a further host, too, and searches the
// share that pays. Both sides stay ready; only nginx's file differs.
func PlanSpare(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	now, err := numbers(f.Subject["now"])
	if err != nil {
		return nil, err
	}
	to, err := numbers(f.Subject["to"])
	if err != nil || len(to) != len(now) {
		return nil, fmt.Errorf("upstream %s: the shares %q and %q do not belong together", f.Subject["upstream"], f.Subject["now"], f.Subject["to"])
	}
	at := func(way int) ([]change.Change, error) { return withSpare(in, f, weightsAt(now, to, way)) }
	var values []int
	var seen []string
	for _, way := range ways {
		weights := weightsAt(now, to, way)
		if text := fmt.Sprint(weights); weights[len(weights)-1] > 0 && !slices.Contains(seen, text) {
			seen, values = append(seen, text), append(values, way)
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s would get less than one request in a hundred", f.Subject["spare"])
	}
	p := planning.Plan{ID: "nginx.spare-host:" + f.Service + ":" + f.Subject["spare"],
		Title:  fmt.Sprintf("Let %s send requests to %s, too; find its share in percent of that of equal use", f.Service, f.Subject["spare"]),
		Search: &planning.Search{Name: "share of " + f.Subject["spare"] + ", % of equal use", Current: 0, Values: values, At: at}}
	if p.Prepare, err = prepare(in, f); err != nil {
		return nil, err
	}
	p.Changes, err = at(values[0])
	return []planning.Plan{p}, err
}

// withSpare plans the upstream with the spare as its last server. weights are
// those of the servers that there are, in their order, and of the spare.
func withSpare(in planning.Input, f diagnose.Finding, weights []int) ([]change.Change, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil {
		return nil, fmt.Errorf("there is no service %q", f.Service)
	}
	return web.Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		all := diagnose.Passes(in.Stack, in.Snapshot, svc, conf)
		i := slices.IndexFunc(all, func(b diagnose.Balancer) bool { return b.Name() == f.Subject["upstream"] })
		if i < 0 || len(all[i].Backends)+1 != len(weights) {
			return fmt.Errorf("upstream %s of %s has not the servers that were measured", f.Subject["upstream"], f.Service)
		}
		b := all[i]
		if b.Block == nil {
			return nameBoth(conf, server, b, f.Subject["address"], weights)
		}
		if b.Block.First("random") != nil && slices.Contains(weights, 0) {
			return fmt.Errorf("upstream %s chooses at random, where no server can be a backup", b.Name())
		}
		for n, s := range b.Backends {
			if s.Idle {
				continue
			}
			if err := setWeight(s.Line, weights[n]); err != nil {
				return err
			}
		}
		return b.Block.Append(serverLine(f.Subject["address"], weights[len(weights)-1]))
	})
}

// nameBoth makes an upstream of a plain address and the spare's.
func nameBoth(conf *nginx.Config, server *nginx.Directive, b diagnose.Balancer, address string, weights []int) error {
	prefix := "kasoku_http"
	if b.FastCGI {
		prefix = "kasoku_php"
	}
	// Looked for before the block is there, which they do not name yet.
	fastcgi, proxy := diagnose.Upstreams(conf), diagnose.ProxyUpstreams(conf)
	name, err := web.AddUpstream(conf, server, prefix, serverLine(b.Name(), weights[0]), serverLine(address, weights[1]))
	if err != nil {
		return err
	}
	for _, u := range fastcgi {
		if b.FastCGI && u.Block == nil && u.Address == b.Name() {
			if err := u.Directive.SetArgs(name); err != nil {
				return err
			}
		}
	}
	for _, u := range proxy {
		if !b.FastCGI && u.Block == nil && u.Address == b.Name() {
			if err := web.PassTo(u, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// serverLine is a server of an upstream; a weight of 0 makes it a backup.
func serverLine(address string, weight int) string {
	parts := []string{"server", nginx.Quote(address)}
	switch weight {
	case 0:
		parts = append(parts, "backup")
	case 1: // nginx's own
	default:
		parts = append(parts, fmt.Sprintf("weight=%d", weight))
	}
	return strings.Join(parts, " ") + ";"
}
