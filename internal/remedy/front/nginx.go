package front

import (
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// What Debian's package nginx brings.
const (
	packagedConfig = "/etc/nginx/nginx.conf"
	packagedUnit   = "nginx.service"
	defaultSite    = "sites-enabled/default"
	defaultTarget  = "/etc/nginx/sites-available/default"
	// packagedMain stands for its nginx.conf while that is not there.
	packagedMain = "events {\n}\nhttp {\n    include /etc/nginx/conf.d/*.conf;\n}\n"
)

// sitePath is the file of the site, beside nginx's main configuration.
func (b *builder) sitePath() string {
	return path.Join(path.Dir(b.front.Config), "conf.d", "kasoku-"+b.front.Name+".conf")
}

// prepare makes nginx run without serving anything: installed, without the
// packages' own site, which would take the port, and started at each boot.
// A nginx that no unit starts is started by the switch.
func (b *builder) prepare() ([][]change.Change, error) {
	conf, err := diagnose.NginxConfig(b.in.Snapshot, &b.front)
	b.installed = err == nil && b.state.Program
	hostName, systemd := planning.HostOf(b.svc), b.front.ControlMethod() == stack.MethodSystemd
	var out [][]change.Change
	var ready []change.Change
	switch {
	case !b.installed && (!systemd || b.front.Config != packagedConfig || stack.UnitName(b.front.Control.Unit) != packagedUnit):
		return nil, fmt.Errorf("%s is not installed, and what Debian's package brings is %s and %s; write these in kasoku.yaml", b.front.Name, packagedConfig, packagedUnit)
	case !b.installed && (b.state.Program || err == nil):
		return nil, fmt.Errorf("of %s only a part is there: program %t, configuration %t; install or remove it whole", b.front.Name, b.state.Program, err == nil)
	case !b.installed && !b.in.Snapshot.On(hostName).Root:
		return nil, fmt.Errorf("nginx can only be installed by root on %s", hostName)
	case !b.installed:
		out = append(out, []change.Change{{Kind: change.KindPackage, Host: hostName, Package: &change.Package{Name: "nginx", Version: "candidate"},
			Why: b.why, Command: "apt-get install --no-install-recommends nginx"}})
		ready = append(ready, b.dropDefault())
	default:
		for _, http := range conf.Root.Find("http") {
			for _, s := range http.Find("server") {
				if s.File.Path != path.Join(path.Dir(b.front.Config), defaultSite) {
					return nil, fmt.Errorf("%s:%d: %s has a server of its own", s.File.Path, s.Line, b.front.Name)
				}
				if len(ready) == 0 {
					ready = append(ready, b.dropDefault())
				}
			}
		}
	}
	if systemd {
		ready = append(ready, change.Change{Kind: change.KindUnit, Host: hostName, Service: b.front.Name,
			Unit: &change.Unit{Name: stack.UnitName(b.front.Control.Unit), After: change.UnitState{Enabled: "enabled", Active: "active"}},
			Why:  b.front.Name + " runs, and serves nothing yet.", Command: "systemctl enable --now " + b.front.Control.Unit})
		b.standing = true
	}
	if len(ready) > 0 {
		out = append(out, ready)
	}
	return out, nil
}

// dropDefault takes away the link to the site that Debian's package enables.
func (b *builder) dropDefault() change.Change {
	p := path.Join(path.Dir(b.front.Config), defaultSite)
	return change.Change{Kind: change.KindLink, Host: planning.HostOf(b.svc), Path: p, Link: &change.Link{Target: defaultTarget, Remove: true},
		Why: "The package's own site listens at port 80, where nothing of it is wanted.", Command: "rm " + p}
}

// longest is how long nginx waits for a silent application: as good as
// forever, as Apache itself does for PHP inside it.
const longest = "3600s"

// site is nginx's configuration: everything as Apache answers it. The limits
// that nginx has and Apache has not, or has higher, are lifted: the size of a
// body (LimitRequestBody), of header lines (LimitRequestFieldSize, 8190), names
// with underscores. Requests without a Host, which HTTP/1.1 forbids and nginx
// speaks to Apache, are given the address that was asked.
func (b *builder) site() ([]byte, error) {
	listens, err := b.listens()
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `# nginx in front of %[1]s, which answers at %[2]s.
map $http_host $%[3]s_host {
    default $http_host;
    "" $server_addr;
}
upstream %[3]s {
    server %[2]s;%[4]s
}
server {
%[5]s    client_max_body_size 0;
    large_client_header_buffers 16 8k;
    underscores_in_headers on;
    gzip off;
    location / {
        proxy_pass http://%[3]s;
        proxy_http_version 1.1;
        proxy_set_header Host $%[3]s_host;
        proxy_set_header Connection "";
        proxy_set_header %[7]s $remote_addr;
        proxy_pass_header Server;
        proxy_redirect off;
        proxy_read_timeout %[6]s;
        proxy_send_timeout %[6]s;
    }
}
`, b.svc.Name, b.inner, b.upstream(), b.keep(), listens, longest, clientHeader), nil
}

// upstream is the name of whom nginx asks.
func (b *builder) upstream() string { return strings.ReplaceAll("kasoku_"+b.svc.Name, "-", "_") }

// listens are nginx's listen lines for where Apache listens. Apache's Listen
// with a port alone means IPv6, too, where there is that; what it really took
// is read from the host's sockets.
func (b *builder) listens() (string, error) {
	name, p, err := net.SplitHostPort(b.outer)
	if err != nil {
		return "", err
	}
	if name != "0.0.0.0" {
		return "    listen " + b.outer + ";\n", nil
	}
	if slices.Contains(b.state.Taken, "[::]:"+p) {
		return fmt.Sprintf("    listen %[1]s;\n    listen [::]:%[1]s;\n", p), nil
	}
	return "    listen " + p + ";\n", nil
}

const (
	// keptMost connections to Apache are kept open by each worker: an idle one
	// holds a process of prefork, which is what nginx is to spare.
	keptMost = 16
	// keptShorter than Apache keeps them, seconds, so that nginx does not send a
	// request into a connection that Apache is closing.
	keptShorter = 2
)

// keep lets nginx keep connections to Apache, where Apache keeps any: at most a
// quarter of its processes, all workers of nginx together.
func (b *builder) keep() string {
	value := func(name string) int {
		v, err := b.conf.Value(name, b.vhost)
		if err != nil {
			return 0
		}
		n, err := strconv.Atoi(v.Text)
		if err != nil {
			return 0
		}
		return n
	}
	on, err := b.conf.Value("KeepAlive", b.vhost)
	idle := value("KeepAliveTimeout") - keptShorter
	if err != nil || strings.EqualFold(on.Text, "off") || idle < 1 {
		return ""
	}
	n := min(keptMost, value("MaxRequestWorkers")/4/planning.CPUsOf(b.in, b.svc.Name))
	if n < 1 {
		return ""
	}
	return fmt.Sprintf("\n    keepalive %d;\n    keepalive_timeout %ds;", n, min(idle, 60))
}
