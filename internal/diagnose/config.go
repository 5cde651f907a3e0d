package diagnose

import (
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/confedit/haproxy"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// files reads the snapshot's files of one host as the editors want them.
func files(snap *evidence.Snapshot, svc *stack.Service) (read func(string) ([]byte, error), glob func(string) ([]string, error)) {
	host := svc.Host
	if host == "" {
		host = "local"
	}
	have := snap.Files[host]
	read = func(p string) ([]byte, error) {
		f, ok := have[path.Clean(p)]
		if !ok {
			return nil, fmt.Errorf("%s is not in the snapshot: %w", p, fs.ErrNotExist)
		}
		return f.Content, nil
	}
	glob = func(pattern string) ([]string, error) {
		var out []string
		for p := range have {
			if ok, err := path.Match(pattern, p); err != nil {
				return nil, err
			} else if ok {
				out = append(out, p)
			}
		}
		sort.Strings(out)
		return out, nil
	}
	return read, glob
}

// NginxConfig parses an nginx service's configuration out of the snapshot.
func NginxConfig(snap *evidence.Snapshot, svc *stack.Service) (*nginx.Config, error) {
	read, glob := files(snap, svc)
	return nginx.Load(svc.Config, svc.Prefix, read, glob)
}

// HAProxyConfig parses an HAProxy's configuration out of the snapshot.
func HAProxyConfig(snap *evidence.Snapshot, svc *stack.Service) (*haproxy.Config, error) {
	read, _ := files(snap, svc)
	return haproxy.Load(snap.HAProxy[svc.Name], read)
}

// FPMConfig parses a PHP-FPM service's pools out of the snapshot.
func FPMConfig(snap *evidence.Snapshot, svc *stack.Service) (*ini.Config, error) {
	read, glob := files(snap, svc)
	return ini.Load(svc.Config, ini.FPM, read, glob)
}

// MySQLConfig parses a database service's option files out of the snapshot.
func MySQLConfig(snap *evidence.Snapshot, svc *stack.Service) (*ini.Config, error) {
	read, glob := files(snap, svc)
	return ini.Load(svc.Config, ini.MySQL, read, glob)
}

// PHPIni parses one php.ini file out of the snapshot.
func PHPIni(snap *evidence.Snapshot, svc *stack.Service, file string) (*ini.Config, error) {
	read, glob := files(snap, svc)
	return ini.Load(file, ini.PHP, read, glob)
}

// Pool is one PHP-FPM pool.
type Pool struct {
	Name        string
	Listen      string // "127.0.0.1:9000" or "/run/php.sock"
	PM          string
	MaxChildren int
	MaxRequests int // after which a process ends; 0 = never
}

// FPMPools lists the pools of a PHP-FPM service.
func FPMPools(snap *evidence.Snapshot, svc *stack.Service) ([]Pool, error) {
	conf, err := FPMConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	var out []Pool
	for _, name := range conf.Sections() {
		if name == "" || name == "global" {
			continue
		}
		p := Pool{Name: name}
		if v, ok := conf.Get(name, "listen"); ok {
			p.Listen = v.Text
		}
		if v, ok := conf.Get(name, "pm"); ok {
			p.PM = v.Text
		}
		if v, ok := conf.Get(name, "pm.max_children"); ok {
			p.MaxChildren, _ = strconv.Atoi(v.Text)
		}
		if v, ok := conf.Get(name, "pm.max_requests"); ok {
			p.MaxRequests, _ = strconv.Atoi(v.Text)
		}
		out = append(out, p)
	}
	return out, nil
}

// Loopback reports whether addr ("host:port", "port" or "*:port" for a
// listener) is TCP on this machine's loopback, and its port.
func Loopback(addr string) (port string, ok bool) {
	if addr == "" || strings.HasPrefix(addr, "/") || strings.HasPrefix(addr, "unix:") {
		return "", false
	}
	h, p, err := net.SplitHostPort(addr)
	if err != nil {
		if _, nerr := strconv.Atoi(addr); nerr == nil {
			return addr, true
		}
		return "", false
	}
	if h == "" || h == "*" || h == "localhost" {
		return p, true
	}
	ip := net.ParseIP(h)
	return p, ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// Upstream is where a location hands its requests to.
type Upstream struct {
	Directive *nginx.Directive // fastcgi_pass or proxy_pass
	Location  *nginx.Directive // nil: server level
	Address   string           // as written, after resolving an upstream block with one server
	Block     *nginx.Directive // the upstream block, nil if none
	Server    *nginx.Directive // the upstream block's server line, nil if none
}

// Upstreams lists every fastcgi_pass with a fixed address.
func Upstreams(conf *nginx.Config) []Upstream {
	var out []Upstream
	blocks := map[string]*nginx.Directive{}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "upstream" && d.IsBlock && len(d.Args) == 1 {
			blocks[d.Args[0]] = d
		}
		return true
	})
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name != "fastcgi_pass" || len(d.Args) != 1 || strings.Contains(d.Args[0], "$") {
			return true // an address in a variable is known at each request only
		}
		u := Upstream{Directive: d, Address: d.Args[0]}
		if d.Parent != nil && d.Parent.Name == "location" {
			u.Location = d.Parent
		}
		if b := blocks[d.Args[0]]; b != nil {
			u.Block = b
			if servers := b.Find("server"); len(servers) == 1 && len(servers[0].Args) > 0 {
				u.Server, u.Address = servers[0], servers[0].Args[0]
			}
		}
		out = append(out, u)
		return true
	})
	return out
}

