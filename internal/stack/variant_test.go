package stack

import (
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

const variantsYAML = `version: 1
services:
  - name: login
    kind: app
    root: ruby
    binary: /usr/bin/ruby
    listen: ["127.0.0.1:8080"]
    control: {unit: login-ruby.service}
    variants:
      - name: perl
        control: {unit: login-perl.service}
        root: perl
      - name: go
        control: {pid_file: run/go.pid, start: [go/login]}
        pprof: http://127.0.0.1:6060/
load: {scenario: s.yaml, url: "http://127.0.0.1:8080"}
`

func TestImplementations(t *testing.T) {
	s, err := parse("k.yaml", []byte(variantsYAML), "/srv")
	if err != nil {
		t.Fatal(err)
	}
	svc := s.Service("login")
	if got := strings.Join(svc.Implementations(), " "); got != "main perl go" {
		t.Errorf("implementations %q", got)
	}
	if svc.As("python") != nil || s.With(nil) != s {
		t.Error("what is not there was found")
	}
	for _, c := range []struct{ name, unit, root, binary, pprof string }{
		{"go", "", "/srv/ruby", "", "http://127.0.0.1:6060/"},
		{"perl", "login-perl.service", "/srv/perl", "", ""},
		{"main", "login-ruby.service", "/srv/ruby", "/usr/bin/ruby", ""},
	} {
		as := s.With(map[string]string{"login": c.name}).Service("login")
		as = as.As("perl").As(c.name) // whichever it stood for before
		if as.InUse() != c.name || as.Control.Unit != c.unit || as.Root != c.root || as.Binary != c.binary || as.PProf != c.pprof {
			t.Errorf("as %s: %+v", c.name, as)
		}
	}
	if svc.InUse() != "" || svc.Control.Unit != "login-ruby.service" || svc.As("go").Control.Start[0] != "/srv/go/login" {
		t.Errorf("the service itself has changed: %+v", svc)
	}
}

func TestVariantProblems(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "        root: perl", "        rot: perl", `k.yaml:12:9: services[0].variants[0].rot: unknown key; did you mean "root"?`},
		{"no name", "- name: perl\n        control", "- control", `services[0].variants[0].name: missing`},
		{"bad name", "name: perl", "name: a b", `"a b": a variant's name may only have letters`},
		{"main", "name: perl", "name: main", `services[0].variants[0].name: "main" is the service as it stands above`},
		{"twice", "name: perl", "name: go", `services[0].variants[1].name: "go" is already the name of another variant`},
		{"no control", "        control: {unit: login-perl.service}\n", "", `k.yaml:10:13: services[0].variants[0].control: missing; write how this one is started and stopped, e.g. "control: {unit: login-perl.service}"`},
		{"the service's control", "{unit: login-perl.service}", "{unit: login-ruby.service}", `services[0].variants[0].control: is the control of another implementation of login`},
		{"another's PID file", "{unit: login-perl.service}", "{pid_file: run/go.pid, start: [perl/login]}", `services[0].variants[1].control: is the control of another`},
		{"no PID file", "pid_file: run/go.pid, ", "", `services[0].variants[1].control.pid_file: missing; a service with variants needs it with method process`},
		{"no PID file of the service", "{unit: login-ruby.service}", "{start: [ruby/login]}", `k.yaml:8:5: services[0].control.pid_file: missing`},
		{"no start", ", start: [go/login]", "", `services[0].variants[1].control.start: missing`},
		{"of a method of its own", "{unit: login-perl.service}", "{unit: a.service, pid_file: /x}", `services[0].variants[0].control: pid_file, start and stop belong to another method`},
		{"of a web server", "kind: app", "kind: nginx", `services[0].variants: belongs to an app, this one is nginx`},
		{"in another's processes", "    control: {unit: login-ruby.service}\n", "    runs_in: fpm\n", `services[0].variants: the app runs in "fpm"`},
		{"pprof", "pprof: http://127.0.0.1:6060/", "pprof: /debug/pprof", `services[0].variants[1].pprof: "/debug/pprof" is not a URL`},
	} {
		if _, err := parse("k.yaml", []byte(strings.Replace(variantsYAML, c.old, c.new, 1)), "/srv"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got: %v\nwant: %s", c.name, err, c.want)
		}
	}
}

func TestChosen(t *testing.T) {
	svc := &Service{Variants: []Variant{{Name: "a"}, {Name: "b"}}}
	for _, c := range []struct {
		name      string
		states    map[string]VariantState
		preferred string
		want      string
	}{
		{"the one that runs", map[string]VariantState{Main: {Stopped, "enabled"}, "a": {Stopped, ""}, "b": {Running, "disabled"}}, "a", "b"},
		{"the one started last", map[string]VariantState{Main: {Stopped, "enabled"}, "a": {Failed, "disabled"}, "b": {Stopped, ""}}, "a", "a"},
		{"the one that boot starts", map[string]VariantState{Main: {Stopped, "disabled"}, "a": {Stopped, ""}, "b": {Stopped, "enabled-runtime"}}, "", "b"},
		{"the service's own", map[string]VariantState{Main: {Stopped, ""}, "a": {Stopped, ""}, "b": {Stopped, ""}}, "", Main},
		{"not looked at", nil, "a", ""},
	} {
		if got := Chosen(svc, c.states, c.preferred); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Units: the Controller of the service acts on the one that runs, and on the
// one that boot starts while none does.
func TestVariantUnits(t *testing.T) {
	await.SkipShort(t)
	ctx := t.Context()
	l := newSystemd(t)
	port := freePort(t)
	for _, name := range []string{"one", "two"} {
		l.write("units/"+name+".service", "[Unit]\n[Service]\nExecStart="+need(t, "memcached")+" -u nobody -l 127.0.0.1 -p "+port+"\n")
	}
	svc := Service{Name: "cache", Kind: App, Binary: "memcached", Listen: []string{"127.0.0.1:" + port}, Control: Control{Unit: "one.service"},
		Variants: []Variant{{Name: "second", Binary: "memcached", Control: Control{Unit: "two.service"}}}}
	c := l.add(svc)
	must(t, c.Start(ctx))
	l.wantCalls("start one.service")
	states, err := VariantStates(ctx, l.h, l.s, &svc)
	if err != nil || states[Main].State != Running || states["second"].State != Stopped {
		t.Fatalf("states %v, %v", states, err)
	}
	must(t, c.Stop(ctx))
	second, err := NewController(l.h, l.s, svc.As("second"))
	must(t, err)
	must(t, second.Start(ctx))
	l.wantCalls("stop one.service", "start two.service")
	must(t, c.Restart(ctx)) // the same Controller as before
	l.wantCalls("restart two.service")
	st, err := l.s.InUse(ctx, map[string]host.Host{"": l.h, LocalHost: l.h})
	if err != nil || st.Service("cache").InUse() != "second" {
		t.Errorf("in use: %v, %v", st.Service("cache"), err)
	}
	must(t, second.Stop(ctx))
	l.write("units/two.service.enabled", "")
	fresh := l.add(svc)
	must(t, fresh.Start(ctx))
	l.wantCalls("stop two.service", "start two.service")
	must(t, fresh.Stop(ctx))
}
