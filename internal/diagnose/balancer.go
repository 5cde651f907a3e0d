package diagnose

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// Backend is one server of an upstream block.
type Backend struct {
	Line    *nginx.Directive
	Address string
	Weight  int // 1 if none is written
	// Idle: it gets requests only when the others fail (backup), or none (down).
	Idle bool
	// Host and Service that answer there; "" where nothing tells.
	Host, Service string
}

// Balancer is an upstream block of several servers, which nginx spreads
// requests over.
type Balancer struct {
	Block    *nginx.Directive
	Backends []Backend // in the order of the block
}

// Name of the upstream.
func (b Balancer) Name() string { return b.Block.Args[0] }

// Bound names the directive that ties clients to servers; "" if any server may
// answer any request (nginx documentation, ngx_http_upstream_module).
func (b Balancer) Bound() string {
	for _, name := range []string{"ip_hash", "hash", "sticky"} {
		if b.Block.First(name) != nil {
			return name
		}
	}
	return ""
}

// Weights as they are written, in the order of the servers: "1 1 0"; 0 is one
// that is idle.
func (b Balancer) Weights() string {
	var out []string
	for _, s := range b.Backends {
		w := s.Weight
		if s.Idle {
			w = 0
		}
		out = append(out, strconv.Itoa(w))
	}
	return strings.Join(out, " ")
}

// Balancers lists the upstream blocks with two servers or more that a web server
// passes requests to.
func Balancers(st *stack.Stack, snap *evidence.Snapshot, web *stack.Service, conf *nginx.Config) []Balancer {
	var blocks []*nginx.Directive
	add := func(b *nginx.Directive) {
		if b != nil && !slices.Contains(blocks, b) && len(b.Find("server")) > 1 {
			blocks = append(blocks, b)
		}
	}
	for _, u := range Upstreams(conf) {
		add(u.Block)
	}
	for _, u := range ProxyUpstreams(conf) {
		add(u.Block)
	}
	var out []Balancer
	for _, block := range blocks {
		b := Balancer{Block: block}
		for _, line := range block.Find("server") {
			if len(line.Args) == 0 {
				continue
			}
			s := Backend{Line: line, Address: line.Args[0], Weight: 1}
			for _, a := range line.Args[1:] {
				if w, ok := strings.CutPrefix(a, "weight="); ok {
					if n, err := strconv.Atoi(w); err == nil {
						s.Weight = n
					}
				}
				s.Idle = s.Idle || a == "down" || a == "backup"
			}
			s.Host, s.Service = answersAt(st, snap, web, s.Address)
			b.Backends = append(b.Backends, s)
		}
		out = append(out, b)
	}
	return out
}

// answersAt finds who answers at an address that a web server calls.
func answersAt(st *stack.Stack, snap *evidence.Snapshot, web *stack.Service, address string) (host, service string) {
	host = web.HostName()
	port := ""
	if !strings.HasPrefix(address, "unix:") {
		name := address
		if n, p, err := net.SplitHostPort(address); err == nil {
			name, port = n, p
		} else {
			port = "80" // nginx documentation, "server" (upstream)
		}
		if _, near := Loopback(net.JoinHostPort(strings.Trim(name, "[]"), port)); !near {
			host = hostCalled(snap, strings.Trim(name, "[]"))
		}
	}
	if host == "" {
		return "", ""
	}
	for i := range st.Services {
		svc := &st.Services[i]
		if svc == web || svc.HostName() != host || svc.IsDatabase() {
			continue
		}
		if slices.ContainsFunc(endpoints(snap, svc), func(e string) bool { return sameListener(e, address, port) }) {
			return host, svc.Name
		}
	}
	return host, ""
}

// hostCalled is the host that has an address or name; "" if none has.
func hostCalled(snap *evidence.Snapshot, name string) string {
	for host, addresses := range snap.Addresses {
		if host == name || slices.Contains(addresses, name) {
			return host
		}
	}
	return ""
}

// endpoints that a service listens at, as kasoku.yaml and its pools say.
func endpoints(snap *evidence.Snapshot, svc *stack.Service) []string {
	out := slices.Clone(svc.Listen)
	if svc.Kind != stack.PHPFPM {
		return out
	}
	pools, err := FPMPools(snap, svc)
	if err != nil {
		return out
	}
	for _, p := range pools {
		if strings.HasPrefix(p.Listen, "/") {
			p.Listen = "unix:" + p.Listen
		}
		out = append(out, p.Listen)
	}
	return out
}

// sameListener reports whether an endpoint of a host serves an address there.
func sameListener(endpoint, address, port string) bool {
	if port == "" {
		return endpoint == address
	}
	if _, p, err := net.SplitHostPort(endpoint); err == nil {
		return p == port
	}
	return endpoint == port // a pool's listen may be a port alone
}
