package tune

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// apacheFormat is what a diagnostic run wants of each request, as LTSV. mod_cache
// sets cache-status, other requests have "-" there (Apache 2.4 manual,
// mod_log_config and mod_cache).
const apacheFormat = `time:%{end:sec}t.%{end:msec_frac}t\treq:%r\tstatus:%>s\tsize:%B\treqtime_microsec:%D\tcache:%{cache-status}e`

// apacheBehind are the handler of the final request, after internal redirects,
// and the time until the first byte of the answer's header (mod_logio,
// LogIOTrackTTFB): for what Apache handed to a server behind it, that server's.
const apacheBehind = `\thandler:%>R\tttfb_microsec:%^FB`

// globalLogSince is the version of Apache that has GlobalLog (manual,
// mod_log_config).
const globalLogSince = 19 // 2.4.19

// apacheAccessLogOf plans a log of Kasoku's own for all of an Apache's virtual
// hosts if their logs do not tell every request's time: a folder for it, and a
// GlobalLog at the end of the main file, which leaves theirs as they are.
func apacheAccessLogOf(svc *stack.Service, snap *evidence.Snapshot) ([]change.Change, error) {
	conf, err := diagnose.ApacheConfig(snap, svc)
	if err != nil {
		return nil, err
	}
	levels := evidence.ApacheLogLevels(conf, svc)
	if evidence.FullLogs(levels) {
		return nil, nil
	}
	if patch, ok := strings.CutPrefix(svc.Version, "2.4."); ok {
		if n, err := strconv.Atoi(patch); err == nil && n < globalLogSince {
			return nil, fmt.Errorf("no GlobalLog in Apache %s (2.4.%d has it); add to the CustomLog of each virtual host a LogFormat with %%D", svc.Version, globalLogSince)
		}
	}
	stamp := time.Now().UnixNano()
	dir := path.Join(apacheLogFolder(conf, svc, levels), fmt.Sprintf("kasoku-%s-%d", svc.Name, stamp))
	// Its main process opens the logs, often root: whom its workers run as must
	// not be able to put a link there.
	build := snap.Apache[svc.Name]
	out := []change.Change{{Kind: change.KindDir, Host: svc.HostName(), Path: dir,
		After: &change.FileState{Mode: 0o700, UID: build.UID, GID: build.GID}, Why: "a folder for the access log of a diagnostic run"}}
	if err := conf.Root.Append(apacheLogText(conf, path.Join(dir, "access.log"), fmt.Sprintf("%s%d", evidence.InstrumentLog, stamp))); err != nil {
		return nil, err
	}
	edits, err := editedFiles(snap, svc, conf.Changed(), "write an access log with times during a diagnostic run")
	if err != nil {
		return nil, err
	}
	return append(out, edits...), nil
}

// apacheLogText are the directives of the log.
func apacheLogText(conf *apache.Config, file, format string) string {
	var b strings.Builder
	for _, d := range conf.Root.Find("BufferedLogs") {
		if len(d.Args) == 1 && strings.EqualFold(d.Args[0], "on") { // lines would come late
			b.WriteString("BufferedLogs Off\n")
			break
		}
	}
	fmt.Fprintf(&b, "<IfModule logio_module>\n    LogIOTrackTTFB On\n    LogFormat \"%s%s\" %s\n</IfModule>\n", apacheFormat, apacheBehind, format)
	fmt.Fprintf(&b, "<IfModule !logio_module>\n    LogFormat \"%s\" %s\n</IfModule>\n", apacheFormat, format)
	fmt.Fprintf(&b, "GlobalLog %s %s", apache.Quote(file), format)
	return b.String()
}

// apacheLogFolder is one that Apache surely can write to: that of a log that
// it has now.
func apacheLogFolder(conf *apache.Config, svc *stack.Service, levels []evidence.LogLevel) string {
	for _, l := range levels {
		for _, a := range l.Logs {
			if a.Not == "" {
				return path.Dir(a.Path)
			}
		}
	}
	for _, d := range conf.Root.Find("ErrorLog") {
		switch {
		case len(d.Args) != 1 || strings.HasPrefix(d.Args[0], "|") || strings.HasPrefix(d.Args[0], "syslog") || strings.HasPrefix(d.Args[0], "/dev/") || strings.Contains(d.Args[0], "${"):
		case path.IsAbs(d.Args[0]):
			return path.Dir(d.Args[0])
		default:
			return path.Dir(path.Join(evidence.ApacheRoot(conf, svc), d.Args[0]))
		}
	}
	return "/tmp"
}
