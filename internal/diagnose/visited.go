package diagnose

import (
	"net"
	"net/url"
	"slices"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// VisitedServer is the server block of an nginx that answers visitors: the one that
// listens where load.url points, or, where a balancer does (a program that is an app of
// the stack, as HAProxy), the one at an address of the nginx to which the balancer hands
// requests on. nil if there is none.
func VisitedServer(st *stack.Stack, svc *stack.Service, conf *nginx.Config) *nginx.Directive {
	u, err := url.Parse(st.Load.URL)
	if err != nil {
		return nil
	}
	if server := FrontServer(conf, net.JoinHostPort(u.Hostname(), FrontPort(st))); server != nil {
		return server
	}
	front := FrontService(st)
	if front == nil || front.Kind != stack.App || !slices.Contains(front.TalksTo, svc.Name) {
		return nil
	}
	for _, l := range svc.Listen {
		if _, port, err := net.SplitHostPort(l); err == nil {
			if server := FrontServer(conf, net.JoinHostPort(u.Hostname(), port)); server != nil {
				return server
			}
		}
	}
	return nil
}
