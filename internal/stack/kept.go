package stack

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// HoldersOf are the services that hold connections to a database or cache now and
// can be restarted: when it is restarted, theirs are dead, and not every client
// connects anew (a Perl DBI handle, a PHP connection for life, a Ruby pool answer
// with errors until they are restarted). Services that only may hold some, and
// hold none at this moment, are not among them; neither are those of another host
// that cannot be read, nor those that nothing says how to start.
func HoldersOf(ctx context.Context, hosts map[string]host.Host, st *Stack, name string) []string {
	store := st.Service(name)
	if store == nil {
		return nil
	}
	endpoints := slices.Clone(store.Listen)
	if store.Login != nil && store.Login.Socket != "" {
		endpoints = append(endpoints, "unix:"+store.Login.Socket)
	}
	var out []string
	for i := range st.Services {
		svc := &st.Services[i]
		if !slices.Contains(svc.TalksTo, name) {
			continue
		}
		if svc.RunsIn != "" {
			if svc = st.Service(svc.RunsIn); svc == nil {
				continue
			}
		}
		h := hosts[svc.HostName()]
		if h == nil || svc.IsDatabase() || slices.Contains(out, svc.Name) || !svc.startable() {
			continue
		}
		if holds(ctx, h, st, svc, store, endpoints) {
			out = append(out, svc.Name)
		}
	}
	return out
}

// startable: something says how it is restarted.
func (s *Service) startable() bool {
	return s.ControlMethod() != MethodProcess || len(s.Control.Start) > 0 || s.Kind != App
}

// holdersTime bounds the look at one service: a host that was cut off must not hold up
// the way back.
const holdersTime = 10 * time.Second

func holds(ctx context.Context, h host.Host, st *Stack, svc, store *Service, endpoints []string) bool {
	ctx, cancel := context.WithTimeout(ctx, holdersTime)
	defer cancel()
	c, err := NewController(h, st, svc)
	if err != nil {
		return false
	}
	pids, err := c.PIDs(ctx)
	if err != nil || len(pids) == 0 {
		return false
	}
	table, err := readSockets(ctx, h, pids[0])
	if err != nil {
		return false
	}
	sockets, err := table.of(ctx, h, pids)
	if err != nil {
		return false
	}
	peers := map[uint64]string{}
	if res, err := h.Run(ctx, host.Command{Argv: []string{"ss", "-xaH"}}); err == nil && res.ExitCode == 0 {
		peers = parseUnixPeers(string(res.Stdout))
	}
	port := func(endpoint string) string { return endpoint[strings.LastIndexByte(endpoint, ':')+1:] }
	return slices.ContainsFunc(sockets, func(s socket) bool {
		if at := peers[s.inode]; at != "" {
			return slices.ContainsFunc(endpoints, func(e string) bool {
				p, ok := strings.CutPrefix(e, "unix:")
				return ok && filepath.Clean(p) == at
			})
		}
		if !s.connected || s.path != "" || !s.remote.IsValid() {
			return false
		}
		return slices.ContainsFunc(endpoints, func(e string) bool {
			if strings.HasPrefix(e, "unix:") {
				return false
			}
			// By whatever address of another host.
			return sameEndpoint(s.remote.String(), e) || store.HostName() != svc.HostName() && port(s.remote.String()) == port(e)
		})
	})
}
