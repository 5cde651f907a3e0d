package stack

import (
	"context"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
)

// settings are what a service's present configuration says about its control.
// They are read anew each time, because a change may have just moved them.
type settings struct {
	pidFile   string
	endpoints []string // where it listens: "127.0.0.1:8080", "unix:/run/x.sock"
	logs      []string // error logs
	onDemand  bool     // every php-fpm pool has pm = ondemand
	// finish is how long php-fpm lets requests under way go on when it reloads
	// (process_control_timeout; 0: not at all).
	finish time.Duration
}

// readSettings reads the service's configuration. What cannot be read there
// stays empty, and endpoints then are those of kasoku.yaml.
func readSettings(ctx context.Context, h host.Host, svc *Service) settings {
	var s settings
	switch svc.Kind {
	case Nginx:
		s = nginxSettings(ctx, h, svc)
	case Apache:
		s = apacheSettings(ctx, h, svc)
	case PHPFPM:
		s = fpmSettings(ctx, h, svc)
	case MariaDB, MySQL:
		s = databaseSettings(ctx, h, svc)
	case Memcached, Redis:
		s = cacheSettings(ctx, h, svc)
	default: // nothing is known without asking it
	}
	if len(s.endpoints) == 0 {
		s.endpoints = svc.Listen
	}
	return s
}

func nginxSettings(ctx context.Context, h host.Host, svc *Service) settings {
	var s settings
	cfg, err := nginx.Load(svc.Config, svc.Prefix, hostRead(ctx, h), hostGlob(ctx, h))
	if err != nil || cfg.Root == nil {
		return s
	}
	if d := cfg.Root.First("pid"); d != nil && len(d.Args) > 0 {
		s.pidFile = underPrefix(svc, d.Args[0])
	}
	cfg.Root.Walk(func(d *nginx.Directive) bool {
		switch {
		case d.Name == "error_log" && len(d.Args) > 0 && (d.Parent == nil || d.Parent == cfg.Root || d.Parent.Name == "http"):
			if log := d.Args[0]; log != "stderr" && !strings.HasPrefix(log, "syslog:") && !strings.HasPrefix(log, "memory:") {
				s.logs = append(s.logs, underPrefix(svc, log))
			}
		case d.Name == "listen" && len(d.Args) > 0 && !slices.Contains(d.Args, "udp") && !slices.Contains(d.Args, "quic"):
			if e := nginxEndpoint(d.Args[0]); e != "" && !slices.Contains(s.endpoints, e) {
				s.endpoints = append(s.endpoints, e)
			}
		}
		return true
	})
	return s
}

