package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"
)

// target is where the load goes: one checked address. It is resolved once, so
// that a changing name cannot lead the load elsewhere.
type target struct {
	network   string // tcp or unix
	address   string // host:port, or the socket's path
	host      string // Host header
	origin    string // http://host: what an absolute Location may begin with
	tls       *tls.Config
	onMachine bool // it is this machine
}

// ErrNotAllowed is in the error about a target that load must not go to.
var ErrNotAllowed = errors.New("load goes only to this machine")

// resolveTimeout bounds the name look-up of the base URL.
const resolveTimeout = 10 * time.Second

// newTarget checks that load may be sent to base. allow holds addresses or
// CIDRs besides this machine's own. unverified takes any certificate.
func newTarget(ctx context.Context, base string, allow []string, unverified bool) (*target, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("target %q is not a URL: %w", base, err)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("target %s: write only scheme, host and port, for example http://127.0.0.1:8080", base)
	}
	nets, err := parseAllow(allow)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "http+unix":
		return unixTarget(base, u)
	case "http", "https":
		if p := path.Clean("/" + u.Path); p != "/" {
			return nil, fmt.Errorf("target %s: has the path %s; write it in the scenario's requests instead", base, p)
		}
		t, err := tcpTarget(ctx, base, u, nets)
		if err == nil && t.tls != nil && unverified {
			t.tls.InsecureSkipVerify = true
		}
		return t, err
	}
	return nil, fmt.Errorf("target %q: write http://host:port, https://host:port or http+unix:///path/to/socket", base)
}

func unixTarget(base string, u *url.URL) (*target, error) {
	if u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return nil, fmt.Errorf("target %s: write http+unix:// and the socket's absolute path, for example http+unix:///run/app.sock", base)
	}
	return &target{network: "unix", address: u.Path, host: "localhost", origin: "http://localhost", onMachine: true}, nil
}

func tcpTarget(ctx context.Context, base string, u *url.URL, allow []netip.Prefix) (*target, error) {
	name, port := u.Hostname(), u.Port()
	if name == "" {
		return nil, fmt.Errorf("target %s names no host", base)
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr, own, err := allowedAddress(ctx, base, name, allow)
	if err != nil {
		return nil, err
	}
	t := &target{network: "tcp", address: net.JoinHostPort(addr.String(), port), host: u.Host, origin: u.Scheme + "://" + u.Host, onMachine: own}
	if u.Scheme == "https" {
		// Within this machine nobody can stand in between, and certificates
		// there are mostly self-signed or for the public name.
		t.tls = &tls.Config{ServerName: name, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: own}
	}
	return t, nil
}

// allowedAddress resolves a name to an address that load may be sent to. own
// says that it is this machine's.
func allowedAddress(ctx context.Context, base, name string, allow []netip.Prefix) (addr netip.Addr, own bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return addr, false, fmt.Errorf("target %s: look up %s: %w", base, name, err)
	}
	ours, err := ownAddresses()
	if err != nil {
		return addr, false, fmt.Errorf("target %s: list this machine's addresses: %w", base, err)
	}
	var refused []string
	for _, a := range addrs {
		a = a.Unmap()
		if a.IsLoopback() || ours[a.WithZone("")] {
			return a, true, nil
		}
		for _, p := range allow {
			if p.Contains(a) {
				return a, false, nil
			}
		}
		refused = append(refused, a.String())
	}
	return addr, false, fmt.Errorf("target %s is not this machine (%s); %w unless load.allow in kasoku.yaml or --allow lists the address or its network",
		base, strings.Join(refused, ", "), ErrNotAllowed)
}

func ownAddresses() (map[netip.Addr]bool, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := map[netip.Addr]bool{}
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own[p.Addr().Unmap().WithZone("")] = true
		}
	}
	return own, nil
}

func parseAllow(allow []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range allow {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("load.allow: %q is neither an address nor a network; write for example 192.168.1.10 or 192.168.1.0/24", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// dial opens one connection; with TLS it speaks HTTP/1.1, or HTTP/2.
func (t *target) dial(ctx context.Context, deadline time.Time, http2 bool) (net.Conn, error) {
	d := net.Dialer{Deadline: deadline}
	conn, err := d.DialContext(ctx, t.network, t.address)
	if err != nil || t.tls == nil {
		return conn, err
	}
	conn.SetDeadline(deadline)
	config := t.tls
	if http2 {
		config = config.Clone()
		config.NextProtos = []string{"h2"}
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		if _, wrong := errors.AsType[*tls.CertificateVerificationError](err); wrong {
			err = fmt.Errorf("%w (load.skip_tls_verify: true in kasoku.yaml, or --skip-tls-verify, takes it as it is)", err)
		}
		return nil, err
	}
	return secured, nil
}

// inside cuts this target's own origin off a Location; ok is false if it
// leads elsewhere.
func (t *target) inside(location []byte) (path []byte, ok bool) {
	if len(location) > 1 && location[0] == '/' && location[1] != '/' || string(location) == "/" {
		return location, true
	}
	if rest, found := cutFold(location, t.origin); found {
		if len(rest) == 0 {
			return rootPath, true
		}
		return rest, rest[0] == '/'
	}
	return nil, false
}

func cutFold(b []byte, prefix string) ([]byte, bool) {
	if len(b) < len(prefix) || !foldEqual(b[:len(prefix)], prefix) {
		return nil, false
	}
	return b[len(prefix):], true
}
