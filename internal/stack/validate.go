package stack

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/regulation"
	"kasoku/internal/stat"
)

// kinds in the order in which messages list them.
var kinds = []Kind{Nginx, Apache, PHPFPM, MariaDB, MySQL, Memcached, Redis, Varnish, App}

// needConfig are the kinds that are tuned through a configuration file.
var needConfig = []Kind{Nginx, Apache, PHPFPM, MariaDB, MySQL}

// serviceName is what a service may be called: it becomes part of file names
// and of plan IDs.
var serviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// validate reports everything that the types alone cannot tell.
func (s *Stack) validate(d *document) {
	switch s.Version {
	case 1:
	case 0:
		d.report("version", `missing; write "version: 1"`)
	default:
		d.report("version", "%d is not known to this Kasoku; write 1", s.Version)
	}
	for name, h := range s.Hosts {
		switch {
		case !serviceName.MatchString(name):
			d.report("hosts."+name, "a host's name may only have letters, digits, '-', '_' and '.'")
		case name == LocalHost && h != (HostConfig{}):
			d.report("hosts."+name, "is this machine; give other machines other names")
		case name != LocalHost && h.SSH == "":
			d.report("hosts."+name+".ssh", "missing; write what you type after ssh, e.g. \"ssh: root@db1\"")
		case strings.HasPrefix(h.SSH, "-"):
			d.report("hosts."+name+".ssh", "%q is an option, not a destination", h.SSH)
		}
	}
	if len(s.Services) == 0 {
		d.report("services", "missing; name at least one service, or let `kasoku init` find them")
	}
	seen := map[string]bool{}
	for i := range s.Services {
		path := fmt.Sprintf("services[%d]", i)
		svc := &s.Services[i]
		if svc.Name != "" && seen[svc.Name] {
			d.report(path+".name", "%q is already the name of another service; names must differ", svc.Name)
		}
		seen[svc.Name] = true
		s.validateService(d, path, svc)
	}
	s.validateLoad(d)
	s.validateRegulation(d)
	s.validateChecks(d)
	s.validateTune(d)
	s.validateEvidence(d)
}

func (s *Stack) validateService(d *document, path string, svc *Service) {
	switch {
	case svc.Name == "":
		d.report(path+".name", `missing; write e.g. "name: web"`)
	case !serviceName.MatchString(svc.Name):
		d.report(path+".name", "%q may only have letters, digits, '-', '_' and '.', and at most 64 of them", svc.Name)
	}
	switch {
	case svc.Kind == "":
		d.report(path+".kind", "missing; write one of %s", list(kinds))
	case !slices.Contains(kinds, svc.Kind):
		d.report(path+".kind", "unknown kind %q; write one of %s", svc.Kind, list(kinds))
	case svc.Config == "" && slices.Contains(needConfig, svc.Kind):
		d.report(path+".config", "missing; write the path of %s's main configuration file", svc.Kind)
	}
	if _, ok := s.Hosts[svc.Host]; !ok && svc.Host != LocalHost {
		d.report(path+".host", "%q is not under hosts; write hosts: {%s: {ssh: user@name}}", svc.Host, svc.Host)
	}
	validatePaths(d, path, svc)
	if svc.PHPIni != "" && svc.Kind != PHPFPM && svc.Kind != Apache {
		d.report(path+".php_ini", "belongs to a php-fpm service or an Apache with PHP in it, this one is %s", svc.Kind)
	}
	if len(svc.Settings) > 0 && svc.Kind != App {
		d.report(path+".settings", "belongs to an app service, this one is %s", svc.Kind)
	}
	for i, l := range svc.Listen {
		if msg := checkEndpoint(l); msg != "" {
			d.report(fmt.Sprintf("%s.listen[%d]", path, i), "%s", msg)
		}
	}
	s.validateLinks(d, path, svc)
	s.validateSpare(d, path, svc)
	s.validateFront(d, path, svc)
	validateControl(d, path+".control", svc)
	validateBuild(d, path+".build", svc)
	validateVariants(d, path, svc)
	if u := svc.Health.URL; u != "" {
		if msg := checkURL(u); msg != "" {
			d.report(path+".health.url", "%s", msg)
		}
	}
	if svc.Login != nil {
		validateLogin(d, path+".login", svc)
	}
	for key, u := range map[string]string{"status": svc.Status, "pprof": svc.PProf} {
		if u == "" {
			continue
		}
		if msg := checkURL(u); msg != "" {
			d.report(path+"."+key, "%s", msg)
		}
	}
	if svc.PProf != "" && svc.Kind != App {
		d.report(path+".pprof", "belongs to an app service, this one is %s", svc.Kind)
	}
}

// another is the service that a key of svc names; nil if there is none or if it
// is svc itself, which is reported.
func (s *Stack) another(d *document, path string, svc *Service, name string) *Service {
	o := s.Service(name)
	switch {
	case name == svc.Name:
		d.report(path, "%q is this service itself; remove it", name)
		return nil
	case o == nil:
		d.report(path, "there is no service %q; %s", name, suggest(name, s.serviceNames()))
	}
	return o
}

