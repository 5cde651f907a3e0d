package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// run is 10 s of 2 CPUs: 1,000 right answers by 8 users; web used 2 s, app 10 s,
// db 4 s, the generator 2 s of CPU.
func run() Input {
	ev := &evidence.Evidence{
		Load: &load.Result{Workload: 8, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000,
			Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}}},
		System:   evidence.System{CPUs: 2, User: 14, Sys: 5, Idle: 1, ServicesCPU: 16, GeneratorCPU: 2, ForeignCPU: 1},
		Services: map[string]evidence.ServiceUse{"web": {CPU: 2}, "app": {CPU: 10}, "db": {CPU: 4}},
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx}, {Name: "app", Kind: stack.App}, {Name: "db", Kind: stack.MariaDB}}}
	return Input{Stack: st, Evidence: ev, Snapshot: &evidence.Snapshot{}}
}

func TestDemandsAreUTimesTOverX(t *testing.T) {
	m, err := newModel(run())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"cpu": 0.018, "cpu: app": 0.010, "cpu: db": 0.004, "cpu: web": 0.002, "cpu: generator": 0.002, "cpu: other processes": 0.001}
	for _, d := range m.demands() {
		if math.Abs(d.PerRequest-want[d.Resource]) > 1e-9 {
			t.Errorf("%s: %g s per request, want %g", d.Resource, d.PerRequest, want[d.Resource])
		}
		// D = U·T/X, with U as a share of both CPUs.
		if u := d.PerRequest * m.x / 2; math.Abs(u-d.Utilization) > 1e-9 {
			t.Errorf("%s: utilization %g, want %g", d.Resource, d.Utilization, u)
		}
		delete(want, d.Resource)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestBound(t *testing.T) {
	m, err := newModel(run())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		saved float64
		want  float64
	}{
		{"nothing saved", 0, 1},
		{"half of the CPU, and the rest a sixth cheaper", 0.009, 1 / (0.5 * (1 - 0.35/2))},
		{"more than all is cut at a hundredth left", 1, 100},
	} {
		if got, _ := m.bound(c.saved); math.Abs(got.most-c.want) > 1e-6 {
			t.Errorf("%s: ×%g, want ×%g", c.name, got.most, c.want)
		}
	}
}

// Where requests queue for something that is held while CPU is used, all of it up to
// the full machine may come of less CPU.
func TestBoundOfWhatIsHandedOn(t *testing.T) {
	for name, edit := range map[string]func(m *model){
		"a full thread":  func(m *model) { m.threads["app"] = 0.95 },
		"locks on rows":  func(m *model) { m.lockWait["db"] = m.inSystem },
		"a thread of 30": func(m *model) { m.threads["app"] = 0.30 },
	} {
		m, err := newModel(run())
		if err != nil {
			t.Fatal(err)
		}
		m.inSystem, m.timed = 8, true
		edit(m)
		want := 2 / (0.009 * (1 - 0.35/2)) / 100
		if !m.handedOn() {
			want = 1 / (0.5 * (1 - 0.35/2))
		}
		if got, _ := m.bound(0.009); math.Abs(got.most-want) > 1e-6 || m.handedOn() == (name == "a thread of 30") {
			t.Errorf("%s (%v): ×%g, want ×%g", name, m.handedOn(), got.most, want)
		}
	}
}

// The set-up of somebody else's benchmark is no time of the service: its CPU is full
// while requests come.
func TestOnlyActiveTimeCounts(t *testing.T) {
	in := run()
	in.Evidence.Load.Window, in.Evidence.Active = 20*time.Second, 10*time.Second
	in.Evidence.System.Idle = 21
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if m.x != 100 || m.inSystem != 8 || m.busy < 0.94 {
		t.Errorf("%g/s, %g under way, CPU %g busy; want 100, 8, 0.95", m.x, m.inSystem, m.busy)
	}
	if name, text := m.binds(); name != "cpu: app" {
		t.Errorf("binds %s: %s", name, text)
	}
}

