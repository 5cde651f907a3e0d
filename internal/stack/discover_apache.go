package stack

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
)

var apacheDefault = regexp.MustCompile(`(HTTPD_ROOT|SERVER_CONFIG_FILE)="([^"]*)"`)

var compiledIn = regexp.MustCompile(`(?m)^\s+(\w+\.c)$`)

func (d *discovery) apache(ctx context.Context, in *instance) {
	svc := &in.svc
	compiled := map[string]string{}
	for _, m := range apacheDefault.FindAllStringSubmatch(d.output(ctx, svc.Binary, "-V"), -1) {
		compiled[m[1]] = m[2]
	}
	svc.Prefix, _ = optionAfter(in.master.cmdline, "-d")
	if svc.Prefix == "" {
		svc.Prefix = compiled["HTTPD_ROOT"]
	}
	svc.Config, _ = optionAfter(in.master.cmdline, "-f")
	if svc.Config == "" {
		svc.Config = compiled["SERVER_CONFIG_FILE"]
	}
	svc.Config = resolveUnder(svc.Prefix, svc.Config)
	cfg, err := d.loadApache(ctx, in)
	if err != nil {
		d.note("The configuration of %s could not be read (%v); fill in whom it talks to, and the app that runs in it.", svc.Name, err)
		return
	}
	in.backends = d.apacheBackends(svc.Name, cfg)
	if version := ApachePHPVersion(cfg); version != "" {
		if main := filepath.Join(ApachePHPDir(cfg, svc.Prefix, version), "php.ini"); exists(ctx, d.h, main) {
			svc.PHPIni = main
		} else {
			d.note("%s runs PHP without a php.ini (%s is not there); write one, or name it as php_ini.", svc.Name, main)
		}
	}
	// Debian's apachectl sets the variables that its configuration needs.
	if ctl := lookUp(ctx, d.h, "apachectl", "apache2ctl"); ctl != "" && exists(ctx, d.h, filepath.Join(filepath.Dir(svc.Config), "envvars")) && len(in.master.cmdline) > 1 {
		svc.Control.Start = append([]string{ctl}, in.master.cmdline[1:]...)
	}
	root := svc.Prefix
	if r := cfg.Root.Find("ServerRoot"); len(r) > 0 && len(r[len(r)-1].Args) > 0 {
		root = r[len(r)-1].Args[0]
	}
	if pid := cfg.Root.Find("PidFile"); len(pid) > 0 && len(pid[len(pid)-1].Args) > 0 {
		svc.Control.PIDFile = resolveUnder(root, pid[len(pid)-1].Args[0])
	}
}

// loadApache reads the configuration as the running server has read it: with
// its own environment, -D options and compiled-in modules.
func (d *discovery) loadApache(ctx context.Context, in *instance) (*apache.Config, error) {
	opt := apache.Options{Root: in.svc.Prefix, Env: d.apacheEnvironment(ctx, in), Version: in.svc.Version}
	for i, a := range in.master.cmdline {
		if a == "-D" && i+1 < len(in.master.cmdline) {
			opt.Defines = append(opt.Defines, in.master.cmdline[i+1])
		} else if name, ok := strings.CutPrefix(a, "-D"); ok && name != "" {
			opt.Defines = append(opt.Defines, name)
		}
	}
	for _, m := range compiledIn.FindAllStringSubmatch(d.output(ctx, in.svc.Binary, "-l"), -1) {
		opt.Compiled = append(opt.Compiled, m[1])
	}
	return apache.Load(in.svc.Config, opt, hostRead(ctx, d.h), hostGlob(ctx, d.h))
}

// apacheEnvironment is the environment of the running server, or, where that
// cannot be read, what Debian's envvars beside the configuration sets.
func (d *discovery) apacheEnvironment(ctx context.Context, in *instance) map[string]string {
	if data, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/environ", in.master.pid)); err == nil && len(data) > 0 {
		env := map[string]string{}
		for pair := range strings.SplitSeq(string(data), "\x00") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				env[name] = value
			}
		}
		return env
	}
	if data, err := d.h.ReadFile(ctx, filepath.Join(filepath.Dir(in.svc.Config), "envvars")); err == nil {
		return apache.Environment(data)
	}
	return nil
}

