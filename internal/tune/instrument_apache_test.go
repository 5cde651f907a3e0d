package tune

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// startApache runs a real Apache whose main file ends with these lines, with
// what is below /app handed to a server behind it that takes 3 ms, and what is
// below /pretty as well, after an internal redirect.
func startApache(t *testing.T, lines string) *web {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server; run without -short")
	}
	program, err := exec.LookPath("apache2")
	if err != nil {
		program = "/usr/sbin/apache2"
	}
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Millisecond)
		io.WriteString(w, "app")
	}))
	t.Cleanup(behind.Close)
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kapa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const modules = "/usr/lib/apache2/modules/mod_"
	conf := "ServerRoot @DIR@\nPidFile @DIR@/apache.pid\nServerName x\nListen @ADDRESS@\nMutex file:@DIR@\nErrorLog @DIR@/error.log\n"
	for _, m := range []string{"mpm_event", "authz_core", "proxy", "proxy_http", "rewrite"} {
		conf += "LoadModule " + m + "_module " + modules + m + ".so\n"
	}
	if os.Getuid() == 0 {
		conf += "User www-data\nGroup www-data\n"
	}
	conf += "DocumentRoot @DIR@/public\n<Directory @DIR@/public>\nRewriteEngine On\nRewriteRule ^pretty/(.*)$ /app/$1 [L]\n</Directory>\nInclude sites/*.conf\n" + lines
	files := map[string]string{"apache.conf": conf, "public/a.html": "a", "public/s/b.html": "b",
		"sites/site.conf": "<VirtualHost *>\n    DocumentRoot @DIR@/public\n    ProxyPass /app @BEHIND@\n    CustomLog @DIR@/site.log \"%h %t \\\"%r\\\" %>s\"\n</VirtualHost>\n"}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer("@DIR@", dir, "@ADDRESS@", address, "@BEHIND@", behind.URL).Replace(text)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := &web{dir: dir, url: "http://" + address, hosts: map[string]host.Host{"local": host.NewLocal()}, files: []string{"apache.conf", "sites/site.conf"}}
	argv := []string{program, "-d", dir, "-f", dir + "/apache.conf", "-D", "FOREGROUND"}
	w.st = &stack.Stack{Dir: dir, Name: "web", Load: stack.LoadConfig{URL: w.url}, Services: []stack.Service{{Name: "web", Kind: stack.Apache, Binary: program,
		Config: dir + "/apache.conf", Prefix: dir, Listen: []string{address}, Control: stack.Control{Method: "process", PIDFile: dir + "/apache.pid"}}}}
	var out bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	w.ready(t, &out)
	return w
}

func TestApacheLogIsGivenTimes(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		given bool
	}{
		"without times": {"", true},
		"buffered":      {"BufferedLogs On\n", true},
		"full already":  {"GlobalLog @DIR@/own.log \"%h %t \\\"%r\\\" %>s %B %D\"\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := startApache(t, c.lines)
			ev := w.instrumented(t, accessLog, func() *load.Result {
				w.get(t, "/a.html", 20)
				w.get(t, "/app/item/3?q=1", 10)
				w.get(t, "/app/item/4", 10)
				w.get(t, "/pretty/9", 6)
				w.get(t, "/no/17", 4)
				return &load.Result{Requests: 50, Window: time.Second}
			}, 50)
			if (w.log != "") != c.given {
				t.Fatalf("given a log: %q, want %v", w.log, c.given)
			}
			var got []string
			for _, r := range ev.Routes {
				got = append(got, fmt.Sprintf("%d %s %s timed=%v", r.Count, r.Method, r.Route, r.Time.Count == r.Count && r.Time.Max > 0))
				if want := c.given && r.Route != "/a.html" && r.Route != "/no/17"; (r.Upstream.Count == r.Count && r.Upstream.P50 >= 3*time.Millisecond) != want || !want && r.Upstream.Count > 0 {
					t.Errorf("times of the server behind %s: %+v", r.Route, r.Upstream)
				}
			}
			all := strings.Join(got, "\n")
			for _, want := range []string{"20 GET /a.html timed=true", "20 GET /app/item/:id timed=true", "6 GET /pretty/9 timed=true", "4 GET /no/17 timed=true"} {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s\nhealth %+v", want, all, ev.Health)
				}
			}
			for _, h := range healthOf(ev, "access log of web") {
				if !h.OK {
					t.Errorf("unhealthy: %+v", h)
				}
			}
			if c.lines == "" { // the log that was there went on
				if n := lines(filepath.Join(w.dir, "site.log")); n < 50 {
					t.Errorf("site.log has %d lines", n)
				}
			}
		})
	}
}

// TestApacheLogWhereItCannotBe: an Apache without GlobalLog is told what to add by hand.
func TestApacheLogWhereItCannotBe(t *testing.T) {
	w := startApache(t, "")
	w.st.Services[0].Version = "2.4.10"
	said := accessLog(&Bench{Stack: w.st, Hosts: w.hosts}, w.snapshot(t))
	if len(said) == 0 {
		t.Fatal("nothing is said")
	}
	if in := said[0]; len(in.changes) > 0 || !strings.Contains(in.not, "GlobalLog") || !strings.Contains(in.not, "%D") {
		t.Errorf("planned %+v", in)
	}
}
