package evidence

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// away is this machine under another name, some way off: every call takes a
// round trip, and its clock may be wrong.
type away struct {
	*host.Local
	name  string
	trip  time.Duration
	ahead time.Duration
	calls atomic.Int64
	dials atomic.Int64
	bytes atomic.Int64 // that came from it
}

func (a *away) Name() string { return a.name }

func (a *away) wait() { a.calls.Add(1); time.Sleep(a.trip) }

func (a *away) ReadFile(ctx context.Context, p string) ([]byte, error) {
	a.wait()
	data, err := a.Local.ReadFile(ctx, p)
	a.bytes.Add(int64(len(data)))
	return data, err
}

func (a *away) Stat(ctx context.Context, p string) (host.FileInfo, error) {
	a.wait()
	return a.Local.Stat(ctx, p)
}

func (a *away) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	a.wait()
	return a.Local.List(ctx, dir)
}

func (a *away) Run(ctx context.Context, c host.Command) (host.Result, error) {
	a.wait()
	if a.ahead != 0 && c.Argv[0] == "date" {
		return host.Result{Stdout: fmt.Appendf(nil, "%d.%09d\n", time.Now().Add(a.ahead).Unix(), time.Now().Add(a.ahead).Nanosecond())}, nil
	}
	res, err := a.Local.Run(ctx, c)
	a.bytes.Add(int64(len(res.Stdout)))
	return res, err
}

func (a *away) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	a.dials.Add(1)
	return a.Local.DialContext(ctx, network, address)
}

// onTwo is the live stack with its web server and PHP on one host and its
// database on another, both far from the machine that makes the load.
func onTwo(t testing.TB, trip time.Duration) (two *live, web, db *away) {
	l := *startLive(t)
	st := *l.st
	st.Services = slices.Clone(st.Services)
	st.Hosts = map[string]stack.HostConfig{"web1": {SSH: "web1"}, "db1": {SSH: "db1"}}
	for i := range st.Services {
		st.Services[i].Host = "web1"
		if st.Services[i].IsDatabase() {
			st.Services[i].Host = "db1"
		}
	}
	l.st = &st
	web, db = &away{Local: host.NewLocal(), name: "web1", trip: trip}, &away{Local: host.NewLocal(), name: "db1", trip: trip}
	l.hosts = map[string]host.Host{"local": host.NewLocal(), "web1": web, "db1": db}
	return &l, web, db
}