// FrontServer returns the server block that answers on the port of hostport,
// preferring one whose server_name is the host, then the default_server, then
// the first; nil if there is none.
func FrontServer(conf *nginx.Config, hostport string) *nginx.Directive {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil
	}
	var first, fallback *nginx.Directive
	for _, http := range conf.Root.Find("http") {
		for _, server := range http.Find("server") {
			if !listensOn(server, port) {
				continue
			}
			if first == nil {
				first = server
			}
			if fallback == nil && isDefault(server, port) {
				fallback = server
			}
			for _, n := range server.Find("server_name") {
				for _, a := range n.Args {
					if a == host {
						return server
					}
				}
			}
		}
	}
	if fallback != nil {
		return fallback
	}
	return first
}

func listensOn(server *nginx.Directive, port string) bool {
	listens := server.Find("listen")
	if len(listens) == 0 {
		return port == "80"
	}
	for _, l := range listens {
		if len(l.Args) > 0 && hasPort(l.Args[0], port) {
			return true
		}
	}
	return false
}

func isDefault(server *nginx.Directive, port string) bool {
	for _, l := range server.Find("listen") {
		if len(l.Args) > 1 && hasPort(l.Args[0], port) && (slices.Contains(l.Args, "default_server") || slices.Contains(l.Args, "default")) {
			return true
		}
	}
	return false
}

// hasPort reads the address of a listen directive; a port may be left out (80).
func hasPort(address, port string) bool {
	if address == port || strings.HasSuffix(address, ":"+port) && !strings.HasPrefix(address, "unix:") {
		return true
	}
	if _, err := strconv.Atoi(address); err == nil {
		return false
	}
	return port == "80" && (!strings.Contains(address, ":") || strings.HasSuffix(address, "]"))
}

// OnOff reads an on/off directive that applies at d; def if none is written.
func OnOff(d *nginx.Directive, name string, def bool) bool {
	e := d.Effective(name)
	if e == nil || len(e.Args) == 0 {
		return def
	}
	return e.Args[0] == "on"
}

// Bytes reads a MariaDB size: 128M, 1G, 134217728.
func Bytes(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	mult := int64(1)
	switch s[len(s)-1] {
	case 'k', 'K':
		mult = 1 << 10
	case 'm', 'M':
		mult = 1 << 20
	case 'g', 'G':
		mult = 1 << 30
	}
	if mult > 1 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n * mult, err == nil
}

// Unbuffered reports whether an access_log line writes each request by itself
// to a file.
func Unbuffered(d *nginx.Directive) bool {
	if len(d.Args) == 0 || d.Args[0] == "off" || strings.HasPrefix(d.Args[0], "syslog:") {
		return false
	}
	for _, a := range d.Args[1:] {
		// gzip has a buffer of its own (nginx manual, "access_log").
		if strings.HasPrefix(a, "buffer=") || a == "gzip" || strings.HasPrefix(a, "gzip=") {
			return false
		}
	}
	return true
}
