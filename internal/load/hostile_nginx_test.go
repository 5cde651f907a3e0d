package load

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// webServer is a real nginx with PHP-FPM behind it.
type webServer struct{ plain, secure, socket string } // base URLs

// program finds one that the tests need.
func program(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		if path := filepath.Join("/usr/sbin", name); exec.Command(path, "-v").Run() == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed; run `make deps`", names[0])
	return ""
}

// start runs a server until the test ends.
func start(t *testing.T, name string, args ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.Command(name, args...)
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	return out
}

// answersAt waits until somebody listens.
func answersAt(t *testing.T, network, address string, log func() string) {
	t.Helper()
	await.ForOr(t, network+" server at "+address, log, func() bool { return await.Dial(address) == nil })
}

func freePort(t *testing.T) string { return fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t)) }

const nginxConf = `daemon off; pid %[1]s/pid; worker_processes 1; error_log %[1]s/error.log;
events { worker_connections 512; }
http {
	access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/c;
	types { text/html html; text/css css; }
	limit_req_zone $binary_remote_addr zone=slow:1m rate=1r/s;
	ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
	server { # an upstream without Content-Length
		listen unix:%[1]s/up.sock; root %[1]s/site;
		location /cut/ { add_header X-Up 1; return 200 "whole"; }
		location / { gzip on; gzip_http_version 1.0; gzip_proxied any; gzip_min_length 1; gzip_types text/css; gunzip on; }
	}
	server {
		listen %[2]s; listen unix:%[1]s/web.sock; listen %[3]s ssl%[4]s;
		root %[1]s/site; keepalive_requests 50; client_max_body_size 64k;
		location /once/ { alias %[1]s/site/; keepalive_timeout 0; }
		location /zip/ { alias %[1]s/site/; gzip on; gzip_min_length 1; gzip_types text/css; }
		location /chunked/ { proxy_pass http://unix:%[1]s/up.sock:/; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Accept-Encoding gzip; gunzip on; chunked_transfer_encoding on; }
		location /old/ { proxy_pass http://unix:%[1]s/up.sock:/; proxy_set_header Accept-Encoding gzip; gunzip on; chunked_transfer_encoding off; }
		location /gone/ { proxy_pass http://unix:%[1]s/nobody.sock:/; }
		location = /444 { return 444; }
		location = /204 { return 204; }
		location = /away { return 302 /index.html; }
		location = /limited.html { limit_req zone=slow; limit_req_status 503; }
		location = /upload { proxy_pass http://unix:%[1]s/up.sock:/cut/; }
		location ~ \.php$ { include %[1]s/fastcgi; fastcgi_pass unix:%[1]s/fpm.sock; }
	}
}`

const fastcgiParams = `fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string;
fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
fastcgi_param REQUEST_URI $request_uri; fastcgi_param SERVER_PROTOCOL $server_protocol;
`

// sessionPHP counts a session's visits; ?end sends a body and then dies.
const sessionPHP = `<?php
session_save_path(__DIR__ . '/../sessions');
session_start();
$_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
if (isset($_POST['name'])) { $_SESSION['name'] = $_POST['name']; header('Location: /session.php', true, 303); exit; }
setcookie('seen', (string)$_SESSION['n'], ['path' => '/', 'httponly' => true]);
setcookie('old', '', time() - 3600);
echo 'visit ', $_SESSION['n'], ' of ', $_SESSION['name'] ?? 'nobody', ', seen ', $_COOKIE['seen'] ?? 0;
if (isset($_GET['slow'])) { while (ob_get_level()) ob_end_flush(); flush(); usleep(20000); echo ' late'; }
`

