package stack

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/confedit/vcl"
)

// nginxOptions are nginx's own that take a value (nginx -h).
var nginxOptions = []string{"-c", "-p", "-g", "-e", "-s"}

// parseNginxTitle reads the options of "nginx: master process nginx -c FILE -g
// daemon off;". Quoting is lost in a title, so a value reaches to the next
// option.
func parseNginxTitle(title string) map[string]string {
	_, rest, _ := strings.Cut(title, "master process ")
	out := map[string]string{}
	last := ""
	for i, f := range strings.Fields(rest) {
		switch {
		case i == 0: // the program
		case slices.Contains(nginxOptions, f):
			last = f
		case last != "" && out[last] == "":
			out[last] = f
		case last != "":
			out[last] += " " + f
		}
	}
	return out
}

var configureArgument = regexp.MustCompile(`--(conf-path|prefix|pid-path)=(\S+)`)

func (d *discovery) nginx(ctx context.Context, in *instance) {
	svc := &in.svc
	compiled := map[string]string{}
	for _, m := range configureArgument.FindAllStringSubmatch(d.output(ctx, svc.Binary, "-V"), -1) {
		compiled[m[1]] = m[2]
	}
	opt := parseNginxTitle(in.master.title())
	svc.Prefix = opt["-p"]
	if svc.Prefix == "" {
		svc.Prefix = compiled["prefix"]
	}
	svc.Prefix = resolveUnder(link(ctx, d.h, in.master.pid, "cwd"), svc.Prefix)
	svc.Config = opt["-c"]
	if svc.Config == "" {
		svc.Config = compiled["conf-path"]
	}
	svc.Config = resolveUnder(svc.Prefix, svc.Config)
	svc.Control.Start = nginxArgv(svc, svc.Binary)
	for _, o := range []string{"-e", "-g"} {
		if opt[o] != "" {
			svc.Control.Start = append(svc.Control.Start, o, opt[o])
		}
	}
	cfg, err := d.loadNginx(ctx, svc)
	if err != nil {
		d.note("The configuration of %s could not be read (%v); fill in whom it talks to.", svc.Name, err)
		return
	}
	if readSettings(ctx, d.h, svc).pidFile == "" {
		svc.Control.PIDFile = resolveUnder(svc.Prefix, compiled["pid-path"])
	}
	in.backends = d.nginxBackends(svc.Name, cfg)
}

func (d *discovery) loadNginx(ctx context.Context, svc *Service) (*nginx.Config, error) {
	return nginx.Load(svc.Config, svc.Prefix, hostRead(ctx, d.h), hostGlob(ctx, d.h))
}

// nginxBackends returns the endpoints that a configuration passes requests to.
func (d *discovery) nginxBackends(name string, cfg *nginx.Config) []string {
	var out []string
	cfg.Root.Walk(func(dir *nginx.Directive) bool {
		switch dir.Name {
		case "fastcgi_pass", "proxy_pass", "uwsgi_pass", "scgi_pass", "memcached_pass":
			if len(dir.Args) == 0 {
				return true
			}
			if strings.Contains(dir.Args[0], "$") {
				d.note("%s: %s %s holds a variable; fill in talks_to if the service is missing there.", name, dir.Name, dir.Args[0])
				return true
			}
			for _, e := range passEndpoints(cfg, dir) {
				if !slices.Contains(out, e) {
					out = append(out, e)
				}
			}
		}
		return true
	})
	return out
}

// passEndpoints resolves the address of a *_pass directive, through an upstream
// if it names one.
func passEndpoints(cfg *nginx.Config, pass *nginx.Directive) []string {
	address, defaultPort := pass.Args[0], ""
	if pass.Name == "proxy_pass" {
		defaultPort = "80"
		scheme, rest, ok := strings.Cut(address, "://")
		if ok {
			address = rest
			if scheme == "https" {
				defaultPort = "443"
			}
		}
		if path, ok := strings.CutPrefix(address, "unix:"); ok {
			path, _, _ = strings.Cut(path, ":")
			return []string{"unix:" + path}
		}
		if u, err := url.Parse("http://" + address); err == nil {
			address = u.Host
		}
	}
	var out []string
	cfg.Root.Walk(func(dir *nginx.Directive) bool {
		if dir.Name == "upstream" && len(dir.Args) > 0 && dir.Args[0] == address {
			for _, s := range dir.Find("server") {
				if len(s.Args) > 0 {
					out = append(out, withPort(s.Args[0], "80"))
				}
			}
		}
		return true
	})
	if out == nil {
		out = []string{withPort(address, defaultPort)}
	}
	return out
}

