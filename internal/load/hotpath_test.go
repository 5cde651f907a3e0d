package load

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// cannedConn answers each written request from memory, by its first line.
type cannedConn struct {
	net.Conn // its other methods are not called
	answers  map[string][]byte
	next     []byte
}

func (c *cannedConn) Write(b []byte) (int, error) {
	line, _ := cutByte(b, '\r')
	c.next = c.answers[string(line)]
	if c.next == nil {
		return 0, fmt.Errorf("no answer for %q", line)
	}
	return len(b), nil
}

func (c *cannedConn) Read(b []byte) (int, error) {
	n := copy(b, c.next)
	c.next = c.next[n:]
	return n, nil
}

func (c *cannedConn) SetDeadline(time.Time) error { return nil }
func (c *cannedConn) Close() error                { return nil }

// browsing is a session with what most sessions have: draws, a form, a
// cookie, a redirect, checks with variables, an asset.
const browsing = `
- name: form
  request: GET /
  expect: {type: text/html, contains: ["<form", Login], not_contains: [error], header: {X-Frame-Options: DENY}}
  assets: [/a.css]
- name: login
  request: POST /login
  headers: {X-Forwarded-For: "10.0.0.1"}
  form: {login: "${user.login}", password: "${user.password}"}
  expect: {status: 302, header: {Location: /mypage}}
  follow: true
  then: {contains: "Welcome ${user.login}"}
`