// proxyPorts are the ports of a proxy target that names none (mod_proxy and
// its submodules, ap_proxy_port_of_scheme and mod_proxy_fcgi's manual).
var proxyPorts = map[string]string{"http": "80", "ws": "80", "h2c": "80", "https": "443", "wss": "443", "h2": "443", "ajp": "8009", "fcgi": "8000", "scgi": "4000", "uwsgi": "3031"}

// proxyTarget returns the target of a directive that passes requests on; ""
// for all others.
func proxyTarget(dir *apache.Directive) string {
	switch strings.ToLower(dir.Name) {
	case "proxypass", "proxypassmatch": // [path] target [key=value …]
		for _, a := range dir.Args[:min(2, len(dir.Args))] {
			if strings.Contains(a, "://") {
				return a
			}
		}
	case "balancermember":
		for _, a := range dir.Args {
			if strings.Contains(a, "://") {
				return a
			}
		}
	case "sethandler":
		if len(dir.Args) == 1 {
			target, _ := strings.CutPrefix(dir.Args[0], "proxy:")
			if target != dir.Args[0] {
				return target
			}
		}
	case "rewriterule":
		if len(dir.Args) == 3 {
			flags := strings.Split(strings.Trim(dir.Args[2], "[]"), ",")
			if strings.Contains(dir.Args[1], "://") && (slices.Contains(flags, "P") || slices.Contains(flags, "proxy")) {
				return dir.Args[1]
			}
		}
	}
	return ""
}

// proxyEndpoint is where a target is reached, "" for a balancer; ok is false if
// that depends on the request.
func proxyEndpoint(target string) (endpoint string, ok bool) {
	if socket, _, found := strings.Cut(target, "|"); found {
		if path, unix := strings.CutPrefix(socket, "unix:"); unix {
			return "unix:" + path, !strings.ContainsAny(path, "$%")
		}
	}
	scheme, rest, _ := strings.Cut(target, "://")
	address, _, _ := strings.Cut(rest, "/")
	if scheme == "balancer" {
		return "", true
	}
	if strings.ContainsAny(address, "$%") || address == "" {
		return "", false
	}
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address, true
	}
	return withPort(address, proxyPorts[strings.ToLower(scheme)]), true
}

// apacheBackends returns the endpoints that a configuration passes requests to.
func (d *discovery) apacheBackends(name string, cfg *apache.Config) []string {
	var out []string
	eachProxy(cfg, func(dir *apache.Directive, target string) {
		e, ok := proxyEndpoint(target)
		switch {
		case !ok:
			d.note("%s: %s %s depends on the request; fill in talks_to if the service is missing there.", name, dir.Name, target)
		case e != "" && !slices.Contains(out, e):
			out = append(out, e)
		}
	})
	return out
}

func eachProxy(cfg *apache.Config, visit func(dir *apache.Directive, target string)) {
	cfg.Root.Walk(func(dir *apache.Directive) bool {
		if dir.State == apache.Inactive {
			return false
		}
		if target := proxyTarget(dir); target != "" {
			visit(dir, target)
		}
		return true
	})
}

