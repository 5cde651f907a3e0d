package evidence

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// errorSource reads what services wrote to their error logs in the window, in
// every run: a wrong answer is often explained there.
type errorSource struct {
	h    host.Host
	svc  string
	logs []*logPart
	// journal of the unit, of a service whose log is no file; nil: none.
	journal *journalPart
	// slow are those of the logs that tell PHP-FPM's slow requests.
	slow map[string]bool
	// apache: it says once in its life that its workers are too few.
	apache bool
	// not says why there is nothing to read.
	not string
}

// MaxErrorLog is how much of one error log is read for one window, bytes: a
// server that writes more says the same again and again.
const MaxErrorLog = 16 << 20

func errorSources(ctx context.Context, s setting) ([]source, []Health) {
	var out []source
	seen := map[string]bool{} // two services may share a log
	for i := range s.st.Services {
		svc := &s.st.Services[i]
		h := s.hosts[svc.HostName()]
		files, not := errorLogs(ctx, h, svc)
		x := &errorSource{h: h, svc: svc.Name, not: not, apache: svc.Kind == stack.Apache, slow: map[string]bool{}}
		for _, f := range fpmSlowLogs(ctx, h, svc) {
			x.slow[f] = true
			files = append(files, f)
		}
		for _, f := range files {
			if key := svc.HostName() + ":" + f; !seen[key] {
				seen[key] = true
				x.logs = append(x.logs, &logPart{AccessLog: AccessLog{Path: f}})
			}
		}
		if unit := svc.Control.Unit; not != "" && unit != "" {
			x.journal, x.not = &journalPart{unit: unit}, ""
		}
		if len(files) == 0 && not == "" || len(files) > 0 && len(x.logs) == 0 {
			continue
		}
		out = append(out, x)
	}
	return out, nil
}

// errorLogs are the files that a service writes its errors to; not says why
// there is none, "" if that needs no words.
func errorLogs(ctx context.Context, h host.Host, svc *stack.Service) (files []string, not string) {
	if len(svc.Logs) > 0 {
		return svc.Logs, ""
	}
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	var err error
	switch svc.Kind {
	case stack.Nginx:
		files, err = nginxErrorLogs(r, svc, func() NginxPaths { return nginxPaths(ctx, h, svc) })
		not = "its error_log is no file"
	case stack.Apache:
		var logs apacheLogs
		logs, err = readApache(svc.Config, svc.Prefix, r.read, r.glob)
		files, not = append(logs.Errors, phpErrorLog(r, svc)...), "its configuration names no ErrorLog that is a file"
	case stack.PHPFPM:
		files, err = fpmErrorLogs(r, svc)
		not = "error_log of php-fpm is not set"
	case stack.MariaDB, stack.MySQL:
		files, not = stack.ErrorLogs(ctx, h, svc), "log_error is not set in its configuration; messages go to its standard error"
	case stack.Redis:
		files, err = redisLogs(r, svc)
		not = "its configuration has no logfile"
	default:
		if svc.RunsIn != "" {
			return nil, "" // its messages are that service's
		}
		not = "which file it writes errors to is not known"
	}
	switch {
	case err != nil:
		return nil, "its configuration cannot be read: " + err.Error()
	case len(files) > 0:
		slices.Sort(files)
		return slices.Compact(files), ""
	case not != "":
		return nil, not + "; name the file as logs in kasoku.yaml"
	}
	return nil, ""
}

func nginxErrorLogs(r *fileReader, svc *stack.Service, paths func() NginxPaths) ([]string, error) {
	conf, err := nginx.Load(svc.Config, svc.Prefix, r.read, r.glob)
	if err != nil {
		return nil, err
	}
	built := paths()
	var out []string
	add := func(name string) {
		if name == "stderr" || strings.HasPrefix(name, "syslog:") || strings.HasPrefix(name, "memory:") || device(name) {
			return
		}
		out = append(out, built.below(name))
	}
	if conf.Root.First("error_log") == nil {
		add(built.ErrorLog)
	}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "error_log" && len(d.Args) > 0 {
			add(d.Args[0])
		}
		return true
	})
	return out, nil
}

// fpmErrorLogs are the master's log and those of PHP itself, in pools and
// php.ini.
func fpmErrorLogs(r *fileReader, svc *stack.Service) ([]string, error) {
	conf, err := ini.Load(svc.Config, ini.FPM, r.read, r.glob)
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(name, pool string) {
		name = strings.ReplaceAll(name, "$pool", pool)
		if name == "" || name == "syslog" || device(name) || strings.HasPrefix(name, "/proc/") {
			return
		}
		if !path.IsAbs(name) && svc.Prefix != "" {
			name = path.Join(svc.Prefix, name)
		}
		if path.IsAbs(name) {
			out = append(out, name)
		}
	}
	if v, ok := conf.Get("global", "error_log"); ok {
		add(v.Text, "")
	}
	for _, pool := range conf.Sections() {
		for _, key := range []string{"php_admin_value[error_log]", "php_value[error_log]"} {
			if v, ok := conf.Get(pool, key); ok {
				add(v.Text, pool)
			}
		}
	}
	for _, name := range phpErrorLog(r, svc) {
		add(name, "")
	}
	return out, nil
}

