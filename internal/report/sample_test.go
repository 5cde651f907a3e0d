package report

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// start of the sample session.
var start = time.Date(2025, 6, 3, 14, 2, 0, 0, time.UTC)

// sampleStore holds one session of a small web shop, as `kasoku tune` stores
// it: kept steps, rejected ones of every kind, wrong answers, unfit runs.
func sampleStore(t *testing.T) (*store.Store, int64) {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	b := &sampler{t: t, st: st, rng: rand.New(rand.NewPCG(1, 2))}
	b.session = &store.Session{Command: "tune", Stack: "bookshop", Started: start, Ended: start.Add(41*time.Minute + 12*time.Second), Budget: time.Hour,
		State: "done", Stopped: "nothing that is left could bring more than the smallest effect worth keeping",
		AsFound: 118.4, Final: 4037, AfterRestart: 3985, AsFoundWorkload: 8, FinalWorkload: 32, Binds: "cpu: php",
		BindsText: "CPU is 97 % busy; php uses 402 µs of the 655 µs per request", Allowed: []string{"observability"},
		Refusals: []remedy.Refusal{
			{Plan: remedy.Plan{Title: "Flush the redo log once a second instead of at every commit", Bound: 1.42}, Why: "it trades durability, which the regulation does not allow"},
			{Plan: remedy.Plan{Title: "Cache the front page for a second", Bound: 1.9}, Why: "it trades staleness, which the regulation does not allow"}}}
	b.check(st.SaveSession(b.session))
	b.session.AsFoundRun = b.diagnostic(8, before())
	b.steps()
	b.session.Compared = &store.Compared{By: store.ByPairs, AsFound: 118.4, Final: 4037, Factor: 4037 / 118.4, Low: 31.9, High: 36.4, Pairs: 3,
		SameLoad: &store.Compared{By: store.ByPairs, AsFound: 118.4, Final: 3611, Factor: 3611 / 118.4, Low: 28.8, High: 32.3, Pairs: 3}}
	b.session.FinalAsFoundLoad = 3611
	b.session.FinalRun = b.diagnostic(32, after())
	b.run(store.Scored, 0, "", 4037, "processes outside the stack used 23 % of the CPU")
	b.check(st.SaveSession(b.session))
	return st, b.session.ID
}

type sampler struct {
	t       *testing.T
	st      *store.Store
	rng     *rand.Rand
	session *store.Session
	seq     int
	level   float64
}

func (b *sampler) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *sampler) run(kind string, step int64, side experiment.Side, score float64, unfit string, wrong ...load.Mismatch) int64 {
	r := &store.Run{Session: b.session.ID, Step: step, Kind: kind, Side: side, Started: start, Score: score, Unfit: unfit}
	if len(wrong) > 0 {
		r.Evidence = &evidence.Evidence{Load: &load.Result{Mismatches: int64(len(wrong)), Samples: wrong}}
	}
	b.check(b.st.SaveRun(r))
	return r.ID
}

func (b *sampler) diagnostic(workload int, ev *evidence.Evidence) int64 {
	ev.Load.Workload = workload
	r := &store.Run{Session: b.session.ID, Kind: store.Diagnostic, Started: start, Label: "with statements recorded", ConfigHash: strings.Repeat(fmt.Sprintf("%02x", workload), 32), Evidence: ev, Diagnosis: diagnosis(ev)}
	b.check(b.st.SaveRun(r))
	return r.ID
}

// step stores one experiment whose effect, 95 % interval and outcome are given.
func (b *sampler) step(o experiment.Outcome, title, why string, effect, half float64, pairs int, more func(*store.Step)) {
	b.seq++
	if b.level == 0 {
		b.level = b.session.AsFound
	}
	s := &store.Step{Session: b.session.ID, Seq: b.seq, Started: start, Ended: start.Add(time.Minute), Binding: "cpu: db",
		Plan: remedy.Plan{ID: fmt.Sprint("p", b.seq), Title: title, Why: why, Bound: 1 + 2*effect}, Kept: o == experiment.Improved,
		Verdict: experiment.Verdict{Outcome: o, Effect: effect, Low: (1+effect)/(1+half) - 1, High: (1+effect)*(1+half) - 1, Pairs: pairs, Runs: 2 * pairs,
			Took: time.Duration(pairs) * 14 * time.Second, BaselineScore: b.level * (0.98 + 0.04*b.rng.Float64())}}
	s.Verdict.CandidateScore = s.Verdict.BaselineScore * (1 + effect)
	if pairs == 0 {
		s.Verdict = experiment.Verdict{Outcome: o, Runs: 1, Took: 9 * time.Second}
	}
	if s.Kept {
		s.Tx = int64(b.seq + 3)
		b.level = s.Verdict.CandidateScore
	}
	b.check(b.st.SaveStep(s))
	for i := range 2 * pairs {
		b.run(store.Scored, s.ID, []experiment.Side{experiment.Baseline, experiment.Candidate}[i%2], b.level, "")
	}
	if more != nil {
		more(s)
	}
	b.check(b.st.SaveStep(s))
}