// startWeb starts nginx and PHP-FPM. more stands behind "ssl" in the secure
// listener, for example " http2".
func startWeb(t *testing.T, more string) *webServer {
	t.Helper()
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil { // the workers are another user
		t.Fatal(err)
	}
	for _, d := range []string{"site", "sessions"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "sessions"), 0o777); err != nil {
		t.Fatal(err)
	}
	plain, secure := freePort(t), freePort(t)
	for name, text := range map[string]string{
		"site/index.html": "<h1>shop</h1>", "site/limited.html": "ok", "site/style.css": strings.Repeat("a { color: red }\n", 2000), "site/session.php": sessionPHP,
		"fastcgi":    fastcgiParams,
		"nginx.conf": fmt.Sprintf(nginxConf, dir, plain, secure, more),
		"fpm.conf": fmt.Sprintf("[global]\nerror_log = %[1]s/fpm.log\ndaemonize = no\n[www]\nuser = www-data\ngroup = www-data\nlisten = %[1]s/fpm.sock\nlisten.mode = 0666\n"+
			"pm = static\npm.max_children = 4\n", dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeCertificate(t, dir, certificate(t, time.Now().Add(time.Hour), "example.test"))
	fpm := start(t, program(t, "php-fpm8.2", "php-fpm"), "-y", filepath.Join(dir, "fpm.conf"))
	answersAt(t, "unix", filepath.Join(dir, "fpm.sock"), fpm.String)
	nginx := start(t, program(t, "nginx"), "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf"))
	answersAt(t, "tcp", plain, nginx.String)
	return &webServer{"http://" + plain, "https://" + secure, "http+unix://" + filepath.Join(dir, "web.sock")}
}

// realRow is what a real server does, and how it must be counted.
type realRow struct {
	name, steps string
	want, also  string // kinds
	got         string
	connects    int // as in misdeed; -1: not checked
}

func realRows() []realRow {
	css := fmt.Sprintf("size: %d, sha256: %s", 17*2000, digest(strings.Repeat("a { color: red }\n", 2000)))
	return []realRow{
		{"static", "- {request: GET /, expect: {type: text/html, contains: shop}}", "right", "", "", -1}, // keepalive_requests
		{"no keep-alive", "- {request: GET /once/index.html, expect: {contains: shop}, think: 1ms}", "right", "", "", 1},
		{"Connection: close asked for", "- {request: GET /, headers: {Connection: close}, expect: {contains: shop}, think: 1ms}", "right", "", "", 1},
		{"HEAD", "- {request: HEAD /style.css, expect: {header: {Content-Length: \"34000\"}}}", "right", "", "", -1},
		{"gzip", "- {request: GET /zip/style.css, headers: {Accept-Encoding: gzip}, expect: {header: {Content-Encoding: gzip}, " + css + "}}", "right", "", "", -1},
		{"gzip not asked for", "- {request: GET /zip/style.css, expect: {" + css + "}}", "right", "", "", -1},
		{"chunked", "- {request: GET /chunked/style.css, expect: {header: {Transfer-Encoding: chunked}, " + css + "}}", "right", "", "", -1},
		{"until closed", "- {request: GET /old/style.css, expect: {header: {Connection: close}, " + css + "}, think: 1ms}", "right", "", "", 1},
		{"206", "- {request: GET /style.css, headers: {Range: bytes=0-16}, expect: {status: 206, size: 17}}", "right", "", "", -1},
		{"204", "- {request: GET /204, expect: {status: 204, size: 0}}", "right", "", "", -1},
		{"404", "- {request: GET /nothing, expect: {status: 404, contains: nginx}}", "right", "", "", -1},
		{"405", "- {request: POST /, form: {a: b}, expect: {status: 405}}", "right", "", "", -1},
		{"502", "- {request: GET /gone/x, expect: {status: 502}}", "right", "", "", -1},
		{"redirect", "- {request: GET /away, follow: true, then: {contains: shop}}", "right", "", "", -1},
		{"closed unanswered", "- {request: GET /444}", "error", "", "closed before the answer", 1},
		{"closed unanswered on a kept connection", "- {request: GET /}\n- {request: GET /444}", "error", "right", "closed before the answer", -1},
		{"limited", "- {request: GET /limited.html, think: 1ms}", "mismatch", "right", "status 503", -1},
		{"body too large", "- {request: POST /upload, body: \"" + strings.Repeat("${big.kb}", 200) + "\", expect: {status: 413}, think: 1ms}", "right", "", "", -1},
		{"PHP session", "- {request: GET /session.php, expect: {contains: \"visit 1 of nobody, seen 0\"}}\n" +
			"- {request: POST /session.php, form: {name: \"${id.n}\"}, follow: true, then: {contains: \"visit 3 of ${id.n}, seen 1\"}}\n" +
			"- {request: GET /session.php?slow=1, expect: {contains: [\"visit 4 of ${id.n}, seen 3\", late]}}", "right", "", "", -1},
	}
}

