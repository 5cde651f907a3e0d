package tune

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// accessFormat is what a diagnostic run wants of each request, as LTSV. In
// nginx's quoted strings \t is a tab.
const accessFormat = `'time:$msec\tmethod:$request_method\turi:$request_uri\tstatus:$status\tsize:$body_bytes_sent\treqtime:$request_time\tapptime:$upstream_response_time\tcache:$upstream_cache_status'`

// accessLog plans an access log with times for each nginx, Apache and HAProxy
// whose logs do not tell every request's time: for the first two one of
// Kasoku's own, in a folder for it, beside those that hold now.
func accessLog(b *Bench, snap *evidence.Snapshot) []instrument {
	if b.Instruments.Plain {
		return nil
	}
	var out []instrument
	for _, svc := range snap.StackInUse(b.Stack).OfKind(stack.Nginx, stack.Apache, stack.App) {
		plan := accessLogOf
		switch {
		case svc.Kind == stack.Apache:
			plan = apacheAccessLogOf
		case svc.IsHAProxy():
			plan = haproxyAccessLogOf
		case svc.Kind == stack.App:
			continue
		}
		if svc.Kind != stack.Nginx && !running(snap, svc) {
			continue
		}
		changes, err := plan(svc, snap)
		in := instrument{title: "Write an access log with times for a diagnostic run", changes: changes,
			fails: "the access log of " + svc.Name + " cannot be given times", without: "routes come from its own log, as far as that tells them"}
		out = in.planned(out, err)
	}
	return out
}

// accessLogOf plans it for an nginx.
func accessLogOf(svc *stack.Service, snap *evidence.Snapshot) ([]change.Change, error) {
	conf, err := diagnose.NginxConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	paths := snap.Nginx[svc.Name].Paths(svc.Prefix)
	levels := evidence.NginxLogLevels(conf, paths)
	if len(levels) == 0 || evidence.FullLogs(levels) {
		return nil, nil
	}
	stamp := time.Now().UnixNano()
	dir := path.Join(logFolder(conf, levels, paths), fmt.Sprintf("kasoku-%s-%d", svc.Name, stamp))
	user, known := snap.Users[svc.HostName()+"/"+svc.Name]
	if !known {
		user.UID, user.GID = -1, -1
	}
	out := []change.Change{{Kind: change.KindDir, Host: svc.HostName(), Path: dir,
		After: &change.FileState{Mode: 0o700, UID: user.UID, GID: user.GID}, Why: "a folder for the access log of a diagnostic run"}}
	if err := addAccessLog(levels, path.Join(dir, "access.log"), fmt.Sprintf("%s%d", evidence.InstrumentLog, stamp), paths.AccessLog); err != nil {
		return nil, err
	}
	edits, err := editedFiles(snap, svc, conf.Changed(), "write an access log with times during a diagnostic run")
	if err != nil {
		return nil, err
	}
	return append(out, edits...), nil
}

// logFolder is one that nginx surely can write to: that of a log that it has
// now. Its own view of /tmp may be another than ours (systemd, PrivateTmp).
func logFolder(conf *nginx.Config, levels []evidence.LogLevel, paths evidence.NginxPaths) string {
	for _, l := range levels {
		for _, a := range l.Logs {
			if a.Not == "" && path.IsAbs(a.Path) {
				return path.Dir(a.Path)
			}
		}
	}
	file := paths.ErrorLog
	if d := conf.Root.First("error_log"); d != nil && len(d.Args) > 0 {
		file = d.Args[0]
	}
	switch {
	case strings.Contains(file, ":") || file == "stderr" || strings.HasPrefix(file, "/dev/"):
		return "/tmp"
	case path.IsAbs(file):
		return path.Dir(file)
	}
	return path.Dir(path.Join(paths.Prefix, file))
}

// addAccessLog adds a format to http, and the log to every level that says
// which logs hold. Those that hold stay, because an access_log at a level
// replaces all that come from around it.
func addAccessLog(levels []evidence.LogLevel, file, format, compiled string) error {
	directive := fmt.Sprintf("access_log %s %s;", nginx.Quote(file), format)
	for _, l := range levels {
		var err error
		has := l.Block.Find("access_log")
		switch {
		case slices.ContainsFunc(has, func(d *nginx.Directive) bool { return len(d.Args) > 0 && d.Args[0] == file }):
			// The block stands in a file that was included, and edited, before.
		case l.Default:
			err = atTop(l.Block, fmt.Sprintf("access_log %s combined;\n%s", nginx.Quote(compiled), directive))
		case l.Off:
			if err = has[0].SetArgs(file, format); err != nil {
				return err
			}
			for _, d := range has[1:] { // off held for them too
				if err = d.Remove(); err != nil {
					return err
				}
			}
		default:
			err = has[len(has)-1].InsertAfter(directive)
		}
		if err != nil {
			return err
		}
	}
	// Last, so that it stands before all that names it.
	return atTop(levels[0].Block, "log_format "+format+" "+accessFormat+";")
}

// atTop inserts into a block before its first directive that stands in the
// block's own file: what is included may be shared. Where an included file
// names a log before that, it has to be there.
func atTop(http *nginx.Directive, text string) error {
	for _, d := range http.Children {
		if d.File == http.File || d.Name == "access_log" || d.Name == "server" {
			return d.InsertBefore(text)
		}
	}
	return http.Append(text)
}

// replaceConfig is a change of one configuration file that the service takes
// on by a reload.
func replaceConfig(snap *evidence.Snapshot, svc *stack.Service, file string, content []byte, why string) (change.Change, error) {
	f, ok := snap.Files[svc.HostName()][file]
	if !ok {
		return change.Change{}, fmt.Errorf("%s is not among the configuration files of %s", file, svc.Name)
	}
	if !f.Writable {
		return change.Change{}, fmt.Errorf("%s: no permission to write it; run as its owner", file)
	}
	attrs := change.FileState{Mode: fs.FileMode(f.Mode), UID: f.UID, GID: f.GID}
	before, after := attrs, attrs
	before.Hash, before.Content, before.ModTime = host.HashOf(f.Content), f.Content, f.ModTime
	after.Hash, after.Content = host.HashOf(content), content
	return change.Change{Kind: change.KindFile, Host: svc.HostName(), Service: svc.Name, Activate: change.Reload,
		Path: file, Before: &before, After: &after, Why: why}, nil
}
