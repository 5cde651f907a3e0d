package evidence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

const timedText4 = `$time_iso8601 "$request" $status $body_bytes_sent $request_time $upstream_response_time $upstream_cache_status`

// logged runs a source over a window in which write adds lines to its log.
func logged(t *testing.T, l AccessLog, requests int64, quiet []string, write func(file string)) *Evidence {
	t.Helper()
	ctx := context.Background()
	l.Path = filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(l.Path, []byte(accessLine(time.Now(), "/before")), 0o600); err != nil {
		t.Fatal(err)
	}
	svc := stack.Service{Name: "web", Kind: stack.Nginx}
	x := &accessSource{st: &stack.Stack{}, svc: &svc, h: host.NewLocal(), logs: []*logPart{{AccessLog: l}}, quiet: quiet, front: true}
	x.start(ctx)
	if write != nil {
		write(l.Path)
	}
	x.end(ctx)
	ev := &Evidence{Load: &load.Result{Requests: requests}}
	x.tell(ctx, ev)
	return ev
}

func accessLine(at time.Time, target string) string {
	return fmt.Sprintf("%s \"GET %s HTTP/1.1\" 200 10 0.250 0.200 HIT\n", at.Format("2006-01-02T15:04:05-07:00"), target)
}

func appendLines(t *testing.T, n int, at time.Duration) func(string) {
	return func(file string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := range n {
			fmt.Fprint(f, accessLine(time.Now().Add(at), fmt.Sprintf("/users/%d?token=secret", i)))
		}
	}
}

func TestAccessLogHealth(t *testing.T) {
	timed := AccessLog{Name: "timed", Text: timedText4}
	with := func(set func(*AccessLog)) AccessLog {
		a := timed
		set(&a)
		return a
	}
	for name, c := range map[string]struct {
		log      AccessLog
		requests int64
		quiet    []string
		write    func(string)
		ok       bool
		want     string
	}{
		"as many lines as requests": {timed, 1000, nil, appendLines(t, 1000, 0), true, "as the generator's 1000 requests within 5 %"},
		"nothing written":           {timed, 1000, nil, nil, false, "nothing was written to"},
		"lines missing":             {timed, 1000, nil, appendLines(t, 500, 0), false, "500 are missing"},
		"missing as configured":     {timed, 1000, []string{"location /css/"}, appendLines(t, 500, 0), true, "requests of location /css/ are in no log"},
		"of somebody else":          {timed, 1000, nil, appendLines(t, 1500, 0), false, "500 are of somebody else"},
		"a wrong clock":             {timed, 10, nil, appendLines(t, 10, -time.Hour), false, "are off by -1h0m"},
		"no times":                  {with(func(a *AccessLog) { a.Text = strings.Split(timedText4, " $request_time")[0] + " $x $y $z" }), 10, nil, appendLines(t, 10, 0), true, "not judged: times per route, because"},
		"buffered":                  {with(func(a *AccessLog) { a.Late = "buffer=64k" }), 10, nil, appendLines(t, 10, 0), true, "may come late (buffer=64k)"},
		"conditional":               {with(func(a *AccessLog) { a.Some = "if=$slow" }), 10, nil, appendLines(t, 10, 0), true, "not judged: requests that if=$slow leaves out"},
		"rotated": {timed, 10, nil, func(file string) {
			if err := os.Truncate(file, 3); err != nil {
				t.Fatal(err)
			}
		}, false, "became shorter during the run"},
		"gone": {timed, 10, nil, func(file string) { os.Remove(file) }, false, "became shorter during the run"},
		"another format": {timed, 10, nil, func(file string) {
			os.WriteFile(file, []byte(accessLine(time.Now(), "/before")+strings.Repeat("what is this password=hunter2\n", 10)), 0o600)
		}, false, "are no entries of the format"},
		"syslog": {with(func(a *AccessLog) { a.Not = "it goes to syslog" }), 10, nil, nil, true, "not judged: "},
	} {
		t.Run(name, func(t *testing.T) {
			ev := logged(t, c.log, c.requests, c.quiet, c.write)
			var all []string
			ok := true
			for _, h := range ev.Health {
				all = append(all, h.Text)
				ok = ok && h.OK
			}
			text := strings.Join(all, "\n")
			if ok != c.ok || !strings.Contains(text, c.want) {
				t.Errorf("ok %v, want %v %q:\n%s", ok, c.ok, c.want, text)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("a secret is told: %s", text)
			}
			for _, r := range ev.Routes {
				if strings.Contains(r.Example+r.Route, "secret") {
					t.Errorf("a secret is told: %+v", r)
				}
			}
		})
	}
}

