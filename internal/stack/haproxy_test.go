package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kasoku/internal/await"
)

func TestHAProxyArgs(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/usr/sbin/haproxy -Ws -f /a.cfg -p /run/h.pid -S /run/m.sock":        "[/usr/sbin/haproxy -Ws -f /a.cfg -p /run/h.pid -S /run/m.sock] [/a.cfg] /run/h.pid [-Ws]",
		"/usr/sbin/haproxy -sf 17 18 -x sockpair@5 -W -f /a.cfg -f conf.d -D": "[/usr/sbin/haproxy -W -f /a.cfg -f conf.d -D] [/a.cfg conf.d]  [-W]",
		"setpriv --reuid=1 -- haproxy -C /etc -dr -n 10 -- /a.cfg /b.cfg":     "[setpriv --reuid=1 -- haproxy -C /etc -dr -n 10 -- /a.cfg /b.cfg] [/a.cfg /b.cfg]  [-C /etc -dr -n 10]",
		"nginx -c /a": "[] []  []",
	} {
		a := parseHAProxyArgs(strings.Fields(line))
		if got := fmt.Sprintf("%v %v %s %v", a.argv, a.files, a.pidFile, a.checking); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for address, want := range map[string]string{"10.0.0.1:80": "10.0.0.1:80", "::1:80": "[::1]:80", "[::1]:80": "[::1]:80", "ipv4@app:8080": "app:8080",
		"unix@/run/x.sock": "unix:/run/x.sock", "/run/x.sock": "unix:/run/x.sock", "10.0.0.1": "", "abns@x": "", "10.0.0.1:+1": ""} {
		if got := haproxyEndpoint(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func (l *lab) haproxyConf(port, answer string) string {
	return fmt.Sprintf("global\n    stats socket %[1]s/h.sock\ndefaults\n    mode http\n    timeout client 5s\n    timeout connect 5s\n    timeout server 5s\n"+
		"frontend web\n    bind 127.0.0.1:%[2]s\n    http-request return status 200 content-type text/plain string %[3]s\n", l.dir, port, answer)
}

func said200(t *testing.T, port string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://127.0.0.1:" + port + "/")
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return string(body)
}

// A master takes the new configuration on by a signal, and a broken one not at
// all; it is the same process all the time.
func TestHAProxyReloads(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	for name, extra := range map[string][]string{"in front": {"-W"}, "as a daemon": {"-W", "-D", "-p", "@/h.pid"}} {
		t.Run(name, func(t *testing.T) {
			l, port := newLab(t), freePort(t)
			conf := l.write("haproxy.cfg", l.haproxyConf(port, "one"))
			start := []string{need(t, "haproxy"), "-f", conf, "-f", l.path("conf.d")}
			for _, x := range extra {
				start = append(start, strings.Replace(x, "@", l.dir, 1))
			}
			l.write("conf.d/b.cfg", "# nothing\n")
			l.write("conf.d/.a.cfg", "nonsense\n")
			l.write("conf.d/a.txt", "nonsense\n")
			c := l.add(Service{Name: "lb", Kind: App, Config: conf, Listen: []string{"127.0.0.1:" + port}, Control: Control{Start: start}})
			must(t, c.Start(ctx))
			files, err := c.HAProxyFiles(ctx)
			must(t, err)
			if !slices.Equal(files, []string{conf, l.path("conf.d/b.cfg")}) {
				t.Errorf("files %q", files)
			}
			var before []int
			await.For(t, "its worker", func() bool {
				before, err = c.PIDs(ctx)
				must(t, err)
				return len(before) == 2
			})
			for _, answer := range []string{"two", "three"} {
				l.write("haproxy.cfg", l.haproxyConf(port, answer))
				must(t, c.Reload(ctx))
				for range 20 {
					if got := said200(t, port); got != answer {
						t.Fatalf("it answers %q, want %q", got, answer)
					}
				}
			}
			after, err := c.PIDs(ctx)
			must(t, err)
			if after[0] != before[0] || len(after) != 2 || after[1] == before[1] {
				t.Errorf("processes %v, then %v", before, after)
			}
			l.write("conf.d/b.cfg", "frontend x\n    nonsense\n")
			for what, err := range map[string]error{"check": c.Check(ctx), "reload": c.Reload(ctx)} {
				if err == nil || !strings.Contains(err.Error(), "nonsense") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if now, err := c.PIDs(ctx); err != nil || !slices.Equal(now, after) {
				t.Errorf("processes %v, then %v (%v)", after, now, err)
			}
			must(t, c.Stop(ctx))
		})
	}
}

// A master that misses the first signal is asked once more.
func TestHAProxyMissesASignal(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx, l, port := context.Background(), newLab(t), freePort(t)
	conf := l.write("haproxy.cfg", l.haproxyConf(port, "one"))
	pid, missed := l.path("h.pid"), l.path("missed")
	c := l.add(Service{Name: "lb", Kind: App, Config: conf, Listen: []string{"127.0.0.1:" + port},
		Control: Control{PIDFile: pid, Start: []string{need(t, "haproxy"), "-W", "-D", "-p", pid, "-f", conf},
			Reload: []string{"sh", "-c", "if [ -e " + missed + " ]; then kill -USR2 $(cat " + pid + "); else touch " + missed + "; fi"}}})
	must(t, c.Start(ctx))
	l.write("haproxy.cfg", l.haproxyConf(port, "two"))
	must(t, c.Reload(ctx))
	if got := said200(t, port); got != "two" {
		t.Errorf("it answers %q", got)
	}
	must(t, c.Stop(ctx))
}

// Without a master process no signal is sent: it would end HAProxy.
func TestHAProxyWithoutMaster(t *testing.T) {
	t.Parallel()
	ctx, l, port := context.Background(), newLab(t), freePort(t)
	conf := l.write("haproxy.cfg", l.haproxyConf(port, "one"))
	c := l.add(Service{Name: "lb", Kind: App, Binary: need(t, "haproxy"), Config: conf, Listen: []string{"127.0.0.1:" + port},
		Control: Control{Start: []string{need(t, "haproxy"), "-f", conf}}})
	must(t, c.Start(ctx))
	if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "start it with -W") {
		t.Error(err)
	}
	if said200(t, port) != "one" {
		t.Error("it does not answer any more")
	}
	pids, err := c.PIDs(ctx)
	must(t, err)
	other := *c.svc
	other.Config = l.write("other.cfg", "global\n")
	other.Control.PIDFile = l.write("h.pid", strconv.Itoa(pids[0]))
	if _, err := l.add(other).HAProxyFiles(ctx); err == nil || !strings.Contains(err.Error(), conf) {
		t.Errorf("another configuration than the one it reads: %v", err)
	}
}

// Discovery: HAProxy in front is found with its configuration, whom it calls,
// and how it is started again, also after it has reloaded.
func TestDiscoverHAProxy(t *testing.T) {
	t.Parallel()
	ctx, l := context.Background(), newLab(t)
	port, webPort := freePort(t), freePort(t)
	web := l.nginx(webPort, "return 200;")
	conf := l.write("haproxy.cfg", strings.Replace(l.haproxyConf(port, "x"), "    http-request return", "    default_backend web\n    # http-request return", 1)+
		"backend web\n    server one 127.0.0.1:"+webPort+" check\n")
	c := l.add(Service{Name: "lb", Kind: App, Binary: need(t, "haproxy"), Config: conf, Listen: []string{"127.0.0.1:" + port},
		Control: Control{PIDFile: l.path("h.pid"), Start: []string{need(t, "haproxy"), "-W", "-D", "-p", l.path("h.pid"), "-f", conf}}})
	for _, c := range []*Controller{web, c} {
		must(t, c.Start(ctx))
	}
	must(t, c.Reload(ctx))
	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	i := slices.IndexFunc(s.Services, func(x Service) bool { return x.Config == conf })
	if i < 0 {
		t.Fatalf("not found in %+v; notes %q", s.Services, notes)
	}
	lb := s.Services[i]
	j := slices.IndexFunc(s.Services, func(x Service) bool { return x.Config == l.path("nginx.conf") })
	if lb.Kind != App || !lb.IsHAProxy() || !strings.HasPrefix(lb.Version, "2.") || !slices.Contains(lb.Listen, "127.0.0.1:"+port) ||
		lb.Control.PIDFile != l.path("h.pid") || !slices.Equal(lb.Control.Start, c.svc.Control.Start) || !slices.Equal(lb.TalksTo, []string{s.Services[j].Name}) || i > j {
		t.Errorf("%+v\nservices %+v", lb, s.Services)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "name that file as access_log") {
		t.Errorf("notes %s", all)
	}
	if out := s.balancers(); !slices.ContainsFunc(out, func(x *Service) bool { return x.Name == lb.Name }) {
		t.Errorf("not the front: %v", out)
	}
	// What was found controls it.
	found, err := NewController(l.h, s, &lb)
	must(t, err)
	must(t, found.Check(ctx))
	must(t, found.Restart(ctx))
}
