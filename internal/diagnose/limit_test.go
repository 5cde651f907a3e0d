package diagnose

import (
	"math"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Two CPUs, 36 ms of CPU per request, 15 of them the database's, as field/directus had them,
// and one process of Node that takes half of it, so that it is at work nine tenths of the
// time. However many scans go, that process stays. By hand it came to ×1.27 there.
func TestOneThreadLimitsWhatOthersBring(t *testing.T) {
	world := func() Input {
		return Input{
			Stack:    &stack.Stack{Services: []stack.Service{{Name: "db", Kind: stack.MariaDB}, {Name: "api", Kind: stack.App}}},
			Snapshot: &evidence.Snapshot{},
			Evidence: &evidence.Evidence{
				Load:     &load.Result{Workload: 6, Window: 10 * time.Second, Requests: 550, Succeeded: 550, Routes: []load.RouteResult{{Route: "GET /", Requests: 550, Total: 59 * time.Second}}},
				System:   evidence.System{CPUs: 2, User: 18, Sys: 1.8, Idle: 0.2},
				Services: map[string]evidence.ServiceUse{"db": {CPU: 8.25, Processes: 1, Busiest: 1.5}, "api": {CPU: 9.9, Processes: 1, Busiest: 8.8}},
			},
		}
	}
	limit := func(change func(*Input)) float64 {
		in := world()
		change(&in)
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		return m.limit("db")
	}
	use := func(in *Input, f func(*evidence.ServiceUse)) {
		u := in.Evidence.Services["api"]
		f(&u)
		in.Evidence.Services["api"] = u
	}
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   float64 // 0: nothing limits
	}{
		{"one thread", func(*Input) {}, 1 / 0.88 / (1 - interference*8.25/19.8)},
		{"its processes share the work", func(in *Input) { use(in, func(u *evidence.ServiceUse) { u.Processes = 3 }) }, 0},
		{"its threads share the work", func(in *Input) { use(in, func(u *evidence.ServiceUse) { u.Busiest = 4 }) }, 0},
		{"it has been full from the start", func(in *Input) { use(in, func(u *evidence.ServiceUse) { u.Busiest, u.CPU = 10, 10 }) }, 1 / (1 - interference*8.25/19.8)},
		{"users who pause longer than they wait", func(in *Input) {
			use(in, func(u *evidence.ServiceUse) { u.Busiest = 4 })
			in.Evidence.Load.Workload = 20
		}, 20 / (19.8/550 - 8.25/550 + 20.0/55 - 5.9/55) / 55},
		{"a guess at the users", func(in *Input) {
			use(in, func(u *evidence.ServiceUse) { u.Busiest = 4 })
			in.Evidence.Load.Workload, in.Evidence.Load.UsersAssumed = 20, true
		}, 0},
		{"a network", func(in *Input) {
			use(in, func(u *evidence.ServiceUse) { u.Busiest = 4 })
			in.Evidence.System.Networks = []evidence.NetworkUse{{Name: "eth0", SendBytes: 100e6, SpeedBytes: 125e6}}
		}, 1.25},
	} {
		if got := limit(c.change); math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("%s: ×%.3f, want ×%.3f", c.name, got, c.want)
		}
	}
	d, err := Diagnose(withScan(world()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Rule == "db.full-scan" && (f.Limit < 1.2 || f.Limit > 1.5) {
			t.Errorf("a scan's finding is limited to ×%.2f", f.Limit)
		}
	}
}

func withScan(in Input) Input {
	in.Evidence.Statements = []evidence.Statement{{Service: "db", Fingerprint: "SELECT * FROM articles WHERE slug = ?", Count: 550, Total: 8 * time.Second, RowsExamined: 550 * 20000, RowsSent: 550}}
	return in
}
