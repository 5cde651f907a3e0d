package apps_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

// wsgiConf is an Apache of one process; %WSGI% says how it runs the application.
const wsgiConf = `ServerRoot "%DIR%"
DefaultRuntimeDir "%DIR%"
Mutex file:%DIR% default
PidFile "%DIR%/apache.pid"
User www-data
Group www-data
ErrorLog "%DIR%/error.log"
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule wsgi_module /usr/lib/apache2/modules/mod_wsgi.so
StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
Listen 127.0.0.1:%PORT%
ServerName localhost
<Directory "%DIR%">
    Require all granted
</Directory>
<VirtualHost *:%PORT%>
    %WSGI%
</VirtualHost>
`

// TestModWSGI: an application within Apache's one process, and one in a process group of one,
// gets two processes for each CPU, and is back where it was afterwards.
func TestModWSGI(t *testing.T) {
	need(t, "apache2")
	for name, wsgi := range map[string]string{
		"embedded": `WSGIScriptAlias / %DIR%/shop.wsgi`,
		"daemon":   "WSGIDaemonProcess shop threads=8 display-name=%{GROUP}\n    WSGIProcessGroup shop\n    WSGIScriptAlias / %DIR%/shop.wsgi",
	} {
		t.Run(name, func(t *testing.T) {
			dir, port := bed.Folder(t), bed.FreePort(t)
			copied(t, dir, "python/shop.py", "shop.py")
			write(t, dir, "shop.wsgi", "import sys\nsys.path.insert(0, '%DIR%')\nfrom shop import app as application\n", port)
			write(t, dir, "apache.conf", strings.Replace(wsgiConf, "%WSGI%", wsgi, 1), port)
			write(t, dir, "kasoku.yaml", `version: 1
services:
  - name: httpd
    kind: apache
    binary: /usr/sbin/apache2
    config: %DIR%/apache.conf
    prefix: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    control: {method: process, pid_file: %DIR%/apache.pid, start: [/usr/sbin/apache2, -d, %DIR%, -f, %DIR%/apache.conf, -k, start]}
  - {name: app, kind: app, root: %DIR%, runs_in: httpd}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
regulation: {memory_headroom_percent: 5}
evidence: {profile: "off"}
`, port)
			scenario(t, dir, "GET /", "sum 2666466670000")
			bed.StopByPIDFile(t, dir+"/apache.pid")
			if out, err := exec.Command("/usr/sbin/apache2", "-d", dir, "-f", dir+"/apache.conf", "-k", "start").CombinedOutput(); err != nil {
				t.Fatalf("start Apache: %v\n%s", err, out)
			}
			bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
			b := bed.Open(t, dir)
			b.Show(t, func(t *testing.T, p remedy.Plan) {
				text, err := os.ReadFile(dir + "/apache.conf")
				if err != nil {
					t.Fatal(err)
				}
				var group string
				var n int
				if _, rest, ok := strings.Cut(string(text), "WSGIDaemonProcess "); !ok {
					t.Fatalf("no process group:\n%s", text)
				} else if group, _, _ = strings.Cut(rest, " "); group == "" {
					t.Fatalf("%s", text)
				}
				if _, rest, ok := strings.Cut(string(text), "processes="); !ok {
					t.Fatalf("no number:\n%s", text)
				} else if _, err := fmt.Sscan(rest, &n); err != nil || n < 2 {
					t.Fatalf("%d processes, %v:\n%s", n, err, text)
				}
				said := func() string {
					return fmt.Sprintf("%d processes of %s, want %d", wsgiProcesses(t, dir, group), group, n)
				}
				await.ForOr(t, "the processes", said, func() bool { return wsgiProcesses(t, dir, group) == n })
			}, "app.wsgi:app:1")
		})
	}
}

// wsgiProcesses counts the processes of a group whose parent is the Apache of this folder:
// they have the group for their title.
func wsgiProcesses(t *testing.T, dir, group string) int {
	t.Helper()
	pid, err := os.ReadFile(dir + "/apache.pid")
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("ps", "-o", "args=", "--ppid", strings.TrimSpace(string(pid))).Output() // 1 means there is none
	return strings.Count(string(out), "(wsgi:"+group+")")
}
