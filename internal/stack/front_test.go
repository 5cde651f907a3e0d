package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/host"
)

const frontYAML = `version: 1
hosts: {h2: {ssh: h2}}
services:
  - {name: web, kind: apache, config: %[3]s/apache2.conf, listen: ["0.0.0.0:80"]}
  - {name: php, kind: php-fpm, config: /etc/fpm.conf}
  - {name: front, kind: nginx, host: %[1]s, config: %[3]s/nginx.conf, front_for: %[2]s, control: {pid_file: %[3]s/nginx.pid}%[4]s}
load: {scenario: s.yaml, url: "http://127.0.0.1"}
`

// A front is an nginx for an Apache of its own host.
func TestFrontFor(t *testing.T) {
	for _, c := range []struct{ host, frontFor, more, says string }{
		{"local", "web", "", ""},
		{"local", "wed", "", `did you mean "web"?`},
		{"local", "front", "", "is this service itself"},
		{"local", "php", "", "this is nginx for php-fpm"},
		{"h2", "web", "", "which only its own host reaches"},
		{"local", "web", `, listen: ["0.0.0.0:80"]`, "remove listen"},
		{"local", "web", "}\n  - {name: two, kind: nginx, config: /n, front_for: web", `"two" may already be put in front`},
	} {
		path := filepath.Join(t.TempDir(), "kasoku.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, frontYAML, c.host, c.frontFor, "/etc/x", c.more), 0o644); err != nil {
			t.Fatal(err)
		}
		st, err := Load(path)
		switch {
		case c.says == "" && (err != nil || st.Service("front").FrontFor != "web" || st.Service("web").Behind != "front"):
			t.Errorf("%+v: %v", c, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// What serves nothing is not in the stack; an Apache that something may be put
// in front of is where its configuration says.
func TestIdleFrontIsNotInUse(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"kasoku.yaml": fmt.Sprintf(frontYAML, "local", "web", dir, ""), "apache2.conf": "Listen 127.0.0.1:8080\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	h := host.NewLocal()
	states, err := FrontStates(t.Context(), map[string]host.Host{LocalHost: h}, st)
	if err != nil || len(states) != 1 || states["front"].InUse {
		t.Fatalf("%v, %+v", err, states)
	}
	if got := st.WithFronts(states); got.Service("front") != nil || got.Service("web").Listen[0] != "0.0.0.0:80" || st.Service("front") == nil {
		t.Errorf("%+v", got.Services)
	}
	if got := Endpoints(t.Context(), h, st.Service("web")); !slices.Equal(got, []string{"127.0.0.1:8080"}) {
		t.Errorf("Apache listens at %v", got)
	}
	f := states["front"]
	f.InUse, f.Listen, f.Behind = true, []string{"0.0.0.0:80"}, []string{"127.0.0.1:8080"}
	got := st.WithFronts(map[string]FrontState{"front": f})
	if got.Service("front").Listen[0] != "0.0.0.0:80" || got.Service("web").Listen[0] != "127.0.0.1:8080" || st.Service("web").Listen[0] != "0.0.0.0:80" {
		t.Errorf("in use: %+v", got.Services)
	}
}

func TestApacheEndpoints(t *testing.T) {
	for conf, want := range map[string]string{
		"Listen 80\n": "0.0.0.0:80",
		"Listen 80\nListen [::1]:81\nListen *:82\n":                   "0.0.0.0:80 [::1]:81 0.0.0.0:82",
		"Listen 80\n<IfModule ssl_module>\nListen 443\n</IfModule>\n": "0.0.0.0:80",
		"Define P 8080\nListen 127.0.0.1:${P} http\n":                 "127.0.0.1:8080",
		"Listen ${UNKNOWN}\n":                                         "",
		"ServerName x\n":                                              "",
	} {
		cfg, err := apache.Load("/c", apache.Options{}, func(string) ([]byte, error) { return []byte(conf), nil }, func(string) ([]string, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := ApacheEndpoints(cfg)
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", conf, got, err)
		}
	}
}
