package evidence

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/haproxy"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// HAProxyFront is a frontend or listen section in mode http, with what holds
// for it of its own and of its defaults.
type HAProxyFront struct {
	Section *haproxy.Section
	Name    string // "frontend web"
	// Logs: its requests are written somewhere.
	Logs bool
	// Format is the last statement that says how, "option httplog" or
	// "log-format …"; nil: none does, so that lines have addresses only.
	Format *haproxy.Statement
	// Standard: the lines are those of option httplog, or httpslog.
	Standard bool
	// Timed: they tell each request's target and time in a form that is read.
	Timed bool
	// Some says which requests are left out; "" none.
	Some string
	// Unsure says why all this may not hold; "" it does.
	Unsure string
}

// haproxyTimed and haproxyTarget are what a log-format tells a request's time
// and target by (configuration manual, "Custom log format"). Tr and Tq are
// parts of the time, and do not do.
var (
	haproxyTimed  = regexp.MustCompile(`%(\{[^}]*\})?T[atu]\b|%(\{[^}]*\})?\[[^\]]*\btimer\.(total|user)\b`)
	haproxyTarget = regexp.MustCompile(`%(\{[^}]*\})?(r|HU|HP|HPO)\b|%(\{[^}]*\})?\[[^\]]*\b(url|path|pathq|baseq?|capture\.req\.uri)\b`)
)

// HAProxyFronts lists the frontends of a configuration that are in mode http,
// or may be.
func HAProxyFronts(conf *haproxy.Config) []HAProxyFront {
	globalLogs := false
	for _, s := range conf.Sections("global") {
		globalLogs = haproxyLogs(s, globalLogs, false)
	}
	var out []HAProxyFront
	for _, s := range conf.Sections("frontend", "listen") {
		f := HAProxyFront{Section: s, Name: strings.TrimSpace(s.Kind + " " + s.Name)}
		mode := "tcp"
		for _, level := range haproxyLevels(conf, s) {
			for _, x := range level.Find("mode") {
				mode = x.Word(1)
			}
			f.Logs = haproxyLogs(level, f.Logs, globalLogs)
			for _, x := range level.Statements {
				f.take(x)
			}
			f.Unsure = cmp.Or(f.Unsure, haproxyUnsure(level, s))
		}
		if mode == "http" || f.Unsure != "" {
			f.judge()
			out = append(out, f)
		}
	}
	return out
}

