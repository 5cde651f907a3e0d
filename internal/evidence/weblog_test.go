package evidence

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// webServer starts a server in the foreground, with its group ended by the
// test, and waits until url answers.
func webServer(t *testing.T, url, name string, args ...string) {
	t.Helper()
	path, err := program(name)
	if err != nil {
		t.Fatal(err)
	}
	l, before := &live{dir: "/"}, len(liveStop)
	// Any file that is there serves as the pid file: url tells when it is up.
	if err := l.daemon("proc/self/stat", path, args...); err != nil {
		t.Fatal(err)
	}
	stop := liveStop[before]
	liveStop = liveStop[:before]
	t.Cleanup(stop)
	if err := within(name+" answers", func() error { return ask(url) }); err != nil {
		t.Fatal(err)
	}
}

func ask(url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err == nil {
		res.Body.Close()
	}
	return err
}

// watchWeb collects around what ask does.
func watchWeb(t *testing.T, st *stack.Stack, warm time.Duration, requests int64, do func()) *Evidence {
	t.Helper()
	ctx := t.Context()
	s := setting{st: st, hosts: map[string]host.Host{"local": host.NewLocal()}, opts: CollectorOptions{Diagnostic: true}}
	ev := &Evidence{Load: &load.Result{Requests: requests, Window: time.Second}}
	var all []source
	for _, find := range []func(context.Context, setting) ([]source, []Health){accessSources, varnishSources, errorSources} {
		found, health := find(ctx, s)
		all, ev.Health = append(all, found...), append(ev.Health, health...)
	}
	time.Sleep(warm) // as a real run's warm-up: the listeners are up
	for _, x := range all {
		defer x.close()
		x.start(ctx)
	}
	do()
	for _, x := range all {
		x.end(ctx)
	}
	for _, x := range all {
		x.tell(ctx, ev)
	}
	return ev
}

// Access logs are read in diagnostic runs, and in every run of somebody else's benchmark.
func TestWhoseLogsAreRead(t *testing.T) {
	dir := webFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "n.conf"), []byte("events {}\nhttp { access_log "+dir+"/access.log; server { listen 127.0.0.1:1; } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Config: filepath.Join(dir, "n.conf"), Prefix: dir}}}
	for _, c := range []struct {
		opts CollectorOptions
		want bool
	}{
		{CollectorOptions{}, false}, {CollectorOptions{Diagnostic: true}, true},
		{CollectorOptions{Benchmark: func() time.Duration { return 0 }}, true},
	} {
		found, health := accessSources(t.Context(), setting{st: st, hosts: map[string]host.Host{"local": host.NewLocal()}, opts: c.opts})
		for _, s := range found {
			s.close()
		}
		if (len(found)+len(health) > 0) != c.want {
			t.Errorf("%+v: %d logs, %v", c.opts.Diagnostic, len(found), health)
		}
	}
}

func routesText(ev *Evidence) string {
	var out []string
	for _, r := range ev.Routes {
		out = append(out, fmt.Sprintf("%s: %d %s %s timed=%v %v", r.Service, r.Count, r.Method, r.Route, r.Time.Count == r.Count && r.Time.Max > 0, r.Cache))
	}
	return strings.Join(out, "\n")
}

func healthText(ev *Evidence) string {
	var out []string
	for _, h := range ev.Health {
		out = append(out, fmt.Sprintf("%s: %v %s", h.Source, h.OK, h.Text))
	}
	return strings.Join(out, "\n")
}

func webFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kweb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestApacheLogsLive(t *testing.T) {
	dir := webFolder(t)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	conf := strings.NewReplacer("@DIR@", dir, "@PORT@", fmt.Sprint(port)).Replace("ServerRoot @DIR@\nPidFile @DIR@/apache.pid\nServerName x\nListen 127.0.0.1:@PORT@\nDefine LOGS @DIR@\n" +
		"LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\nLoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n" +
		"DocumentRoot @DIR@\nErrorLog ${LOGS}/error.log\nLogLevel core:info\n" +
		"LogFormat \"%h %l %u %t \\\"%r\\\" %>s %b %D\" timed\nCustomLog ${LOGS}/access.log timed\n<Directory @DIR@/closed>\nRequire all denied\n</Directory>\n")
	if os.Getuid() == 0 {
		conf += "User www-data\nGroup www-data\n"
	}
	for name, text := range map[string]string{"apache.conf": conf, "items/1": "1", "items/2": "2", "closed/a": "x"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	webServer(t, url+"/items/1", "apache2", "-d", dir, "-f", dir+"/apache.conf", "-D", "FOREGROUND")
	st := &stack.Stack{Load: stack.LoadConfig{URL: url}, Services: []stack.Service{{Name: "web", Kind: stack.Apache, Config: dir + "/apache.conf", Listen: []string{fmt.Sprintf("127.0.0.1:%d", port)}}}}
	ev := watchWeb(t, st, 0, 32, func() {
		for i := range 30 {
			if err := ask(fmt.Sprintf("%s/items/%d", url, 1+i%2)); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := ask(url + "/closed/a"); err != nil {
				t.Error(err)
			}
		}
		// The last lines are written after the answers; one was there before.
		_ = within("the log is written", func() error {
			data, err := os.ReadFile(dir + "/access.log")
			if n := strings.Count(string(data), "\n"); err == nil && n < 33 {
				err = fmt.Errorf("%d lines", n)
			}
			return err
		})
	})
	if got := routesText(ev); !strings.Contains(got, "web: 30 GET /items/:id timed=true") || !strings.Contains(got, "web: 2 GET /closed/a") {
		t.Errorf("%s\n%s", got, healthText(ev))
	}
	if len(ev.Logs) != 1 || ev.Logs[0].Count != 2 || ev.Logs[0].Level != "error" || !strings.Contains(ev.Logs[0].Text, "client denied by server configuration") {
		t.Errorf("%+v\n%s", ev.Logs, healthText(ev))
	}
	if h := healthText(ev); strings.Contains(h, "false") {
		t.Error(h)
	}
}

func TestVarnishLogLive(t *testing.T) {
	await.SkipShort(t)
	dir := webFolder(t)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	vcl := "vcl 4.1;\nbackend none none;\nsub vcl_recv { return (synth(200)); }\n"
	if err := os.WriteFile(dir+"/a.vcl", []byte(vcl), 0o644); err != nil {
		t.Fatal(err)
	}
	argv := []string{"-F", "-n", dir + "/work", "-a", address, "-f", dir + "/a.vcl", "-s", "malloc,16m"}
	webServer(t, "http://"+address+"/", "varnishd", argv...)
	st := &stack.Stack{Load: stack.LoadConfig{URL: "http://" + address}, Services: []stack.Service{{Name: "cache", Kind: stack.Varnish, Listen: []string{address}, Control: stack.Control{Start: append([]string{"varnishd"}, argv...)}}}}
	// Nothing tells when a listener is up: where one of a second is late, the next has more.
	watch := func(n int, path func(i int) string) (ev *Evidence) {
		for warm := time.Second; warm < 10*time.Second; warm *= 3 {
			ev = watchWeb(t, st, warm, int64(n), func() {
				for i := range n {
					if err := ask("http://" + address + path(i)); err != nil {
						t.Error(err)
					}
				}
			})
			if strings.Contains(routesText(ev), fmt.Sprintf("cache: %d GET", n)) {
				break
			}
		}
		return ev
	}
	ev := watch(40, func(i int) string { return fmt.Sprintf("/items/%d?token=x", i) })
	if got := routesText(ev); !strings.Contains(got, "cache: 40 GET /items/:id timed=true") || len(ev.Routes) != 1 {
		t.Errorf("%s\n%s", got, healthText(ev))
	}
	if h := healthText(ev); strings.Contains(h, "false") || !strings.Contains(h, "40 lines of varnishncsa") {
		t.Error(h)
	}
	// A log without times is named: a second varnishncsa tells them.
	st.Services[0].AccessLog = dir + "/own.log"
	webServer(t, "http://"+address+"/", "varnishncsa", "-n", dir+"/work", "-w", dir+"/own.log")
	ev = watch(9, func(int) string { return "/x" })
	if got := routesText(ev); !strings.Contains(got, "cache: 9 GET /x timed=true") || len(ev.Routes) != 1 {
		t.Errorf("%s\n%s", got, healthText(ev))
	}
	for format, own := range map[string]bool{"": true, "combined": true, "ltsv": false, `%h %t "%r" %s %b %D`: false} {
		st.Evidence.LogFormat = format
		if got := listensTo(t.Context(), host.NewLocal(), st, &st.Services[0]); got != own {
			t.Errorf("format %q: a varnishncsa of its own: %v", format, got)
		}
	}
	st.Evidence.LogFormat = ""
	st.Services[0].AccessLog = ""
	st.Services[0].Control.Start = []string{"varnishd", "-n", dir + "/nothing"}
	if h := healthText(watchWeb(t, st, time.Second, 40, func() {})); !strings.Contains(h, "access log of cache: false varnishncsa") {
		t.Error(h)
	}
}

func lineCount(file string) int {
	data, _ := os.ReadFile(file)
	return strings.Count(string(data), "\n")
}

// TestHAProxyLive: what a person has to add is said, and then it is enough.
func TestHAProxyLive(t *testing.T) {
	for option, want := range map[string]string{"": "add the line 'option httplog'", "    option httplog\n": "as the generator's 20 requests"} {
		dir := webFolder(t)
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		address, file := fmt.Sprintf("127.0.0.1:%d", port), dir+"/haproxy.log"
		conf := "global\n    nbthread 1\n    log stdout format raw local0\ndefaults\n    mode http\n    log global\n" + option +
			"    timeout client 5s\n    timeout connect 5s\n    timeout server 5s\nfrontend web\n    bind " + address + "\n    http-request return status 200 content-type text/plain string ok\n"
		if err := os.WriteFile(dir+"/haproxy.cfg", []byte(conf), 0o644); err != nil {
			t.Fatal(err)
		}
		webServer(t, "http://"+address+"/", "sh", "-c", "exec haproxy -W -f "+dir+"/haproxy.cfg >"+file)
		svc := stack.Service{Name: "lb", Kind: stack.App, Binary: "/usr/sbin/haproxy", Listen: []string{address}}
		st := &stack.Stack{Load: stack.LoadConfig{URL: "http://" + address}, Services: []stack.Service{svc}}
		_, health := accessSources(t.Context(), setting{st: st, hosts: map[string]host.Host{"local": host.NewLocal()}, opts: CollectorOptions{Diagnostic: true}})
		if len(health) != 1 || !strings.Contains(health[0].Text, "option httplog") || !strings.Contains(health[0].Text, "access_log") {
			t.Error(health)
		}
		st.Services[0].AccessLog = file
		ev := watchWeb(t, st, 0, 20, func() {
			// Whether it is up was asked, too, and HAProxy writes that when it comes to it.
			await.For(t, "the first line", func() bool { return lineCount(file) > 0 })
			before := lineCount(file)
			for i := range 20 {
				if err := ask(fmt.Sprintf("http://%s/items/%d", address, i)); err != nil {
					t.Error(err)
				}
			}
			_ = within("haproxy writes", func() error {
				if n := lineCount(file); n < before+20 {
					return fmt.Errorf("%d lines", n-before)
				}
				return nil
			})
		})
		if h := healthText(ev); !strings.Contains(h, want) {
			t.Errorf("%q: %s", option, h)
		}
		if got := routesText(ev); option != "" && !strings.Contains(got, "lb: 20 GET /items/:id") || option == "" && got != "" {
			t.Errorf("%q: %s", option, got)
		}
	}
}

// TestErrorLogsLive: what PHP-FPM, PHP and MariaDB really write is found and
// understood.
func TestErrorLogsLive(t *testing.T) {
	l := startLive(t)
	ev := watchWeb(t, l.st, 0, 0, func() {
		for range 3 { // a wrong password each
			if db, err := stack.OpenDB(t.Context(), l.hosts["local"], &stack.Service{Name: "db", Kind: stack.MariaDB, Host: "local", Login: &stack.Login{User: "nobody", Socket: l.dir + "/db.sock"}}); err == nil {
				_ = db.Ping()
				db.Close()
			}
		}
		var wait []chan error
		for range 12 { // three processes
			c := make(chan error)
			wait = append(wait, c)
			go func() { c <- ask(l.url + "/?n=1") }()
		}
		for _, c := range wait {
			<-c
		}
		if err := l.warn("a message that must be found"); err != nil {
			t.Error(err)
		}
	})
	h := healthText(ev)
	for _, want := range []string{"error log of web: true", "error log of php: true", "error log of db: true"} {
		if !strings.Contains(h, want) {
			t.Errorf("no %q in\n%s", want, h)
		}
	}
	if strings.Contains(h, "false") {
		t.Error(h)
	}
	found := false
	for _, k := range ev.Logs {
		found = found || k.Service == "db" && strings.Contains(k.Text, "Access denied") && k.Count == 3 && k.Level == "warning"
	}
	if !found {
		t.Errorf("MariaDB's warnings are not there: %+v\n%s", ev.Logs, h)
	}
}

// warn appends a line to nginx's error log, as nginx does.
func (l *live) warn(text string) error {
	f, err := os.OpenFile(l.dir+"/nginx.err", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s [warn] 1#1: *1 %s, client: 127.0.0.1\n", time.Now().Format("2006/01/02 15:04:05"), text)
	return err
}
