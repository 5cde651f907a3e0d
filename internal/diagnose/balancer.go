package diagnose

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net"
	"net/netip"
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

// Balancer is where a web server passes requests to: an upstream block, or a
// plain address.
type Balancer struct {
	Block *nginx.Directive // the upstream block; nil: the one backend is named in place
	// FastCGI is true for fastcgi_pass, false for proxy_pass.
	FastCGI  bool
	Backends []Backend // in the order of the block
}

// Name of the upstream, or the address.
func (b Balancer) Name() string {
	if b.Block == nil {
		return b.Backends[0].Address
	}
	return b.Block.Args[0]
}

// Bound names the directive that ties clients to servers; "" if any server may
// answer any request (nginx documentation, ngx_http_upstream_module).
func (b Balancer) Bound() string {
	if b.Block == nil {
		return ""
	}
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
	return slices.DeleteFunc(Passes(st, snap, web, conf), func(b Balancer) bool { return b.Block == nil || len(b.Backends) < 2 })
}

// Passes lists wherever a web server passes requests to, each once.
func Passes(st *stack.Stack, snap *evidence.Snapshot, web *stack.Service, conf *nginx.Config) []Balancer {
	var out []Balancer
	add := func(u Upstream, fastcgi bool) {
		if slices.ContainsFunc(out, func(o Balancer) bool {
			return u.Block != nil && o.Block == u.Block || u.Block == nil && o.Block == nil && o.FastCGI == fastcgi && o.Name() == u.Address
		}) {
			return
		}
		b := Balancer{Block: u.Block, FastCGI: fastcgi}
		if u.Block == nil {
			b.Backends = []Backend{backend(u.Directive, u.Address)}
		} else {
			for _, line := range u.Block.Find("server") {
				if len(line.Args) > 0 {
					b.Backends = append(b.Backends, backend(line, line.Args[0]))
				}
			}
		}
		for i := range b.Backends {
			s := &b.Backends[i]
			s.Host, s.Service = answersAt(st, snap, web, s.Address)
		}
		if len(b.Backends) > 0 {
			out = append(out, b)
		}
	}
	for _, u := range Upstreams(conf) {
		add(u, true)
	}
	for _, u := range ProxyUpstreams(conf) {
		add(u.Upstream, false)
	}
	return out
}

// backend reads a server line of an upstream, or the directive that names an
// address.
func backend(line *nginx.Directive, address string) Backend {
	s := Backend{Line: line, Address: address, Weight: 1}
	for _, a := range line.Args[1:] {
		if w, ok := strings.CutPrefix(a, "weight="); ok {
			if n, err := strconv.Atoi(w); err == nil {
				s.Weight = n
			}
		}
		s.Idle = s.Idle || a == "down" || a == "backup"
	}
	return s
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

// Callable is the endpoint at which a web server reaches a service of another
// host; the error says why there is none.
func Callable(snap *evidence.Snapshot, web, svc *stack.Service) (string, error) {
	listens := endpoints(snap, svc)
	for _, e := range listens {
		name, port, err := net.SplitHostPort(e)
		if err != nil {
			name, port = "", e // a pool's listen may be a port alone
		}
		if _, err := strconv.Atoi(port); err != nil {
			continue // a unix socket
		}
		switch ip, err := netip.ParseAddr(name); {
		case name != "" && name != "*" && name != "localhost" && (err != nil || !ip.IsLoopback() && !ip.IsUnspecified()):
			return net.JoinHostPort(name, port), nil
		case name == "localhost" || err == nil && ip.IsLoopback():
			continue
		}
		if a := nearest(snap.Addresses[web.HostName()], snap.Addresses[svc.HostName()]); a != "" {
			return net.JoinHostPort(a, port), nil
		}
		return "", fmt.Errorf("no address is known by which %s reaches %s; write it in listen of %s", web.HostName(), svc.HostName(), svc.Name)
	}
	return "", fmt.Errorf("%s listens at nothing that other hosts reach (%s)", svc.Name, strings.Join(listens, ", "))
}

// Nearest is the address by which one service's host reaches another's; "" if
// none is known.
func Nearest(snap *evidence.Snapshot, from, to *stack.Service) string {
	return nearest(snap.Addresses[from.HostName()], snap.Addresses[to.HostName()])
}

// nearest is the IPv4 address of a host that shares most leading bits with one
// of another host's: the network that both are in. Addresses that both have
// (bridges of containers) lead nowhere.
func nearest(from, to []string) string {
	best, most := "", -1
	for _, a := range to {
		ip, err := netip.ParseAddr(a)
		if err != nil || !ip.Is4() || slices.Contains(from, a) {
			continue
		}
		for _, b := range from {
			own, err := netip.ParseAddr(b)
			if err != nil || !own.Is4() {
				continue
			}
			x, y := ip.As4(), own.As4()
			same := bits.LeadingZeros32(binary.BigEndian.Uint32(x[:]) ^ binary.BigEndian.Uint32(y[:]))
			if same > most {
				best, most = a, same
			}
		}
	}
	return best
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
