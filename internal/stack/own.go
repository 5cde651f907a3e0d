package stack

import (
	"net/netip"
	"net/url"
)

// Own reports whether a URL's host is one of the stack's: this machine by loopback, where
// load.url points, or where a service listens.
func (s *Stack) Own(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return false
	}
	name := u.Hostname()
	if ip, err := netip.ParseAddr(name); name == "localhost" || err == nil && ip.IsLoopback() {
		return true
	}
	if front, err := url.Parse(s.Load.URL); err == nil && front.Hostname() == name {
		return true
	}
	for i := range s.Services {
		for _, at := range s.Services[i].Listen {
			if a, err := netip.ParseAddrPort(at); err == nil && a.Addr().String() == name {
				return true
			}
		}
	}
	return false
}
