package evidence

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// apacheLevels reads which logs an Apache's requests are written to. Where the
// configuration cannot be read as the server does (a file that only root may
// read), all logs that it names count as one level.
func apacheLevels(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service, r *fileReader) ([]LogLevel, error) {
	conf, err := apache.Load(svc.Config, apacheBuild(ctx, h, st, svc, r).Options(svc), r.read, r.glob)
	if err == nil {
		return ApacheLogLevels(conf, svc), nil
	}
	found, err := readApache(svc.Config, svc.Prefix, r.read, r.glob)
	if err != nil {
		return nil, err
	}
	out := []LogLevel{{Name: "main server", Logs: found.Access[:min(1, len(found.Access))]}}
	for _, a := range found.Access[len(out[0].Logs):] {
		out = append(out, LogLevel{Name: a.Path, Logs: []AccessLog{a}})
	}
	return out, nil
}

// apacheNaming is what the arguments of log directives mean at one place.
type apacheNaming struct {
	root    string            // relative paths are below it
	formats map[string]string // LogFormat by name
	last    string            // LogFormat without a name, for directives that name none
}

// ApacheLogLevels lists the main server and the virtual hosts with the logs
// that hold for them: CustomLog and TransferLog of a virtual host replace those
// of the main server, a GlobalLog holds for all (Apache 2.4 manual,
// mod_log_config).
func ApacheLogLevels(conf *apache.Config, svc *stack.Service) []LogLevel {
	root := ApacheRoot(conf, svc)
	main := apacheNaming{root: root, formats: apacheDefaults, last: apacheDefaults["common"]}.with(conf.Root)
	out := []LogLevel{{Name: "main server", Logs: main.logs(conf.Root, "CustomLog", "TransferLog", "GlobalLog")}}
	global := main.logs(conf.Root, "GlobalLog")
	hosts := conf.VirtualHosts()
	for _, v := range hosts {
		l := LogLevel{Name: strings.TrimSpace("VirtualHost " + strings.Join(v.Args, " ")), Logs: main.with(v).logs(v, "CustomLog", "TransferLog")}
		if len(l.Logs) == 0 {
			l.Logs = out[0].Logs
		} else {
			l.Logs = append(l.Logs, global...)
		}
		out = append(out, l)
	}
	out[0].unused = len(hosts) > 0 && hostsTakeAll(conf, hosts)
	return out
}

// ApacheRoot is the folder that relative paths of an Apache's configuration
// are below (ServerRoot).
func ApacheRoot(conf *apache.Config, svc *stack.Service) string {
	if found := conf.Root.Find("ServerRoot"); len(found) > 0 && len(found[len(found)-1].Args) > 0 {
		return found[len(found)-1].Args[0]
	}
	if svc.Prefix != "" {
		return svc.Prefix
	}
	return path.Dir(svc.Config)
}

// with adds the formats that a section names for itself; they are looked up
// when all is read, so that later ones count too.
func (n apacheNaming) with(section *apache.Directive) apacheNaming {
	out := apacheNaming{root: n.root, formats: map[string]string{}, last: n.last}
	for name, text := range n.formats {
		out.formats[name] = text
	}
	for _, d := range section.Find("LogFormat") {
		switch len(d.Args) {
		case 1:
			out.last = d.Args[0]
		case 2:
			out.formats[d.Args[1]] = d.Args[0]
		}
	}
	return out
}

// logs are those that directives of these names in a section write.
func (n apacheNaming) logs(section *apache.Directive, names ...string) []AccessLog {
	var out []AccessLog
	for _, name := range names {
		for _, d := range section.Find(name) {
			if len(d.Args) > 0 {
				out = append(out, n.log(d))
			}
		}
	}
	return out
}

func (n apacheNaming) log(d *apache.Directive) AccessLog {
	a := AccessLog{Path: d.Args[0], Text: n.last}
	if len(d.Args) > 1 && !d.Is("TransferLog") {
		a.Name, a.Text = d.Args[1], d.Args[1]
		if text, ok := n.formats[a.Name]; ok {
			a.Text = text
		} else if !strings.Contains(a.Name, "%") {
			a.Text = ""
		}
	}
	if len(d.Args) > 2 {
		a.Some = d.Args[2]
	}
	if d.State == apache.Unknown {
		a.Some = "a section around it whose condition is not known"
	}
	switch {
	case strings.HasPrefix(a.Path, "|"):
		a.Not = "it is piped to a program"
	case strings.HasPrefix(a.Path, "syslog"):
		a.Not = "it goes to syslog"
	case strings.Contains(a.Path, "${"):
		a.Not = "a variable in its path is not known"
	case path.IsAbs(a.Path):
		a.Path = path.Clean(a.Path)
	default:
		a.Path = path.Join(n.root, a.Path)
	}
	if strings.HasPrefix(a.Path, "/dev/") && !strings.HasPrefix(a.Path, "/dev/shm/") {
		a.Not = "it is no file"
	}
	return a
}

// hostsTakeAll: every port that Apache listens on has virtual hosts for any
// address, so that nothing is left for the main server.
func hostsTakeAll(conf *apache.Config, hosts []*apache.Directive) bool {
	taken := map[string]bool{}
	for _, v := range hosts {
		for _, a := range v.Args {
			address, port := cutPort(a)
			if address == "*" || address == "_default_" {
				taken[port] = true
			}
		}
	}
	for _, l := range conf.Root.Find("Listen") {
		if len(l.Args) == 0 {
			continue
		}
		at, port := cutPort(l.Args[0])
		exact := slices.ContainsFunc(hosts, func(v *apache.Directive) bool {
			return slices.ContainsFunc(v.Args, func(a string) bool {
				address, p := cutPort(a)
				return address == at && at != "" && (p == port || p == "")
			})
		})
		if !taken[""] && !taken[port] && !exact {
			return false
		}
	}
	return true
}

// cutPort splits "*:80", "_default_:443", "[::1]:80", "80" and "127.0.0.1"; a
// port of * is any, "".
func cutPort(s string) (address, port string) {
	if _, err := strconv.Atoi(s); err == nil {
		return "", s
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		return s[:i], strings.TrimSuffix(s[i+1:], "*")
	}
	return s, ""
}
