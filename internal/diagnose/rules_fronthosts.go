package diagnose

import (
	"cmp"
	"fmt"

	"kasoku/internal/stack"
)

// frontForHosts: clients ask an Apache itself, its host is busy, and one that
// could do the same work is not asked (W12, I22). It is judged as if an nginx on
// Apache's host passed requests on already; the first spare is enough, as the
// others are for the nginx that is there then (topology.spare). why is what keeps
// it from being judged.
func (m *model) frontForHosts(svc *stack.Service, front string) (_ []Finding, why string) {
	web := stack.Service{Name: "nginx", Kind: stack.Nginx, Host: svc.Host}
	if f, named := m.in.Snapshot.Fronts[front]; named {
		web = f.Service
	}
	b := Balancer{Backends: []Backend{{Address: svc.Name, Weight: 1, Host: svc.HostName(), Service: svc.Name}}}
	for _, spare := range m.in.Stack.OfKind(stack.Apache) {
		if spare.SpareFor != svc.Name {
			continue
		}
		found, no := m.spareBehind(&web, b, spare)
		why = cmp.Or(why, no)
		for _, f := range found {
			client := nearest(m.in.Snapshot.Addresses[spare.HostName()], m.in.Snapshot.Addresses[web.HostName()])
			if client == "" {
				return nil, fmt.Sprintf("no address is known by which %s calls %s, whose word for the clients' addresses is to be believed", web.HostName(), spare.Name)
			}
			f.Service, f.Evidence[0] = svc.Name, svc.Config
			f.Text = fmt.Sprintf("Clients ask %s itself; an nginx in front could send requests on. %s", svc.Name, f.Text)
			return []Finding{f.with("about", FrontForHosts).with("client", client)}, ""
		}
	}
	return nil, why
}