func (b *sampler) steps() {
	reason := func(text string) func(*store.Step) {
		return func(s *store.Step) { s.Verdict.Reason = text }
	}
	b.step(experiment.Improved, "Index orders (customer_id, created_at)", "db reads many rows to find a few: 3 statement classes take 91 % of its statement time (17.4 of 19.1 s); for each row that is returned, thousands are examined.", 8.9, 0.07, 3, func(s *store.Step) {
		s.Verdict.Reason = "p = 0.0004 after 3 pairs, below 0.0024"
		s.Plan.Changes = []change.Change{
			{Kind: change.KindIndex, Service: "db", Command: "CREATE INDEX `kasoku_customer_created` ON `shop`.`orders` (customer_id, created_at)"},
			{Kind: change.KindIndex, Service: "db", Command: "CREATE INDEX `kasoku_email` ON `shop`.`customers` (email)"}}
		s.Diffs = []store.Diff{{Title: "db", Kind: "sql", Text: "CREATE INDEX `kasoku_customer_created` ON `shop`.`orders` (customer_id, created_at)"},
			{Title: "db", Kind: "sql", Text: "CREATE INDEX `kasoku_email` ON `shop`.`customers` (email)"}}
	})
	b.step(experiment.Improved, "Serve static files from nginx instead of PHP", "6 files are copies of files on disk and take 38 % of the requests through php.", 0.62, 0.05, 3, func(s *store.Step) {
		s.Verdict.Reason = "p = 0.0009 after 3 pairs, below 0.0024"
		s.Diffs = []store.Diff{{Title: "/etc/nginx/conf.d/shop.conf", Kind: "file", Text: "--- /etc/nginx/conf.d/shop.conf\n+++ /etc/nginx/conf.d/shop.conf\n@@ -3,8 +3,15 @@ server {\n     listen 8080;\n     root /srv/shop/public;\n \n+    location ~ ^/(css|img|js)/ {\n+        root /srv/shop/public;\n+        access_log off;\n+    }\n+\n     location / {\n-        fastcgi_pass 127.0.0.1:9000;\n+        fastcgi_pass unix:/run/php/shop.sock; # a long comment that runs far beyond the width of a phone, to see whether the block scrolls\n     }\n"}}
		s.Plan.Trades = []regulation.Trade{regulation.Observability}
	})
	b.step(experiment.NoDifference, "Raise worker_connections to 4096", "nginx has 512 connections for each worker.", 0.003, 0.016, 6, reason("an effect above +1.9 % is unlikely, and a smaller one cannot be shown in 10 pairs"))
	b.step(experiment.Improved, "Turn OPcache on", "opcache.enable is 0, so every request compiles 41 files.", 0.48, 0.04, 3, reason("p = 0.0006 after 3 pairs, below 0.0024"))
	b.step(experiment.Broke, "Let nginx cache answers of GET /cart for a second, which is a title that is far too long for its column and must be cut", "GET /cart takes 22 % of the time.", 1.8, 0.2, 2, func(s *store.Step) {
		s.Verdict.Reason = "the candidate gave 14 wrong answers in 5,120 requests, the baseline none: GET /cart: expected to contain \"2 books\", got a page without it"
		s.Verdict.Samples = []experiment.Sample{{Side: experiment.Baseline, RunID: 1}, {Side: experiment.Candidate, Mismatches: 14,
			RunID: b.run(store.Scored, s.ID, experiment.Candidate, 900, "", load.Mismatch{Step: "cart", Request: "GET /cart", Expected: `contains "2 books"`, Got: `200, without "2 books"`,
				Body: "<!DOCTYPE html>\n<html><head><title>Cart</title></head>\n<body><h1>Cart of Ms. Example</h1>\n<p>Your cart is empty.</p>\n<script>alert('not run')</script></body></html>\n"})}}
	})
	b.step(experiment.Improved, "pm.max_children of pool www: 12", "7.9 requests are under way on average and pool www has 4 processes, while CPU is 71 % busy.", 0.31, 0.06, 4, func(s *store.Step) {
		s.Verdict.Reason, s.Chosen = "p = 0.0011 after 4 pairs, below 0.0024", 12
		s.Diffs = []store.Diff{{Title: "/etc/php/8.2/fpm/pool.d/www.conf", Kind: "file", Text: "--- /etc/php/8.2/fpm/pool.d/www.conf\n+++ /etc/php/8.2/fpm/pool.d/www.conf\n@@ -112,5 +112,5 @@\n pm = static\n-pm.max_children = 4\n+pm.max_children = 12\n"}}
		s.Plan.Changes = []change.Change{{Kind: change.KindFile, Command: "sed -i 's/^pm.max_children = .*/pm.max_children = 12/' /etc/php/8.2/fpm/pool.d/www.conf && systemctl reload php8.2-fpm"}}
	})
	b.step(experiment.Regressed, "Compress text with gzip", "42 % of the bytes are text that is sent as it is.", -0.118, 0.03, 4, reason("p = 0.0016 after 4 pairs, below 0.0024"))
	b.step(experiment.Failed, "Keep connections from PHP to the database", "Connections of db: one for each request.", 0, 0, 0, reason("php did not answer within 30 s after the restart: connect 127.0.0.1:9000: connection refused"))
	b.step(experiment.Inconclusive, "Raise table_open_cache to 4000", "Opened_tables grows by 3 a second.", 0.021, 0.09, 10, func(s *store.Step) {
		s.Verdict.Reason = "10 pairs do not show it either way"
		s.Verdict.Warnings = []experiment.Warning{{Text: "run 61 of the baseline was repeated: processes outside the stack used 23 % of the CPU"}, {Text: "the interval is 18 % wide: stop other work on this machine, or lengthen the window"}}
	})
	b.step(experiment.Improved, "Raise the workload from 8 to 32 users", "CPU is 78 % busy with 8 users.", 0.12, 0.03, 4, func(s *store.Step) {
		s.Verdict.Reason, s.Plan.Workload, s.Tx = "p = 0.0019 after 4 pairs, below 0.0024", 32, 0
	})
}