func (s *Stack) serviceNames() []string {
	var names []string
	for _, o := range s.Services {
		names = append(names, o.Name)
	}
	return names
}

func (s *Stack) validateLinks(d *document, path string, svc *Service) {
	for i, to := range svc.TalksTo {
		s.another(d, fmt.Sprintf("%s.talks_to[%d]", path, i), svc, to)
	}
	if svc.RunsIn == "" {
		return
	}
	in := s.Service(svc.RunsIn)
	switch {
	case svc.Kind != App:
		d.report(path+".runs_in", "only an app runs in another service, this one is %s; remove it", svc.Kind)
	case in == nil:
		d.report(path+".runs_in", "there is no service %q; %s", svc.RunsIn, suggest(svc.RunsIn, s.serviceNames()))
	case in == svc || in.RunsIn != "":
		d.report(path+".runs_in", "%q has no processes of its own; name the service that has", svc.RunsIn)
	case svc.hasControl():
		d.report(path+".control", "the app runs in %q and is restarted with it; remove control", svc.RunsIn)
	}
}

func (s *Service) hasControl() bool {
	c := s.Control
	return c.Method != "" || c.Unit != "" || c.Program != "" || c.PIDFile != "" || len(c.Start)+len(c.Stop)+len(c.Reload) > 0
}

func validateControl(d *document, path string, svc *Service) {
	c := svc.Control
	methods := []string{MethodSystemd, MethodSupervisor, MethodProcess, MethodCommand}
	if c.Method != "" && !slices.Contains(methods, c.Method) {
		d.report(path+".method", "unknown method %q; write one of %s", c.Method, strings.Join(methods, ", "))
		return
	}
	for key, argv := range map[string][]string{"start": c.Start, "stop": c.Stop, "reload": c.Reload, "check": c.Check, "drain": c.Drain} {
		if argv != nil && (len(argv) == 0 || argv[0] == "") {
			d.report(path+"."+key, "is empty; write [program, argument, …]")
		}
	}
	switch svc.ControlMethod() {
	case MethodSystemd:
		if c.Unit == "" {
			d.report(path+".unit", `missing; write e.g. "unit: nginx.service"`)
		}
		if c.PIDFile != "" || len(c.Start)+len(c.Stop) > 0 {
			d.report(path, "pid_file, start and stop belong to another method; systemd needs only unit")
		}
	case MethodSupervisor:
		if c.Program == "" {
			d.report(path+".program", `missing; write the name that supervisorctl status shows, e.g. "program: web"`)
		}
		if c.PIDFile != "" || len(c.Start)+len(c.Stop) > 0 {
			d.report(path, "pid_file, start and stop belong to another method; supervisor needs only program and config")
		}
	case MethodCommand:
		if len(c.Start) == 0 || len(c.Stop) == 0 {
			d.report(path, "method command needs both start and stop; write them as [program, argument, …]")
		}
		fallthrough
	default:
		if c.Unit != "" {
			d.report(path+".unit", "belongs to method systemd, this one is %s", svc.ControlMethod())
		}
	}
	if m := svc.ControlMethod(); m != MethodProcess && c.EnvFile != "" {
		d.report(path+".env_file", "belongs to method process, this one is %s, which has an environment of its own", m)
	}
	if m := svc.ControlMethod(); m != MethodSupervisor && (c.Program != "" || c.Config != "") {
		d.report(path, "program and config belong to method supervisor, this one is %s", m)
	}
}

func validateBuild(d *document, path string, svc *Service) {
	b := svc.Build
	switch {
	case b == nil:
	case svc.Kind != App:
		d.report(path, "belongs to an app, this one is %s", svc.Kind)
	case b.Dir == "" || len(b.Command) == 0 || len(b.Products) == 0:
		d.report(path, "needs dir (of the main package), command ([go, build, -o, app, .]) and products ([app])")
	default:
		for _, p := range b.Products {
			if !filepath.IsLocal(p) {
				d.report(path+".products", "%q is not inside dir; write it relative to that", p)
			}
		}
	}
}

func validateLogin(d *document, path string, svc *Service) {
	l := svc.Login
	switch {
	case !svc.IsDatabase() && svc.Kind != Redis:
		d.report(path, "belongs to a mariadb, mysql or redis service, this one is %s", svc.Kind)
	case l.PasswordFile != "" && l.PasswordEnv != "":
		d.report(path, "names both password_file and password_env; keep one")
	case l.Ask && (l.PasswordFile != "" || l.PasswordEnv != ""):
		d.report(path+".ask", "there is a password_file or password_env too; keep one")
	case l.User == "" && l.DefaultsFile == "" && svc.Kind != Redis: // Redis has a default user
		d.report(path+".user", "missing; write the database user, or defaults_file with a [client] section")
	case l.Socket != "" && l.Address != "":
		d.report(path, "names both socket and address; keep one")
	case l.Address != "":
		if msg := checkEndpoint(l.Address); msg != "" {
			d.report(path+".address", "%s", msg)
		}
	}
}