// A machine of half its CPU in use is not a gain of two that anything could bring: a
// hundredth of the CPU saved brings a hundredth.
func TestBoundOnAnIdleMachine(t *testing.T) {
	in := run()
	in.Evidence.System.User, in.Evidence.System.Idle = 4, 11
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, text := m.bound(m.allCPU / 100); got.most > 1.02 || got.most < 1.01 {
		t.Errorf("×%g (%s)", got.most, text)
	}
}

// One user cannot use two CPUs at once: the bound is N/D, not C/D.
func TestBoundOfOneUser(t *testing.T) {
	in := run()
	in.Evidence.Load.Workload = 1
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := m.bound(0.009); math.Abs(got.most-1/(0.009*(1-0.35/2))/100) > 1e-6 {
		t.Errorf("×%g", got.most)
	}
}

func TestBinds(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*evidence.Evidence)
		want string
	}{
		{"the service that uses most of a full CPU", func(*evidence.Evidence) {}, "cpu: app"},
		{"the generator if it uses most", func(e *evidence.Evidence) { e.System.GeneratorCPU = 12 }, "cpu: generator"},
		{"a busy disk", func(e *evidence.Evidence) { e.System.User, e.System.Idle, e.System.DiskBusy = 4, 11, 0.95 }, "disk"},
		{"nothing, and it is said", func(e *evidence.Evidence) { e.System.User, e.System.Idle = 4, 11 }, "nothing"},
	} {
		in := run()
		c.edit(in.Evidence)
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, text := m.binds(); got != c.want || text == "" {
			t.Errorf("%s: got %q (%s)", c.name, got, text)
		}
	}
}

func TestNothingRightIsAnError(t *testing.T) {
	in := run()
	in.Evidence.Load.Succeeded = 0
	if _, err := Diagnose(in); err == nil {
		t.Error("a run without a right answer was diagnosed")
	}
}

func TestFullScanFinding(t *testing.T) {
	in := run()
	in.Evidence.Statements = []evidence.Statement{
		{Service: "db", Fingerprint: "SELECT … WHERE login = ?", Count: 100, Total: 3 * time.Second, RowsExamined: 100 * 200000, RowsSent: 100},
		{Service: "db", Fingerprint: "SELECT … WHERE id = ?", Count: 100, Total: time.Second, RowsExamined: 100, RowsSent: 100},
	}
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Rule != "db.full-scan" {
			continue
		}
		// Three quarters of the database's 4 ms go.
		if want := 0.018 / ((0.018 - 0.003) * (1 - 0.35*3/18)); math.Abs(f.Bound-want) > 1e-6 || len(f.Evidence) != 1 {
			t.Errorf("bound ×%g, want ×%g; %v", f.Bound, want, f.Evidence)
		}
		return
	}
	t.Errorf("no finding; not judged: %v", d.NotJudged)
}

// Absence is said: without statements, variables or settings rules are listed
// as not judged instead of passing in silence.
func TestNotJudged(t *testing.T) {
	in := run()
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "php", Kind: stack.PHPFPM, Config: "/none"})
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, n := range d.NotJudged {
		have[n.Rule] = n.Why != ""
	}
	for _, rule := range []string{"db.full-scan", "db.memory", "php.opcache-off", "php.workers", "web.workers"} {
		if !have[rule] {
			t.Errorf("%s is not said to be not judged", rule)
		}
	}
}

// A pool that is full is in use to 100 % and allows what it did; requests that
// queue up for a process are under way, but use none.
func TestWorkersAllowWhatTheyDid(t *testing.T) {
	for _, c := range []struct {
		children string
		factor   float64
		demand   float64 // seconds of a process per request
	}{
		{"5", 1, 5.0 / 100},  // 8 requests under way, 3 of them wait
		{"16", 2, 8.0 / 100}, // half of them idle
	} {
		in := site(okNginx, func(in *Input) {
			in.Snapshot.Files["local"]["/f"] = evidence.File{Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = " + c.children + "\n")}
			in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 4, Busiest: 10.3} // ticks
		})
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, n := range m.next() {
			if n.Factor < 1 && n.Resource != "cpu" {
				t.Errorf("%s children: %s would allow less than the run did: %s (×%g)", c.children, n.Resource, n.Text, n.Factor)
			}
			if n.Resource == "workers: php" {
				found = true
				if math.Abs(n.Factor-c.factor) > 1e-9 || math.Abs(n.PerRequest-c.demand) > 1e-9 {
					t.Errorf("%s children: ×%g at %g s per request, want ×%g at %g s", c.children, n.Factor, n.PerRequest, c.factor, c.demand)
				}
			}
		}
		if !found {
			t.Errorf("%s children: no workers in %+v", c.children, m.next())
		}
	}
}

