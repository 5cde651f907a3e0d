package evidence

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// collect makes that many requests. They may cost a fast machine less than the
// tick that CPU times come in, so this process uses some more.
func collect(t testing.TB, l *live, opts CollectorOptions, requests int) *Evidence {
	t.Helper()
	ctx := context.Background()
	c, err := NewCollector(ctx, l.st, l.hosts, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	begun := ownTicks(t)
	for i := range requests {
		if body, err := l.get(fmt.Sprintf("/?n=%d", i+1)); err != nil || body != "1" {
			t.Fatalf("%q %v", body, err)
		}
	}
	useCPU(t, begun+2)
	if err := c.End(ctx); err != nil {
		t.Fatal(err)
	}
	ev, err := c.Stop(ctx, &load.Result{Requests: int64(requests), Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func healthOf(ev *Evidence, source string) Health {
	for _, h := range ev.Health {
		if h.Source == source {
			return h
		}
	}
	return Health{Source: source, Text: "(not there)"}
}

func findStatement(ev *Evidence, fingerprint string) *Statement {
	for i := range ev.Statements {
		if ev.Statements[i].Fingerprint == fingerprint {
			return &ev.Statements[i]
		}
	}
	return nil
}

const liveUpdate = "UPDATE users SET city = ? WHERE login = ?"

const liveSelect = "SELECT id, login FROM users WHERE login = ? AND password_hash <> ?"

func TestDiagnosticRun(t *testing.T) {
	await.SkipShort(t)
	l := startLive(t)
	snap := take(t, l, TakeOptions{Brief: true})
	l.set(t, SlowLogVariables(snap.Databases["db"], ""))
	const n = 100
	ev := collect(t, l, CollectorOptions{Generator: os.Getpid(), Diagnostic: true}, n)
	for _, source := range []string{"slow log of db", "counters of db", "status of php", "generator"} {
		if h := healthOf(ev, source); !h.OK {
			t.Errorf("%+v", h)
		}
	}
	s := findStatement(ev, liveSelect)
	if s == nil {
		t.Fatalf("%q is not among %+v", liveSelect, ev.Statements)
	}
	if s.Count != n || s.RowsExamined != n*999 || s.RowsSent != n || s.FullScans != n || s.Schema != "shop" || s.Service != "db" || s.Total <= 0 {
		t.Errorf("%+v", s)
	}
	if strings.Contains(s.Example, "topsecret") || strings.Contains(s.Explain, "topsecret") || !strings.Contains(s.Example, "login = 'user") {
		t.Errorf("masking: %q %q", s.Example, s.Explain)
	}
	if !strings.Contains(s.Explain, `"table_name": "users"`) || !strings.Contains(s.Explain, `"access_type": "ALL"`) {
		t.Errorf("plan: %q", s.Explain)
	}
	if s := findStatement(ev, "INSERT INTO log(user_id, ip) VALUES (?, ?)"); s == nil || s.Count != n || s.Explain != "" {
		t.Errorf("%+v", s)
	}
	if s := findStatement(ev, liveUpdate); s == nil || s.Count != n || !strings.Contains(s.Explain, `"update": 1`) {
		t.Errorf("%+v", s)
	}
	db := ev.Counters["db"]
	if q := db.Delta["Questions"]; q < 2*n || db.Delta["Connections"] < n || db.Delta["Com_stmt_execute"] != 2*n {
		t.Errorf("Questions %g, Connections %g, executes %g", q, db.Delta["Connections"], db.Delta["Com_stmt_execute"])
	}
	if _, is := db.Delta["Threads_connected"]; is || db.Value["Threads_connected"] == "" {
		t.Error("a gauge has a delta, or no value")
	}
	if a := ev.Counters["php"].Delta["www.accepted_conn"]; a < n {
		t.Errorf("accepted_conn %g, want at least %d", a, n)
	}
	checkUse(t, ev)
}

func checkUse(t *testing.T, ev *Evidence) {
	t.Helper()
	php := ev.Services["php"]
	// pm.max_requests = 7: most workers ended within the window.
	if php.CPU <= 0 || php.Processes < 2 || php.Processes > 4 || php.RSS < 1<<20 || php.OpenFiles < 3 || php.FileLimit < 64 {
		t.Errorf("php: %+v", php)
	}
	if db := ev.Services["db"]; db.CPU <= 0 || db.RSS < 10<<20 || db.Processes != 1 {
		t.Errorf("db: %+v", db)
	}
	if web := ev.Services["web"]; web.Processes != 3 {
		t.Errorf("web: %+v", web)
	}
	if _, is := ev.Services["app"]; is {
		t.Error("an application that runs in PHP-FPM has no processes of its own")
	}
	sys := ev.System
	if len(sys.Samples) == 0 || sys.MemoryAvailable <= 0 || sys.MemoryTotal < sys.MemoryAvailable || sys.ContextSwitches <= 0 || sys.CPUs < 1 || sys.Release == "" {
		t.Errorf("system: %+v", sys)
	}
	if sys.ForeignCPU < 0 || sys.ServicesCPU < php.CPU {
		t.Errorf("CPU: %+v", sys)
	}
}

// A connection that was open before the slow log was switched on keeps its
// long_query_time; what it asks is not logged, and that is said. The server's own sums have
// it, where it keeps them.
func TestPersistentConnectionIsNoticed(t *testing.T) {
	l := startLive(t)
	ctx := context.Background()
	old, err := l.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.ExecContext(ctx, "SET SESSION long_query_time = 10"); err != nil {
		t.Fatal(err)
	}
	snap := take(t, l, TakeOptions{Brief: true})
	l.set(t, SlowLogVariables(snap.Databases["db"], ""))
	c, err := NewCollector(ctx, l.st, l.hosts, CollectorOptions{Diagnostic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := old.ExecContext(ctx, "DO 1"); err != nil {
			t.Fatal(err)
		}
	}
	ev, err := c.Stop(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := healthOf(ev, "slow log of db"); !h.OK || h.OldConnections != "" || !strings.Contains(h.Text, "persistent") || !strings.Contains(h.Text, "classes from performance_schema") {
		t.Errorf("%+v", h)
	}
	if s := findStatement(ev, "DO ?"); s == nil || s.Count != 50 {
		t.Errorf("%+v of %+v", s, ev.Statements)
	}
}

// Without a diagnostic run statements come from performance_schema.
func TestStatementDigests(t *testing.T) {
	l := startLive(t)
	const n = 10
	ev := collect(t, l, CollectorOptions{Generator: os.Getpid()}, n)
	if h := healthOf(ev, "performance_schema of db"); !h.OK || !strings.Contains(h.Text, "20 runs of server-side prepared statements") {
		t.Errorf("%+v", h)
	}
	s := findStatement(ev, liveUpdate)
	if s == nil {
		t.Fatalf("%q is not among %+v", liveUpdate, ev.Statements)
	}
	if s.Count != n || s.RowsExamined < n*999 || s.Schema != "shop" || s.Total <= 0 {
		t.Errorf("%+v", s)
	}
}

func TestDiagnosticRunWithoutSlowLog(t *testing.T) {
	l := startLive(t)
	ev := collect(t, l, CollectorOptions{Diagnostic: true}, 1)
	if h := healthOf(ev, "slow log of db"); h.OK && healthOf(ev, "performance_schema of db").OK {
		t.Errorf("%+v", h)
	}
}

func TestCollectorOrder(t *testing.T) {
	l := startLive(t)
	ctx := context.Background()
	c, err := NewCollector(ctx, l.st, l.hosts, CollectorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stop(ctx, nil); err == nil {
		t.Error("Stop before Start gave no error")
	}
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(ctx); err == nil {
		t.Error("a second Start gave no error")
	}
	done := make(chan error)
	go func() { done <- c.End(ctx) }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stop(ctx, nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
}

// What cannot be had is told, and the rest is there.
func TestCollectorWithoutDatabase(t *testing.T) {
	l := startLive(t)
	st := *l.st
	st.Services = append([]stack.Service{}, l.st.Services...)
	for i := range st.Services {
		if st.Services[i].Name == "db" {
			login := *st.Services[i].Login
			login.User = "nobody"
			st.Services[i].Login = &login
		}
	}
	broken := *l
	broken.st = &st
	ev := collect(t, &broken, CollectorOptions{}, 1)
	if h := healthOf(ev, "counters of db"); h.OK || !strings.Contains(h.Text, "nobody") {
		t.Errorf("%+v", h)
	}
	if ev.Services["db"].RSS == 0 {
		t.Errorf("%+v", ev.Services["db"])
	}
}

func TestSplitFPMStatus(t *testing.T) {
	got, err := parseFPMStatus([]byte(`{"pool":"www","listen queue":2,"max children reached":3,"accepted conn":10}`), "/status")
	if err != nil || got["listen_queue"] != "2" || got["pool"] != "www" {
		t.Errorf("%v %v", got, err)
	}
	d, down := countDelta(map[string]string{"www.accepted_conn": "4", "www.listen_queue": "9"}, map[string]string{"www.accepted_conn": "10", "www.listen_queue": "2"}, fpmCount)
	if d.Delta["www.accepted_conn"] != 6 || len(d.Delta) != 1 || down != 0 {
		t.Errorf("%v", d.Delta)
	}
	for listen, want := range map[string]string{"9000": "127.0.0.1:9000", "*:9000": "127.0.0.1:9000", "/run/a.sock": "/run/a.sock", "[::]:9": "127.0.0.1:9", "10.0.0.1:9000": "10.0.0.1:9000"} {
		if got := fpmAddress(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func BenchmarkCollector(b *testing.B) {
	l := startLive(b)
	ctx := context.Background()
	for b.Loop() {
		b.StopTimer()
		c, err := NewCollector(ctx, l.st, l.hosts, CollectorOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := c.Start(ctx); err != nil {
			b.Fatal(err)
		}
		if err := c.End(ctx); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		c.Close()
		b.StartTimer()
	}
}
