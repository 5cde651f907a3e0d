// Package front_test puts a real nginx in front of a real Apache with PHP in it,
// and takes it away again.
package front_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
)

const (
	apacheProgram = "/usr/sbin/apache2"
	nginxProgram  = "/usr/sbin/nginx"
)

const apacheConf = `ServerRoot "%DIR%/apache2"
DefaultRuntimeDir "%DIR%/run"
Mutex file:%DIR%/run default
PidFile "%DIR%/apache.pid"
User www-data
Group www-data
ErrorLog "%DIR%/apache-error.log"
LogLevel warn
Timeout 60
MaxRequestWorkers 32
IncludeOptional mods-enabled/*.load
IncludeOptional mods-enabled/*.conf
Listen @ADDRESS@
ServerName localhost
LogFormat "%h %a %p %v \"%r\" %>s %b \"%{X-Forwarded-For}i\"" seen
CustomLog "%DIR%/access.log" seen
<VirtualHost *:@PORT@>
    DocumentRoot "%DIR%/public"
</VirtualHost>
<Directory "%DIR%/public">
    Require all granted
    DirectoryIndex index.php
</Directory>
<Directory "%DIR%/public/near">
    Require ip 127.0.0.2
</Directory>
`

// nginxConf is one that was never used: it has no server.
const nginxConf = `worker_processes 1;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx-error.log;
user www-data;
events { worker_connections 500; }
http {
    access_log %DIR%/nginx-access.log;
    client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;
    include conf.d/*.conf;
}
`

// whoPHP tells all that an application can see of a request, but the addresses
// of the connection itself; indexPHP notes that it ran.
const (
	whoPHP = `<?php
foreach (['REMOTE_ADDR', 'SERVER_PORT', 'SERVER_NAME', 'REQUEST_URI', 'REQUEST_SCHEME', 'HTTPS', 'CONTENT_LENGTH'] as $k) echo "$k=", $_SERVER[$k] ?? '-', "\n";
$all = getallheaders(); ksort($all); unset($all['Connection']); // that is of each connection its own
foreach ($all as $k => $v) echo "$k: $v\n";
echo strlen(file_get_contents('php://input')), " bytes\n";
`
	indexPHP = `<?php file_put_contents('%DIR%/run/made', 'x', FILE_APPEND); usleep(2000); echo "page of everybody\n", str_repeat('text ', 200);
`
)

const stackYAML = `version: 1
name: front
services:
  - name: httpd
    kind: apache
    binary: /usr/sbin/apache2
    config: %DIR%/apache2/apache2.conf
    prefix: %DIR%/apache2
    listen: ["@ADDRESS@"]
    health: {url: "http://@ADDRESS@/who.php"}
    control: {method: process, pid_file: %DIR%/apache.pid, start: [/usr/sbin/apache2, -d, %DIR%/apache2, -f, %DIR%/apache2/apache2.conf, -k, start]}
  - {name: app, kind: app, root: %DIR%/public, runs_in: httpd}
  - name: front
    kind: nginx
    front_for: httpd
    talks_to: [httpd]
    binary: /usr/sbin/nginx
    config: %DIR%/nginx/nginx.conf
    prefix: %DIR%/nginx
    control: {method: process, pid_file: %DIR%/nginx.pid, start: [/usr/sbin/nginx, -p, %DIR%/nginx, -c, %DIR%/nginx/nginx.conf]}
load: {scenario: scenario.yaml, url: "http://@ADDRESS@"}
regulation: {allow: [staleness], staleness: 5m}
tune: {max_foreign_cpu: 1}
evidence: {profile: "off"}
`

const scenarioYAML = `version: 1
name: front
workload: 4
warmup: 100ms
duration: 500ms
timeout: 10s
seed: 1
sessions:
  - name: stranger
    weight: 1
    steps:
      - {@PAUSE@name: page, request: GET /, expect: {status: 200, contains: [page of everybody]}}
`

// site is a running Apache, with an nginx beside it that is not started.
type site struct {
	t            *testing.T
	dir, address string
	bed          *bed.Bed
}

