package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/digest"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// accessSource reads what one web server wrote to its access logs during the
// window. It knows only diagnostic runs: a scored one is not to wait for it.
type accessSource struct {
	st   *stack.Stack
	svc  *stack.Service
	h    host.Host
	logs []*logPart
	// quiet are parts of the configuration whose requests are nowhere written.
	quiet []string
	front bool // it answers the load itself
	// targets of requests, where the load's own engine does not know them; nil: not
	// wanted.
	targets *targets
	begin   time.Time
	over    time.Time
}

// logPart is a log and the part of it that the window wrote.
type logPart struct {
	AccessLog
	from, to int64
	err      error
}

// MaxAccessLog is how much of one access log is read for one window, bytes:
// some four million lines.
const MaxAccessLog = 1 << 30

// accessSources finds the access logs of all services that name one.
func accessSources(ctx context.Context, s setting) ([]source, []Health) {
	var out []source
	var health []Health
	// Of somebody else's benchmark the log also tells, in every run, what was answered.
	if !s.opts.Diagnostic && s.opts.Benchmark == nil {
		return nil, nil
	}
	for i := range s.st.Services {
		svc := &s.st.Services[i]
		h := s.hosts[svc.HostName()]
		if svc.Kind == stack.Varnish && listensTo(ctx, h, s.st, svc) {
			continue // see varnishSources
		}
		logs, quiet, err := accessLogs(ctx, h, s.st, svc)
		name := accessName(svc.Name)
		switch {
		case err != nil:
			health = append(health, Health{Source: name, Text: err.Error()})
			continue
		case len(logs) == 0 && len(quiet) > 0:
			health = append(health, Health{Source: name, OK: true, Text: "not judged: " + unwritten[svc.Kind] + " (" + strings.Join(quiet, ", ") + ")"})
			continue
		case len(logs) == 0:
			note := withoutLog[svc.Kind]
			if svc.IsHAProxy() {
				note = haproxyNeedsLog(svc)
			}
			if note != "" {
				health = append(health, Health{Source: name, OK: true, Text: "not judged: " + note})
			}
			continue
		}
		x := &accessSource{st: s.st, svc: svc, h: h, quiet: quiet, front: isFront(s.st, svc)}
		if s.opts.Benchmark != nil && x.front {
			x.targets = newTargets()
			if !s.opts.Diagnostic {
				x.targets.of = nil
			}
		}
		for _, l := range logs {
			x.logs = append(x.logs, &logPart{AccessLog: l})
		}
		out = append(out, x)
	}
	return out, health
}

func accessName(service string) string { return "access log of " + service }

// withoutLog says for each kind of web server why it has no log.
var withoutLog = map[stack.Kind]string{
	stack.Nginx:  "its configuration has no http block",
	stack.Apache: unwritten[stack.Apache],
}

// unwritten says for each kind of web server why requests are in no log.
var unwritten = map[stack.Kind]string{
	stack.Nginx:  "access_log is off",
	stack.Apache: "it has no CustomLog; add one whose LogFormat has %D, e.g. CustomLog logs/access.log \"%h %l %u %t \\\"%r\\\" %>s %b %D\"",
}

// accessLogs are the logs of one service that together hold each request once.
func accessLogs(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) (logs []AccessLog, quiet []string, err error) {
	if svc.AccessLog != "" {
		logs = []AccessLog{{Path: svc.AccessLog, Name: st.Evidence.LogFormat}}
	}
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	var levels []LogLevel
	switch {
	case svc.Kind == stack.Nginx && svc.Config != "":
		conf, err := nginx.Load(svc.Config, svc.Prefix, r.read, r.glob)
		if err != nil {
			return nil, nil, err
		}
		levels = NginxLogLevels(conf, nginxPaths(ctx, h, svc))
	case svc.Kind == stack.Apache && svc.Config != "":
		if levels, err = apacheLevels(ctx, h, st, svc, r); err != nil {
			return nil, nil, err
		}
	case svc.IsHAProxy() && svc.Config != "" && len(logs) > 0:
		return logs, haproxyLog(ctx, h, st, svc, r, &logs[0]), nil
	}
	var named []AccessLog
	for _, l := range levels {
		named = append(named, l.Logs...)
	}
	if len(levels) > 0 && (len(logs) == 0 || slices.ContainsFunc(named, func(a AccessLog) bool { return strings.HasPrefix(a.Name, InstrumentLog) })) {
		logs, quiet = chosenLogs(levels)
		return logs, quiet, nil
	}
	// The file is given; its format may still stand in the configuration.
	for i := range logs {
		for _, a := range named {
			if a.Path == logs[i].Path {
				logs[i] = a
			}
		}
	}
	return logs, nil, nil
}