// phpErrorLog is error_log of the service's php.ini; none if it is no file. An
// error is told by the snapshot.
func phpErrorLog(r *fileReader, svc *stack.Service) []string {
	if svc.PHPIni == "" {
		return nil
	}
	php, err := ini.Load(svc.PHPIni, ini.PHP, r.read, r.glob)
	if err != nil {
		return nil
	}
	for _, section := range []string{"PHP", ""} {
		v, ok := php.Get(section, "error_log")
		switch {
		case !ok:
		case svc.Kind == stack.Apache && !path.IsAbs(v.Text):
			return nil // "syslog", or relative to the script's folder
		default:
			return []string{v.Text}
		}
	}
	return nil
}

// redisLogs reads "logfile /path" of redis.conf; the last one wins. Started
// with --logfile, the command line does.
func redisLogs(r *fileReader, svc *stack.Service) ([]string, error) {
	file := ""
	if svc.Config != "" {
		data, err := r.read(svc.Config)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if w := strings.Fields(line); len(w) == 2 && strings.EqualFold(w[0], "logfile") {
				file = strings.Trim(w[1], `"'`)
			}
		}
	}
	for i, a := range svc.Control.Start {
		if a == "--logfile" && i+1 < len(svc.Control.Start) {
			file = svc.Control.Start[i+1]
		}
	}
	if !path.IsAbs(file) {
		return nil, nil
	}
	return []string{file}, nil
}

func (x *errorSource) start(ctx context.Context) {
	for _, l := range x.logs {
		l.from, l.err = logSize(ctx, x.h, l.Path)
	}
	if x.journal != nil {
		x.journal.from = x.journal.last(ctx, x.h)
	}
}

func (x *errorSource) end(ctx context.Context) {
	for _, l := range x.logs {
		if l.err == nil {
			l.to, l.err = logSize(ctx, x.h, l.Path)
		}
	}
	if x.journal != nil {
		x.journal.to = x.journal.last(ctx, x.h)
	}
}

func (x *errorSource) close() {}

func (x *errorSource) tell(ctx context.Context, ev *Evidence) {
	name := "error log of " + x.svc
	if x.not != "" {
		ev.Health = append(ev.Health, Health{Source: name, OK: true, Text: "not judged: " + x.not})
		return
	}
	var all []LogLine
	var covered []string
	for _, l := range x.logs {
		kinds, text, err := x.read(ctx, l)
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
			continue
		}
		all = append(all, kinds...)
		covered = append(covered, text)
		earlier, err := x.before(ctx, l)
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
		}
		ev.LogsBefore = append(ev.LogsBefore, earlier...)
	}
	if x.journal != nil {
		kinds, text, err := x.journal.read(ctx, x.h, x.svc)
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: name, Text: err.Error()})
		} else {
			all, covered = append(all, kinds...), append(covered, text)
		}
	}
	sortLogs(all)
	ev.Logs = append(ev.Logs, all[:min(len(all), maxLogKinds)]...)
	if len(covered) > 0 {
		ev.Health = append(ev.Health, Health{Source: name, OK: true, Text: strings.Join(covered, ", ")})
	}
}

// read groups what the window wrote to one log.
func (x *errorSource) read(ctx context.Context, l *logPart) (kinds []LogLine, text string, err error) {
	if l.err != nil {
		return nil, "", l.err
	}
	if l.to < l.from {
		return nil, "", fmt.Errorf("%s became shorter during the run (%d bytes, then %d): was it rotated? Run again without rotation", l.Path, l.from, l.to)
	}
	if l.to == l.from {
		return nil, "nothing in " + l.Path, nil
	}
	parse := ParseErrorLog
	if x.slow[l.Path] {
		parse = ParseFPMSlowLog
	}
	kinds, more, err := parse(&pieces{ctx: ctx, h: x.h, file: l.Path, at: l.from, end: min(l.to, l.from+MaxErrorLog)}, x.svc)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", l.Path, err)
	}
	text = fmt.Sprintf("messages in %s: %d, of kinds: %d", l.Path, countLogs(kinds), len(kinds))
	if more > 0 {
		text += fmt.Sprintf(", %d more", more)
	}
	if l.to-l.from > MaxErrorLog {
		text += fmt.Sprintf("; only its first %d MiB of the window were read", MaxErrorLog>>20)
	}
	return kinds, text, nil
}

// device reports whether a log's name is a device, such as /dev/stderr, and no file;
// what lies in /dev/shm is one.
func device(name string) bool {
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/")
}
