package apps_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// behindNginx is nginx that passes requests to an application server over
// loopback TCP. pass is what stands in the location; control starts the app.
type behindNginx struct {
	*bed.Bed
	front, app int    // ports
	peer, host string // what the application is told once it is asked by the socket
}

const frontNginx = `user www-data;
worker_processes 1;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx-error.log warn;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path %DIR%/t1;
    proxy_temp_path %DIR%/t2;
    fastcgi_temp_path %DIR%/t3;
    uwsgi_temp_path %DIR%/t4;
    scgi_temp_path %DIR%/t5;
    %UPSTREAM%
    server {
        listen 127.0.0.1:%FRONT%;
        location / {
            proxy_pass http://%PASS%;
        }
    }
}
`

// passing starts nginx in front of a server that runs at port in the folder.
func passing(t *testing.T, dir string, port int, upstream, control string) *behindNginx {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes a folder that stays over reboots")
	}
	name := fmt.Sprintf("app%d", port) // its folder has that name
	t.Cleanup(func() { os.RemoveAll("/var/lib/kasoku-" + name) })
	b := &behindNginx{front: bed.FreePort(t), app: port, peer: "127.0.0.1"}
	pass := fmt.Sprintf("127.0.0.1:%d", port)
	if upstream != "" {
		upstream, pass = strings.ReplaceAll(upstream, "%PORT%", fmt.Sprint(port)), "shop"
	}
	b.host = pass
	bed.Write(t, dir, "nginx.conf", strings.NewReplacer("%FRONT%", fmt.Sprint(b.front), "%UPSTREAM%", upstream, "%PASS%", pass).Replace(frontNginx))
	bed.Write(t, dir, "kasoku.yaml", strings.NewReplacer("%APP%", name, "%PORT%", fmt.Sprint(port), "%FRONT%", fmt.Sprint(b.front)).Replace(`version: 1
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["127.0.0.1:%FRONT%"]
    talks_to: [%APP%]
    control: {method: process, pid_file: %DIR%/nginx.pid}
  - name: %APP%
    kind: app
    root: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    control: `+control+`
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%FRONT%"}
regulation: {memory_headroom_percent: 5}
`))
	calm(t, dir, "GET /", "sum 2666466670000")
	bed.Start(t, dir, "nginx", "/usr/sbin/nginx", "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", b.front))
	b.Bed = bed.Open(t, dir)
	return b
}

// moved expects that requests come by the socket, and that the port is open still.
func (b *behindNginx) moved(t *testing.T, _ remedy.Plan) {
	t.Helper()
	socket := ""
	for _, w := range strings.FieldsFunc(b.file(t, "nginx.conf"), func(r rune) bool { return strings.ContainsRune(" ;\n", r) }) {
		if s, ok := strings.CutPrefix(w, "unix:"); ok {
			socket = s
		}
	}
	if info, err := os.Stat(socket); err != nil || info.Mode()&os.ModeSocket == 0 {
		t.Fatalf("nginx is led to %q: %v", socket, err)
	}
	if got := get(t, b.front, "/whoami"); got != b.peer {
		t.Errorf("by the socket the application is told the address %q, want %q", got, b.peer)
	}
	if got := get(t, b.front, "/host"); got != b.host {
		t.Errorf("by the socket the application is told the host %q, want %q", got, b.host)
	}
	if got := get(t, b.app, "/"); !strings.Contains(got, "sum 2666466670000") {
		t.Errorf("the port answers %q", got)
	}
}

func (b *behindNginx) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(b.Dir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Gunicorn takes a second address in its own file; nginx names it in an
// upstream block of its own, and the application hears the same Host.
func TestGunicornSocket(t *testing.T) {
	gunicorn := need(t, "gunicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/shop.py", "shop.py")
	write(t, dir, "gunicorn.conf.py", "bind = '127.0.0.1:%PORT%'  # nginx and the monitoring\nworkers = 2\n", port)
	write(t, dir, "app.env", "", port)
	run(t, dir, "gunicorn", port, gunicorn, "shop:app")
	b := passing(t, dir, port, "", fmt.Sprintf("{start: [%s, \"shop:app\"], env_file: %%DIR%%/app.env}", gunicorn))
	b.peer = ""
	b.Show(t, b.moved, "nginx.app-socket")
	if p := bed.Want(t, b.Plans(t), "nginx.app-socket"); !p.EditsSettings || !strings.Contains(p.Why, "REMOTE_ADDR") {
		t.Errorf("what an application sees of its client changes, and that is not told: %s", p.Why)
	}
}

// Puma's file takes one more line, nginx's upstream block another address.
// While it is moved there, nobody but the application's restart is in the way:
// no answer is another one.
func TestPumaSocket(t *testing.T) {
	puma := need(t, "puma")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "ruby/config.ru", "config.ru")
	write(t, dir, "config/puma.rb", "port %PORT%, '127.0.0.1'\nthreads 1, 4", port)
	write(t, dir, "app.env", "RACK_ENV=production\n", port)
	run(t, dir, "puma", port, "RACK_ENV=production", puma, "config.ru")
	b := passing(t, dir, port, "upstream shop { server 127.0.0.1:%PORT% max_fails=0; }", fmt.Sprintf("{start: [%s, config.ru], env_file: %%DIR%%/app.env}", puma))
	wrong := b.visit(t)
	b.Show(t, b.moved, "nginx.app-socket")
	if n := wrong(); n != "" {
		t.Error(n)
	}
	if got := b.file(t, "config/puma.rb"); got != fmt.Sprintf("port %d, '127.0.0.1'\nthreads 1, 4", port) {
		t.Errorf("config/puma.rb holds %q", got)
	}
}

// Unicorn's file takes one more line.
func TestUnicornSocket(t *testing.T) {
	unicorn := need(t, "unicorn")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "ruby/config.ru", "config.ru")
	write(t, dir, "unicorn.rb", "listen '127.0.0.1:%PORT%'\nworker_processes 2\n", port)
	write(t, dir, "app.env", "RACK_ENV=production\n", port)
	run(t, dir, "unicorn", port, "RACK_ENV=production", unicorn, "-c", dir+"/unicorn.rb", "config.ru")
	b := passing(t, dir, port, "", fmt.Sprintf("{start: [%s, -c, %%DIR%%/unicorn.rb, config.ru], env_file: %%DIR%%/app.env}", unicorn))
	b.Show(t, b.moved, "nginx.app-socket")
}

// visit asks for the page until the returned function is called, which tells of
// answers that are neither right nor nginx's own for an application that is not
// there; "" if there were none.
func (b *behindNginx) visit(t *testing.T) (stop func() string) {
	t.Helper()
	end, done := make(chan struct{}), make(chan struct{})
	var wrong atomic.Value
	wrong.Store("")
	right := 0
	go func() {
		defer close(done)
		client := http.Client{Timeout: 20 * time.Second}
		for {
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
			res, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", b.front))
			if err != nil {
				continue
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			switch {
			case res.StatusCode == http.StatusOK && err == nil && strings.Contains(string(text), "sum 2666466670000"):
				right++
			case res.StatusCode == http.StatusBadGateway:
			default:
				wrong.Store(fmt.Sprintf("%s: %q %v", res.Status, text, err))
			}
		}
	}()
	return func() string {
		close(end)
		<-done
		if right < 20 {
			return fmt.Sprintf("only %d answers were right", right)
		}
		return wrong.Load().(string)
	}
}
