package web

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

const apacheProgram = "/usr/sbin/apache2"

const apacheConf = `ServerRoot "%DIR%/apache2"
DefaultRuntimeDir "%DIR%/run"
Mutex file:%DIR%/run default
PidFile "%DIR%/apache.pid"
User www-data
Group www-data
ErrorLog "%DIR%/apache-error.log"
LogLevel warn
Timeout 60
IncludeOptional mods-enabled/*.load
IncludeOptional mods-enabled/*.conf
Listen %ADDRESS%
ServerName localhost
LogFormat "%h %l %u %t \"%r\" %>s %b %D" timed
CustomLog "%DIR%/access.log" timed
DocumentRoot "%DIR%/public"
<Directory "%DIR%/public">
    Require all granted
    DirectoryIndex index.php
</Directory>
%MORE%
`

const apachePHP = `<?php
if (isset($_GET['auth'])) { echo "user ", $_SERVER['PHP_AUTH_USER'] ?? 'none'; return; }
echo "page ", ini_get('memory_limit'), " ", $_SERVER['PATH_INFO'] ?? '-', " ", $_SERVER['SCRIPT_NAME'], " ", basename(getcwd()), " ", get_current_user();
`

// apacheModules are those of the bed beside the MPM.
var apacheModules = []string{"access_compat", "alias", "authn_core", "authz_core", "authz_host", "dir", "env", "filter", "mime", "negotiation", "reqtimeout"}

// startApache starts Apache with these modules enabled, in Debian's layout.
// With an MPM of prefork PHP is in it, and a PHP-FPM of the stack runs beside it.
func startApache(t *testing.T, mpm, more, steps string) site {
	t.Helper()
	dir := bed.Folder(t)
	x := site{dir: dir, address: fmt.Sprintf("127.0.0.1:%d", bed.FreePort(t))}
	root := filepath.Join(dir, "apache2")
	for _, d := range []string{root, dir + "/run", dir + "/public"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bed.Output(t, "cp", "-a", "/etc/apache2/mods-available", root)
	enabled := append([]string{"mpm_" + mpm}, apacheModules...)
	if mpm == "prefork" {
		enabled = append(enabled, "php8.2")
	}
	for _, m := range enabled {
		for _, suffix := range []string{".load", ".conf"} {
			if _, err := os.Stat(filepath.Join(root, "mods-available", m+suffix)); err != nil {
				continue
			}
			link := filepath.Join(root, "mods-enabled", m+suffix)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../mods-available/"+m+suffix, link); err != nil {
				t.Fatal(err)
			}
		}
	}
	bed.Write(t, dir, "apache2/apache2.conf", strings.NewReplacer("%ADDRESS%", x.address, "%MORE%", more).Replace(apacheConf))
	bed.Write(t, dir, "php/php.ini", "[PHP]\nmemory_limit = 99M\nerror_reporting = E_ALL\n") // carried over to the pool
	bed.Write(t, dir, "public/index.php", apachePHP)
	bed.Write(t, dir, "public/site.css", strings.Repeat("body { color: black; margin: 0 }\n", 400))
	bed.Write(t, dir, "fpm.conf", "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n[www]\nuser = www-data\ngroup = www-data\nlisten = %DIR%/www.sock\npm = static\npm.max_children = 2\n")
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: site\nworkload: 4\nwarmup: 100ms\nduration: 500ms\nsessions:\n  - name: visit\n    steps:\n"+
		"      - {"+bed.Pause()+"name: style, request: GET /site.css, expect: {contains: [margin]}}\n"+steps)
	start := []string{apacheProgram, "-d", root, "-f", root + "/apache2.conf", "-k", "start"}
	fpm := ""
	if mpm == "prefork" {
		fpm = `
  - name: php
    kind: php-fpm
    binary: ` + fpmProgram + `
    php_ini: /etc/php/8.2/fpm/php.ini
    config: %DIR%/fpm.conf
    control: {method: process, pid_file: %DIR%/fpm.pid}
  - {name: app, kind: app, root: %DIR%/public, runs_in: httpd}`
	}
	bed.Write(t, dir, "kasoku.yaml", `version: 1
name: site
services:
  - name: httpd
    kind: apache
    binary: `+apacheProgram+`
    config: %DIR%/apache2/apache2.conf
    prefix: %DIR%/apache2
    listen: ["`+x.address+`"]
    control: {method: process, pid_file: %DIR%/apache.pid, start: ["`+strings.Join(start, `", "`)+`"]}`+fpm+`
load: {scenario: scenario.yaml, url: "http://`+x.address+`"}
evidence: {profile: "off"}
`)
	if mpm == "prefork" {
		bed.Start(t, dir, "fpm", fpmProgram, "-F", "-y", dir+"/fpm.conf")
		bed.Await(t, dir+"/www.sock")
	}
	bed.StopByPIDFile(t, dir+"/apache.pid")
	cmd := exec.Command(start[0], start[1:]...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start Apache: %v\n%s", err, out)
	}
	bed.Await(t, x.address)
	x.bed = bed.Open(t, dir)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lastLines(x.file(t, "apache-error.log")))
		}
	})
	return x
}

