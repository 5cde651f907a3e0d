package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// apart moves services of the world to other hosts: by name of service, the
// rest to "web1". Each host has 8 GiB and 2 CPUs, db1 but 4 GiB, 1 GiB left.
func apart(in remedy.Input, hosts map[string]string) remedy.Input {
	old := in.Snapshot.Files["local"]
	in.Snapshot.Files = map[string]map[string]evidence.File{}
	users := in.Snapshot.Users
	in.Snapshot.Users = map[string]evidence.ProcessUser{}
	names := map[string]bool{}
	for i := range in.Stack.Services {
		svc := &in.Stack.Services[i]
		svc.Host = "web1"
		if h, ok := hosts[svc.Name]; ok {
			svc.Host = h
		}
		names[svc.Host] = true
		if in.Snapshot.Files[svc.Host] == nil {
			in.Snapshot.Files[svc.Host] = map[string]evidence.File{}
		}
		for p, f := range old {
			if f.Service == svc.Name {
				in.Snapshot.Files[svc.Host][p] = f
			}
		}
		if u, ok := users["local/"+svc.Name]; ok {
			in.Snapshot.Users[svc.Host+"/"+svc.Name] = u
		}
	}
	in.Evidence.System.Host = "web1"
	in.Evidence.Hosts = map[string]*evidence.System{}
	in.Snapshot.Machines = map[string]evidence.Machine{}
	for name := range names {
		if name == "web1" {
			continue
		}
		in.Evidence.Hosts[name] = &evidence.System{Host: name, CPUs: 2, User: 4, Idle: 16, MemoryTotal: 4 << 30, MemoryAvailable: 1 << 30}
		in.Snapshot.Machines[name] = evidence.Machine{CPUs: 2, Memory: 4 << 30}
	}
	return in
}

// Every change of every remedy names the host of what it changes.
func TestChangesNameTheirHost(t *testing.T) {
	in := apart(remedytest.World(nil), map[string]string{"db": "db1"})
	in.Stack.Regulation.Allow = remedytest.AllTrades()
	_, res := remedytest.Plan(t, in)
	if len(res.Plans) < 8 {
		t.Fatalf("only %d plans: %v", len(res.Plans), res.Skipped)
	}
	seen := map[string]bool{}
	for _, p := range res.Plans {
		for _, c := range p.Changes {
			want := "web1"
			if c.Service == "db" {
				want = "db1"
			}
			if c.Host != want {
				t.Errorf("%s: a change of %s %s is on %q, want %s", p.ID, c.Kind, c.Path, c.Host, want)
			}
			seen[c.Host+" "+string(c.Kind)] = true
		}
	}
	for _, want := range []string{"web1 " + string(change.KindFile), "db1 " + string(change.KindFile), "db1 " + string(change.KindVariable)} {
		if !seen[want] {
			t.Errorf("no change of %s was planned: %v", want, seen)
		}
	}
}

// A larger buffer pool must fit the database's own host.
func TestMemoryOfTheDatabasesHost(t *testing.T) {
	pool := func(in remedy.Input) string {
		for _, c := range remedytest.Want(t, in, "mariadb.memory").Changes {
			if c.Variable == "innodb_buffer_pool_size" {
				return c.AfterValue
			}
		}
		return ""
	}
	if got := pool(remedytest.World(nil)); got != "671088640" {
		t.Fatalf("with 4 GiB left the pool gets %s, want 640 MiB", got)
	}
	in := apart(remedytest.World(nil), map[string]string{"db": "db1"})
	// 1 GiB is left; less the regulation's fifth of 4 GiB there is room for 128 MiB.
	if got := pool(in); got != "268435456" {
		t.Errorf("with 1 GiB left on its host it gets %s, want 256 MiB", got)
	}
	in = apart(remedytest.World(nil), map[string]string{"db": "db1"})
	in.Evidence.Hosts["db1"].MemoryAvailable = 2 << 30
	in.Evidence.System.MemoryAvailable = 0 // the web server's host is full
	if got := pool(in); got != "671088640" {
		t.Errorf("memory of another host decides: %s", got)
	}
}

// A unix socket is planned only if both ends are on one host, and no other
// host needs the port.
func TestSocketOnlyOnOneHost(t *testing.T) {
	socket := func(in remedy.Input) bool {
		in.Stack.Regulation.Allow = remedytest.AllTrades()
		_, res := remedytest.Plan(t, in)
		return slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return strings.Contains(p.ID, "php-socket") })
	}
	if !socket(apart(remedytest.World(nil), map[string]string{"db": "db1"})) {
		t.Error("nginx and PHP-FPM are on web1 together, and no socket is planned")
	}
	if socket(apart(remedytest.World(nil), map[string]string{"php": "app1", "app": "app1"})) {
		t.Error("nginx and PHP-FPM are on two hosts, and a socket is planned")
	}
	in := apart(remedytest.World(nil), map[string]string{"php": "app1"})
	if _, err := remedyOf("nginx.php-socket").Plan(in, diagnose.Finding{Service: "web", Subject: map[string]string{"fpm": "php", "pool": "www", "port": "9000"}}); err == nil || !strings.Contains(err.Error(), "one host") {
		t.Errorf("asked for by itself: %v", err)
	}
	// A second web server elsewhere reaches the pool over the network.
	in = apart(remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 0.0.0.0:9000\npm = dynamic\npm.max_children = 32\n"}), nil)
	web2 := in.Stack.Services[0]
	web2.Name, web2.Host = "web2", "edge"
	in.Stack.Services = append(in.Stack.Services, web2)
	conf := strings.ReplaceAll(remedytest.Nginx(remedytest.PassAll), "127.0.0.1:9000", "10.0.0.1:9000")
	in.Snapshot.Files["edge"] = map[string]evidence.File{remedytest.NginxPath: {Content: []byte(conf), Mode: 0o644, Service: "web2", Writable: true}}
	in.Snapshot.Machines["edge"] = evidence.Machine{CPUs: 2, Memory: 4 << 30}
	in.Evidence.Hosts["edge"] = &evidence.System{Host: "edge", CPUs: 2, User: 1, Idle: 19, MemoryTotal: 4 << 30, MemoryAvailable: 1 << 30}
	if socket(in) {
		t.Error("web2 on another host connects to the pool's port, and the port is taken away")
	}
}

// A database of another host is never pointed at by a socket.
func TestDatabaseSocketOnlyOnOneHost(t *testing.T) {
	f := diagnose.Finding{Service: "app", Subject: map[string]string{"app": "app", "file": remedytest.AppPath, "database": "db"}}
	if _, err := remedyOf("app.db-socket").Plan(apart(remedytest.World(nil), nil), f); err != nil {
		t.Errorf("both on web1: %v", err)
	}
	if _, err := remedyOf("app.db-socket").Plan(apart(remedytest.World(nil), map[string]string{"db": "db1"}), f); err == nil {
		t.Error("the database is on db1, the application on web1")
	}
}