func (s *Stack) validateLoad(d *document) {
	switch c := s.Load.Command; {
	case s.Load.Scenario != "" && c != nil:
		d.report("load.command", "there is a scenario too; keep one of scenario and command")
	case c != nil:
		for _, p := range c.Check() {
			d.report(strings.TrimSuffix("load.command."+p.Path, "."), "%s", p.Text)
		}
	case s.Load.Scenario == "":
		d.report("load.scenario", `missing; write the path of a scenario file, e.g. "scenario: scenario.yaml", or a benchmark under command`)
	}
	if s.Load.URL == "" {
		d.report("load.url", `missing; write the front door's base URL, e.g. "url: http://127.0.0.1:8080"`)
	} else if msg := checkURL(s.Load.URL); msg != "" {
		d.report("load.url", "%s", msg)
	}
	if s.Load.Workload < 0 {
		d.report("load.workload", "%d is negative; write the number of virtual users, or remove it", s.Load.Workload)
	}
	s.validateReset(d)
	for i, a := range s.Load.Allow {
		_, errNet := netip.ParsePrefix(a)
		_, errAddr := netip.ParseAddr(a)
		if errNet != nil && errAddr != nil {
			d.report(fmt.Sprintf("load.allow[%d]", i), "%q is not an address range; write e.g. 10.0.0.0/24", a)
		}
	}
}

func (s *Stack) validateRegulation(d *document) {
	r := s.Regulation
	var known []string
	for _, t := range regulation.Trades {
		known = append(known, string(t.Trade))
	}
	for i, t := range r.Allow {
		if !slices.Contains(known, string(t)) {
			d.report(fmt.Sprintf("regulation.allow[%d]", i), "unknown trade %q; write any of %s", t, strings.Join(known, ", "))
		}
	}
	// What is left of Validate once the trades are known; a copy, because r shares
	// its list with s.
	r.Allow = slices.DeleteFunc(slices.Clone(r.Allow), func(t regulation.Trade) bool { return !slices.Contains(known, string(t)) })
	if err := r.Validate(); err != nil {
		path, text, ok := strings.Cut(err.Error(), ": ")
		if !ok {
			path, text = "regulation", err.Error()
		}
		d.report(path, "%s", text)
	}
	for key, names := range map[string][]string{"no_restart": r.NoRestart, "no_touch": r.NoTouch} {
		for i, n := range names {
			if s.Service(n) == nil && (key != "no_touch" || n != regulation.Kernel) {
				d.report(fmt.Sprintf("regulation.%s[%d]", key, i), "there is no service %q", n)
			}
		}
	}
}

func (s *Stack) validateTune(d *document) {
	t := s.Tune
	if t.SmallestEffect < 0 || t.SmallestEffect >= 1 {
		d.report("tune.smallest_effect", "%v is outside 0–1; write a fraction, e.g. 0.01 for 1 %%", t.SmallestEffect)
	}
	if t.Alpha != 0 && (t.Alpha < stat.MinAlpha || t.Alpha > stat.MaxAlpha) {
		d.report("tune.alpha", "%v is outside %v–%v; write a probability, e.g. 0.01", t.Alpha, stat.MinAlpha, stat.MaxAlpha)
	}
	if t.MaxForeignCPU < 0 || t.MaxForeignCPU > 1 {
		d.report("tune.max_foreign_cpu", "%v is outside 0–1; write a share of the machine, e.g. 0.1", t.MaxForeignCPU)
	}
	if t.RevertAfter != 0 && t.RevertAfter < time.Second {
		d.report("tune.revert_after", "%s is too short for a heartbeat over a network; write at least 1s, e.g. 60s", t.RevertAfter)
	}
	if t.MaxPairs != 0 && (t.MaxPairs < stat.FirstLook || t.MaxPairs > stat.LastLook) {
		d.report("tune.max_pairs", "%d is outside %d–%d; fewer show nothing, and for more no verdict was calibrated", t.MaxPairs, stat.FirstLook, stat.LastLook)
	}
}

// checkEndpoint returns what is wrong with "host:port" or "unix:/path"; "" if
// nothing is.
func checkEndpoint(e string) string {
	if path, ok := strings.CutPrefix(e, "unix:"); ok {
		if path == "" {
			return `"unix:" has no path; write e.g. unix:/run/php.sock`
		}
		return ""
	}
	_, port, err := net.SplitHostPort(e)
	if err != nil {
		return fmt.Sprintf("%q is not an endpoint; write e.g. 127.0.0.1:8080 or unix:/run/php.sock", e)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Sprintf("%q has no port from 1 to 65535", e)
	}
	return ""
}

func checkURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Sprintf("%q is not a URL; write e.g. http://127.0.0.1:8080", s)
	}
	if u.User != nil {
		return "must not hold a user and password"
	}
	return ""
}

// suggest says which of the names may have been meant.
func suggest(name string, names []string) string {
	if best := nearest(name, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "services are " + strings.Join(names, ", ")
}

func list(ks []Kind) string {
	var out []string
	for _, k := range ks {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}