// cannedUser is a user, whose four requests of a session are answered from
// memory.
func cannedUser(t testing.TB) *blocking {
	t.Helper()
	page := func(status, headers, body string) []byte {
		return []byte("HTTP/1.1 " + status + "\r\nServer: x\r\n" + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	}
	src := strings.Replace(steps(browsing), "to: 1000", "to: 1", 1)
	r, err := newRun(t.Context(), Options{Scenario: mustParse(t, src), URL: "http://127.0.0.1:1", Workload: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.meter.begin.Store(0) // within the window
	r.meter.window = time.Hour
	b := newBlocking(r.users[0])
	b.kept = true
	b.conn = &cannedConn{answers: map[string][]byte{
		"GET / HTTP/1.1":       page("200 OK", "Content-Type: text/html\r\nX-Frame-Options: DENY\r\nSet-Cookie: sid=abc; path=/\r\n", "<form>Login</form>"+strings.Repeat(" ", 2000)),
		"GET /a.css HTTP/1.1":  page("200 OK", "Content-Type: text/css\r\n", strings.Repeat("a{} ", 2000)),
		"POST /login HTTP/1.1": page("302 Found", "Location: /mypage\r\n", ""),
		"GET /mypage HTTP/1.1": []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nWelcome user1\r\n5\r\n, hi!\r\n0\r\n\r\n"),
	}}
	if b.user.proceed(0) != sending {
		t.Fatal("nothing to send")
	}
	return b
}

func cannedSession(t testing.TB, b *blocking) {
	for range 4 {
		if d := b.send(); d != sending || b.user.failed {
			t.Fatalf("%v %+v", d, b.user.why)
		}
	}
}

// After the first sessions a request costs no allocation.
func TestNoAllocationPerRequest(t *testing.T) {
	b := cannedUser(t)
	session := func() { cannedSession(t, b) }
	for range 3 {
		session()
	}
	if n := testing.AllocsPerRun(200, session); n != 0 {
		t.Errorf("%v allocations per session of 4 requests", n)
	}
}

func TestNoAllocationInWire(t *testing.T) {
	for name, answer := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\nContent-Length: 5\r\n\r\nhello",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX: y\r\n\r\n",
	} {
		var w wire
		var r bytes.Reader
		shared := make([]byte, minRead)
		read := func() {
			r.Reset([]byte(answer))
			w.begin(false)
			if err := w.readFrom(&r, shared); err != nil {
				t.Fatal(err)
			}
		}
		read()
		// One allocation is the test's own []byte of the answer.
		if n := testing.AllocsPerRun(100, read); n > 1 {
			t.Errorf("%s: %v allocations per answer", name, n-1)
		}
	}
}

// BenchmarkSession is the generator's own work without the kernel's.
func BenchmarkSession(b *testing.B) {
	driver := cannedUser(b)
	b.ReportAllocs()
	for b.Loop() {
		cannedSession(b, driver)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(4*b.N), "ns/request")
}

// startNginx serves dir with a configuration's http block on a free port.
func startNginx(t testing.TB, http string) (url, dir string) {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		if binary = "/usr/sbin/nginx"; exec.Command(binary, "-v").Run() != nil {
			t.Fatal("nginx is not installed; run `make deps`")
		}
	}
	if dir, err = os.MkdirTemp("", "kn"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the workers are another user
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	conf := fmt.Sprintf("daemon off; pid %[1]s/pid; error_log %[1]s/error.log; worker_processes 1; events {}\nhttp {\naccess_log off; default_type text/plain; types {text/html html; text/css css;}\n"+
		"client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/c;\n"+
		"server { listen unix:%[1]s/s; listen 127.0.0.1:0; root %[1]s; %[2]s }\n}\n", dir, http)
	// nginx cannot tell which free port it got: ask the kernel for one first.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conf = strings.Replace(conf, "127.0.0.1:0", l.Addr().String(), 1)
	l.Close()
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	await.ForOr(t, "nginx", out.String, func() bool { return await.Dial(socket) == nil })
	return "http://" + l.Addr().String(), dir
}

func nginxScenario() string {
	return steps(`
- request: GET /
  expect: {type: text/html, contains: "<h1>nginx", header: {Content-Type: text/html}}
  assets: [/a.css]
- {request: GET /away, follow: true, then: {contains: "<h1>"}}
- {request: GET /missing, expect: {status: 404}}
- {request: HEAD /, expect: {status: 200}}
- {request: GET /zip.html, headers: {Accept-Encoding: gzip}, expect: {contains: "zipped zipped", header: {Content-Encoding: gzip}}}
- {request: GET /empty, expect: {status: 204}}
- {request: POST /echo, form: {a: b}, expect: {contains: "got POST"}}
`)
}

// All that nginx does on its own is read right: keep-alive that ends after
// some requests, chunks from gzip, redirects with the full host, 204, HEAD.
func TestRunAgainstNginx(t *testing.T) {
	url, dir := startNginx(t, `keepalive_requests 7; gzip on; gzip_min_length 1; location = /away { return 301 /; }
		location = /empty { return 204; } location = /echo { return 200 "got $request_method"; }`)
	for name, text := range map[string]string{"index.html": "<h1>nginx</h1>", "a.css": strings.Repeat("a{}\n", 3000), "zip.html": strings.Repeat("zipped ", 5000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sc := mustParse(t, nginxScenario())
	for _, base := range []string{url, "http+unix://" + filepath.Join(dir, "s")} {
		res, err := Run(t.Context(), Options{Scenario: sc, URL: base, Workload: 4})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
		if res.Connects < res.Requests/8 || res.Connects > res.Requests/6+8 {
			t.Errorf("%d connections for %d requests, want one for seven", res.Connects, res.Requests)
		}
		if len(res.Assets) != 1 || res.Assets[0].SHA256 != digest(strings.Repeat("a{}\n", 3000)) {
			t.Errorf("assets %+v", res.Assets)
		}
	}
}

// BenchmarkRun is the CPU that a real request costs the generator:
// go test -run '^$' -bench Run ./internal/load
func BenchmarkRun(b *testing.B) {
	url, dir := startNginx(b, "keepalive_requests 1000000;")
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<h1>"+strings.Repeat("x", 1000)), 0o644); err != nil {
		b.Fatal(err)
	}
	sc := mustParse(b, steps("- {request: GET /, expect: {contains: <h1>, type: text/html}}"))
	for b.Loop() {
		res, err := Run(b.Context(), Options{Scenario: sc, URL: url, Workload: 8, Window: 2 * time.Second})
		if err != nil || res.Succeeded == 0 {
			b.Fatal(err, res)
		}
		b.ReportMetric(float64(res.GeneratorCPU.Nanoseconds())/float64(res.Requests), "cpu-ns/request")
		b.ReportMetric(res.RequestsPerSecond, "requests/s")
		if res.Saturated != "" {
			b.Log(res.Saturated)
		}
	}
}