// nginxPaths asks the program for its defaults; without it those of nginx's
// own build hold.
func nginxPaths(ctx context.Context, h host.Host, svc *stack.Service) NginxPaths {
	var build NginxBuild
	if svc.Binary != "" {
		if res, err := h.Run(ctx, host.Command{Argv: []string{svc.Binary, "-V"}}); err == nil {
			build, _ = parseNginxBuild(append(res.Stderr, res.Stdout...))
		}
	}
	return build.Paths(svc.Prefix)
}

// isFront: the load's URL leads to this service.
func isFront(st *stack.Stack, svc *stack.Service) bool {
	if svc.SpareFor != "" {
		return false // it listens like the one that it is spare for, on another host
	}
	u, err := url.Parse(st.Load.URL)
	if err != nil {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		port = cmp.Or(port, "80")
	}
	for _, l := range svc.Listen {
		if _, p, err := net.SplitHostPort(l); err == nil && p == port {
			return true
		}
	}
	return false
}

func (x *accessSource) start(ctx context.Context) {
	x.begin = time.Now()
	for _, l := range x.logs {
		if l.Not == "" {
			l.from, l.err = logSize(ctx, x.h, l.Path)
		}
	}
}

func (x *accessSource) end(ctx context.Context) {
	x.over = time.Now()
	for _, l := range x.logs {
		if l.Not == "" && l.err == nil {
			l.to, l.err = logSize(ctx, x.h, l.Path)
		}
	}
}

// logSize is a log's length now; 0 if there is none yet.
func logSize(ctx context.Context, h host.Host, file string) (int64, error) {
	info, err := follow(ctx, h, file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at %s: %w", file, err)
	}
	return info.Size, nil
}

func (x *accessSource) close() {}

func (x *accessSource) tell(ctx context.Context, ev *Evidence) {
	var lines, bad int64
	read := 0
	var routes []digest.Route
	var notes []string
	for _, l := range x.logs {
		d, err := x.digest(ctx, l)
		if err != nil {
			ev.Health = append(ev.Health, Health{Source: accessName(x.svc.Name), OK: l.Not != "", Text: err.Error() + haproxyAdvice(x.svc, l.AccessLog)})
			continue
		}
		read++
		lines, bad = lines+d.Lines, bad+d.Bad
		routes = append(routes, d.Routes...)
		ev.Health = append(ev.Health, x.partHealth(l, d)...)
		format := "format " + cmp.Or(l.Name, d.Format)
		if strings.HasPrefix(l.Name, InstrumentLog) {
			format = "added for this run"
		}
		notes = append(notes, fmt.Sprintf("%d lines of %s (%s)", d.Lines, l.Path, format))
	}
	sharesOf(routes)
	sortRoutes(routes)
	if len(routes) > maxRoutes {
		ev.Health = append(ev.Health, Health{Source: accessName(x.svc.Name), OK: true,
			Text: fmt.Sprintf("%d routes were found, the first %d are kept; name those that belong together as evidence.routes in kasoku.yaml", len(routes), maxRoutes)})
		routes = routes[:maxRoutes]
	}
	ev.Routes = append(ev.Routes, routes...)
	sortRoutes(ev.Routes)
	if x.targets != nil {
		ev.Preparing = max(ev.Preparing, x.targets.preparing(x.begin))
	}
	if x.targets != nil && x.targets.of != nil {
		ev.Targets = x.targets.most()
		x.tellActive(ev)
	}
	if read > 0 {
		ev.Health = append(ev.Health, x.wholeHealth(ev, lines-bad, strings.Join(notes, ", ")))
	}
}

// maxRoutes are kept with a run: more is no list of routes, but of pages, and
// each costs some 400 bytes in the store.
const maxRoutes = 1000

