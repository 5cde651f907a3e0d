package diagnose

import (
	"fmt"
	"slices"

	"kasoku/internal/stack"
)

// judgeCacheLoopback: memcached or Redis on this host reached by TCP (C06).
func judgeCacheLoopback(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.Memcached, stack.Redis) {
		clients := CacheClients(m.in.Stack, m.in.Snapshot, svc)
		if len(clients) == 0 && (!m.askedFromHere(svc) || m.hasSocket(svc)) {
			continue
		}
		for _, l := range CacheListens(m.in.Snapshot, svc) {
			port, ok := Loopback(l)
			if !ok {
				continue
			}
			cites := []string{"endpoints of " + svc.Name}
			for _, c := range clients {
				if where := c.File; where != "" {
					cites = append(cites, where+" names "+svc.Name+"'s port "+port)
				} else {
					cites = append(cites, "session.save_path of "+c.Service+" is "+c.Text)
				}
			}
			f := about(svc.Name, "The application talks to "+svc.Name+" over loopback TCP",
				fmt.Sprintf("%s listens at %s and is asked from this host: each command passes the TCP stack twice, and closed connections stay in TIME_WAIT (%d now). A unix socket has neither; its permissions must be set.", svc.Name, l, m.at(svc.Name).sys.TimeWait),
				cites...).bounded(m.boundKernelOf(1, svc.Name))
			f.Subject = map[string]string{"port": port}
			out = append(out, f)
			break
		}
	}
	return out, ""
}

// hasSocket: a Redis that also listens on a socket, and no setting that is
// known names its port any more.
func (m *model) hasSocket(svc *stack.Service) bool {
	if svc.Kind != stack.Redis || svc.Config == "" {
		return false
	}
	conf, err := RedisConfig(m.in.Snapshot, svc)
	if err != nil {
		return false
	}
	v, ok := conf.Get("unixsocket")
	return ok && len(v.Args) == 1 && v.Args[0] != ""
}

// askedFromHere: some service on the same host talks to it.
func (m *model) askedFromHere(svc *stack.Service) bool {
	for i := range m.in.Stack.Services {
		s := &m.in.Stack.Services[i]
		if slices.Contains(s.TalksTo, svc.Name) && hostOf(s) == hostOf(svc) {
			return true
		}
	}
	return false
}
