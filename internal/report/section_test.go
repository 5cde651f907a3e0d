package report

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// fullEvidence has one of everything; text is what the target chose.
func fullEvidence(text string) *evidence.Evidence {
	ms := time.Millisecond
	ev := before()
	ev.Routes = []digest.Route{
		{Service: "web", Method: "GET", Route: "/本/:id" + text, Count: 900, Status: [6]int64{2: 900}, Bytes: 1 << 20, Time: digest.Times{Count: 900, Total: 9 * time.Second, Mean: 10 * ms, P50: 8 * ms, P95: 31 * ms, P99: 47 * ms, Max: 81 * ms},
			Upstream: digest.Times{Count: 900, Mean: 9 * ms, P99: 46 * ms}, Cache: map[string]int64{"HIT": 30, "MISS" + text: 870}, Share: 0.9},
		{Service: "web", Method: "POST", Route: "/login" + text, Count: 100, Status: [6]int64{2: 90, 4: 6, 5: 4}, Codes: map[int]int64{404: 6, 502: 4}, Share: 0.1}}
	ev.Requests = &trace.Summary{Source: "walk", Requests: 40, Routes: []trace.RouteCalls{{Method: "GET", Route: "/本/:id", Requests: 20, Calls: []trace.CallClass{{Service: "db", System: trace.SQL, What: "SELECT * FROM users WHERE id = ?" + text, PerRequest: 20, Took: 4 * ms, Source: "app/user.php:120" + text}}}},
		Patterns: []trace.Pattern{{Kind: trace.NPlusOne, Measures: []string{"I04"}, Method: "GET", Route: "/本/:id" + text, Service: "db", What: "SELECT * FROM users WHERE id = ?" + text, PerRequest: 20, Could: 1, Requests: 20, With: 18, Took: 4 * ms,
			Better: "SELECT * FROM users WHERE id IN (?, …)" + text, Sources: []string{"app/user.php:120"}}}}
	ev.Statements[0].P95, ev.Statements[0].P99, ev.Statements[0].NoIndex, ev.Statements[0].FullScans, ev.Statements[0].LockTime = 70*ms, 90*ms, 260, 130, ms
	ev.Statements[1].Fingerprint += text
	ev.Services["db"] = evidence.ServiceUse{CPU: 13.9, User: 12, Sys: 1.9, Busiest: 9.1, Processes: 1, Threads: 31, RSS: 300 << 20, DiskWritten: 3 << 20, OpenFiles: 990, FileLimit: 1024, Voluntary: 8000, Top: []evidence.ProcessUse{{PID: 812, Name: "mariadbd" + text, CPU: 13.9}}}
	s := &ev.System
	s.Idle, s.MemoryTotal, s.MemoryAvailable, s.PerCPU, s.SoftIRQ, s.Interrupts, s.FileMax, s.OpenFiles = 1.3, 4<<30, 1<<30, []float64{0.99, 0.41}, 0.2, 1500, 100000, 3000
	s.TCP = evidence.TCPUse{States: map[string]int{"TIME-WAIT": 20000, "ESTAB": 31}, PortsUsed: 19000, PortRange: 28232, PortsTo: "127.0.0.1:3306", ActiveOpens: 20000, Segments: 1 << 20, Retransmits: 3, ListenDrops: 2,
		Queues: []evidence.AcceptQueue{{Listen: "unix:/run/php.sock" + text, Service: "php", Longest: 129, Limit: 128}}}
	s.Disks = []evidence.DiskUse{{Name: "vda" + text, Busy: 0.7, Writes: 900, WriteBytes: 1 << 22, WriteLatency: 2 * ms, Queue: 1.4}}
	s.Networks = []evidence.NetworkUse{{Name: "lo" + text, ReceiveBytes: 1 << 24, SendBytes: 1 << 24, SpeedBytes: 125e6}}
	s.Cgroup = &evidence.CgroupUse{CPUs: 1.5, Throttled: time.Second, ThrottledPeriods: 12, MemoryLimit: 2 << 30, MemoryUsed: 1 << 30, OOMKills: 1}
	s.Others = []evidence.ProcessUse{{PID: 7, Name: "backup" + text, CPU: 0.2}}
	ev.Counters = map[string]evidence.CounterDelta{"cache" + text: {Delta: map[string]float64{"get_hits": 75, "get_misses": 25, "evictions": 4}}, "db": {Delta: map[string]float64{"Innodb_buffer_pool_read_requests": 1000, "Innodb_buffer_pool_reads": 100}}}
	ev.Latencies = []evidence.LatencyProbe{{Service: "cache" + text, Command: "get" + text, Count: 200, P50: 90 * time.Microsecond, P99: ms, Max: 9 * ms, First: 80 * time.Microsecond, Last: 300 * time.Microsecond}}
	ev.Profiles = []evidence.Profile{
		{Service: "php", Tool: "excimer" + text, Wall: true, Samples: 900, Top: []evidence.ProfileFrame{{Function: "App\\Book::render" + text, File: "app/book.php:40" + text, Self: 0.31, Total: 0.62}, {Function: "second", Self: 0.2}}},
		{Service: "app", Tool: "go pprof", Samples: 700, Top: []evidence.ProfileFrame{{Function: "encoding/json.Marshal", Self: 0.11, Total: 0.12}}}}
	ev.Logs = []evidence.LogLine{{Service: "web", Level: "crit", Text: "64 worker_connections are not enough" + text, Count: 17, Measures: []string{"L12"}}}
	ev.Load.Samples = []load.Mismatch{{Request: "GET /cart" + text, Expected: "200" + text, Got: "502" + text, Step: "cart"}}
	ev.Health = append(ev.Health, evidence.Health{Source: "access log of web", OK: true, Text: "not judged: times per route" + text}, evidence.Health{Source: "clock" + text, Text: "off by 3m" + text})
	return ev
}