// answers are what clients get in some corners, as text.
func (x site) answers(t *testing.T) string {
	t.Helper()
	var out []string
	for _, path := range []string{"/", "/index.php", "/index.php/some/path?a=1", "/none.php", "/none.css", "/site.css", "/index.php?auth=1"} {
		res, body := x.get(t, path, "Authorization: Basic YW5uOnNlY3JldA==")
		out = append(out, fmt.Sprintln(path, res.Status, res.Header.Get("Content-Type"), body))
	}
	return strings.Join(out, "")
}

// TestApacheEventFPM: PHP leaves Apache's processes, with every answer as it
// was, and comes back.
func TestApacheEventFPM(t *testing.T) {
	x := startApache(t, "prefork", fewProcesses+"<IfModule php_module>\n    PHPIniDir \"%DIR%/php\"\n</IfModule>", "      - {name: page, request: GET /, expect: {contains: [page 99M]}}\n")
	x.bed.Bench.Scenario.Workload = 24
	before, links := x.answers(t), bed.Output(t, "ls", "-la", "--time-style=full-iso", x.dir+"/apache2/mods-enabled")
	if !strings.Contains(before, "user ann") {
		t.Fatal(before)
	}
	x.bed.Show(t, func(t *testing.T, p remedy.Plan) {
		now := bed.Output(t, "ls", "-1", x.dir+"/apache2/mods-enabled")
		switch p.Remedy {
		case "apache.event-fpm":
			for _, name := range []string{"mpm_event.load", "proxy_fcgi.load", "setenvif.load"} {
				if !strings.Contains(now, name+"\n") {
					t.Errorf("%s is not enabled:\n%s", name, now)
				}
			}
			if strings.Contains(now, "php8.2") || strings.Contains(now, "prefork") {
				t.Errorf("still enabled:\n%s", now)
			}
			if got := x.answers(t); got != before {
				t.Errorf("answers\n%s\nwere\n%s", got, before)
			}
		}
	}, "apache.event-fpm")
	after := bed.Output(t, "ls", "-la", "--time-style=full-iso", x.dir+"/apache2/mods-enabled")
	if cut := func(s string) string { _, list, _ := strings.Cut(s, "..\n"); return list }; cut(after) != cut(links) {
		t.Errorf("links\n%s\nwere\n%s", after, links)
	}
	if got := x.answers(t); got != before {
		t.Errorf("answers\n%s\nwere\n%s", got, before)
	}
}

// fewWorkers are occupied 200 ms by each answer, as by a slow client: it is
// sent in two parts (mod_ratelimit, 8 KiB each 200 ms). There is room for a
// second process, which takes over in a reload.
const fewWorkers = `ServerLimit 2
StartServers 1
ThreadsPerChild 8
MaxRequestWorkers 8
KeepAlive Off
LoadModule ratelimit_module /usr/lib/apache2/modules/mod_ratelimit.so
SetOutputFilter RATE_LIMIT
SetEnv rate-limit 40
`

// fewProcesses with mod_php are all that memory had room for; a slow client
// occupies each as long, as in fewWorkers.
const fewProcesses = `<IfModule mpm_prefork_module>
    ServerLimit 4
    StartServers 4
    MaxRequestWorkers 4
</IfModule>
LoadModule ratelimit_module /usr/lib/apache2/modules/mod_ratelimit.so
SetOutputFilter RATE_LIMIT
SetEnv rate-limit 40
`

// TestApacheWorkers: event workers that are too few since long, connections
// closed after each answer, and text sent as it is.
func TestApacheWorkers(t *testing.T) {
	x := startApache(t, "event", fewWorkers, "")
	x.bed.Bench.Scenario.Workload = 24
	// Apache looks once a second whether a worker is idle, and says once in its
	// life that none was. What is shown is found after that.
	x.bed.Window = 1500 * time.Millisecond
	for range 4 {
		if !strings.Contains(x.file(t, "apache-error.log"), "server reached MaxRequestWorkers") {
			x.bed.Answers(t, "full")
		}
	}
	// The window stays that long: after a reload Apache may answer nothing until
	// its next look.
	x.bed.Show(t, nil, "apache.workers")
	// As many users as workers: where all workers are busy, Apache may serve its kept
	// connections before those that wait to be accepted, some of them for longer than
	// a request's time-out.
	x.bed.Bench.Scenario.Workload = 8
	x.bed.Show(t, func(t *testing.T, p remedy.Plan) {
		if p.Remedy == "apache.deflate" {
			res, packed := x.get(t, "/site.css", "Accept-Encoding: gzip")
			_, plain := x.get(t, "/site.css")
			if res.Header.Get("Content-Encoding") != "gzip" || len(packed) > len(plain)/4 || len(plain) < 10000 {
				t.Errorf("%v: %d bytes, %d uncompressed", res.Header, len(packed), len(plain))
			}
		}
	}, "apache.keepalive", "apache.deflate")
}
