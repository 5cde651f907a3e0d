package remedy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy/remedytest"
)

// program is a server that these tests need.
func program(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed; run `make deps`", path)
	}
	return path
}

// openDir is a short temporary folder that servers' users may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runs(t *testing.T, what string, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
	return string(out)
}

// Every nginx plan, alone and on top of the ones before it, is one that nginx
// accepts.
func TestNginxAcceptsThePlans(t *testing.T) {
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	check := func(what, conf string) {
		t.Helper()
		file := filepath.Join(dir, "nginx.conf")
		write(t, file, strings.NewReplacer("/tmp/a.log", dir+"/a.log", "/tmp/b.log", dir+"/b.log").Replace(conf))
		runs(t, what+"\n"+conf, nginx, "-t", "-q", "-p", dir, "-c", file, "-g", "pid "+dir+"/pid; error_log stderr;")
	}
	bad := strings.NewReplacer("buffer=64k", "", "4096", "4").Replace(
		remedytest.Nginx("        sendfile off; keepalive_timeout 0; keepalive_requests 5;\n        location /files/ { root /srv; }\n" + remedytest.PassAll))
	bad = strings.Replace(bad, "    server {", "    server { listen 127.0.0.1:8081; access_log /tmp/a.log combined; access_log /tmp/b.log; }\n    server {", 1)
	in := remedytest.World(map[string]string{remedytest.NginxPath: bad})
	for _, f := range []string{"/img/a b.png", "/img/a+.png", "/x.css"} {
		remedytest.Asset(in, "/srv/app", f, map[bool]string{true: "image/png", false: "text/css; charset=UTF-8"}[strings.HasSuffix(f, "png")])
	}
	remedytest.Asset(in, "/srv", "/files/a.css", "text/css")
	in.Evidence.Load.Assets[len(in.Evidence.Load.Assets)-1].Size = 5000
	check("as found", bad)
	for _, id := range []string{"nginx.static", "nginx.php-socket", "nginx.workers", "nginx.connections", "nginx.delivery", "nginx.keep-php", "nginx.file-cache", "nginx.access-log", "nginx.gzip", "nginx.tokens"} {
		fresh := remedytest.World(map[string]string{remedytest.NginxPath: bad})
		fresh.Snapshot.StaticFiles, fresh.Evidence.Load.Assets = in.Snapshot.StaticFiles, in.Evidence.Load.Assets
		check(id+" alone", remedytest.After(remedytest.Want(t, fresh, id), remedytest.NginxPath))
		p := remedytest.Want(t, in, id)
		remedytest.Put(in, p.Changes)
		check(id, remedytest.After(p, remedytest.NginxPath))
	}
}

// nginx sends the files it was shown and nothing else; everything that a file
// cannot answer reaches the application with its method and body.
func TestStaticOnRealNginx(t *testing.T) {
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "app %s %s %s", r.Method, r.RequestURI, body)
	}))
	t.Cleanup(app.Close)
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	for _, f := range []string{"img/a.png", "img/.git.png", "img/b.php", ".env", "css/a.css"} {
		write(t, dir+"/app/"+f, "file "+f)
	}
	conf := "pid pid; error_log stderr;\nevents { }\nhttp {\n    access_log off;\n    server {\n        listen " + address +
		";\n        location / { add_header X-Frame-Options DENY; proxy_set_header Host $http_host; proxy_pass " + app.URL + "; }\n    }\n}\n"
	in := remedytest.World(map[string]string{remedytest.NginxPath: conf})
	in.Stack.Load.URL = "http://" + address
	remedytest.Asset(in, dir+"/app", "/img/a.png", "image/png")
	remedytest.Asset(in, dir+"/app", "/css/a.css", "text/css; charset=utf-8")
	write(t, dir+"/nginx.conf", remedytest.After(remedytest.Want(t, in, "nginx.static"), remedytest.NginxPath))
	cmd := exec.Command(nginx, "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	await.Accepts(t, address)
	ask := func(method, path, body string) (string, http.Header) {
		req, _ := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, _ := io.ReadAll(res.Body)
		return fmt.Sprint(res.StatusCode, " ", string(got)), res.Header
	}
	for _, c := range [][4]string{
		{"GET", "/img/a.png", "", "200 file img/a.png"}, {"GET", "/img/a.png?v=1", "", "200 file img/a.png"}, {"HEAD", "/img/a.png", "", "200 "},
		{"GET", "/img/none.png", "", "200 app GET /img/none.png "}, {"POST", "/img/a.png?x=1", "hello", "200 app POST /img/a.png?x=1 hello"},
		{"DELETE", "/img/a.png", "", "200 app DELETE /img/a.png "}, {"GET", "/.env", "", "200 app GET /.env "},
		{"GET", "/img/.git.png", "", "200 app GET /img/.git.png "}, {"GET", "/img/b.php", "", "200 app GET /img/b.php "},
		{"GET", "/img/%2e%2e/.env", "", "200 app GET /img/%2e%2e/.env "}, {"GET", "/", "", "200 app GET / "},
	} {
		if got, _ := ask(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[3])
		}
	}
	if _, h := ask("GET", "/css/a.css", ""); h.Get("Content-Type") != "text/css; charset=utf-8" || h.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers of a file: %v", h)
	}
}

func TestPHPAcceptsThePlans(t *testing.T) {
	fpm, dir := program(t, "/usr/sbin/php-fpm8.2"), openDir(t)
	head := "[global]\npid = " + dir + "/fpm.pid\nerror_log = " + dir + "/fpm.log\n[www]\nuser = www-data\nlisten = 127.0.0.1:9000\npm = dynamic\npm.max_children = 5\npm.start_servers = 1\npm.min_spare_servers = 1\npm.max_spare_servers = 2\n"
	in := remedytest.World(map[string]string{remedytest.FPMPath: head})
	for _, id := range []string{"php.opcache", "php.jit", "php.session-memory", "nginx.php-socket", "php.mode", "php.workers"} {
		p := remedytest.Want(t, in, id)
		remedytest.Put(in, p.Changes)
		write(t, dir+"/fpm.conf", string(in.Snapshot.Files["local"][remedytest.FPMPath].Content))
		write(t, dir+"/php.ini", string(in.Snapshot.Files["local"][remedytest.PHPIniPath].Content))
		runs(t, id, fpm, "-t", "-y", dir+"/fpm.conf", "-c", dir+"/php.ini")
	}
	remedytest.Has(t, runs(t, "settings", fpm, "-i", "-c", dir+"/php.ini"), "session.save_path => /dev/shm/kasoku-sessions-php => ", "session.gc_probability => 1 =>", "opcache.jit_buffer_size => 64M =>")
}

func TestMariaDBAcceptsThePlans(t *testing.T) {
	server, dir := program(t, "/usr/sbin/mariadbd"), openDir(t)
	in := remedytest.World(nil)
	for _, id := range []string{"mariadb.memory", "mariadb.commit-flush"} {
		remedytest.Put(in, remedytest.Want(t, in, id).Changes)
	}
	write(t, dir+"/my.cnf", string(in.Snapshot.Files["local"][remedytest.MyCnfPath].Content))
	out := strings.Join(strings.Fields(runs(t, "options", server, "--defaults-file="+dir+"/my.cnf", "--user=mysql", "--help", "--verbose")), " ")
	remedytest.Has(t, out, "innodb-buffer-pool-size 671088640", "innodb-log-file-size 335544320", "innodb-flush-log-at-trx-commit 2")
}
