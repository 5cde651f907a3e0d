package evidence

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/haproxy"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// TestHAProxyFronts: what holds for a frontend comes from itself, its defaults,
// and those that these take theirs from.
func TestHAProxyFronts(t *testing.T) {
	const text = `global
 log /dev/log local0
 log 10.0.0.1 len 8192 format rfc5424 sample 1:4 local1 notice
defaults base
 mode http
 log global
 option httplog
 option dontlog-normal
defaults quiet from base
 no log
 option tcplog
frontend a from base
frontend b from base
 no option dontlog-normal
 log-format "%ci %HM %HU %Ta"
frontend c from base
 log-format '%ci %{+Q}r %Tr'
listen d from quiet
 log 10.0.0.1:514 local0 err debug
listen e from quiet
 log 10.0.0.1:514 local0 info
 option httpslog
listen f from base
 mode tcp
frontend g from base
 option httplog clf
 log-format "%{+E}[capture.req.uri] %[txn.timer.total]"
frontend h from base
 .if defined(X)
 mode tcp
 .endif
backend z from base
frontend last
 option "$FORMAT"
 option httplog
defaults
frontend new
 log /dev/log local0
`
	conf := haproxy.Parse("/x", []byte(text))
	if conf.Err() != nil {
		t.Fatal(conf.Err())
	}
	var got []string
	for _, f := range HAProxyFronts(conf) {
		format := "none"
		if f.Format != nil {
			format = fmt.Sprint(f.Format.Line.Num)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s logs=%v format=%s standard=%v timed=%v %s%s", f.Name, f.Logs, format, f.Standard, f.Timed, f.Some, f.Unsure)))
	}
	want := []string{
		"frontend a logs=true format=7 standard=true timed=true option dontlog-normal",
		"frontend b logs=true format=15 standard=false timed=true",
		"frontend c logs=true format=17 standard=false timed=false option dontlog-normal",
		"listen d logs=false format=11 standard=false timed=false option dontlog-normal",
		"listen e logs=true format=22 standard=true timed=true option dontlog-normal",
		"frontend g logs=true format=27 standard=false timed=true option dontlog-normal",
		"frontend h logs=true format=7 standard=true timed=true option dontlog-normalmode stands in an .if block",
		"frontend last logs=false format=35 standard=true timed=true option dontlog-normaloption has an environment variable",
	}
	// The last defaults before it hold for one that names none.
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHAProxyAdvice: what is to be done is said, as far as it is not done.
func TestHAProxyAdvice(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/haproxy.cfg"
	conf := "global\n log /dev/log local0\ndefaults\n mode http\n log global\n option httplog\nfrontend a\nlisten stats\n no log\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	svc := stack.Service{Name: "lb", Kind: stack.App, Binary: "/usr/sbin/haproxy"}
	told := func() string {
		st := &stack.Stack{Services: []stack.Service{svc}}
		sources, health := accessSources(t.Context(), setting{st: st, hosts: map[string]host.Host{"local": host.NewLocal()}, opts: CollectorOptions{Diagnostic: true}})
		if len(sources) > 0 {
			x := sources[0].(*accessSource)
			return fmt.Sprintf("%s, quiet %v%s", x.logs[0].Name, x.quiet, haproxyAdvice(&svc, x.logs[0].AccessLog))
		}
		return healthText(&Evidence{Health: health})
	}
	for _, c := range []struct {
		config, log string
		want, not   string
	}{
		{"", "", "then name its configuration file as config in kasoku.yaml", "nothing"},
		{file, "", "a diagnostic run then adds 'option httplog'", "add the line"},
		{"", dir + "/h.log", "; HAProxy: name its configuration file as config in kasoku.yaml, so that a diagnostic run adds 'option httplog' for its time; or add the line", "quiet [listen"},
		{file, dir + "/h.log", "option httplog, quiet [listen stats]", "HAProxy:"},
		{dir + "/none.cfg", dir + "/h.log", "no line could be added for this run; add the line 'option httplog'", "quiet [listen"},
	} {
		svc.Config, svc.AccessLog = c.config, c.log
		if got := told(); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("config %q, log %q: %s", c.config, c.log, got)
		}
	}
}
