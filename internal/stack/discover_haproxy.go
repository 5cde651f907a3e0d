package stack

import (
	"context"
	"net"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/haproxy"
)

// haproxies finds the main processes of HAProxy. It is an app to Kasoku, which
// knows no remedy for it, but reads its log.
func (d *discovery) haproxies(ctx context.Context) error {
	for _, p := range d.procs.masters(ctx, &Service{Kind: App, Binary: haproxyProgram}) {
		if err := d.add(ctx, App, "lb", p, (*discovery).haproxy); err != nil {
			return err
		}
	}
	return nil
}

func (d *discovery) haproxy(ctx context.Context, in *instance) {
	svc := &in.svc
	if path.Base(svc.Binary) != haproxyProgram {
		svc.Binary = lookUp(ctx, d.h, haproxyProgram)
	}
	svc.Version = versionPattern.FindString(d.output(ctx, svc.Binary, "-v"))
	args := parseHAProxyArgs(in.master.cmdline)
	if len(args.argv) > 0 {
		args.argv[0] = svc.Binary
	}
	svc.Control.Start, svc.Control.PIDFile = args.argv, args.pidFile
	files, err := haproxyFiles(ctx, d.h, args, link(ctx, d.h, in.master.pid, "cwd"))
	if err == nil && len(files) > 0 {
		svc.Config = files[0]
		var conf *haproxy.Config
		if conf, err = haproxy.Load(files, hostRead(ctx, d.h)); err == nil {
			in.backends = haproxyBackends(conf)
		}
	}
	if err != nil {
		d.note("The configuration of %s could not be read (%v); fill in whom it talks to.", svc.Name, err)
	}
	if !d.procs.hasWorker(in.master.pid) {
		d.note("%s runs without a master process (haproxy -W), so no signal reloads it; write control.reload, or it gets no times in its log for diagnostic runs.", svc.Name)
	}
	d.note("%s: where its syslog writes its requests is not known; name that file as access_log.", svc.Name)
}

// haproxyBackends returns the endpoints of servers.
func haproxyBackends(conf *haproxy.Config) []string {
	var out []string
	for _, s := range conf.Sections("backend", "listen") {
		for _, server := range s.Find("server") {
			e := haproxyEndpoint(server.Word(2))
			if e != "" && !server.Words[2].Variable && !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// haproxyEndpoint is a server's address as an endpoint: "10.0.0.1:80",
// "ipv4@name:80", "unix@/run/x.sock", "/run/x.sock"; "" for others
// (configuration manual, "server").
func haproxyEndpoint(address string) string {
	family, rest, ok := strings.Cut(address, "@")
	if !ok {
		family, rest = "", address
	}
	switch {
	case strings.HasPrefix(rest, "/") && (family == "" || family == "unix"):
		return "unix:" + rest
	case family != "" && family != "ipv4" && family != "ipv6":
		return ""
	}
	i := strings.LastIndexByte(rest, ':') // also of ::1:80
	if i < 0 || !allDigits(rest[i+1:]) {
		return ""
	}
	return net.JoinHostPort(strings.Trim(rest[:i], "[]"), rest[i+1:])
}

// balancers are the HAProxys that pass requests to web servers and apps, and
// that no other service calls.
func (s *Stack) balancers() []*Service {
	web := []Kind{Varnish, Nginx, Apache, App}
	var out []*Service
	for _, svc := range s.OfKind(App) {
		called := slices.ContainsFunc(s.Services, func(o Service) bool { return slices.Contains(o.TalksTo, svc.Name) })
		calls := slices.ContainsFunc(svc.TalksTo, func(name string) bool { return slices.Contains(web, s.Service(name).Kind) })
		if svc.IsHAProxy() && !called && calls {
			out = append(out, svc)
		}
	}
	return out
}