// apacheRoots returns the folders whose PHP scripts run in the FastCGI server
// at one of the endpoints, or, without endpoints, in the server itself.
func (d *discovery) apacheRoots(ctx context.Context, cfg *apache.Config, endpoints []string) []string {
	var out []string
	add := func(root string) {
		if root = filepath.Clean(root); filepath.IsAbs(root) && !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	if endpoints == nil {
		servedBy(cfg, nil, add)
		eachAlias(cfg, func(dir string) {
			if d.holdsPHP(ctx, dir, "*.php") {
				add(dir)
			}
		})
		return d.withPHP(ctx, out)
	}
	eachProxy(cfg, func(dir *apache.Directive, target string) {
		e, ok := proxyEndpoint(target)
		if !ok || !reaches([]string{e}, endpoints) {
			return
		}
		_, rest, _ := strings.Cut(target, "://")
		_, script, _ := strings.Cut(rest, "/")
		if fixed, _, variable := strings.Cut("/"+script, "$"); variable && len(fixed) > 1 {
			add(fixed) // ProxyPassMatch "^/(.*\.php)$" "fcgi://127.0.0.1:9000/srv/www/$1"
			return
		}
		var vhost *apache.Directive
		for at := dir; at != nil; at = at.Parent {
			if at.Is("VirtualHost") {
				vhost = at
			}
		}
		servedBy(cfg, vhost, add)
	})
	return out
}

// servedBy visits the document roots of a virtual host, or of all of them and
// the main server where it has one of its own.
func servedBy(cfg *apache.Config, vhost *apache.Directive, visit func(root string)) {
	hosts := []*apache.Directive{vhost}
	if vhost == nil {
		hosts = append(cfg.VirtualHosts(), nil)
	}
	for _, h := range hosts {
		if v, err := cfg.Value("DocumentRoot", h); err == nil && len(v.Set) > 0 {
			visit(v.Text)
		}
	}
}

// eachAlias visits the folders that an Alias shows at an address of its own.
func eachAlias(cfg *apache.Config, visit func(dir string)) {
	cfg.Root.Walk(func(dir *apache.Directive) bool {
		if dir.State == apache.Inactive {
			return false
		}
		if dir.Is("Alias") && len(dir.Args) == 2 && filepath.IsAbs(dir.Args[1]) {
			visit(dir.Args[1])
		}
		return true
	})
}

// withPHP leaves folders without PHP out (a distribution's page of welcome), unless none
// has any: packages show their applications by aliases beside such a document root.
func (d *discovery) withPHP(ctx context.Context, roots []string) []string {
	var have []string
	for _, r := range roots {
		if d.holdsPHP(ctx, r, "*.php") || d.holdsPHP(ctx, r, "*/*.php") {
			have = append(have, r)
		}
	}
	if len(have) == 0 {
		return roots
	}
	return have
}

func (d *discovery) holdsPHP(ctx context.Context, dir, pattern string) bool {
	found, err := hostGlob(ctx, d.h)(filepath.Join(dir, pattern))
	return err == nil && len(found) > 0
}

var (
	phpModule  = regexp.MustCompile(`^php\d*_module$`)
	phpLibrary = regexp.MustCompile(`libphp(\d+\.\d+)\.so$`) // Debian's name
)

// ApachePHPDir is the folder of the php.ini of PHP in Apache: PHPIniDir, below
// prefix if it is relative, else Debian's for that version ("8.2").
func ApachePHPDir(cfg *apache.Config, prefix, version string) string {
	if d := cfg.Root.First("PHPIniDir"); d != nil && len(d.Args) == 1 {
		return resolveUnder(prefix, d.Args[0])
	}
	return filepath.Join("/etc/php", version, "apache2")
}

// ApachePHPVersion is "8.2" if that PHP is a module of the server; "" if none
// is, or if its file does not tell.
func ApachePHPVersion(cfg *apache.Config) string {
	for _, m := range cfg.Root.Find("LoadModule") {
		if m.State != apache.Active || len(m.Args) != 2 || !phpModule.MatchString(m.Args[0]) {
			continue
		}
		if v := phpLibrary.FindStringSubmatch(m.Args[1]); v != nil {
			return v[1]
		}
	}
	return ""
}

// Below reports whether p is dir or lies below it; both are clean and absolute.
func Below(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// runsPHP reports whether the server has PHP as a module.
func runsPHP(cfg *apache.Config) bool {
	return slices.ContainsFunc(cfg.Root.Find("LoadModule"), func(m *apache.Directive) bool {
		return m.State == apache.Active && len(m.Args) > 0 && phpModule.MatchString(m.Args[0])
	})
}

// modPHP makes instances of the applications that run inside Apache.
func (d *discovery) modPHP(ctx context.Context) []*instance {
	var out []*instance
	for _, web := range d.found {
		if web.svc.Kind != Apache {
			continue
		}
		cfg, err := d.loadApache(ctx, web)
		if err != nil || !runsPHP(cfg) {
			continue // an error was noted when the instance was found
		}
		for _, root := range d.apacheRoots(ctx, cfg, nil) {
			r := d.appRoot(ctx, root)
			if !slices.ContainsFunc(out, func(a *instance) bool { return a.svc.Root == r && a.svc.RunsIn == web.svc.Name }) {
				out = append(out, &instance{svc: Service{Kind: App, Host: d.place.Name, Root: r, RunsIn: web.svc.Name}})
			}
		}
	}
	return out
}
