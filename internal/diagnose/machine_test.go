package diagnose

import (
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// twoHosts is 10 s of 1,000 right answers by 8 users: web1 has 4 CPUs, of which
// web and app use 10 s, others 1 s; db1 has 2 CPUs, of which db uses 17 s. The
// load comes from a third machine.
func twoHosts() Input {
	ev := &evidence.Evidence{
		Load: &load.Result{Workload: 8, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000,
			Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}}},
		System: evidence.System{Host: "web1", CPUs: 4, User: 8, Sys: 3, Idle: 29, ServicesCPU: 10, ForeignCPU: 1,
			MemoryTotal: 8 << 30, MemoryAvailable: 6 << 30, TimeWait: 10},
		Hosts: map[string]*evidence.System{
			"db1": {Host: "db1", CPUs: 2, User: 15, Sys: 2, Idle: 3, ServicesCPU: 17, MemoryTotal: 4 << 30, MemoryAvailable: 1 << 30, TimeWait: 5000,
				Disks: []evidence.DiskUse{{Name: "sda", Busy: 0.3}}, DiskBusy: 0.3},
			"local": {Host: "local", CPUs: 8, User: 20, Sys: 5, Idle: 55, GeneratorCPU: 24},
		},
		Services: map[string]evidence.ServiceUse{"web": {CPU: 2}, "app": {CPU: 8}, "db": {CPU: 17}},
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Host: "web1"}, {Name: "app", Kind: stack.App, Host: "web1"}, {Name: "db", Kind: stack.MariaDB, Host: "db1"}}}
	return Input{Stack: st, Evidence: ev, Snapshot: &evidence.Snapshot{CPUs: 4, Memory: 8 << 30, Machines: map[string]evidence.Machine{"db1": {CPUs: 2, Memory: 4 << 30}}}}
}

// Of hosts that are containers of one machine and see its CPU, the one whose
// services use it binds; others that are busier by chance do not.
func TestBindsOfContainers(t *testing.T) {
	in := twoHosts()
	db1 := in.Evidence.Hosts["db1"]
	*db1 = evidence.System{Host: "db1", CPUs: 2, User: 18, Sys: 1.9, Idle: 0.1, ServicesCPU: 0.1, ForeignCPU: 19.8}
	in.Evidence.System.CPUs, in.Evidence.System.Idle = 2, 0.4
	in.Evidence.System.User, in.Evidence.System.Sys = 16, 3.6
	in.Evidence.Services["app"], in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 16}, evidence.ServiceUse{CPU: 0.1}
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if binds, text := m.binds(); binds != "cpu: app" || !strings.Contains(text, "CPU of web1 is 98 % busy; app uses") {
		t.Errorf("%s: %s", binds, text)
	}
}

func TestDemandsOfTwoHosts(t *testing.T) {
	m, err := newModel(twoHosts())
	if err != nil {
		t.Fatal(err)
	}
	// Resource → seconds per request, capacity in CPUs (or disks).
	want := map[string][2]float64{"cpu of web1": {0.010, 4}, "cpu of db1": {0.017, 2}, "cpu: web": {0.002, 4}, "cpu: app": {0.008, 4}, "cpu: db": {0.017, 2},
		"cpu: other processes of web1": {0.001, 4}, "disk: sda of db1": {0.003, 1}}
	for _, d := range m.demands() {
		w, ok := want[d.Resource]
		if !ok || math.Abs(d.PerRequest-w[0]) > 1e-9 || math.Abs(d.Utilization-w[0]*100/w[1]) > 1e-9 {
			t.Errorf("%s: %g s per request, in use %g, want %v", d.Resource, d.PerRequest, d.Utilization, w)
		}
		delete(want, d.Resource)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if name, text := m.binds(); name != "cpu: db" || !strings.Contains(text, "CPU of db1 is 85 % busy") {
		t.Errorf("%s: %s", name, text)
	}
	if next := m.next(); next[0].Resource != "cpu of db1" || math.Abs(next[0].MaxThroughput-2/0.017) > 1e-6 {
		t.Errorf("binds next: %+v", next[0])
	}
	if k := m.knee(); math.Abs(k.Throughput-2/0.017) > 1e-6 {
		t.Errorf("knee: %+v", k)
	}
}

// What is saved on one host leaves the other's limit where it is.
func TestBoundsOfTwoHosts(t *testing.T) {
	m, err := newModel(twoHosts())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		bound func() (ceiling, string)
		want  float64 // throughput
		says  string
	}{
		{"all of the application spared: the database still allows no more", func() (ceiling, string) { return m.boundBy("app", 0.008) }, 2 / 0.017, "db1"},
		{"half of the database spared: it still is the limit, and its host is not full", func() (ceiling, string) { return m.boundBy("db", 0.0085) }, 100 / (0.5 * (1 - 0.35/2)), "db1"},
		{"nearly all of the database spared: the web host is the limit", func() (ceiling, string) { return m.boundBy("db", 0.0165) }, 4 / 0.010, "web1"},
		{"half of everything", func() (ceiling, string) { return m.bound(0.0135) }, 100 / (0.5 * (1 - 0.35/2)), "db1"},
		{"both services by name", func() (ceiling, string) { return m.boundOf(map[string]float64{"app": 0.005, "db": 0.0165}) }, 4 / (0.005 * (1 - 0.35/2)), "web1"},
		{"waiting", m.boundWait, 2 / (0.017 * (1 - 0.35*0.15)), "db1"},
	} {
		most, formula := c.bound()
		got := most.most
		if math.Abs(got*m.x-c.want) > 1e-6*c.want || !strings.Contains(formula, " of "+c.says) {
			t.Errorf("%s: %.3f/s, want %.3f/s (%s)", c.name, got*m.x, c.want, formula)
		}
	}
	// Kernel work of one host only.
	if got, _ := m.boundKernelOf(1, "web"); math.Abs(got.most*m.x-2/0.017) > 1e-6 {
		t.Errorf("web1's kernel work spared: %g/s", got.most*m.x)
	}
}

