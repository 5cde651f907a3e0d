package evidence

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/confedit/nginx"
)

// AccessLog is one access log that a web server's configuration names.
type AccessLog struct {
	Path string `json:"path"` // absolute
	Name string `json:"name"` // of the format: "combined"
	Text string `json:"text"` // of the format; "" if its lines must tell
	// Late says why lines come after their requests ("buffer=64k"); "" at once.
	Late string `json:"late,omitempty"`
	// Some says which requests it leaves out ("if=$loggable"); "" none.
	Some string `json:"some,omitempty"`
	// Not says why it cannot be read; "" it can.
	Not string `json:"not,omitempty"`

	escape  string
	haproxy bool // lines of HAProxy's option httplog
}

// Timed: the log has each request's time and target.
func (a AccessLog) Timed() bool {
	return timedText.MatchString(a.Text) && targetText.MatchString(a.Text)
}

// Full: the log can be read at once, holds every request, and its time.
func (a AccessLog) Full() bool { return a.Not == "" && a.Late == "" && a.Some == "" && a.Timed() }

// The variables of nginx (ngx_http_log_module) and Apache (mod_log_config)
// that tell a request's time and target.
var (
	timedText  = regexp.MustCompile(`\$\{?request_time\b|%[<>]?(D|T|\{u?m?s\}T)`)
	targetText = regexp.MustCompile(`\$\{?(request|request_uri|uri|document_uri)\b|%[<>]?[rU]`)
)

// format compiles Text; nil: the lines must tell.
func (a AccessLog) format() (*accesslog.Format, error) {
	if a.haproxy {
		return accesslog.HAProxy(), nil
	}
	if a.Text == "" {
		return nil, nil
	}
	if !strings.Contains(a.Text, "$") {
		if strings.HasPrefix(a.Name, InstrumentLog) {
			return accesslog.LTSV(), nil
		}
		return accesslog.Apache(a.Text)
	}
	if a.escape == "" {
		return accesslog.Nginx(a.Text)
	}
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(a.Text)
	return accesslog.ParseFormat("log_format x escape=" + a.escape + " '" + quoted + "'")
}

// LogLevel is a part of a web server's configuration that says for itself
// which access logs its requests are written to. In nginx it is a block whose
// access_log replaces those of the blocks around it (nginx manual,
// "access_log"), in Apache the main server or a virtual host.
type LogLevel struct {
	Name  string           // "server", "VirtualHost *:80"
	Block *nginx.Directive // nil for Apache
	Logs  []AccessLog
	Off   bool // access_log off
	// Default: nothing is said, so the log that nginx was compiled with holds.
	Default bool

	unused bool // all requests belong to other levels
}

// combinedFormat is nginx's predefined one.
const combinedFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// NginxPaths are what nginx was compiled with (nginx -V).
type NginxPaths struct{ Prefix, AccessLog, ErrorLog string }

// Paths of an nginx that runs with this prefix (-p); "" the compiled one. The
// defaults are those of nginx's configure script.
func (b NginxBuild) Paths(prefix string) NginxPaths {
	p := NginxPaths{Prefix: "/usr/local/nginx", AccessLog: "logs/access.log", ErrorLog: "logs/error.log"}
	for _, m := range b.Modules {
		for name, to := range map[string]*string{"--prefix=": &p.Prefix, "--http-log-path=": &p.AccessLog, "--error-log-path=": &p.ErrorLog} {
			if v, ok := strings.CutPrefix(m, name); ok {
				*to = v
			}
		}
	}
	if prefix != "" {
		p.Prefix = prefix
	}
	return p
}

// below makes a path of the configuration absolute.
func (p NginxPaths) below(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.Prefix, name)
}

// NginxLogLevels lists the blocks that decide about access logs: http first,
// then each block inside with an access_log of its own.
func NginxLogLevels(conf *nginx.Config, paths NginxPaths) []LogLevel {
	http := conf.Root.First("http")
	if http == nil {
		return nil
	}
	formats := map[string]*nginx.Directive{}
	for _, d := range http.Find("log_format") {
		if len(d.Args) > 1 {
			formats[d.Args[0]] = d
		}
	}
	out := []LogLevel{nginxLevel(http, formats, paths)}
	http.Walk(func(d *nginx.Directive) bool {
		if d.IsBlock && d.First("access_log") != nil && !ownServer(d) {
			out = append(out, nginxLevel(d, formats, paths))
		}
		return true
	})
	out[0].unused = !inherited(out)
	return out
}

