package capacity

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// twoHosts is a web server and a database on hosts of their own.
var twoHosts = &stack.Stack{Services: []stack.Service{{Name: "nginx", Kind: stack.Nginx, Host: "web"}, {Name: "mariadb", Kind: stack.MariaDB, Host: "db"}}}

// stored is a run of 10 s: a right answer costs web 4 ms and db 10 ms of CPU, of
// four each; the generator on web took 5 CPU seconds besides.
func stored(id int64, users int, perSecond float64) *store.Run {
	n := int64(10 * perSecond)
	return &store.Run{ID: id, Kind: store.Scored, Evidence: &evidence.Evidence{
		Load: &load.Result{Scenario: "shop", Workload: users, Window: 10 * time.Second, Requests: n, Succeeded: n,
			Latency: load.Percentiles{P95: time.Duration(3 * float64(users) / perSecond * 1e9)}},
		System: evidence.System{Host: "web", CPUs: 4, User: 0.004*float64(n) + 5, GeneratorCPU: 5},
		Hosts:  map[string]*evidence.System{"db": {Host: "db", CPUs: 4, User: 0.010 * float64(n)}},
	}}
}

func TestFromRuns(t *testing.T) {
	unfit, slow, other, planned := stored(5, 8, 200), stored(6, 8, 200), stored(7, 8, 200), stored(8, 32, 300)
	unfit.Unfit = "another process used the machine"
	slow.Evidence.Load.Saturated = "its CPU was full"
	other.Evidence.Load.Scenario = "admin"
	planned.Evidence.Load.Open = &load.Open{}
	m, err := FromRuns([]*store.Run{stored(1, 1, 50), stored(2, 8, 200), stored(3, 16, 300), stored(4, 16, 310), unfit, slow, other, planned, {ID: 9}}, twoHosts)
	if err != nil {
		t.Fatal(err)
	}
	if m.Axis != Users || m.Hosts != 2 || len(m.Levels) != 4 || len(m.Dropped) != 5 {
		t.Fatalf("%+v", m)
	}
	for i, want := range []string{"no evidence", "generator", "admin", "planned", "no load result"} {
		if got := m.Dropped[i]; !strings.Contains(got.Why, want) {
			t.Errorf("%s: %q, want %q", got.Source, got.Why, want)
		}
	}
	if l := m.Levels[3]; l.N != 16 || l.Source != "run 4" || l.PerSecond != 310 || l.Figures["p95"] < 1e8 {
		t.Errorf("%+v", l)
	}
	// The database's CPU allows least, 400/s.
	if c := m.Costs[0]; c.name() != "cpu of db" || math.Abs(c.PerRequest-0.010) > 1e-9 || c.Runs != 3 || math.Abs(c.Allows-400) > 1e-6 || c.Services[0] != "mariadb" {
		t.Errorf("%+v", c)
	}
	if c := m.Costs[1]; c.name() != "cpu of web" || math.Abs(c.PerRequest-0.004) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

// The utilization law counts each host by itself: 1,000/s take 10 CPUs of the
// database, of which 70 % of 4 are planned with, and 4 of the web server.
func TestCostsNeedHosts(t *testing.T) {
	m, err := FromRuns([]*store.Run{stored(1, 1, 50), stored(2, 4, 150), stored(3, 16, 300), stored(4, 16, 310), stored(5, 32, 330)}, twoHosts)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, m, Question{Rate: 1000, Headroom: 0.3})
	if db, web := p.Costs[0], p.Costs[1]; db.Needed != 4 || web.Needed != 2 || db.NeededInterval.High < 4 || db.NeededInterval.Low > 4 {
		t.Errorf("db %+v, web %+v", db, web)
	}
	if p.Need.N%2 != 0 || p.Need.N < 8 {
		t.Errorf("need %+v: whole sets of two hosts, as many as the database needs", p.Need)
	}
	if m.Costs[0].Needed != 0 {
		t.Error("the question changed what was measured")
	}
}

// Answers that fail are fast: a run with many looks as if the hosts carried more
// and a right answer cost less.
func TestFailedAnswersAreNoCapacity(t *testing.T) {
	good, few, bad := stored(1, 8, 200), stored(2, 8, 200), stored(3, 16, 600)
	few.Evidence.Load.Errors = 2     // of 2,002
	bad.Evidence.Load.Mismatches = 6 // of 6,000 is just enough
	m, err := FromRuns([]*store.Run{good, few, bad}, twoHosts)
	if err != nil || len(m.Levels) != 3 {
		t.Fatalf("%v, %+v", err, m)
	}
	bad.Evidence.Load.Mismatches = 60
	m, err = FromRuns([]*store.Run{good, few, bad}, twoHosts)
	if err != nil || len(m.Levels) != 2 || len(m.Dropped) != 1 || m.Dropped[0].Why != "1 % of the requests failed or were answered wrongly" {
		t.Fatalf("%v, %+v", err, m)
	}
	if c := m.Costs[0]; c.Runs != 2 {
		t.Errorf("costs are taken from %d runs: %+v", c.Runs, c)
	}
}

func TestNoRuns(t *testing.T) {
	if _, err := FromRuns(nil, twoHosts); !errors.Is(err, ErrNoRuns) {
		t.Errorf("got %v", err)
	}
	bad := stored(3, 8, 100)
	bad.Unfit = "the clock was set"
	if _, err := FromRuns([]*store.Run{bad}, twoHosts); !errors.Is(err, ErrNoRuns) || !strings.Contains(err.Error(), "run 3: no evidence: the clock was set") {
		t.Errorf("got %v", err)
	}
}
