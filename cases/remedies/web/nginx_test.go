// Package web shows the remedies for web servers on the real nginx, Apache and
// PHP-FPM.
package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

const nginxProgram, fpmProgram = "/usr/sbin/nginx", "/usr/sbin/php-fpm8.2"

// site is nginx with PHP-FPM behind it in a private folder.
type site struct {
	dir, address, fpm string
	bed               *bed.Bed
}

const siteNginx = `user www-data;
worker_processes %WORKERS%;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx-error.log warn;
events {
    worker_connections 512;
    %EVENTS%
}
http {
    include /etc/nginx/mime.types;
    access_log %DIR%/access.log combined;
    client_body_temp_path %DIR%/t1;
    proxy_temp_path %DIR%/t2;
    fastcgi_temp_path %DIR%/t3;
    uwsgi_temp_path %DIR%/t4;
    scgi_temp_path %DIR%/t5;
    %HTTP%
    server {
        listen %ADDRESS% %LISTEN%;
        root %DIR%/public;
        location / {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_pass %PASS%;
        }
        location /files/ { }
        %SERVER%
    }
}
`

const sitePHP = `<?php
switch (strtok($_SERVER['REQUEST_URI'], '?')) {
case '/healthz': header('Content-Type: text/plain;charset=UTF-8'); header('Cache-Control: no-store'); echo "alive {\"a\": 1}\n"; break;
case '/long': echo str_repeat("0123456789abcde\n", 24576); break;
case '/told': echo str_repeat("0123456789abcde\n", 24576); error_log('all was sent'); break;
default: $x = 0; for ($i = 0; $i < 20000; $i++) { $x += $i; } echo "page $x"; }
`

// setup says what is bad about a site.
type setup struct {
	top                          string // before all else of nginx.conf
	events, http, server, listen string // more of nginx.conf
	fpm                          string // more of [global]
	keep                         bool   // connections to PHP-FPM are kept
	steps                        string // more of the scenario's steps
	files                        map[string]string
	limit                        int // open files of its only worker, soft; 0: two workers, as here
}

// startSite starts the servers and opens the bed.
func startSite(t *testing.T, s setup) site {
	t.Helper()
	dir := bed.Folder(t)
	x := site{dir: dir, address: fmt.Sprintf("127.0.0.1:%d", bed.FreePort(t))}
	x.fpm = fmt.Sprintf("127.0.0.1:%d", bed.FreePort(t))
	pass := x.fpm
	if s.keep {
		s.http += "upstream php { server " + x.fpm + "; keepalive 1; }"
		pass = "php; fastcgi_keep_conn on"
	}
	conf := strings.NewReplacer("%WORKERS%", map[bool]string{true: "2", false: "1"}[s.limit == 0], "%EVENTS%", s.events, "%HTTP%", s.http, "%SERVER%", s.server, "%LISTEN%", s.listen, "%ADDRESS%", x.address, "%PASS%", pass).Replace(siteNginx)
	bed.Write(t, dir, "nginx.conf", s.top+conf)
	bed.Write(t, dir, "app/index.php", sitePHP)
	for name, text := range s.files {
		bed.Write(t, dir, "public/"+name, text)
	}
	bed.Write(t, dir, "fpm.conf", "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n"+s.fpm+"\n[www]\nuser = www-data\ngroup = www-data\nlisten = "+x.fpm+"\npm = static\npm.max_children = 4\n")
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: site\nworkload: 4\nwarmup: 100ms\nduration: 500ms\nsessions:\n  - name: visit\n    steps:\n"+
		"      - {"+bed.Pause()+"name: page, request: GET /, expect: {contains: [page 199990000]}}\n"+s.steps)
	limit := []string{}
	if s.limit > 0 {
		limit = []string{"prlimit", fmt.Sprintf("--nofile=%d:", s.limit)}
	}
	bed.Write(t, dir, "kasoku.yaml", `version: 1
name: site
services:
  - name: web
    kind: nginx
    binary: `+nginxProgram+`
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["`+x.address+`"]
    talks_to: [php]
    control: {method: process, pid_file: %DIR%/nginx.pid}
  - name: php
    kind: php-fpm
    binary: `+fpmProgram+`
    config: %DIR%/fpm.conf
    control: {method: process, pid_file: %DIR%/fpm.pid}
  - {name: app, kind: app, root: %DIR%/app, runs_in: php}
load: {scenario: scenario.yaml, url: "http://`+x.address+`"}
evidence: {profile: "off"}
`)
	bed.Start(t, dir, "fpm", fpmProgram, "-F", "-y", dir+"/fpm.conf")
	bed.Start(t, dir, "nginx", append(limit, nginxProgram, "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")...)
	bed.Await(t, x.fpm)
	bed.Await(t, x.address)
	x.bed = bed.Open(t, dir)
	return x
}

