package stack

import (
	"context"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
)

// door is what a web server's configuration says of a port.
type door struct {
	tls    bool
	names  []string // of its sites
	onward bool     // it only sends visitors elsewhere
}

// rank orders doors: one with named sites first, one that only sends visitors on last.
func (o door) rank() int {
	switch {
	case o.onward:
		return 0
	case len(o.names) > 0:
		return 2
	}
	return 1
}

// doorAt reads it; a server of another kind has none.
func (d *discovery) doorAt(ctx context.Context, svc *Service, port string) door {
	for _, o := range d.all {
		if o.place.Name != svc.HostName() {
			continue
		}
		switch svc.Kind {
		case Nginx:
			if cfg, err := o.loadNginx(ctx, svc); err == nil { // an error was noted when the server was found
				return nginxDoor(cfg, port)
			}
		case Apache:
			for _, in := range o.found {
				if in.svc.Name != svc.Name {
					continue
				}
				if cfg, err := o.loadApache(ctx, in); err == nil {
					return apacheDoor(cfg, port)
				}
			}
		default: // speaks what it speaks
		}
	}
	return door{tls: port == "443"}
}

func nginxDoor(cfg *nginx.Config, port string) door {
	out, sites := door{}, 0
	cfg.Root.Walk(func(s *nginx.Directive) bool {
		if s.Name != "server" || s.Parent == nil || s.Parent.Name != "http" {
			return true
		}
		for _, l := range s.Find("listen") {
			if len(l.Args) == 0 || portOf(l.Args[0]) != port {
				continue
			}
			out.tls = out.tls || nginx.Encrypted(s, l)
			if r := s.First("return"); r != nil && len(r.Args) > 0 && strings.HasPrefix(r.Args[0], "30") {
				break
			}
			sites++
			for _, n := range s.Find("server_name") {
				out.add(n.Args...)
			}
			break
		}
		return false
	})
	out.onward = sites == 0
	return out
}

func apacheDoor(cfg *apache.Config, port string) door {
	var out door
	for _, host := range cfg.VirtualHosts() {
		if !slices.ContainsFunc(host.Args, func(a string) bool { return portOf(a) == port || portOf(a) == "*" }) {
			continue
		}
		if e := host.First("SSLEngine"); e != nil && len(e.Args) == 1 && strings.EqualFold(e.Args[0], "on") {
			out.tls = true
		}
		for _, word := range []string{"ServerName", "ServerAlias"} {
			for _, n := range host.Find(word) {
				out.add(n.Args...)
			}
		}
	}
	return out
}

// siteName is a name that a visitor can type: no pattern, and with a dot.
var siteName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+$`)

func (o *door) add(names ...string) {
	for _, n := range names {
		_, err := netip.ParseAddr(n)
		if siteName.MatchString(n) && err != nil && !slices.Contains(o.names, n) {
			o.names = append(o.names, n)
		}
	}
}

// portOf is the port of "*:80", "[::]:443", "443"; "80" where only an address stands.
func portOf(listen string) string {
	if _, port, err := net.SplitHostPort(listen); err == nil {
		return port
	}
	if strings.Trim(listen, "0123456789") == "" && listen != "" {
		return listen
	}
	return "80"
}

// siteURL is the base URL of a door at an address: by a site's name where this machine
// resolves it to the service's host, else by the address, and then named says how its
// sites are called.
func (d *discovery) siteURL(ctx context.Context, svc *Service, address string, o door) (url, named string) {
	scheme := "http://"
	if o.tls {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return scheme + address, ""
	}
	address = d.resolvable(ctx, svc, address)
	for _, n := range o.names {
		if d.leadsTo(ctx, n, svc, host) {
			address = net.JoinHostPort(n, port)
			o.names = nil
			break
		}
	}
	usual := ":80"
	if o.tls {
		usual = ":443"
	}
	return scheme + strings.TrimSuffix(address, usual), strings.Join(o.names, ", ")
}

// both is 127.0.0.1 in place of ::1 where a server on [::] takes connections of IPv4, too:
// what people type, and what a recorded visit went to.
func (d *discovery) both(ctx context.Context, address string) string {
	name, port, err := net.SplitHostPort(address)
	if err != nil || name != "::1" {
		return address
	}
	four := net.JoinHostPort("127.0.0.1", port)
	conn, err := dial(ctx, d.h, four)
	if err != nil {
		return address
	}
	_ = conn.Close() // nothing was sent
	return four
}

// leadsTo reports whether this machine resolves a name to the service's host.
func (d *discovery) leadsTo(ctx context.Context, name string, svc *Service, at string) bool {
	found, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(a string) bool {
		ip, err := netip.ParseAddr(a)
		if err != nil {
			return false
		}
		if a == at || svc.HostName() == LocalHost && ip.IsLoopback() {
			return true
		}
		return slices.ContainsFunc(d.all, func(o *discovery) bool {
			return o.place.Name == svc.HostName() && slices.Contains(o.addresses, a)
		})
	})
}