func TestTakeOnTwoHosts(t *testing.T) {
	l, _, _ := onTwo(t, time.Millisecond)
	snap, err := Take(context.Background(), l.st, l.hosts, TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(snap.Files)); !slices.Equal(got, []string{"db1", "web1"}) {
		t.Errorf("files of hosts %v", got)
	}
	if _, ok := snap.Files["db1"][l.dir+"/my.cnf"]; !ok {
		t.Error("the database's configuration is not of its host")
	}
	if f, ok := snap.Files["web1"][l.dir+"/nginx.conf"]; !ok || !f.Writable && os.Getuid() == 0 {
		t.Errorf("nginx.conf of web1: %v, writable %v", ok, f.Writable)
	}
	if _, ok := snap.Files["web1"][l.dir+"/my.cnf"]; ok {
		t.Error("the database's configuration is told of the web server's host")
	}
	for _, name := range []string{"web1", "db1"} {
		if m := snap.On(name); m.CPUs < 1 || m.Memory < 1<<28 || m.Root != (os.Getuid() == 0) {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, ok := snap.Machines["db1"]; !ok || len(snap.Machines) != 1 {
		t.Errorf("machines besides the front host: %+v", snap.Machines)
	}
	if u := snap.Users["db1/db"]; os.Getuid() == 0 && u.Name != "mysql" {
		t.Errorf("users: %+v", snap.Users)
	}
	if db := snap.Databases["db"]; db == nil || len(db.Tables) == 0 {
		t.Error("the database was not read")
	}
	for _, h := range snap.Health {
		if !h.OK {
			t.Errorf("%+v", h)
		}
	}
}

func TestCollectOnTwoHosts(t *testing.T) {
	await.SkipShort(t)
	const n = 100
	l, web, _ := onTwo(t, 5*time.Millisecond)
	l.set(t, SlowLogVariables(&Database{Version: "10.11.0-MariaDB", MariaDB: true, Variables: map[string]string{}}, l.dir+"/slow-two.log"))
	ev := collect(t, l, CollectorOptions{Generator: os.Getpid(), Diagnostic: true}, n)
	if got := ev.HostNames(); !slices.Equal(got, []string{"web1", "db1", "local"}) {
		t.Fatalf("hosts %v, want the front one first and the generator's, too", got)
	}
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		if sys.Host != name || sys.CPUs < 1 || sys.MemoryTotal <= 0 || len(sys.Samples) == 0 || sys.User+sys.Sys <= 0 || len(sys.TCP.States) == 0 {
			t.Errorf("%s: %+v", name, sys)
		}
	}
	php, db := ev.Services["php"], ev.Services["db"]
	if php.CPU <= 0 || db.CPU <= 0 || php.RSS < 1<<20 || db.RSS < 10<<20 || db.Threads < 2 || db.Voluntary <= 0 {
		t.Errorf("php %+v\ndb %+v", php, db)
	}
	if s := ev.On("db1").ServicesCPU; s != db.CPU {
		t.Errorf("services of db1 used %g s, of which the database %g", s, db.CPU)
	}
	if s := ev.System.ServicesCPU; s < php.CPU || s >= php.CPU+ev.Services["web"].CPU+db.CPU && db.CPU > 0 {
		t.Errorf("services of web1 used %g s: php %g, web %g, db (elsewhere) %g", s, php.CPU, ev.Services["web"].CPU, db.CPU)
	}
	// Who reads the files of the other hosts is this process, too.
	if ev.System.GeneratorCPU <= 0 || ev.On("db1").GeneratorCPU <= 0 || ev.On("local").GeneratorCPU <= 0 {
		t.Errorf("Kasoku's own: web1 %g, db1 %g, local %g", ev.System.GeneratorCPU, ev.On("db1").GeneratorCPU, ev.On("local").GeneratorCPU)
	}
	if a := ev.Counters["php"].Delta["www.accepted_conn"]; a < n || web.dials.Load() == 0 {
		t.Errorf("PHP-FPM's status, asked from its host: %g connections, %d dials", a, web.dials.Load())
	}
	if ev.Counters["db"].Delta["Questions"] < n {
		t.Errorf("questions: %g", ev.Counters["db"].Delta["Questions"])
	}
	if s := findStatement(ev, liveSelect); s == nil || s.Count != n {
		t.Errorf("statements: %+v", ev.Statements)
	}
	for _, name := range []string{"web1", "db1"} {
		for _, source := range []string{"system of ", "sockets of ", "control groups of ", "clock of "} {
			// Both hosts are this machine: what the other one does is foreign here.
			if h := healthOf(ev, source+name); !h.OK && (source != "system of " || !strings.Contains(h.Text, "other processes used")) {
				t.Errorf("%+v", h)
			}
		}
	}
}

// However far a host is, a reading is some round trips and not some hundreds,
// and what it tells per second does not depend on the way.
func TestReadingFromAfar(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	const trip = 50 * time.Millisecond
	l, _, db := onTwo(t, trip)
	pids, err := servicePIDs(ctx, db, l.st, l.st.Service("db"))
	if err != nil || len(pids) == 0 {
		t.Fatalf("%v %v", pids, err)
	}
	roots := map[string][]int{"db": pids}
	take := func() *reading {
		before, begun := db.calls.Load(), time.Now()
		r, err := readSystem(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		r.threads, r.unread = readThreads(ctx, db, r.table, roots)
		if n := db.calls.Load() - before; n > 3 {
			t.Errorf("a reading took %d round trips, want at most 3", n)
		}
		t.Logf("a reading of %d processes and %d threads: %s, with %s for each round trip", len(r.table), len(r.threads), time.Since(begun).Round(time.Millisecond), trip)
		return r
	}
	near, err := readSystem(ctx, host.NewLocal())
	if err != nil {
		t.Fatal(err)
	}
	first := time.Now()
	begin := take()
	if d := len(near.table) - len(begin.table); d > 20 || d < -20 {
		t.Errorf("%d processes from afar, %d from near", len(begin.table), len(near.table))
	}
	if len(begin.threads) < 2 || begin.uptime <= 0 || len(begin.nets) == 0 || begin.memory.PageCache == 0 || begin.cpus == nil {
		t.Errorf("the reading lacks something: %+v", begin)
	}
	time.Sleep(time.Second)
	db.trip = 300 * time.Millisecond // the way gets worse meanwhile
	end := take()
	if got := span(begin, end); got < time.Second || got > time.Since(first) {
		t.Errorf("between the readings lie %s", got)
	}
	sys := used(begin, end)
	all := sys.User + sys.Sys + sys.Idle + sys.IOWait + sys.Steal
	if want := float64(sys.CPUs) * span(begin, end).Seconds(); all < 0.5*want || all > 1.1*want {
		t.Errorf("%.2f CPU seconds of %d CPUs in %s by the host's own clock", all, sys.CPUs, span(begin, end))
	}
	before := db.calls.Load()
	uses := split(&sys, begin, end, roots, 0)
	finish(ctx, db, begin, end, roots, uses)
	if n := db.calls.Load() - before; n > 4 || uses["db"].RSS < 10<<20 || uses["db"].FileLimit == 0 {
		t.Errorf("memory and files: %d round trips, %+v", n, uses["db"])
	}
	s := startSampler(ctx, db, begin, time.Hour)
	db.trip = trip
	before = db.calls.Load()
	s.stop(ctx)
	s.stop(ctx) // one right after it says nothing
	if n := db.calls.Load() - before; n > 4 || len(s.samples) != 1 || s.samples[0].MemoryAvailable <= 0 {
		t.Errorf("a sample took %d round trips: %+v", n, s.samples)
	}
}

// Of a log on another host only the window's part comes over, by offset.
func TestAccessLogFromAfar(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "access.log")
	old := strings.Repeat(accessLine(time.Now().Add(-time.Hour), "/before"), 200_000)
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &away{Local: host.NewLocal(), name: "web1", trip: 20 * time.Millisecond}
	svc := stack.Service{Name: "web", Kind: stack.Nginx, Host: "web1"}
	x := &accessSource{st: &stack.Stack{}, svc: &svc, h: h, logs: []*logPart{{AccessLog: AccessLog{Path: file, Name: "timed", Text: timedText4}}}, front: true}
	x.start(ctx)
	appendLines(t, 500, 0)(file)
	x.end(ctx)
	ev := &Evidence{Load: &load.Result{Requests: 500}}
	x.tell(ctx, ev)
	var n int64
	for _, r := range ev.Routes {
		n += r.Count
	}
	if n != 500 || !healthOf(ev, "access log of web").OK {
		t.Errorf("%d requests, want 500: %+v", n, ev.Health)
	}
	part := int64(500 * len(accessLine(time.Now(), "/users/100?token=secret")))
	if got := h.bytes.Load(); got > 2*part+4096 {
		t.Errorf("%d bytes came over for a part of %d, of a log of %d", got, part, len(old))
	}
}

func TestClocks(t *testing.T) {
	ctx := context.Background()
	h := &away{Local: host.NewLocal(), name: "db1", trip: 10 * time.Millisecond}
	for _, c := range []struct {
		ahead time.Duration
		ok    bool
		says  string
	}{
		{0, true, "± "},
		{-400 * time.Millisecond, true, "behind"},
		{90 * time.Second, false, "1m30"},
		{-5 * time.Second, false, "behind"},
	} {
		h.ahead = c.ahead
		off, sure, err := clockOffset(ctx, h)
		if err != nil {
			t.Fatal(err)
		}
		if d := (off - c.ahead).Abs(); d > sure {
			t.Errorf("%s ahead: found %s ± %s", c.ahead, off, sure)
		}
		got := clockHealth("db1", off, sure, nil)
		if got.OK != c.ok || !strings.Contains(strings.ReplaceAll(got.Text, "1m29.9", "1m30"), c.says) {
			t.Errorf("%s ahead: %+v", c.ahead, got)
		}
	}
	for text, digit := range map[string]time.Duration{"1700000000.000000001\n": 0, "1700000000.%N\n": time.Second / 2, "1700000000.\n": time.Second / 2} {
		if at, d, err := parseClock(text); err != nil || d != digit || at.Unix() != 1700000000 {
			t.Errorf("%q: %v %v %v", text, at, d, err)
		}
	}
	if _, _, err := parseClock("Sun Nov 22"); err == nil {
		t.Error("a date in words was taken for a number")
	}
}

func TestEvidenceOnAHost(t *testing.T) {
	old := &Evidence{Load: &load.Result{}, System: System{CPUs: 2}}
	if s := old.On("web1"); s != &old.System {
		t.Error("a run of one host has no other")
	}
	two := &Evidence{System: System{Host: "web1", ServicesCPU: 1}, Hosts: map[string]*System{"db1": {Host: "db1", ServicesCPU: 2}}}
	if two.On("web1") != &two.System || two.On("db1") != two.Hosts["db1"] || two.On("x") != nil || two.ServicesCPU() != 3 {
		t.Error("hosts are mixed up")
	}
}

// BenchmarkReadingFromAfar tells what a reading of another host costs there:
// CPU of the programs that it starts (the helper's own reads come on top for a
// sample, four small files).
func BenchmarkReadingFromAfar(b *testing.B) {
	h := &costed{Local: host.NewLocal()}
	roots := map[string][]int{"me": {os.Getpid()}}
	n := 0
	for b.Loop() {
		r, err := readSystem(context.Background(), h)
		if err != nil {
			b.Fatal(err)
		}
		r.threads, _ = readThreads(context.Background(), h, r.table, roots)
		n = len(r.table)
	}
	b.ReportMetric(float64(h.cpu.Load())/1e6/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(n), "processes")
}

// costed is this machine as a far one, adding up the CPU time of what runs there.
type costed struct {
	*host.Local
	cpu atomic.Int64
}

func (c *costed) Run(ctx context.Context, cmd host.Command) (host.Result, error) {
	res, err := c.Local.Run(ctx, cmd)
	c.cpu.Add(int64(res.CPU))
	return res, err
}