func route(name string, n int64, p50, p99 time.Duration, failed int64) load.RouteResult {
	return load.RouteResult{Route: name, Requests: n, Succeeded: n - failed, Failed: failed, Total: time.Duration(n) * p50 * 11 / 10,
		Latency: load.Percentiles{P50: p50, P99: p99}, Good: n - failed, Objective: 500 * time.Millisecond,
		Apdex: index(float64(n-failed) / float64(n)), ApdexT: 500 * time.Millisecond}
}

func index(v float64) *float64 { return &v }

func statement(fingerprint string, n int64, each time.Duration, rows int64) evidence.Statement {
	return evidence.Statement{Service: "db", Schema: "shop", Fingerprint: fingerprint, Count: n, Total: time.Duration(n) * each, RowsExamined: n * rows}
}

func before() *evidence.Evidence {
	return &evidence.Evidence{
		Load: &load.Result{Scenario: "shop", Seed: 7, Engine: "epoll", Warmup: 30 * time.Second, WarmupTook: 4 * time.Second, Window: 10 * time.Second, Requests: 1190, Succeeded: 1186, RequestsPerSecond: 119, Goodput: 118.6, Apdex: index(0.96),
			Latency: load.Percentiles{P50: 51 * time.Millisecond, P99: 240 * time.Millisecond},
			Routes: []load.RouteResult{route("GET /orders", 260, 131*time.Millisecond, 290*time.Millisecond, 0), route("POST /login", 150, 88*time.Millisecond, 190*time.Millisecond, 4),
				route("GET /cart", 270, 44*time.Millisecond, 120*time.Millisecond, 0), route("GET /css/site.css", 510, 6*time.Millisecond, 31*time.Millisecond, 0)}},
		System:   evidence.System{Host: "local", Release: "6.1.0-18-amd64", MemoryTotal: 4 << 30, CPUs: 2, User: 16.1, Sys: 2.6, GeneratorCPU: 0.41, ForeignCPU: 0.22},
		Services: map[string]evidence.ServiceUse{"db": {CPU: 13.9}, "php": {CPU: 3.6}, "web": {CPU: 0.31}},
		Statements: []evidence.Statement{
			statement("SELECT o.id, o.total, o.created_at FROM orders o WHERE o.customer_id = ? ORDER BY o.created_at DESC LIMIT ?", 260, 58*time.Millisecond, 150_000),
			statement("SELECT * FROM customers WHERE email = ?", 150, 19*time.Millisecond, 48_211),
			statement("SELECT b.title, b.price, i.quantity FROM cart_items i JOIN books b ON b.id = i.book_id WHERE i.cart_id = ?", 270, 1400*time.Microsecond, 4)},
		Health: []evidence.Health{{Source: "system", OK: true}, {Source: "php-fpm status of php", Text: "the pool has no status page"}}}
}