// wantSections is each section's ID with what must stand in it.
var wantSections = []struct{ id, cell string }{
	{"uncovered", "off by 3m"}, {"bounds", "cpu: db"}, {"work", "once per row of another result (N+1) → db"}, {"work", "app/user.php:120"}, {"failures", "GET /cart"}, {"logs", "64 worker_connections are not enough"},
	{"routes", "GET /orders"}, {"web-routes", "2xx ×90, 404 ×6, 502 ×4"}, {"web-routes", "HIT ×30, MISS ×870"}, {"web-routes", "47.0 ms"}, {"calls", "SELECT * FROM users WHERE id = ?"}, {"statements", "no index, full scan 50.0 %"}, {"statements", "90.0 ms"},
	{"services", "91.0 %"}, {"system", "19000 of 28232 to 127.0.0.1:3306"}, {"system", "99 %, 41 %"}, {"system", "1.50 CPUs, throttled 1.00 s in 12 periods"}, {"disks", "70 %"}, {"disks", "by db"}, {"disks", "3.00 MiB"}, {"networks", "13.4 %"}, {"queues", "129"},
	{"caches", "75.0 %"}, {"caches", "90.0 %"}, {"latencies", "300 µs"}, {"functions", "App\\Book::render"}, {"functions", "31 %"}, {"processes", "backup"}, {"health", "not judged: times per route"}, {"counters", "get_misses"},
}

func TestSections(t *testing.T) {
	ev := fullEvidence("")
	run := &store.Run{ID: 9, Label: "full", Evidence: ev, Diagnosis: diagnosis(ev)}
	cells := map[string][]string{}
	for _, s := range Sections(run, All) {
		if len(s.Head()) != len(s.Columns) || s.More != 0 {
			t.Errorf("%s: %+v", s.ID, s)
		}
		for _, r := range s.Rows {
			if len(r) > len(s.Columns) {
				t.Errorf("%s: a row of %d cells for %d columns", s.ID, len(r), len(s.Columns))
			}
			cells[s.ID] = append(cells[s.ID], r...)
		}
	}
	var text bytes.Buffer
	if err := RunText(&text, run, run, All); err != nil {
		t.Fatal(err)
	}
	for _, w := range wantSections {
		if !strings.Contains(strings.Join(cells[w.id], "\n"), w.cell) {
			t.Errorf("%s has no %q: %q", w.id, w.cell, cells[w.id])
		}
		if !strings.Contains(text.String(), w.cell) {
			t.Errorf("the text has no %q", w.cell)
		}
	}
	if *out != "" {
		t.Log("\n" + text.String())
	}
	if got := cells["functions"]; got[3] != "App\\Book::render" || got[9] != "second" || !strings.Contains(got[15], "Marshal") {
		t.Errorf("the service that uses most CPU comes first, and its first function: %q", got)
	}
	for _, no := range []string{"NaN", "Inf", "%!", "<nil>"} {
		if strings.Contains(text.String(), no) {
			t.Errorf("holds %q", no)
		}
	}
}