func withPort(address, port string) string {
	if strings.HasPrefix(address, "unix:") || port == "" {
		return address
	}
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}

// documentRoots returns the folders below which a configuration finds the
// scripts of the FastCGI server at one of the endpoints.
func (d *discovery) documentRoots(svc *Service, cfg *nginx.Config, endpoints []string) []string {
	var out []string
	cfg.Root.Walk(func(dir *nginx.Directive) bool {
		if dir.Name != "fastcgi_pass" || len(dir.Args) == 0 || dir.Parent == nil || !reaches(passEndpoints(cfg, dir), endpoints) {
			return true
		}
		root := scriptFolder(dir.Parent)
		if root == "" || strings.Contains(root, "$") {
			d.note("%s: the folder of the PHP scripts behind fastcgi_pass %s is not plain (%q); fill in root of the app.", svc.Name, dir.Args[0], root)
			return true
		}
		root = filepath.Clean(underPrefix(svc, root))
		if !slices.Contains(out, root) {
			out = append(out, root)
		}
		return true
	})
	return out
}

// scriptFolder is where SCRIPT_FILENAME points: a folder of its own, or root.
func scriptFolder(context *nginx.Directive) string {
	root := ""
	if r := context.Effective("root"); r != nil && len(r.Args) > 0 {
		root = r.Args[0]
	}
	for c := context; c != nil; c = c.Parent {
		params := c.Find("fastcgi_param")
		for _, p := range params {
			if len(p.Args) < 2 || p.Args[0] != "SCRIPT_FILENAME" {
				continue
			}
			script := p.Args[1]
			if rest, ok := strings.CutPrefix(script, "$document_root"); ok {
				script = root + rest
			}
			if fixed, _, ok := strings.Cut(script, "$"); ok {
				return strings.TrimSuffix(fixed, "/")
			}
			return filepath.Dir(script)
		}
		if len(params) > 0 {
			break // nginx inherits fastcgi_param only where a context has none
		}
	}
	return root
}

// reaches reports whether one of the endpoints a is one of b.
func reaches(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return sameEndpoint(x, y) })
	})
}

func (d *discovery) varnish(ctx context.Context, in *instance) {
	svc := &in.svc
	// The management interface also listens; only -a endpoints take requests.
	if a, ok := optionAfter(in.master.cmdline, "-a"); ok {
		if _, address, named := strings.Cut(a, "="); named {
			a = address // -a NAME=ADDRESS
		}
		a, _, _ = strings.Cut(a, ",") // ,PROTO
		i := slices.IndexFunc(svc.Listen, func(l string) bool { return sameEndpoint(l, withPort(a, "80")) })
		if i >= 0 {
			svc.Listen = svc.Listen[i : i+1]
		}
	}
	if p, ok := optionAfter(in.master.cmdline, "-P"); ok {
		svc.Control.PIDFile = p
	}
	if b, ok := optionAfter(in.master.cmdline, "-b"); ok {
		in.backends = []string{withPort(b, "80")}
		return
	}
	svc.Config, _ = optionAfter(in.master.cmdline, "-f")
	svc.Config = resolveUnder("/etc/varnish", svc.Config)
	var path []string
	if p, ok := vcl.ParseArgs(in.master.cmdline).Param("vcl_path"); ok {
		path = strings.Split(p, ":")
	}
	cfg, err := vcl.Load(svc.Config, path, hostRead(ctx, d.h), hostGlob(ctx, d.h))
	if err != nil {
		d.note("The VCL of %s could not be read (%v); fill in whom it talks to.", svc.Name, err)
		return
	}
	in.backends = vclBackends(cfg)
}

// vclBackends returns the endpoints of all backends of a VCL and its includes.
func vclBackends(cfg *vcl.Config) []string {
	var out []string
	add := func(e string) {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	for _, b := range cfg.Blocks("backend") {
		value := func(name string) string {
			p, _ := b.Property(name)
			s, _ := vcl.Text(p.Value)
			return s
		}
		host, port := value("host"), value("port")
		switch {
		case value("path") != "":
			add("unix:" + value("path"))
		case host != "" && port != "":
			add(net.JoinHostPort(strings.Trim(host, "[]"), port))
		case host != "":
			add(withPort(host, "80"))
		}
	}
	return out
}