// nginxEndpoint turns the address of a listen directive into an endpoint:
// "8080", "*:8080", "127.0.0.1" (port 80), "[::]:8080", "unix:/path".
func nginxEndpoint(arg string) string {
	switch {
	case strings.HasPrefix(arg, "unix:"):
		return arg
	case allDigits(arg):
		return "0.0.0.0:" + arg
	case strings.HasPrefix(arg, "[") && strings.HasSuffix(arg, "]"):
		return arg + ":80"
	case !strings.Contains(arg, ":"):
		return arg + ":80"
	}
	name, port, err := net.SplitHostPort(arg)
	if err != nil || !allDigits(port) {
		return ""
	}
	if name == "*" {
		name = "0.0.0.0"
	}
	return net.JoinHostPort(name, port)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// underPrefix makes a path of nginx's or php-fpm's configuration absolute.
func underPrefix(svc *Service, p string) string {
	if p == "" || filepath.IsAbs(p) || svc.Prefix == "" {
		return p
	}
	return path.Join(svc.Prefix, p)
}

func fpmSettings(ctx context.Context, h host.Host, svc *Service) settings {
	var s settings
	cfg, err := ini.Load(svc.Config, ini.FPM, hostRead(ctx, h), hostGlob(ctx, h))
	if err != nil {
		return s
	}
	if v, ok := cfg.Get("global", "pid"); ok && v.Text != "" {
		s.pidFile = underPrefix(svc, v.Text)
	}
	if v, ok := cfg.Get("global", "error_log"); ok && v.Text != "" && v.Text != "syslog" {
		s.logs = append(s.logs, underPrefix(svc, v.Text))
	}
	if v, ok := cfg.Get("global", "process_control_timeout"); ok {
		s.finish = fpmTime(v.Text)
	}
	s.onDemand = true
	for _, pool := range cfg.Sections() {
		if pool == "global" {
			continue
		}
		if v, ok := cfg.Get(pool, "pm"); ok && v.Text != "ondemand" {
			s.onDemand = false
		}
		if v, ok := cfg.Get(pool, "listen"); ok && v.Text != "" {
			s.endpoints = append(s.endpoints, fpmEndpoint(strings.ReplaceAll(v.Text, "$pool", pool), svc))
		}
	}
	return s
}

// fpmTime reads a time of php-fpm.conf: seconds, or with the unit s, m, h or d.
func fpmTime(s string) time.Duration {
	unit := time.Second
	if n := len(s); n > 0 {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[s[n-1]]; ok {
			unit, s = u, s[:n-1]
		}
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * unit
}

// fpmEndpoint turns a pool's listen into an endpoint: "9000", "127.0.0.1:9000",
// "[::]:9000", "/run/php.sock".
func fpmEndpoint(listen string, svc *Service) string {
	switch {
	case allDigits(listen):
		return "0.0.0.0:" + listen
	case strings.HasPrefix(listen, "/"):
		return "unix:" + listen
	}
	if name, port, err := net.SplitHostPort(listen); err == nil && allDigits(port) {
		return net.JoinHostPort(name, port)
	}
	return "unix:" + underPrefix(svc, listen)
}

// databaseSettings reads the server's options: from its command line first,
// which wins over the files.
func databaseSettings(ctx context.Context, h host.Host, svc *Service) settings {
	var s settings
	option := databaseOptions(ctx, h, svc)
	if v := option("pid-file"); v != "" {
		s.pidFile = underDataDir(v, option("datadir"))
	}
	if v := option("log-error"); v != "" {
		s.logs = append(s.logs, underDataDir(v, option("datadir")))
	}
	if v := option("socket"); v != "" {
		s.endpoints = append(s.endpoints, "unix:"+underDataDir(v, option("datadir")))
	}
	if v := option("port"); allDigits(v) && v != "0" && !isOn(option("skip-networking")) {
		if n, err := strconv.Atoi(v); err == nil && n < 65536 {
			address, _, _ := strings.Cut(option("bind-address"), ",")
			if address == "" || address == "*" {
				address = "0.0.0.0"
			}
			s.endpoints = append(s.endpoints, net.JoinHostPort(address, v))
		}
	}
	return s
}

// underDataDir resolves a server path; relative ones are in the data folder.
func underDataDir(p, dataDir string) string {
	if filepath.IsAbs(p) || dataDir == "" {
		return p
	}
	return path.Join(dataDir, p)
}

// isOn reads a boolean option; "1" also stands for an option without a value.
func isOn(v string) bool {
	return v != "" && v != "0" && !strings.EqualFold(v, "off") && !strings.EqualFold(v, "false")
}

// serverSections of an option file, from the first that a server reads to the
// last; the order matters only if they contradict each other.
var serverSections = []string{"mysqld", "server", "mariadb", "mariadbd"}

// databaseOptions returns a lookup of the server's options; "" if not set.
func databaseOptions(ctx context.Context, h host.Host, svc *Service) func(name string) string {
	cfg, err := ini.Load(svc.Config, ini.MySQL, hostRead(ctx, h), hostGlob(ctx, h))
	return func(name string) string {
		if v, ok := flagValue(svc.Control.Start, "--"+name); ok {
			return v
		}
		value := ""
		if err != nil {
			return value
		}
		for _, section := range serverSections {
			if v, ok := cfg.Get(section, name); ok {
				value = v.Text
				if value == "" {
					value = "1"
				}
			}
		}
		return value
	}
}

// flagValue finds "--name=value" or "--name value" among arguments; "1" for a
// flag without a value. The last one wins.
func flagValue(argv []string, name string) (value string, ok bool) {
	for i, a := range argv {
		if v, found := strings.CutPrefix(a, name+"="); found {
			value, ok = v, true
		} else if a == name {
			value, ok = "1", true
			if i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
				value = argv[i+1]
			}
		}
	}
	return value, ok
}

// namedConfig is the absolute path of the configuration file that a running
// process's title or command line names; "" if it names none.
func (s *Service) namedConfig(p *process) string {
	title := strings.Fields(p.title())
	var named string
	switch s.Kind {
	case Nginx:
		named, _ = optionAfter(title, "-c")
	case PHPFPM:
		if _, rest, ok := strings.Cut(p.title(), "master process ("); ok {
			named = strings.TrimSuffix(strings.TrimSpace(rest), ")")
		} else if v, ok := optionAfter(p.cmdline, "-y"); ok {
			named = v
		} else {
			named, _ = flagValue(p.cmdline, "--fpm-config")
		}
	case MariaDB, MySQL:
		named, _ = flagValue(p.cmdline, "--defaults-file")
	case Apache, Varnish:
		named, _ = optionAfter(p.cmdline, "-f")
	case App:
		if s.IsHAProxy() {
			named = s.haproxyConfig(p)
		}
	default: // named on no command line that is understood
	}
	if !filepath.IsAbs(named) {
		return ""
	}
	return named
}

// optionAfter finds "-x value" or "-xvalue".
func optionAfter(argv []string, name string) (string, bool) {
	for i, a := range argv {
		if a == name && i+1 < len(argv) {
			return argv[i+1], true
		}
		if v, ok := strings.CutPrefix(a, name); ok && v != "" && len(name) == 2 && !strings.HasPrefix(a, "--") {
			return v, true
		}
	}
	return "", false
}

// ErrorLogs are the files that the service's present configuration has it
// write its errors to; nil if it names none.
func ErrorLogs(ctx context.Context, h host.Host, svc *Service) []string {
	return readSettings(ctx, h, svc).logs
}
