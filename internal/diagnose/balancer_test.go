package diagnose

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// behind puts a second PHP-FPM on app1 behind the healthy stack's nginx.
func behind(in *Input) {
	config("/n", "server unix:/run/p.sock;", "server unix:/run/p.sock; server 10.0.0.2:9000;")(in)
	in.Evidence.System.Host = stack.LocalHost
	in.Evidence.Hosts = map[string]*evidence.System{"app1": {Host: "app1", CPUs: 4, User: 2, Idle: 38}}
	in.Evidence.Services["php2"] = evidence.ServiceUse{CPU: 2}
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "php2", Kind: stack.PHPFPM, Host: "app1", Config: "/f", Listen: []string{"0.0.0.0:9000"}})
	in.Snapshot.Files["app1"] = map[string]evidence.File{"/f": {Service: "php2", Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = 16\n")}}
	in.Snapshot.Machines = map[string]evidence.Machine{"app1": {CPUs: 4, Memory: 8 << 30}}
	in.Snapshot.Addresses = map[string][]string{stack.LocalHost: {"10.0.0.1"}, "app1": {"10.0.0.2", "app1"}}
}

// Servers are found by address, by name and by socket; what is idle is known.
func TestBalancers(t *testing.T) {
	in := healthy()
	behind(&in)
	config("/n", "server 10.0.0.2:9000;", "server 10.0.0.2:9000 weight=3; server app1:9000 backup; server app1; server 10.0.0.7:9000 down;")(&in)
	web := in.Stack.Service("web")
	conf, err := NginxConfig(in.Snapshot, web)
	if err != nil {
		t.Fatal(err)
	}
	all := Balancers(in.Stack, in.Snapshot, web, conf)
	if len(all) != 1 || all[0].Name() != "p" || all[0].Weights() != "1 3 0 1 0" || all[0].Bound() != "" {
		t.Fatalf("%+v", all)
	}
	var got []string
	for _, b := range all[0].Backends {
		got = append(got, b.Address+"="+b.Host+"/"+b.Service)
	}
	want := "unix:/run/p.sock=local/php 10.0.0.2:9000=app1/php2 app1:9000=app1/php2 app1=app1/ 10.0.0.7:9000=/"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// No other shares use the busiest machine less than those of level, and all of
// the requests go somewhere.
func TestLevelIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		n := rapid.IntRange(2, 5).Draw(t, "machines")
		for range n {
			parts = append(parts, part{k: &machine{cpus: float64(rapid.IntRange(1, 16).Draw(t, "cpus"))},
				app: rapid.Float64Range(1e-4, 1).Draw(t, "app"), rest: rapid.Float64Range(0, 3).Draw(t, "rest")})
		}
		best := level(parts)
		sum := 0.0
		for _, s := range best {
			sum += s
			if s < 0 {
				t.Fatalf("a negative share: %v", best)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("shares add up to %v: %v", sum, best)
		}
		other, all := make([]float64, n), 0.0
		for i := range other {
			other[i] = rapid.Float64Range(0, 1).Draw(t, "other")
			all += other[i]
		}
		if all == 0 {
			return
		}
		for i := range other {
			other[i] /= all
		}
		if a, b := worst(parts, best), worst(parts, other); a > b*(1+1e-9) {
			t.Fatalf("%v uses the busiest %v, %v only %v", best, a, other, b)
		}
	})
}

// An upstream with one server is none, nor is one that nobody passes to.
func TestNoBalancer(t *testing.T) {
	conf, err := nginx.Load("/n", "/", func(string) ([]byte, error) {
		return []byte("http { upstream one { server 10.0.0.2:9000; } upstream unused { server 10.0.0.2:1; server 10.0.0.3:1; }\nserver { location / { fastcgi_pass one; } } }\n"), nil
	}, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if all := Balancers(&stack.Stack{}, &evidence.Snapshot{}, &stack.Service{Name: "web"}, conf); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// besides puts a second PHP-FPM on app1 that nobody asks, spare for the first.
func besides(in *Input) {
	behind(in)
	config("/n", " server 10.0.0.2:9000;", "")(in)
	in.Stack.Service("php2").SpareFor = "php"
	in.Evidence.Services["php2"] = evidence.ServiceUse{Processes: 17}
	in.Evidence.Hosts["app1"].User, in.Evidence.Hosts["app1"].Idle = 0, 40
}

// A spare that nobody asks binds nothing, and nothing is found about it.
func TestUnusedSpareIsSilent(t *testing.T) {
	in := healthy()
	besides(&in)
	idle(&in)
	in.Snapshot.Files["app1"]["/f"] = evidence.File{Service: "php2", Content: []byte("[www]\nlisten = 9000\npm = dynamic\npm.max_children = 2\n")}
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.Binds, "php2") {
		t.Errorf("binds %s: %s", d.Binds, d.BindsText)
	}
	for _, n := range d.Next {
		if strings.Contains(n.Resource, "php2") {
			t.Errorf("next: %s", n.Text)
		}
	}
	for _, f := range d.Findings {
		if f.Service == "php2" {
			t.Errorf("%s: %s", f.Rule, f.Title)
		}
	}
}