func startSite(t *testing.T) *site {
	t.Helper()
	dir := bed.Folder(t)
	port := fmt.Sprint(bed.FreePort(t))
	x := &site{t: t, dir: dir, address: "127.0.0.1:" + port}
	root := filepath.Join(dir, "apache2")
	for _, d := range []string{root + "/mods-enabled", dir + "/run", dir + "/nginx/conf.d"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir+"/run", 0o777); err != nil {
		t.Fatal(err)
	}
	bed.Output(t, "cp", "-a", "/etc/apache2/mods-available", root)
	for _, m := range []string{"mpm_prefork", "access_compat", "alias", "authn_core", "authz_core", "authz_host", "dir", "env", "filter", "mime", "negotiation", "php8.2", "reqtimeout"} {
		for _, suffix := range []string{".load", ".conf"} {
			if _, err := os.Stat(filepath.Join(root, "mods-available", m+suffix)); err != nil {
				continue
			}
			if err := os.Symlink("../mods-available/"+m+suffix, filepath.Join(root, "mods-enabled", m+suffix)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range map[string]string{"apache2/apache2.conf": apacheConf, "nginx/nginx.conf": nginxConf, "kasoku.yaml": stackYAML, "scenario.yaml": scenarioYAML,
		"public/who.php": whoPHP, "public/index.php": indexPHP, "public/near/who.php": whoPHP} {
		bed.Write(t, dir, name, strings.NewReplacer("@ADDRESS@", x.address, "@PORT@", port, "@PAUSE@", bed.Pause()).Replace(text))
	}
	bed.StopByPIDFile(t, dir+"/apache.pid")
	bed.StopByPIDFile(t, dir+"/nginx.pid")
	cmd := exec.Command(apacheProgram, "-d", root, "-f", root+"/apache2.conf", "-k", "start")
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start Apache: %v\n%s", err, out)
	}
	bed.Await(t, x.address)
	x.bed = bed.Open(t, dir)
	return x
}

// from is a client at an address of loopback that asks the site.
func (x *site) from(ip string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: 10 * time.Second}
	return &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, x.address)
		}}}
}

// ask returns what a client sees of an answer, as text.
func (x *site) ask(ip, method, url, body string, headers ...string) string {
	x.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header[name] = append(req.Header[name], value)
	}
	res, err := x.from(ip).Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return fmt.Sprintf("%s %s: %s, Server %s, Location %s\n%s", method, url, res.Status, res.Header.Get("Server"), res.Header.Get("Location"), text)
}

// answers are what clients and the application see in many corners.
func (x *site) answers() string {
	x.t.Helper()
	at := "http://" + x.address
	out := []string{
		x.ask("127.0.0.2", "GET", at+"/who.php?a=1%2F2&b", ""),
		x.ask("127.0.0.3", "GET", at+"/who.php", "", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https", "X_odd_name: 1"),
		x.ask("127.0.0.3", "GET", "http://www.example.org/who.php", ""),
		x.ask("127.0.0.3", "GET", "http://www.example.org/near", ""),
		x.ask("127.0.0.2", "GET", at+"/near/who.php", ""),
		x.ask("127.0.0.3", "GET", at+"/near/who.php", "", "X-Forwarded-For: 127.0.0.2"),
		x.ask("127.0.0.2", "POST", at+"/who.php", strings.Repeat("x", 3<<20)),
		x.ask("127.0.0.2", "GET", at+"/who.php", "", "X-Long: "+strings.Repeat("y", 8000)),
		x.ask("127.0.0.2", "GET", at+"//who.php", ""),
		x.ask("127.0.0.2", "HEAD", at+"/who.php", ""),
		x.ask("127.0.0.2", "GET", at+"/none", ""),
		x.ask("127.0.0.2", "GET", at+"/", ""),
	}
	return strings.Join(out, "\n")
}

// asked is how many requests answers makes.
const asked = 12

// longestGap is the longest time between two answers while do runs. It tells
// how long a switch is felt; nothing is asserted of it.
func (x *site) longestGap(do func()) time.Duration {
	ctx, stop := context.WithCancel(x.t.Context())
	defer stop()
	client, done := x.from("127.0.0.4"), make(chan time.Duration, 1)
	go func() {
		var longest time.Duration
		for last := time.Now(); ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			if res, err := client.Get("http://" + x.address + "/none"); err == nil {
				res.Body.Close()
				longest, last = max(longest, time.Since(last)), time.Now()
			}
		}
		done <- longest
	}()
	do()
	stop()
	return <-done
}

// oldest asks as HTTP/1.0 without a Host does, and returns the status.
func (x *site) oldest() string {
	x.t.Helper()
	c, err := net.DialTimeout("tcp", x.address, 10*time.Second)
	if err != nil {
		x.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, "GET /who.php HTTP/1.0\r\n\r\n"); err != nil {
		x.t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		x.t.Fatal(err)
	}
	_, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	return status
}

// logged are the lines that Apache wrote of what answers asked since the last
// call, sorted. It writes each a moment after the answer, so that as many as
// were asked for are waited for.
func (x *site) logged(asked int) string {
	x.t.Helper()
	name := filepath.Join(x.dir, "access.log")
	var lines []string
	await.For(x.t, "the lines of what was asked", func() bool {
		text, err := os.ReadFile(name)
		if err != nil {
			x.t.Fatal(err)
		}
		lines = slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool {
			return !strings.HasPrefix(l, "127.0.0.2 ") && !strings.HasPrefix(l, "127.0.0.3 ")
		})
		return len(lines) >= asked
	})
	if err := os.Truncate(name, 0); err != nil {
		x.t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// made is how often the page was made.
func (x *site) made() int {
	info, err := os.Stat(filepath.Join(x.dir, "run", "made"))
	if err != nil {
		return 0
	}
	return int(info.Size())
}

func (x *site) runs() bool {
	var pid int
	text, err := os.ReadFile(filepath.Join(x.dir, "nginx.pid"))
	if err != nil {
		return false
	}
	_, err = fmt.Sscan(string(text), &pid)
	return err == nil && pid > 0
}