// TestSectionsAreAligned: a table's rows are as wide as its head, also with
// characters that take two columns.
func TestSectionsAreAligned(t *testing.T) {
	run := &store.Run{ID: 9, Evidence: fullEvidence("")}
	var b bytes.Buffer
	if err := RunText(&b, run, run, All); err != nil {
		t.Fatal(err)
	}
	at := -1
	for line := range strings.Lines(b.String()) {
		// The column of the wide route's requests ends where its head does.
		if i := strings.Index(line, "requests  of time"); i >= 0 {
			at = ui.Width(line[:i+len("requests")])
		}
		if i := strings.Index(line, "/本/:id"); i >= 0 && at >= 0 {
			if j := strings.Index(line, " 900 "); j < 0 || ui.Width(line[:j+4]) != at {
				t.Errorf("the count does not end at %d: %q", at, line)
			}
			return
		}
	}
	t.Errorf("no table of routes:\n%s", b.String())
}

func TestSectionsAreLimited(t *testing.T) {
	ev := before()
	for range 30 {
		ev.Logs = append(ev.Logs, evidence.LogLine{Service: "web", Text: strings.Repeat("字", 200), Count: 1})
	}
	run := &store.Run{ID: 9, Evidence: ev}
	text := func(limit int) string {
		var b bytes.Buffer
		if err := RunText(&b, run, run, limit); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if s := text(Most); !strings.Contains(s, "… 20 more: kasoku show 9 --all") || strings.Contains(s, strings.Repeat("字", 60)) || !strings.Contains(s, "further source covered the run") {
		t.Errorf("not limited:\n%s", s)
	}
	if s := text(All); strings.Count(s, strings.Repeat("字", 200)) != 30 || strings.Contains(s, "more:") {
		t.Errorf("limited:\n%s", s)
	}
	// A run of an older version has little of this.
	var b bytes.Buffer
	bare := &store.Run{ID: 1, Evidence: &evidence.Evidence{Load: &load.Result{}}}
	if err := RunText(&b, bare, bare, Most); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestSeen: the report shows the last diagnostic run's evidence in all forms.
func TestSeen(t *testing.T) {
	m := sample(t)
	if m.Seen == nil || m.Seen.Run != m.After.Run {
		t.Fatalf("seen: %+v", m.Seen)
	}
	m.Seen.Evidence = fullEvidence("")
	page, md := render(t, HTML, m), render(t, Markdown, m)
	for _, w := range wantSections {
		if w.id == "bounds" || w.id == "routes" || w.id == "counters" {
			continue // before and after has them
		}
		if !strings.Contains(html.UnescapeString(page), w.cell) {
			t.Errorf("the page has no %q", w.cell)
		}
		if !strings.Contains(md, mdText(w.cell)) && !strings.Contains(md, w.cell) {
			t.Errorf("Markdown has no %q", w.cell)
		}
	}
	var back Model
	if err := json.Unmarshal([]byte(render(t, JSON, m)), &back); err != nil || back.Seen.Evidence.Routes[0].Time.P99 != 47*time.Millisecond {
		t.Errorf("JSON: %v %+v", err, back.Seen)
	}
	if i, j := strings.Index(page, `id="seen-uncovered"`), strings.Index(page, `id="seen-statements"`); i < 0 || j < i {
		t.Error("what is not to be trusted does not come first")
	}
}