// What is spared is a part of what a request takes on the host that allows least; of
// another host's CPU, and of waiting, nothing is.
func TestSparesOnTwoHosts(t *testing.T) {
	in := twoHosts()
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	half, _ := m.boundBy("db", 0.0085)
	other, _ := m.boundBy("app", 0.008)
	waits, _ := m.boundWait()
	if math.Abs(half.spares-0.5) > 1e-9 || other.spares != 0 || waits.spares != 0 {
		t.Errorf("half of the database %g, the other host's application %g, waiting %g; want 0.5, 0, 0", half.spares, other.spares, waits.spares)
	}
	if db, app := m.spent("db"), m.spent("app"); math.Abs(db-m.perReq["db"]/0.017) > 1e-9 || app != 0 {
		t.Errorf("the database spends %g of its host, the application %g of it", db, app)
	}
}

// Eight users cannot keep two hosts fuller than their requests' demand on both.
func TestBoundOfFewUsersOnTwoHosts(t *testing.T) {
	in := twoHosts()
	in.Evidence.Load.Workload = 1
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := m.bound(0); got.most != 1 {
		t.Errorf("one user and 27 ms on two hosts: ×%g of 100/s, want 1", got.most)
	}
}

func TestFindingsNameTheirHost(t *testing.T) {
	in := twoHosts()
	in.Evidence.Hosts["db1"].FileMax, in.Evidence.Hosts["db1"].OpenFiles = 1000, 900
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range d.Findings {
		if f.Host == "" {
			continue
		}
		seen[f.Title] = true
		if f.Host != "db1" {
			t.Errorf("%q is said of %s", f.Title, f.Host)
		}
		for _, s := range f.Settings {
			if s.Name == "fs.file-max" && s.Host != "db1" {
				t.Errorf("%q asks for %+v", f.Title, s)
			}
		}
	}
	for _, want := range []string{"5000 sockets are in TIME_WAIT (db1)", "The host is near its limit of open files (db1)"} {
		if !seen[want] {
			t.Errorf("%q is not among %v", want, seen)
		}
	}
	for _, f := range d.Findings {
		if f.Title == "Database and application share a full machine" {
			t.Error("the database is on a host of its own")
		}
	}
}

// Memory that a setting takes is taken from its own host's.
func TestMemoryOfEachHost(t *testing.T) {
	m, err := newModel(twoHosts())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(service string, bytes int64) Finding {
		return Finding{Rule: service, Bound: 2, Settings: []Setting{{Service: service, Name: "pool", Up: 1, Memory: bytes}}}
	}
	kept, not := m.reconcile([]Finding{ask("app", 4<<30), ask("db", 2<<30)}, nil)
	if len(kept) != 1 || kept[0].Rule != "app" || len(not) != 1 || !strings.Contains(not[0].Why, "819 MiB are available") {
		t.Errorf("4 GiB fit on web1, 2 GiB do not on db1: %+v %+v", kept, not)
	}
}

// A host that only makes the load is no part of the service.
func TestGeneratorApart(t *testing.T) {
	m, err := newModel(twoHosts())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.machines) != 2 || m.genCPU != 0 || m.cpus != 6 || math.Abs(m.allCPU-0.027) > 1e-9 {
		t.Errorf("%d machines, %g CPUs, %g s per request, generator %g s", len(m.machines), m.cpus, m.allCPU, m.genCPU)
	}
}