// One process for two CPUs binds although the CPU looks full, if the kernel uses
// most of it; not if the processes do, nor if nobody waits for it.
func TestANarrowPoolBinds(t *testing.T) {
	for _, c := range []struct {
		children  string
		user, sys float64
		want      string
	}{
		{"1", 7, 12, "workers: php"},
		{"1", 14, 5, "cpu: "},
		{"2", 7, 12, "cpu: "},
	} {
		in := site(okNginx, func(in *Input) {
			in.Snapshot.Files["local"]["/f"] = evidence.File{Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = " + c.children + "\n")}
			in.Evidence.System.User, in.Evidence.System.Sys, in.Evidence.System.Idle = c.user, c.sys, 1
		})
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, text := m.binds(); !strings.HasPrefix(got, c.want) || text == "" {
			t.Errorf("%s children, %g s user, %g s kernel: %s (%s)", c.children, c.user, c.sys, got, text)
		}
	}
}

// What binds in a run that others spoilt is said with them.
func TestBindsNamesOthers(t *testing.T) {
	in := run()
	in.Evidence.System.ForeignCPU = 12
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, text := m.binds(); !strings.Contains(text, "most of it (60 %) by processes outside the stack") {
		t.Error(text)
	}
	in.Evidence.System.ForeignCPU = 1
	if m, err = newModel(in); err != nil {
		t.Fatal(err)
	}
	if _, text := m.binds(); strings.Contains(text, "outside the stack") {
		t.Error(text)
	}
}

// Counters that are missing: the reason that their source gave is told.
func TestNotJudgedSaysWhatToDo(t *testing.T) {
	in := site(okNginx, func(in *Input) {
		in.Evidence.Counters = nil
		in.Evidence.Health = []evidence.Health{{Source: "status of php", OK: true, Text: "not judged: pool www has no pm.status_path"},
			{Source: "status of other", OK: true, Text: "not judged: something else"}}
	})
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range d.NotJudged {
		if n.Rule == "php.pool-full" {
			if want := "php: its counters were not read (status of php: pool www has no pm.status_path)"; n.Why != want {
				t.Errorf("%q, want %q", n.Why, want)
			}
			return
		}
	}
	t.Errorf("php.pool-full is judged: %+v", d.NotJudged)
}

// What a service tells of one thing is no word about another: OPcache's
// counters do not say how full a pool is, nor the other way round.
func TestOneSourceDoesNotSpeakForAnother(t *testing.T) {
	for rule, counter := range map[string]string{"php.pool-full": "opcache.opcache_enabled", "php.opcache-full": "www.accepted_conn"} {
		d, err := Diagnose(site(okNginx, func(in *Input) {
			in.Evidence.Counters = map[string]evidence.CounterDelta{"php": {Value: map[string]string{counter: "1"}}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(d.NotJudged, func(n NotJudged) bool { return n.Rule == rule && strings.Contains(n.Why, "its counters were not read") }) {
			t.Errorf("%s is judged by %s: %+v", rule, counter, d.NotJudged)
		}
	}
}

// Code without names may be any number of functions: no finding.
func TestHotWithoutName(t *testing.T) {
	in := run()
	in.Evidence.Profiles = []evidence.Profile{{Service: "db", Tool: "perf", Samples: 500,
		Top: []evidence.ProfileFrame{{Function: "[unknown] in mariadbd", File: "/usr/sbin/mariadbd", Self: 0.52, Total: 0.94}}}}
	m, err := newModel(in)
	if err != nil {
		t.Fatal(err)
	}
	found, why := judgeHot(m)
	if len(found) > 0 || !strings.Contains(why, "52 %") || !strings.Contains(why, "debug symbols") {
		t.Errorf("found %+v, not judged: %q", found, why)
	}
}