// get asks for a path with headers "Name: value" and returns status, headers and body.
func (x site) get(t *testing.T, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+x.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func pack(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNginxRemedies shows them one by one on a site that has every fault.
func TestNginxRemedies(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/move" {
			http.Redirect(w, r, "http://"+r.Host+"/api/there", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "api %s %s", r.Host, r.URL.Path)
	}))
	t.Cleanup(api.Close)
	style := strings.Repeat("body { color: black; margin: 0 }\n", 400)
	x := startSite(t, setup{
		events: "accept_mutex on;",
		http:   "sendfile on; tcp_nopush on; sendfile_max_chunk 0;",
		server: "location /api/ { proxy_pass " + api.URL + "; }",
		files:  map[string]string{"files/site.css": style, "files/site.css.gz": pack(t, style), "files/plain.css": style, "files/big.png": strings.Repeat("0123456789abcdef", 1<<16)},
		steps: "      - {name: check, request: GET /healthz, expect: {contains: [alive]}}\n" +
			"      - {name: style, request: GET /files/site.css, expect: {contains: [margin]}}\n" +
			"      - {name: big, request: GET /files/big.png}\n" +
			"      - {name: api, request: GET /api/x, expect: {contains: [api]}}\n",
	})
	apiHost := strings.TrimPrefix(api.URL, "http://")
	in, bad := x.bed.Input(t)
	x.bed.ShowFrom(t, bad, func(t *testing.T, p remedy.Plan) {
		switch p.Remedy {
		case "nginx.gzip":
			res, body := x.get(t, "/files/site.css", "Accept-Encoding: gzip", "Via: 1.1 balancer")
			if res.Header.Get("Content-Encoding") != "gzip" || len(body) > len(style)/4 || res.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%v, %d bytes", res.Header, len(body))
			}
			if body != pack(t, style) {
				t.Error("the file that lies there compressed was not sent")
			}
			// What lies there only as it is, nginx compresses itself.
			if res, body := x.get(t, "/files/plain.css", "Accept-Encoding: gzip"); res.Header.Get("Content-Encoding") != "gzip" || len(body) > len(style)/4 {
				t.Errorf("%v, %d bytes", res.Header, len(body))
			}
			if res, body := x.get(t, "/files/site.css"); res.Header.Get("Content-Encoding") != "" || body != style {
				t.Errorf("a client that does not ask gets %v", res.Header)
			}
		case "nginx.health-check":
			res, body := x.get(t, "/healthz")
			if res.StatusCode != 200 || body != "alive {\"a\": 1}\n" || res.Header.Get("Content-Type") != "text/plain;charset=UTF-8" || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Powered-By") != "" {
				t.Errorf("%s %v %q", res.Status, res.Header, body)
			}
		case "nginx.keep-proxy":
			if _, body := x.get(t, "/api/x"); body != "api "+apiHost+" /api/x" {
				t.Errorf("the application sees %q", body)
			}
			if res, _ := x.get(t, "/api/move"); res.Header.Get("Location") != "http://"+x.address+"/api/there" {
				t.Errorf("redirect to %s", res.Header.Get("Location"))
			}
		}
	}, "nginx.gzip", "nginx.health-check", "nginx.keep-proxy", "nginx.static-log")
	x.small(t, in, bad, "nginx.tokens", "nginx.accept", "nginx.sendfile-chunk")
}