func nginxLevel(block *nginx.Directive, formats map[string]*nginx.Directive, paths NginxPaths) LogLevel {
	l := LogLevel{Name: levelName(block), Block: block}
	for _, d := range block.Find("access_log") {
		if len(d.Args) == 0 {
			continue
		}
		if d.Args[0] == "off" {
			l.Off = true
			continue
		}
		l.Logs = append(l.Logs, nginxLog(d.Args, formats, paths))
	}
	if l.Off {
		l.Logs = nil // off wins over what stands beside it
	} else if len(l.Logs) == 0 {
		l.Default = true
		l.Logs = []AccessLog{nginxLog([]string{paths.AccessLog}, formats, paths)}
	}
	return l
}

func nginxLog(args []string, formats map[string]*nginx.Directive, paths NginxPaths) AccessLog {
	a := AccessLog{Path: args[0], Name: "combined", Text: combinedFormat}
	if len(args) > 1 {
		a.Name = args[1]
		if d := formats[a.Name]; d != nil {
			texts := d.Args[1:]
			if e, ok := strings.CutPrefix(texts[0], "escape="); ok {
				a.escape, texts = e, texts[1:]
			}
			a.Text = strings.Join(texts, "")
		} else if a.Name != "combined" {
			a.Text = ""
		}
		for _, o := range args[2:] {
			switch {
			case strings.HasPrefix(o, "if="):
				a.Some = o
			case strings.HasPrefix(o, "gzip"):
				a.Not = "it is compressed as it is written (" + o + ")"
			case strings.HasPrefix(o, "buffer="), strings.HasPrefix(o, "flush="):
				a.Late = strings.TrimSpace(a.Late + " " + o)
			}
		}
	}
	switch {
	case strings.HasPrefix(a.Path, "syslog:"):
		a.Not = "it goes to syslog"
	case strings.Contains(a.Path, "$"):
		a.Not = "its path has variables"
	default:
		a.Path = paths.below(a.Path)
		if strings.HasPrefix(a.Path, "/dev/") && !strings.HasPrefix(a.Path, "/dev/shm/") {
			a.Not = "it is no file"
		}
	}
	return a
}

// chosenLogs picks one log of each level that is in use, so that no request
// counts twice: one that others picked, a full one, one that can be read.
// quiet are the levels whose requests are nowhere written.
func chosenLogs(levels []LogLevel) (logs []AccessLog, quiet []string) {
	for _, l := range levels {
		if l.unused {
			continue
		}
		if len(l.Logs) == 0 {
			quiet = append(quiet, l.Name)
			continue
		}
		best := slices.MaxFunc(l.Logs, func(a, b AccessLog) int { return worth(a, logs) - worth(b, logs) })
		if !slices.ContainsFunc(logs, func(a AccessLog) bool { return a.Path == best.Path }) {
			logs = append(logs, best)
		}
	}
	return logs, quiet
}

// InstrumentLog begins the names of formats that Kasoku adds for a run; their
// lines are LTSV.
const InstrumentLog = "kasoku_"

func worth(a AccessLog, taken []AccessLog) int {
	n := 0
	for points, is := range []bool{a.Late == "", a.Some == "", a.Timed(), slices.ContainsFunc(taken, func(t AccessLog) bool { return t.Path == a.Path }),
		a.Not == "", strings.HasPrefix(a.Name, InstrumentLog)} {
		if is {
			n += 1 << points
		}
	}
	return n
}

// inherited: some server says nothing for itself, so http's level is in use.
func inherited(levels []LogLevel) bool {
	if len(levels) == 0 {
		return false
	}
	servers := levels[0].Block.Find("server")
	return len(servers) == 0 || slices.ContainsFunc(servers, func(s *nginx.Directive) bool { return s.First("access_log") == nil })
}

func levelName(d *nginx.Directive) string {
	if len(d.Args) == 0 {
		return d.Name
	}
	return d.Name + " " + strings.Join(d.Args, " ")
}

// FullLogs: every request is written at once, with its time, to a file that
// can be read.
func FullLogs(levels []LogLevel) bool {
	logs, quiet := chosenLogs(levels)
	return len(quiet) == 0 && !slices.ContainsFunc(logs, func(a AccessLog) bool { return !a.Full() })
}
