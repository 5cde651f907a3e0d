package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// judgeSpare: the hosts that answer are busy, and a host that could do the same
// work is not asked (W12, I22).
func judgeSpare(m *model) ([]Finding, string) {
	var spares []*stack.Service
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM, stack.App, stack.Apache) {
		if svc.SpareFor != "" {
			spares = append(spares, svc)
		}
	}
	if len(spares) == 0 {
		return nil, ""
	}
	unknown := ""
	out, why := m.eachNginx(func(web *stack.Service, conf *nginx.Config) []Finding {
		var found []Finding
		passes := Passes(m.in.Stack, m.in.Snapshot, web, conf)
		for _, spare := range spares {
			if slices.ContainsFunc(passes, func(b Balancer) bool { return b.asks(spare.Name) }) {
				continue
			}
			for _, b := range passes {
				if !b.asks(spare.SpareFor) {
					continue
				}
				f, no := m.spareBehind(web, b, spare)
				if no != "" {
					unknown = no
				}
				found = append(found, f...)
			}
		}
		return found
	})
	if why == "" {
		why = unknown
	}
	return out, why
}

// asks reports whether a service is among those that requests are passed to.
func (b Balancer) asks(service string) bool {
	return slices.ContainsFunc(b.Backends, func(s Backend) bool { return s.Service == service })
}

// spareBehind judges what a balancer would gain from one more service.
func (m *model) spareBehind(web *stack.Service, b Balancer, spare *stack.Service) ([]Finding, string) {
	if how := b.Bound(); how != "" {
		return nil, fmt.Sprintf("upstream %s ties clients to servers (%s): another server would move some of them", b.Name(), how)
	}
	parts, why := m.parts(b)
	if why != "" {
		return nil, why
	}
	k := m.machineOf(spare.Name)
	switch {
	case k == nil:
		return nil, fmt.Sprintf("the CPU of %s, the host of %s, was not read", spare.HostName(), spare.Name)
	case !m.runs(spare) && spare.ControlMethod() != stack.MethodSystemd:
		return nil, fmt.Sprintf("%s does not run; start it, or name its unit (control.unit), so that it can be asked", spare.Name)
	case slices.ContainsFunc(parts, func(p part) bool { return p.k == k }):
		return nil, fmt.Sprintf("%s is on %s, which answers already", spare.Name, k.name)
	}
	address, err := Callable(m.in.Snapshot, web, spare)
	if err != nil {
		return nil, err.Error()
	}
	// A request costs there what it costs now, on average.
	app := 0.0
	for _, p := range parts {
		app += p.share * p.app
	}
	all := append(slices.Clone(parts), part{k: k, backends: []int{len(b.Backends)}, app: app, rest: max(k.allCPU-m.perReq[spare.Name], 0)})
	now, to := sharesOf(all), level(all)
	gain := worst(all, now) / worst(all, to)
	if gain < uneven || m.busy < balancedFrom {
		return nil, ""
	}
	with := b
	with.Backends = append(slices.Clone(b.Backends), Backend{Address: address, Weight: 1, Host: spare.HostName(), Service: spare.Name})
	f := about(web.Name, fmt.Sprintf("%s could take requests from %s", k.name, strings.Join(hostsOf(parts), " and ")),
		fmt.Sprintf("The stack keeps %s %s busy, %s %s. %s on it could take %s of the requests that %s passes to %s; requests and answers then cross the network as they are, and %s must have the same code.",
			strings.Join(hostsOf(parts), " and "), percent(min(worst(all, now)*m.x, 1)), k.name, percent(min(all[len(all)-1].use(0)*m.x, 1)), spare.Name, percent(to[len(to)-1]), web.Name, b.Name(), spare.Name), web.Config, "kasoku.yaml: spare_for of "+spare.Name, "CPU by service")
	if f, why = m.spareNeeds(f, web, b, spare, address); why != "" {
		return nil, why
	}
	return []Finding{balancerOf(f, with, all, now).with("weights", b.Weights()).with("to", perBackend(with, all, to)).with("spare", spare.Name).with("address", address).
		atMost(gain, fmt.Sprintf("the busiest host has %s per request and CPU as it is, %s with %s: ×%.2f", seconds(worst(all, now)), seconds(worst(all, to)), k.name, gain))}, ""
}

func hostsOf(parts []part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.k.name)
	}
	return out
}

// judgeCode: hosts that answer the same requests have other files (W17).
func judgeCode(m *model) ([]Finding, string) {
	return m.eachNginx(func(web *stack.Service, conf *nginx.Config) []Finding {
		var found []Finding
		for _, b := range Passes(m.in.Stack, m.in.Snapshot, web, conf) {
			for _, s := range b.Backends {
				svc := m.in.Stack.Service(s.Service)
				if svc == nil || svc.SpareFor == "" {
					continue
				}
				for folder, state := range m.in.Snapshot.Spares[svc.Name].Code {
					if state != evidence.CodeDifferent {
						continue
					}
					found = append(found, about(svc.Name, fmt.Sprintf("%s and %s answer with different files", svc.SpareFor, svc.Name),
						fmt.Sprintf("%s passes requests to both, and %s on %s has other files than on the host of %s. A deployment must bring them to both.", web.Name, folder, svc.HostName(), svc.SpareFor), folder).
						atMost(1, "nothing is gained: answers may be wrong"))
				}
			}
		}
		return found
	})
}
