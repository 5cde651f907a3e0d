package evidence

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// OwnFolder begins the names of folders that Kasoku has made.
const OwnFolder = "kasoku-"

// SlowLogged reports whether a pool's request_slowlog_timeout is set: 0, in
// whatever unit, is off (PHP manual, "FPM configuration").
func SlowLogged(timeout string) bool { return strings.Trim(timeout, "0smhd") != "" }

// fpmSlowLogs are the logs in which pools of PHP-FPM tell requests that take
// longer than their request_slowlog_timeout, as their operator has set it; not
// that of a diagnostic run, which is a profile.
func fpmSlowLogs(ctx context.Context, h host.Host, svc *stack.Service) (files []string) {
	if svc.Kind != stack.PHPFPM {
		return nil
	}
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	conf, err := ini.Load(svc.Config, ini.FPM, r.read, r.glob)
	if err != nil {
		return nil // told with its error log
	}
	for _, pool := range conf.Sections() {
		after, _ := conf.Get(pool, "request_slowlog_timeout")
		file, _ := conf.Get(pool, "slowlog")
		name := strings.ReplaceAll(file.Text, "$pool", pool)
		if name == "" || !SlowLogged(after.Text) {
			continue
		}
		if !path.IsAbs(name) && svc.Prefix != "" {
			name = path.Join(svc.Prefix, name)
		}
		if path.IsAbs(name) && !strings.HasPrefix(path.Base(path.Dir(name)), OwnFolder) {
			files = append(files, name)
		}
	}
	return files
}

// ParseFPMSlowLog groups the entries of PHP-FPM's slow log by the function that
// each request was in and the script that it had begun with. more counts the
// kinds beyond the limit.
func ParseFPMSlowLog(r io.Reader, service string) (kinds []LogLine, more int, err error) {
	at := map[string]int{}
	_, err = parseFPMSlowLog(r, func(stack []stackFrame) {
		inner, outer := stack[0], stack[len(stack)-1]
		text := fmt.Sprintf("slow request: in %s() %s:%d", inner.name, inner.file, inner.line)
		if len(stack) > 1 {
			text += fmt.Sprintf(", begun by %s:%d", outer.file, outer.line)
		}
		i, known := at[text]
		switch {
		case known:
			kinds[i].Count++
		case len(kinds) >= maxLogKinds:
			more++
		default:
			at[text] = len(kinds)
			kinds = append(kinds, LogLine{Service: service, Level: "warning", Text: text, Count: 1})
		}
	})
	sortLogs(kinds)
	return kinds, more, err
}
