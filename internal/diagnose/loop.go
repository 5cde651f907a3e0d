package diagnose

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/confedit/shell"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// Loop is a service that is a shell's loop with a pause: it asks the application again and
// again, or starts a program of it.
type Loop struct {
	Pause  *shell.Pause
	Start  *AppStart
	script string // its text
	file   string // that holds the script; "" if the command does
	word   int    // of the command, where it does
}

// LoopOf reads it out of the snapshot; nil if the service is no such loop, or if no file
// that Kasoku may edit says its pause.
func LoopOf(snap *evidence.Snapshot, svc *stack.Service) (*Loop, error) {
	start, err := StartOf(snap, svc)
	if err != nil {
		return nil, err
	}
	l := &Loop{Start: start, word: -1}
	if file := evidence.ScriptOf(snap.Apps[svc.Name]); file != "" {
		l.file, l.script = file, string(snap.Files[svc.HostName()][file].Content)
	} else if text, quoting := start.Command(); text != "" {
		words := args.Parse(text, quoting).Words
		for i := 1; i < len(words)-1; i++ {
			if words[i].Value == "-c" && evidence.IsShell(words[0].Value) {
				l.word, l.script = i+1, words[i+1].Value
				break
			}
		}
	}
	if l.script == "" {
		return nil, nil
	}
	if l.Pause = shell.FindPause(l.script, start.Env); l.Pause == nil {
		return nil, nil
	}
	return l, nil
}

// Place names where the pause is said: the variable, or the script.
func (l *Loop) Place() string {
	switch {
	case l.Pause.Variable != "":
		return l.Pause.Variable
	case l.file != "":
		return l.file
	}
	return "its command"
}

// Set gives the loop another pause, seconds; the new bytes of each file that changed.
func (l *Loop) Set(seconds float64) (map[string][]byte, error) {
	switch {
	case l.Pause.Variable != "":
		if err := l.Start.SetEnv(l.Pause.Variable, l.Pause.Text(seconds)); err != nil {
			return nil, err
		}
	case l.file != "":
		return map[string][]byte{path.Clean(l.file): []byte(l.Pause.Set(l.script, seconds))}, nil
	default:
		err := l.Start.editCommand("the pause", func(list *args.List) error {
			_, err := list.SetWord(l.word, l.Pause.Set(l.script, seconds))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Start.svc.Name, err)
		}
	}
	return l.Start.Changed(), nil
}

// askers are programs that only send requests to the addresses which their words name.
var askers = []string{"curl", "wget"}

// OnlyAsks reports whether a round does nothing but send requests to the stack itself: to
// its addresses, or to a name that a site of its web servers has.
func (l *Loop) OnlyAsks(st *stack.Stack, snap *evidence.Snapshot) bool {
	for _, p := range l.Pause.Programs {
		if !slices.Contains(askers, path.Base(p)) {
			return false
		}
	}
	for _, u := range l.Pause.URLs {
		if !st.Own(u) && !sitesAnswer(st, snap, u) {
			return false
		}
	}
	return len(l.Pause.URLs) > 0
}

// sitesAnswer reports whether the host of a URL is the name of a site, as server_name,
// ServerName or ServerAlias says it, also by a leading wildcard.
func sitesAnswer(st *stack.Stack, snap *evidence.Snapshot, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || !strings.Contains(u.Hostname(), ".") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(siteNames(st, snap), func(name string) bool {
		name = strings.ToLower(name)
		if rest, ok := strings.CutPrefix(name, "*."); ok {
			return strings.HasSuffix(host, "."+rest)
		}
		if rest, ok := strings.CutPrefix(name, "."); ok { // nginx: the name and all below it
			return host == rest || strings.HasSuffix(host, name)
		}
		return host == name
	})
}

// siteNames are the names of the sites of all web servers; of one whose configuration
// cannot be read there are none.
func siteNames(st *stack.Stack, snap *evidence.Snapshot) []string {
	var out []string
	for _, svc := range st.OfKind(stack.Nginx) {
		if conf, err := NginxConfig(snap, svc); err == nil {
			conf.Root.Walk(func(d *nginx.Directive) bool {
				if d.Name == "server_name" {
					out = append(out, d.Args...)
				}
				return true
			})
		}
	}
	for _, svc := range st.OfKind(stack.Apache) {
		if conf, err := ApacheConfig(snap, svc); err == nil {
			conf.Root.Walk(func(d *apache.Directive) bool {
				if strings.EqualFold(d.Name, "ServerName") || strings.EqualFold(d.Name, "ServerAlias") {
					out = append(out, d.Args...)
				}
				return true
			})
		}
	}
	return out
}
