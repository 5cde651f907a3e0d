package web

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/trace"
)

// What a hostile target may write into names that pages show.
const (
	hostileRoute = `GET /<script>alert("route")</script>'"` + "\x1b[31m\u202e"
	hostileSQL   = `SELECT '</pre><img src=x onerror=alert(1)>' FROM t WHERE a = ?`
	hostileAgent = `Mozilla"><svg onload=alert(2)>`
	secretValue  = "hunter2hunter2"
)

// sample is a project with one session under way, a finished one and a journal.
type sample struct {
	dir     string
	store   *store.Store
	session int64
	before  int64 // diagnostic runs
	after   int64
	kept    int64 // journal entry in force
	file    string
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var begun = time.Now().UTC().Add(-21 * time.Minute).Truncate(time.Second)

func newSample(t testing.TB) *sample {
	t.Helper()
	root := t.TempDir()
	p := &sample{dir: filepath.Join(root, ".kasoku"), file: filepath.Join(root, "web.conf")}
	var err error
	p.store, err = store.Open(p.dir)
	must(t, err)
	t.Cleanup(func() { p.store.Close() })
	p.journal(t)
	s := &store.Session{Command: "tune", Stack: "bookshop", Started: begun, Budget: time.Hour, State: "running", AsFound: 118.4, AsFoundWorkload: 8,
		BindsText: "CPU is 97 % busy; php uses 402 µs of the 655 µs per request", Binds: "cpu: php",
		Refusals: []remedy.Refusal{{Plan: remedy.Plan{Title: "Flush the redo log once a second", Bound: 1.42}, Why: "it trades durability"}}}
	must(t, p.store.SaveSession(s))
	p.session = s.ID
	p.before = p.run(t, 119, "as found", 51*time.Millisecond, 1)
	p.after = p.run(t, 2811, "at the end", 10*time.Millisecond, 8)
	s.AsFoundRun, s.FinalRun = p.before, p.after
	must(t, p.store.SaveSession(s))
	p.steps(t)
	return p
}

// run stores a diagnostic run in which everything is faster by a factor.
func (p *sample) run(t testing.TB, rate float64, label string, p50 time.Duration, faster float64) int64 {
	t.Helper()
	n := int64(rate * 10)
	ev := &evidence.Evidence{
		Load: &load.Result{Workload: 8, Window: 10 * time.Second, Requests: n, Succeeded: n - 3, RequestsPerSecond: rate, Mismatches: 3,
			Latency: load.Percentiles{P50: p50, P99: 4 * p50},
			Samples: []load.Mismatch{{Request: hostileRoute, Expected: "200", Got: "500", Step: "cart"}},
			Routes: []load.RouteResult{
				{Route: "GET /orders", Requests: n / 2, Succeeded: n / 2, Total: 3 * time.Second, Latency: load.Percentiles{P50: p50, P99: 3 * p50}},
				{Route: hostileRoute, Requests: n / 3, Succeeded: n / 3, Total: time.Second, Latency: load.Percentiles{P50: p50 / 2, P99: p50}}}},
		System: evidence.System{Host: "local", CPUs: 2, User: 15, Sys: 3, Idle: 2, GeneratorCPU: 0.4, ForeignCPU: 0.2, MemoryTotal: 4 << 30, MemoryAvailable: 2 << 30, RunQueue: 3.2},
		Services: map[string]evidence.ServiceUse{"db": {CPU: 13.9 / faster, Processes: 1, RSS: 400 << 20}, "php": {CPU: 3.6, Processes: 4, RSS: 120 << 20},
			"web": {CPU: 0.31, Processes: 2, RSS: 12 << 20}},
		Statements: []evidence.Statement{
			{Service: "db", Schema: "shop", Fingerprint: "SELECT o.id, o.total FROM orders o WHERE o.customer_id = ? ORDER BY o.created_at DESC LIMIT ?", Count: n / 2,
				Total: time.Duration(9e9 / faster), RowsExamined: n * 1000, Example: "SELECT o.id, o.total FROM orders o WHERE o.customer_id = 17 AND password = '" + secretValue + "'",
				Explain: `{"query_block":{"select_id":1,"table":{"table_name":"o","access_type":"ALL","rows":150000}}}`},
			{Service: "db", Schema: "shop", Fingerprint: hostileSQL, Count: n / 3, Total: time.Second, RowsExamined: n},
			{Service: "db", Schema: "shop", Fingerprint: "SELECT b.title FROM cart_items i JOIN books b ON b.id = i.book_id WHERE i.cart_id = ?", Count: n / 3, Total: 700 * time.Millisecond}},
		Routes: []digest.Route{{Service: "web", Method: "GET", Route: "/orders", Count: n / 2, Share: 0.7, Example: "/orders?q=" + hostileAgent}},
		Logs:   []evidence.LogLine{{Service: "web", Level: "error", Text: "upstream failed, agent: " + hostileAgent + " password=" + secretValue, Count: 4}},
		Requests: &trace.Summary{Requests: 40, Patterns: []trace.Pattern{{Kind: trace.NPlusOne, Measures: []string{"I04"}, Method: "GET", Route: "/orders", Service: "db", System: trace.SQL, Keys: []string{"id"},
			What: "SELECT b.title FROM books b WHERE b.id = ?", After: hostileSQL, PerRequest: 40, Most: 52, Could: 1, Requests: 20, With: 20, Took: 12 * time.Millisecond, Better: "SELECT … WHERE id IN (?, …)", Sources: []string{"app/orders.php:120"}}}},
		Health: []evidence.Health{{Source: "system", OK: true, Text: "20 samples"}, {Source: "php-fpm status of php", Text: "the pool has no status page; the first line that does not fit its log's format: " + hostileAgent}},
		Profiles: []evidence.Profile{{Service: "php", Tool: "excimer", Samples: 400, Period: time.Millisecond, Data: profileBytes(t),
			Top: []evidence.ProfileFrame{{Function: "Template::render", File: "app/template.php:40", Self: 0.4, Total: 0.7}, {Function: hostileAgent, Self: 0.2, Total: 0.2}}}},
	}
	for i := range 20 {
		ev.System.Samples = append(ev.System.Samples, evidence.SystemSample{At: time.Duration(i) * 500 * time.Millisecond, Busy: 0.9 + 0.01*float64(i%8), Runnable: 2 + i%3, MemoryAvailable: 2<<30 - int64(i)<<20})
	}
	d := &diagnose.Diagnosis{Binds: "cpu: php", BindsText: "CPU is 97 % busy; php uses most of it",
		Demands: []diagnose.Demand{{Resource: "cpu: php", Utilization: 0.71, PerRequest: 4e-4, MaxThroughput: 4100}, {Resource: "cpu: db", Utilization: 0.2, PerRequest: 1e-4, MaxThroughput: 14000},
			{Resource: "disk", Utilization: 0.04, PerRequest: 1e-5, MaxThroughput: 90000}},
		Findings: []diagnose.Finding{{Rule: "php.cpu", Service: "php", Title: "Rendering takes most of the CPU that is left", Text: "php uses 402 µs of the 655 µs per request.", Bound: 1.31, Formula: "2 CPUs / 655 µs", Evidence: []string{"CPU of php: 11.3 s in 10 s"}, Source: "app/template.php:40"},
			{Rule: "app.n-plus-one", Service: "db", Title: "One statement for each row of another: " + hostileSQL, Text: "GET /orders runs it 40 times.", Bound: 1.2, Source: "app/orders.php:120"}},
		NotJudged: []diagnose.NotJudged{{Rule: "disk.latency", Why: "the kernel gives no time for this disk"}}}
	r := &store.Run{Session: p.session, Kind: store.Diagnostic, Label: label, Started: begun, Score: rate, Evidence: ev, Diagnosis: d, ConfigHash: fmt.Sprintf("%010x", n)}
	must(t, p.store.SaveRun(r))
	return r.ID
}

// steps of every kind.
func (p *sample) steps(t testing.TB) {
	t.Helper()
	level := 118.4
	for i, x := range []struct {
		title, why, reason string
		outcome            experiment.Outcome
		effect, half       float64
	}{
		{"Index orders (customer_id, created_at)", "db reads many rows to find a few: 3 statement classes take 91 % of its time.", "p = 0.0004 after 3 pairs", experiment.Improved, 8.9, 0.07},
		{"Raise worker_connections to 4096", "nginx has 512 connections for each worker.", "an effect above +1.9 % is unlikely", experiment.NoDifference, 0.003, 0.016},
		{"Let nginx cache answers of " + hostileRoute, "It takes 22 % of the time.", "the candidate gave 14 wrong answers, api_key=" + secretValue, experiment.Broke, 1.8, 0.2},
		{"Turn OPcache on", "opcache.enable is 0, so every request compiles 41 files.", "p = 0.0006 after 3 pairs", experiment.Improved, 0.48, 0.04},
		{"Compress text with gzip", "42 % of the bytes are text that is sent as it is.", "p = 0.0016 after 4 pairs", experiment.Regressed, -0.118, 0.03},
		{"Keep connections to the database", "One connection for each request.", "php did not answer within 30 s", experiment.Failed, 0, 0},
	} {
		s := &store.Step{Session: p.session, Seq: i + 1, Started: begun, Ended: begun.Add(time.Minute), Binding: "cpu: db", Kept: x.outcome == experiment.Improved,
			Plan: remedy.Plan{ID: fmt.Sprint("p", i), Title: x.title, Why: x.why, Bound: 2},
			Verdict: experiment.Verdict{Outcome: x.outcome, Reason: x.reason, Effect: x.effect, Low: (1+x.effect)/(1+x.half) - 1, High: (1+x.effect)*(1+x.half) - 1,
				Pairs: 3, Runs: 6, Took: 40 * time.Second, BaselineScore: level, CandidateScore: level * (1 + x.effect)},
			Diffs: []store.Diff{{Title: "/etc/nginx/nginx.conf", Kind: "file", Text: "--- /etc/nginx/nginx.conf\n+++ /etc/nginx/nginx.conf\n@@ -3,3 +3,3 @@\n worker_processes 1;\n-worker_connections 512;\n+worker_connections 4096; # a long comment that runs far beyond the width of a phone </pre><script>alert(3)</script>\n"}}}
		if s.Kept {
			s.Tx = p.kept
			level = s.Verdict.CandidateScore
		}
		must(t, p.store.SaveStep(s))
		for range 2 {
			must(t, p.store.SaveRun(&store.Run{Session: p.session, Step: s.ID, Kind: store.Scored, Side: experiment.Candidate, Label: "candidate of " + x.title, Started: begun, Score: level}))
		}
	}
}

// journal keeps one change of a real file, and puts another back.
func (p *sample) journal(t testing.TB) {
	t.Helper()
	x, err := change.Open(t.Context(), change.Options{Dir: p.dir})
	must(t, err)
	defer x.Close()
	must(t, os.WriteFile(p.file, []byte("worker_connections 512;\n"), 0o640))
	state := func(text string) *change.FileState {
		return &change.FileState{Hash: host.HashOf([]byte(text)), Content: []byte(text), Mode: 0o640, UID: os.Getuid(), GID: os.Getgid()}
	}
	apply := func(title, from, to string) int64 {
		tx, err := x.Apply(t.Context(), change.Intent{Title: title, Changes: []change.Change{{Kind: change.KindFile, Path: p.file, Before: state(from), After: state(to)}}})
		must(t, err)
		return tx.ID
	}
	const one, two = "worker_connections 512;\n", "worker_connections 4096; # </pre><script>alert(4)</script>\ndb_password = \"" + secretValue + "\";\n"
	id := apply("Try "+hostileRoute+" with password="+secretValue, one, "worker_connections 1;\n")
	must(t, x.Revert(t.Context(), id))
	p.kept = apply("Raise worker_connections", one, two)
	must(t, x.Keep(t.Context(), p.kept))
}

// putBack is Options.Undo as the command has it.
func (p *sample) putBack(ctx context.Context, tx int64) error {
	x, err := change.Open(ctx, change.Options{Dir: p.dir})
	if err != nil {
		return err
	}
	defer x.Close()
	return x.Undo(ctx, tx, false)
}

// profileBytes is a small profile in pprof's format.
func profileBytes(t testing.TB) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e6}
	names := []string{"main", "Shop::orders", "Template::render", "</script><script>alert(5)</script>", "Db::query"}
	for i, n := range names {
		f := &profile.Function{ID: uint64(i + 1), Name: n, Filename: "/etc/passwd"}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f, Line: 3}}})
	}
	stack := func(v int64, at ...int) {
		s := &profile.Sample{Value: []int64{v}}
		for _, i := range at {
			s.Location = append([]*profile.Location{p.Location[i]}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	stack(4e8, 0, 1, 2)
	stack(2e8, 0, 1, 3)
	stack(1e8, 0, 1, 4)
	stack(5e7, 0)
	var b bytes.Buffer
	must(t, p.Write(&b))
	return b.Bytes()
}
