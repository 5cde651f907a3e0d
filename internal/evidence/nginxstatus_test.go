package evidence

import (
	"context"
	"strings"
	"testing"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

func TestStubURL(t *testing.T) {
	for conf, want := range map[string]string{
		"server { listen 8080; location = /st { stub_status; } }":                                             "0.0.0.0:8080 http://localhost/st",
		"server { listen 443 ssl; listen [::]:81; server_name a.example b; location /st { stub_status on; }}": "[::]:81 http://a.example/st",
		"server { location ^~ /a/ { location /a/b { stub_status; } } }":                                       "0.0.0.0:80 http://localhost/a/b",
		"server { listen unix:/run/x.sock; stub_status; }":                                                    "unix:/run/x.sock http://localhost/",
		"server { listen 443 ssl; location = /st { stub_status; } }":                                          " ",
		"server { listen 80; location ~ ^/s { stub_status; } }":                                               " ",
		"server { listen 80; location @named { stub_status; } }":                                              " ",
	} {
		read := func(string) ([]byte, error) { return []byte("http { " + conf + " }"), nil }
		c, err := nginx.Load("/n.conf", "", read, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		c.Root.Walk(func(d *nginx.Directive) bool {
			if d.Name == "stub_status" {
				endpoint, address := stubURL(d)
				got = endpoint + " " + address
			}
			return true
		})
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", conf, got, want)
		}
	}
}

func TestNginxStatusLive(t *testing.T) {
	l := startLive(t)
	const n = 5
	ev := observe(t, findNginxStatus, false, *l.st.Service("web"), func() {
		for range n {
			if _, err := l.get("/?n=1"); err != nil {
				t.Error(err)
			}
		}
	})
	if h := healthOf(ev, "counters of web"); !h.OK || ev.Counters["web"].Delta["requests"] != n || ev.Counters["web"].Value["active"] == "" {
		t.Errorf("%+v %+v", h, ev.Counters["web"])
	}
	without := *l.st.Service("web")
	without.Config = l.dir + "/conf.d/none.conf"
	if found, health := findNginxStatus(context.Background(), setting{st: &stack.Stack{Services: []stack.Service{without}},
		hosts: map[string]host.Host{"local": host.NewLocal()}}); len(found) != 0 || len(health) != 1 || !health[0].OK || !strings.HasPrefix(health[0].Text, "not judged") {
		t.Errorf("%v %+v", found, health)
	}
}

// The whole window of a real stack fills every part of System that this
// machine has.
func TestSystemLive(t *testing.T) {
	l := startLive(t)
	ev := collect(t, l, CollectorOptions{}, 30)
	sys := ev.System
	if len(sys.PerCPU) != sys.CPUs || sys.Interrupts <= 0 || sys.PageCache <= 0 || sys.OpenFiles <= 0 || sys.FileMax <= 0 {
		t.Errorf("%+v", sys)
	}
	if len(sys.Networks) == 0 || sys.TCP.Segments <= 0 || sys.TCP.PortRange <= 0 || sys.TCP.States["LISTEN"] < 2 {
		t.Errorf("%+v %+v", sys.Networks, sys.TCP)
	}
	found := map[string]AcceptQueue{}
	for _, q := range sys.TCP.Queues {
		found[q.Service] = q
	}
	// nginx's backlog is 511 on Linux, MariaDB's 50 + max_connections/5; all are
	// cut to net.core.somaxconn where that is less.
	if found["web"].Limit < 100 || found["db"].Limit != 60 || found["php"].Limit < 100 || !strings.HasPrefix(found["php"].Listen, "unix:") {
		t.Errorf("accept queues: %+v", sys.TCP.Queues)
	}
	for _, source := range []string{"sockets of local", "control groups of local", "system of local"} {
		if h := healthOf(ev, source); h.Text == "(not there)" {
			t.Errorf("%+v", h)
		}
	}
	db, php := ev.Services["db"], ev.Services["php"]
	if db.Threads < 3 || db.Voluntary <= 0 || db.User+db.Sys <= 0 || php.Threads != php.Processes {
		t.Errorf("db %+v\nphp %+v", db, php)
	}
	for _, o := range sys.Others {
		if o.Service != "" || o.CPU <= 0 {
			t.Errorf("%+v", o)
		}
	}
}