// haproxyLevels are the sections that a proxy's settings come from, the one
// that counts most last.
func haproxyLevels(conf *haproxy.Config, s *haproxy.Section) []*haproxy.Section {
	var out []*haproxy.Section
	for ; s != nil && !slices.Contains(out, s); s = conf.Defaults(s) {
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// take notes a statement that is about the log's format or extent. Of several
// the last one counts (seen with 2.6).
func (f *HAProxyFront) take(x *haproxy.Statement) {
	switch {
	case x.Is("log-format"), x.Is("option", "tcplog"), x.Is("option", "httplog"), x.Is("option", "httpslog"):
		f.Format = x
	case x.Is("option", "dontlog-normal"):
		f.Some = "option dontlog-normal"
	case x.Is("no", "option", "dontlog-normal"), x.Is("default", "option", "dontlog-normal"):
		f.Some = ""
	}
}

func (f *HAProxyFront) judge() {
	x := f.Format
	switch {
	case x == nil:
	case x.Is("option", "httpslog"), x.Is("option", "httplog") && x.Word(2) == "": // clf has times where nothing reads them
		f.Standard, f.Timed = true, true
	case x.Is("log-format"):
		f.Timed = haproxyTimed.MatchString(x.Word(1)) && haproxyTarget.MatchString(x.Word(1))
	}
}

// haproxyLogs tells whether a section has a target for lines of requests, given
// whether there was one before.
func haproxyLogs(s *haproxy.Section, before, global bool) bool {
	logs := before
	for _, x := range s.Statements {
		switch {
		case x.Is("no", "log"):
			logs = false
		case x.Is("log", "global"):
			logs = logs || global
		case x.Is("log"):
			logs = logs || logsInfo(x)
		}
	}
	return logs
}

// logsInfo: the target of "log <address> [len <n>] … <facility> [<level>
// [<min>]]" takes lines of the level info, as those of requests are.
func logsInfo(x *haproxy.Statement) bool {
	i := 2
	for slices.Contains([]string{"len", "format", "sample", "profile"}, x.Word(i)) {
		i += 2
	}
	level := x.Word(i + 1)
	return level == "" || level == "info" || level == "debug"
}

// haproxyUnsure says why a section's settings may not hold; s is the proxy that
// they are for.
func haproxyUnsure(level, s *haproxy.Section) string {
	if level != s && level.Head.Block != 0 {
		return "its defaults stand in an .if block"
	}
	for _, x := range level.Statements {
		about := slices.ContainsFunc([][]string{{"mode"}, {"log"}, {"no", "log"}, {"log-format"}, {"option", "tcplog"}, {"option", "httplog"}, {"option", "httpslog"}},
			func(words []string) bool { return x.Is(words...) }) || x.Is("option") && len(x.Words) > 1 && x.Words[1].Variable
		switch {
		case !about:
		case x.Block != level.Head.Block:
			return x.Word(0) + " stands in an .if block"
		case slices.ContainsFunc(x.Words[1:], func(w haproxy.Word) bool { return w.Variable }):
			return x.Word(0) + " has an environment variable"
		}
	}
	return ""
}

// haproxyLog adds to the log that kasoku.yaml names what the configuration says
// of its lines, and names the frontends whose requests are in no log.
func haproxyLog(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service, r *fileReader, a *AccessLog) (quiet []string) {
	files, err := haproxyFiles(ctx, h, st, svc)
	if err != nil {
		return nil // its lines may tell
	}
	conf, err := haproxy.Load(files, r.read)
	if err != nil {
		return nil
	}
	standard := false
	for _, f := range HAProxyFronts(conf) {
		switch {
		case f.Unsure != "":
			return nil
		case !f.Logs:
			quiet = append(quiet, f.Name)
			continue
		case !f.Standard:
			return nil
		}
		standard = true
		a.Some = cmp.Or(a.Some, f.Some)
	}
	if standard {
		a.Name, a.haproxy = "option httplog", true
	}
	return quiet
}

// haproxyFiles asks which files the running HAProxy reads.
func haproxyFiles(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) ([]string, error) {
	c, err := stack.NewController(h, st, svc)
	if err != nil {
		return nil, err
	}
	return c.HAProxyFiles(ctx)
}

// haproxyLine is what a person adds to HAProxy's configuration so that its log
// has each request with its times (configuration manual, "option httplog"; the
// default format has only addresses).
const haproxyLine = "add the line 'option httplog' to its frontend (or to defaults)"

// haproxyConfig is what lets a diagnostic run add that line by itself.
const haproxyConfig = "name its configuration file as config in kasoku.yaml, so that a diagnostic run adds 'option httplog' for its time; or "

// haproxyAdvice is what to do about a log without requests or times; "" for
// other services, and where the configuration says that it has both.
func haproxyAdvice(svc *stack.Service, a AccessLog) string {
	switch {
	case !svc.IsHAProxy(), a.haproxy:
		return ""
	case svc.Config == "":
		return "; HAProxy: " + haproxyConfig + haproxyLine
	}
	return "; HAProxy: no line could be added for this run; " + haproxyLine
}

// haproxyNeedsLog is what to do where no log is named.
func haproxyNeedsLog(svc *stack.Service) string {
	text := "it names no access_log; HAProxy: let its log go to a file (log in section global), and name that file"
	if svc.Config == "" {
		return text + "; then " + haproxyConfig + haproxyLine
	}
	return text + "; a diagnostic run then adds 'option httplog' for its time"
}