// The kernel's time for other processes is no request's: a bound of what the
// kernel spends would have no end on a machine that others use.
func TestKernelTimeOfOthers(t *testing.T) {
	in := twoHosts()
	in.Evidence.System.User, in.Evidence.System.Sys, in.Evidence.System.ForeignCPU = 10, 25, 25
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.at("web").sysCPU, 25.0/1000*10/35; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g s per request, want %g: the part of what is not foreign", got, want)
	}
	in.Evidence.Services["app"] = evidence.ServiceUse{CPU: 9, User: 0.5, Sys: 8.5}
	if m, err = newModel(in); err != nil {
		t.Fatal(err)
	}
	if got, want := m.at("web").sysCPU, 8.5/1000; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g s per request, want %g: what the services' own processes spent", got, want)
	}
	if bound, text := m.boundKernelOf(1, "web"); bound.most > 7 {
		t.Errorf("bound %g (%s)", bound.most, text)
	}
}

// What a service can save of the kernel's time is what the kernel does for it: not
// what it does for another one, which starts a program for each request.
func TestKernelTimeByService(t *testing.T) {
	in := twoHosts()
	in.Evidence.System.User, in.Evidence.System.Sys, in.Evidence.System.SoftIRQ, in.Evidence.System.ForeignCPU = 15, 10, 1, 0
	in.Evidence.Hosts["db1"].User, in.Evidence.Hosts["db1"].Sys = 1, 0.5
	in.Evidence.Services["web"], in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 1.5, User: 1, Sys: 0.5}, evidence.ServiceUse{CPU: 1.5}
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	ok := float64(in.Evidence.Load.Succeeded)
	want, _ := m.boundAt(map[string]float64{"web1": 1.5 / ok}) // its own, and the interrupts
	if got, text := m.boundKernelIn(1, "web"); math.Abs(got.most-want.most) > 1e-9 {
		t.Errorf("bound %g (%s), want %g", got.most, text, want.most)
	}
	all, _ := m.boundKernelOf(1, "web")
	if want.most >= all.most {
		t.Fatalf("%g of the service's own kernel time, %g of all", want.most, all.most)
	}
	in.Evidence.System.Sys = 1 // never more than there is
	if m, err = newModel(in); err != nil {
		t.Fatal(err)
	}
	most, _ := m.boundKernelOf(1, "web")
	if got, text := m.boundKernelIn(1, "web"); math.Abs(got.most-most.most) > 1e-9 {
		t.Errorf("bound %g (%s), want %g", got.most, text, most.most)
	}
	in.Evidence.System.Sys = 10
	in.Evidence.Services["web"] = evidence.ServiceUse{CPU: 1.5} // not told apart
	if m, err = newModel(in); err != nil {
		t.Fatal(err)
	}
	if got, text := m.boundKernelIn(1, "web"); math.Abs(got.most-all.most) > 1e-9 {
		t.Errorf("bound %g (%s), want %g", got.most, text, all.most)
	}
}

// TestUsersOfTheLog: where nobody tells how many users there are, the front's log tells
// how many requests were under way, and bounds go by that where it is more.
func TestUsersOfTheLog(t *testing.T) {
	in := twoHosts()
	in.Evidence.Load.Routes, in.Evidence.Load.UsersAssumed, in.Evidence.Load.Workload = nil, true, 2
	n := 30 * in.Evidence.Load.Window
	in.Evidence.Routes = []digest.Route{{Service: "web", Method: "GET", Route: "/", Time: digest.Times{Total: n}}}
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	_, bound := m.boundBy("web", 0.001)
	for _, text := range []string{bound, m.knee().Formula} {
		if !strings.Contains(text, "30 requests under way") || strings.Contains(text, "guess") {
			t.Error(text)
		}
	}
	if m.n != 30 {
		t.Errorf("%g users", m.n)
	}
	in.Evidence.Routes[0].Time.Total = in.Evidence.Load.Window
	if m, err = newModel(in); err != nil || m.n != 2 || !strings.Contains(m.knee().Formula, "2 users (a guess") {
		t.Errorf("%+v, %v", m.knee(), err)
	}
}

// A number of users that nobody told is never shown as if it had been measured.
func TestUsersAssumed(t *testing.T) {
	for _, assumed := range []bool{false, true} {
		in := twoHosts()
		in.Evidence.Load.UsersAssumed = assumed
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		_, bound := m.boundBy("web", 0.001)
		for _, text := range []string{bound, m.knee().Formula} {
			if !strings.Contains(text, "8 users") || strings.Contains(text, "8 users (a guess") != assumed {
				t.Errorf("assumed %v: %s", assumed, text)
			}
		}
	}
}