func after() *evidence.Evidence {
	return &evidence.Evidence{
		Load: &load.Result{Scenario: "shop", Seed: 7, Engine: "epoll", Warmup: 30 * time.Second, WarmupTook: 4 * time.Second, Window: 10 * time.Second, Requests: 28110, Succeeded: 28110, RequestsPerSecond: 2811,
			Latency: load.Percentiles{P50: 9800 * time.Microsecond, P99: 41 * time.Millisecond},
			Routes: []load.RouteResult{route("GET /cart", 6400, 14*time.Millisecond, 44*time.Millisecond, 0), route("GET /orders", 6100, 13*time.Millisecond, 41*time.Millisecond, 0),
				route("POST /login", 3500, 15*time.Millisecond, 50*time.Millisecond, 0), route("GET /css/site.css", 12000, 900*time.Microsecond, 7*time.Millisecond, 0)}},
		System:   evidence.System{Host: "local", Release: "6.1.0-18-amd64", MemoryTotal: 4 << 30, CPUs: 2, User: 13.9, Sys: 5.5, GeneratorCPU: 2.3, ForeignCPU: 0.2},
		Services: map[string]evidence.ServiceUse{"db": {CPU: 3.9}, "php": {CPU: 11.3}, "web": {CPU: 1.7}},
		Versions: map[string]string{"db": "MariaDB 10.11.6-MariaDB", "php": "PHP 8.2.29", "web": "nginx 1.22.1"},
		Statements: []evidence.Statement{
			statement("SELECT b.title, b.price, i.quantity FROM cart_items i JOIN books b ON b.id = i.book_id WHERE i.cart_id = ?", 6400, 260*time.Microsecond, 4),
			statement("SELECT o.id, o.total, o.created_at FROM orders o WHERE o.customer_id = ? ORDER BY o.created_at DESC LIMIT ?", 6100, 180*time.Microsecond, 10),
			statement("SELECT * FROM customers WHERE email = ?", 3500, 120*time.Microsecond, 1)}}
}

func diagnosis(ev *evidence.Evidence) *diagnose.Diagnosis {
	d := &diagnose.Diagnosis{Binds: "cpu: php", BindsText: "CPU is 97 % busy",
		Findings: []diagnose.Finding{
			{Rule: "php.cpu", Title: "Rendering pages takes most of the CPU that is left", Text: "php uses 402 µs of the 655 µs per request; no configuration is known to lower it.", Bound: 1.31,
				Formula: "min(2 CPUs, 32 users) / (655 µs − 155 µs CPU per request) = 3997/s, against 3053/s now", Evidence: []string{"CPU of php: 11.3 s in 10 s", "profile: 38 % in template rendering"},
				Unplanned: "php_admin_value sets it already"},
			{Rule: "web.access-log", Title: "Every request is logged unbuffered", Text: "web writes one line for each of 2,811 requests/s.", Bound: 1.02}},
		NotJudged: []diagnose.NotJudged{{Rule: "disk.latency", Why: "the kernel gives no time for this disk"}}}
	ok := float64(ev.Load.Succeeded)
	for _, name := range []string{"db", "php", "web"} {
		d.Demands = append(d.Demands, diagnose.Demand{Resource: "cpu: " + name, Utilization: ev.Services[name].CPU / 20, PerRequest: ev.Services[name].CPU / ok, MaxThroughput: 2 * ok / ev.Services[name].CPU})
	}
	busy := (13.9 + 3.9 + 1) / 20
	d.Demands = append(d.Demands, diagnose.Demand{Resource: "cpu", Utilization: busy, PerRequest: 20 * busy / ok, MaxThroughput: ok / busy / 10})
	d.Next = []diagnose.Next{{Resource: "cpu", MaxThroughput: ok / busy / 10, Factor: 1 / busy, Text: "cpu allows more"}, {Resource: "workers: php", MaxThroughput: ok / 5, Factor: 2, Text: "workers: php allows twice as much"}}
	return d
}