func (r *realRow) run(t *testing.T, url string, e Engine) {
	src := strings.ReplaceAll(strings.TrimPrefix(r.steps, "- "), "\n- ", "\n  - ")
	o := Options{Scenario: hostileScenario(t, src, 5*time.Second), URL: url, Workload: 3, Engine: e, Warmup: -1, Window: 200 * time.Millisecond}
	d := misdeed{want: r.want, also: r.also, got: r.got, connects: r.connects, step: src}
	d.check(t, d.until(t, &o, func() {}), &peers{})
}

// What nginx and PHP-FPM do is counted as what it is, on every way there.
func TestRealServers(t *testing.T) {
	await.SkipShort(t)
	web := startWeb(t, "")
	for _, way := range []struct {
		name, url string
		secure    bool
	}{{"tcp", web.plain, false}, {"unix", web.socket, false}, {"tls", web.secure, true}} {
		for _, e := range engines(way.secure) {
			t.Run(way.name+"/"+string(e), func(t *testing.T) {
				t.Parallel()
				for _, row := range realRows() {
					t.Run(row.name, func(t *testing.T) { row.run(t, way.url, e) })
				}
			})
		}
	}
}

// The same over HTTP/2, but for what only HTTP/1.1 has: chunks and closing.
func TestRealServersHTTP2(t *testing.T) {
	await.SkipShort(t)
	web := startWeb(t, " http2")
	for _, row := range realRows() {
		switch row.name {
		case "no keep-alive", "Connection: close asked for", "chunked", "until closed":
			continue
		}
		row.connects, row.got = -1, ""
		t.Run(row.name, func(t *testing.T) { row.run(t, web.secure, EngineHTTP2) })
	}
}

// nginx that dies and comes back within a run.
func TestNginxRestarts(t *testing.T) {
	await.SkipShort(t)
	for _, e := range engines(false) {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			dir, address := shortDir(t), freePort(t)
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			conf := fmt.Sprintf("daemon off; pid %[1]s/pid; events {}\nhttp { access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/c;\n"+
				"server { listen %[2]s; location / { return 200 ok; } } }", dir, address)
			if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
				t.Fatal(err)
			}
			begin := func() *exec.Cmd {
				cmd := exec.Command(program(t, "nginx"), "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf"))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				answersAt(t, "tcp", address, func() string { b, _ := os.ReadFile(filepath.Join(dir, "error.log")); return string(b) })
				return cmd
			}
			cmd := begin()
			defer func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() }()
			calls, back := 0, int64(0) // right answers when it is back
			o := Options{Scenario: hostileScenario(t, resting, 10*time.Second), URL: "http://" + address, Workload: 8, Engine: e, Warmup: -1, Window: 5 * time.Second}
			o.Progress = func(p Progress) {
				if p.Phase != PhaseMeasure || p.Elapsed < progressEvery/2 {
					return
				}
				switch calls++; calls {
				case 1:
					cmd.Process.Signal(os.Interrupt)
					cmd.Wait()
				case 3:
					cmd = begin()
				case 4:
					back = p.Succeeded
				}
			}
			res := mustRun(t, o)
			if res.Errors == 0 || res.Mismatches+res.Timeouts > 0 || calls < 4 || res.Succeeded == back {
				t.Errorf("%v, %d right when back (call %d): %+v", countsOf(res), back, calls, res.Samples)
			}
		})
	}
}