func TestAccessLogRoutes(t *testing.T) {
	ev := logged(t, AccessLog{Name: "timed", Text: timedText4}, 100, nil, appendLines(t, 100, 0))
	if len(ev.Routes) != 1 {
		t.Fatalf("routes %+v", ev.Routes)
	}
	r := ev.Routes[0]
	near := func(d time.Duration, ms int) bool {
		want := time.Duration(ms) * time.Millisecond
		return d > want*98/100 && d < want*102/100
	}
	if r.Route != "/users/:id" || r.Method != "GET" || r.Service != "web" || r.Count != 100 || r.Status[2] != 100 || r.Bytes != 1000 || r.Share < 0.99 ||
		!near(r.Time.P99, 250) || !near(r.Upstream.P50, 200) || r.Upstream.Count != 100 || r.Cache["HIT"] != 100 {
		t.Errorf("%+v", r)
	}
}

func TestIsFront(t *testing.T) {
	st := &stack.Stack{Load: stack.LoadConfig{URL: "http://shop.test/"}}
	for listen, want := range map[string]bool{"0.0.0.0:80": true, "127.0.0.1:8080": false, "unix:/run/x.sock": false} {
		if got := isFront(st, &stack.Service{Listen: []string{listen}}); got != want {
			t.Errorf("%s: %v", listen, got)
		}
	}
}

// TestAccessLogsOfKinds: where each kind of server's logs are found.
func TestAccessLogsOfKinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nginx.conf":   "http { log_format t '$msec $request $request_time'; access_log logs/a.log t; server { } }",
		"apache2.conf": "LogFormat \"%h %t \\\"%r\\\" %>s %D\" t\nCustomLog \"" + dir + "/b.log\" t\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		svc  stack.Service
		want string
	}{
		"nginx":            {stack.Service{Kind: stack.Nginx, Config: dir + "/nginx.conf", Prefix: dir}, dir + "/logs/a.log t true"},
		"nginx, given":     {stack.Service{Kind: stack.Nginx, Config: dir + "/nginx.conf", Prefix: dir, AccessLog: dir + "/logs/a.log"}, dir + "/logs/a.log t true"},
		"given, elsewhere": {stack.Service{Kind: stack.Nginx, Config: dir + "/nginx.conf", Prefix: dir, AccessLog: "/x.log"}, "/x.log  false"},
		"apache":           {stack.Service{Kind: stack.Apache, Config: dir + "/apache2.conf"}, dir + "/b.log t true"},
		"an app":           {stack.Service{Kind: stack.App, AccessLog: "/app.log"}, "/app.log  false"},
		"an app without":   {stack.Service{Kind: stack.App}, ""},
		"varnish":          {stack.Service{Kind: stack.Varnish}, ""},
	} {
		logs, _, err := accessLogs(t.Context(), host.NewLocal(), &stack.Stack{}, &c.svc)
		got := ""
		for _, l := range logs {
			got += fmt.Sprintf("%s %s %v", l.Path, l.Name, l.Timed())
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestAccessLogOfUnknownFormat: the lines tell the format where no
// configuration does, here HAProxy's option httplog.
func TestAccessLogOfUnknownFormat(t *testing.T) {
	ev := logged(t, AccessLog{}, 50, nil, func(file string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := range 50 {
			fmt.Fprintf(f, "%s host haproxy[812]: 127.0.0.1:5000 [%s] front back/app1 0/0/1/240/250 200 150 - - ---- 1/1/0/0/0 0/0 \"GET /users/%d HTTP/1.1\"\n",
				time.Now().Format(time.Stamp), time.Now().Format("02/Jan/2006:15:04:05.000"), i)
		}
	})
	if len(ev.Routes) != 1 || ev.Routes[0].Route != "/users/:id" || ev.Routes[0].Count != 50 || ev.Routes[0].Time.P50 < 240*time.Millisecond || ev.Routes[0].Time.P50 > 260*time.Millisecond {
		t.Errorf("%+v\n%s", ev.Routes, healthText(ev))
	}
	if h := healthText(ev); !strings.Contains(h, "as the generator's 50 requests") || strings.Contains(h, "false") {
		t.Error(h)
	}
}