// digest reads what the window wrote to one log.
func (x *accessSource) digest(ctx context.Context, l *logPart) (*digest.Access, error) {
	switch {
	case l.Not != "":
		return nil, fmt.Errorf("not judged: %s: %s", l.Path, l.Not)
	case l.err != nil:
		return nil, l.err
	}
	if l.Late != "" { // what is buffered comes after the window
		if size, err := logSize(ctx, x.h, l.Path); err == nil && size > l.to {
			l.to = size
		}
	}
	if l.to < l.from {
		return nil, fmt.Errorf("%s became shorter during the run (%d bytes, then %d): was it rotated? Run again without rotation", l.Path, l.from, l.to)
	}
	f, err := l.format()
	if err == nil && f == nil && x.st.Evidence.LogFormat != "" {
		f, err = accesslog.ParseFormat(x.st.Evidence.LogFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: its format cannot be read: %w; name one as evidence.log_format in kasoku.yaml", l.Path, err)
	}
	to := min(l.to, l.from+MaxAccessLog)
	if to == l.from {
		return &digest.Access{}, nil
	}
	d, err := digestLog(ctx, x.svc.Name, l.Path, to-l.from, func() io.Reader {
		return &pieces{ctx: ctx, h: x.h, file: l.Path, at: l.from, end: to}
	}, f, x.st.Evidence.Routes, x.targets.keep())
	if err != nil { // it may quote the log
		return nil, errors.New(maskLog(err.Error()))
	}
	return d, nil
}

// clockSlack: logs tell whole seconds, and requests at the window's ends are
// written outside of it.
const clockSlack = 2 * time.Second

// partHealth says what one log's lines leave unsure.
func (x *accessSource) partHealth(l *logPart, d *digest.Access) []Health {
	var out []Health
	say := func(ok bool, format string, args ...any) {
		out = append(out, Health{Source: accessName(x.svc.Name), OK: ok, Text: fmt.Sprintf(format, args...)})
	}
	if l.to-l.from > MaxAccessLog {
		say(true, "not judged: all of %s beyond its first %d MiB of the window", l.Path, int64(MaxAccessLog>>20))
	}
	if d.Bad > 0 {
		say(d.Bad*20 < d.Lines, "%d of %d lines of %s do not fit its format, the first: %s%s", d.Bad, d.Lines, l.Path, maskLog(d.FirstBad), haproxyAdvice(x.svc, l.AccessLog))
	}
	if l.Late != "" {
		say(true, "lines of %s may come late (%s): some of the window's may be missing, some of the warm-up's counted", l.Path, l.Late)
	}
	if d.Lines == d.Bad {
		return out
	}
	if l.Some != "" {
		say(true, "not judged: requests that %s leaves out of %s", l.Some, l.Path)
	}
	if !d.Timed {
		say(true, "not judged: times per route, because %s has none: add %s to its format%s", l.Path, timeVariable(x.svc.Kind), haproxyAdvice(x.svc, l.AccessLog))
	}
	if !d.From.IsZero() && (d.To.Before(x.begin.Add(-clockSlack)) || d.From.After(x.over.Add(clockSlack))) {
		say(false, "the times in %s are off by %s: it tells %s … %s for a window of %s … %s; set the clocks right (NTP)", l.Path,
			d.To.Sub(x.over).Round(time.Second), clock(d.From), clock(d.To), clock(x.begin), clock(x.over))
	}
	return out
}

func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) }

func timeVariable(k stack.Kind) string {
	switch k {
	case stack.Apache, stack.Varnish:
		return "%D"
	case stack.Nginx:
		return "$request_time"
	default: // writes no access log
	}
	return "each request's time"
}

// lineSlack is what the counts of lines and of requests may differ by: those
// under way at the window's ends, and what else asks now and then.
const lineSlack = 0.05

// wholeHealth compares the service's lines with the generator's requests.
func (x *accessSource) wholeHealth(ev *Evidence, lines int64, notes string) Health {
	h := Health{Source: accessName(x.svc.Name), OK: true, Text: notes}
	if ev.Load == nil || !x.front || ev.Load.Uncounted { // points are no requests
		return h
	}
	asked := ev.Load.Requests + ev.Load.Timeouts
	off := ""
	if len(x.quiet) > 0 {
		off = "; requests of " + strings.Join(x.quiet, ", ") + " are in no log"
	}
	slack := int64(lineSlack*float64(asked)) + int64(2*ev.Load.Workload) + 5
	switch {
	case asked == 0:
	case lines == 0 && off == "":
		h.OK, h.Text = false, fmt.Sprintf("nothing was written to %s while the generator made %d requests; does the service log there?", x.paths(), asked)
	case lines < asked-slack:
		h.OK = off != "" || slices.ContainsFunc(x.logs, func(l *logPart) bool { return l.Some != "" || l.Late != "" || l.Not != "" })
		h.Text = fmt.Sprintf("%s for %d requests of the generator: %d are missing%s", notes, asked, asked-lines, off)
	case lines > asked+slack:
		h.OK, h.Text = false, fmt.Sprintf("%s for %d requests of the generator: %d are of somebody else, or of requests that the service made to itself", notes, asked, lines-asked)
	default:
		h.Text = fmt.Sprintf("%s, as the generator's %d requests within %.0f %%%s", notes, asked, 100*lineSlack, off)
	}
	return h
}

func (x *accessSource) paths() string {
	var out []string
	for _, l := range x.logs {
		out = append(out, l.Path)
	}
	return strings.Join(out, ", ")
}

// sortRoutes puts most time first, most requests where no log has times; the
// shares are of each service's own log.
func sortRoutes(rs []digest.Route) {
	slices.SortStableFunc(rs, func(a, b digest.Route) int {
		return cmp.Or(cmp.Compare(b.Time.Total, a.Time.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
}