// small shows remedies that are tried together, as one.
func (x site) small(t *testing.T, in remedy.Input, res remedy.Result, ids ...string) {
	t.Helper()
	var group *remedy.Plan
	for _, p := range remedy.Together(in, res.Plans) {
		if p.Remedy == "group" {
			group = &p
		}
	}
	for _, id := range ids {
		if group == nil || !strings.Contains(group.ID, id+":") {
			t.Fatalf("%s is not in the group %+v", id, group)
		}
	}
	for _, p := range res.Plans {
		if slices.Contains(ids, p.Remedy) {
			x.bed.Effect(t, p)
		}
	}
	before := x.bed.Hash(t)
	tx := x.bed.Apply(t, *group)
	x.bed.Answers(t, "together")
	if res, _ := x.get(t, "/"); res.Header.Get("Server") != "nginx" {
		t.Errorf("Server: %s", res.Header.Get("Server"))
	}
	for _, again := range x.bed.Plans(t).Plans {
		for _, id := range ids {
			if again.Remedy == id {
				t.Errorf("%s is planned again although it is in force: %s", again.ID, again.Why)
			}
		}
	}
	x.bed.Revert(t, tx)
	if x.bed.Hash(t) != before {
		t.Error("the target is not as before")
	}
}

// TestNginxStuckClients: clients that stop reading hold sockets in FIN-WAIT-1
// and bring nginx near its limit of open files.
func TestNginxStuckClients(t *testing.T) {
	x := startSite(t, setup{http: "send_timeout 1s; keepalive_timeout 65s;", listen: "sndbuf=8k", limit: 220,
		files: map[string]string{"files/big.png": strings.Repeat("0123456789abcdef", 1<<16)}})
	stop := x.stuck(t, 150)
	bad := x.bed.Plans(t)
	stop()
	for _, id := range []string{"nginx.reset", "nginx.file-limit"} {
		t.Run(id, func(t *testing.T) {
			p := bed.Want(t, bad, id)
			before := x.bed.Hash(t)
			tx := x.bed.Apply(t, p)
			x.bed.Answers(t, id)
			stop := x.stuck(t, 150)
			again := x.bed.Plans(t)
			stop()
			for _, again := range again.Plans {
				if again.ID == p.ID {
					t.Errorf("%s is planned again although it is in force: %s", p.ID, again.Why)
				}
			}
			x.bed.Revert(t, tx)
			if x.bed.Hash(t) != before {
				t.Errorf("%s: the target is not as before", id)
			}
		})
	}
}

// stuck opens connections that ask for a large file and do not read it, and
// others that only wait; it returns when nginx has given up the first.
func (x site) stuck(t *testing.T, n int) (stop func()) {
	t.Helper()
	var conns []net.Conn
	dial := func() {
		for range n {
			c, err := net.Dial("tcp", x.address)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
	}
	dial()
	for _, c := range conns {
		if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET /files/big.png HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	// A worker closes a client that took nothing for send_timeout (1 s); those
	// that wait must not come before, or the limit of open files is passed.
	await.For(t, "nginx to give up clients that take nothing", func() bool { return x.established(t) <= n/10 })
	dial()
	return func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

// established connections on nginx's side.
func (x site) established(t *testing.T) (n int) {
	t.Helper()
	_, port, err := net.SplitHostPort(x.address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		// sl local_address rem_address st …; 01 is ESTABLISHED (proc(5), tcp_states.h).
		f := strings.Fields(line)
		if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) && f[3] == "01" {
			n++
		}
	}
	return n
}

// file reads a file of the site.
func (x site) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
