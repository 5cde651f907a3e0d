package peer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// TestRead reads what the real tools printed in runs of a second.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		tool *Tool
		file string
		want Report
	}{
		{Wrk(), "wrk.txt", Report{Requests: 102670, Elapsed: 1100 * ms, P99: 557 * us, Max: 1440 * us}},
		{AB(), "ab.txt", Report{Requests: 99399, Elapsed: time.Second, P99: ms, Max: 5 * ms}},
		{H2load(), "h2load.txt", Report{Requests: 4278, Elapsed: 2130 * ms, Max: 178590 * us}},
		{Hey(), "hey.txt", Report{Requests: 39393, Elapsed: 1002500 * us, P99: 4800 * us, Max: 20400 * us}},
		{Vegeta(), "vegeta.json", Report{Requests: 30376, Elapsed: 999938559, P99: 3671807, Max: 7821011}},
		{Bombardier(), "bombardier.json", Report{Requests: 108944, Elapsed: 1000278806, P99: 4402 * us, Max: 20011 * us}},
		{Oha(), "oha.json", Report{Requests: 119216, Elapsed: 1001374111, P99: 4220642, Max: 8428447}}, // 24 "aborted due to deadline" are no failures
		{K6(), "k6.json", Report{Requests: 25115, Elapsed: 1000317980, P99: 7771203, Max: 17989282}},
		{Kasoku(), "kasoku.json", Report{Requests: 90428, Elapsed: time.Second, P99: 687615, Max: 6979583, WindowCPU: 457561 * us}},
		{Kasoku(), "kasoku-rate.json", Report{Requests: 10001, Elapsed: 10 * time.Second, P99: 451411967, Max: 503316479, WindowCPU: 359562 * us,
			Uncorrected99: 450887679, UncorrectedMax: 503054335, Lateness50: 463359, Lateness99: 1673215, LatenessMax: 13139967, Planned: 9999}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tt.tool.Read(Job{File: filepath.Join("testdata", tt.file)}, data)
		if err != nil || !near(got, tt.want) {
			t.Errorf("%s:\n got %+v (%v)\nwant %+v", tt.file, got, err, tt.want)
		}
	}
}

// near compares; a duration computed from a float may be off by a little.
func near(a, b Report) bool {
	if (a.Elapsed - b.Elapsed).Abs() > us {
		return false
	}
	for _, d := range [][2]*time.Duration{{&a.P99, &b.P99}, {&a.Max, &b.Max}, {&a.Elapsed, &b.Elapsed}} {
		if (*d[0] - *d[1]).Abs() <= us {
			*d[0] = *d[1]
		}
	}
	return a == b
}

// TestFailures reads outputs that tell of failures.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		why, out string
		tool     *Tool
		want     int64
	}{
		{"wrk: sockets and status", "  10 requests in 1.10s, 1MB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n", Wrk(), 15},
		{"wrk2's percentile lines", "  Latency Distribution (HdrHistogram - Recorded Latency)\n 99.000%  2.50ms\n  10 requests in 3.00s, 1MB read\n", Wrk2(), 0},
		{"ab: length and status", "Complete requests:      10\nFailed requests:        2\n   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)\nNon-2xx responses:      3\n", AB(), 5},
		{"h2load: wrong answers, and one that never came", "finished in 2.00s, 5 req/s, 1KB/s\nrequests: 12 total, 12 started, 11 done, 8 succeeded, 3 failed, 1 errored, 0 timeout\n", H2load(), 3},
		{"hey: a status and an error", "Status code distribution:\n  [200]\t8 responses\n  [500]\t2 responses\n\nError distribution:\n  [3]\tGet \"http://x\": EOF\n", Hey(), 5},
		{"vegeta: what is not 200", `{"requests":10,"status_codes":{"0":1,"200":7,"500":2}}`, Vegeta(), 3},
		{"bombardier: status and others", `{"result":{"req2xx":9,"req5xx":1,"others":2}}`, Bombardier(), 3},
		{"oha: errors, not those cut off", `{"statusCodeDistribution":{"200":9,"404":1},"errorDistribution":{"aborted due to deadline":5,"connection refused":2}}`, Oha(), 3},
		{"kasoku: all kinds", `{"window":1,"requests":10,"mismatches":1,"timeouts":2,"errors":3}`, Kasoku(), 6},
	} {
		r, err := tt.tool.parse([]byte(tt.out))
		if err != nil || r.Failed != tt.want || r.Requests != 10 && tt.tool.Name != "wrk2" {
			t.Errorf("%s: %+v (%v), want %d failed of 10", tt.why, r, err, tt.want)
		}
	}
	if r, err := Wrk2().parse([]byte(" 99.000%  2.50ms\n  10 requests in 3.00s, 1MB read\n")); err != nil || r.P99 != 2500*us {
		t.Errorf("wrk2's p99 is %s (%v)", r.P99, err)
	}
	r, err := K6().parse([]byte(`{"metrics":{"http_reqs":{"count":10,"rate":5},"http_req_failed":{"passes":4},"dropped_iterations":{"count":6}}}`))
	if want := (Report{Requests: 10, Failed: 4, Dropped: 6, Elapsed: 2 * time.Second}); err != nil || r != want {
		t.Errorf("k6: %+v (%v), want %+v", r, err, want)
	}
}

// TestGarbage: an output that is not a tool's is an error, never a count.
func TestGarbage(t *testing.T) {
	for _, tool := range Tools("kasoku") {
		for _, text := range []string{"", "{}", "null", "[]", "unable to connect\n", "x requests in y\n", "Complete requests: many\n", "99% in\n", "{\"requests\":"} {
			if r, err := tool.parse([]byte(text)); err == nil {
				t.Errorf("%s reads %q as %+v", tool.Name, text, r)
			}
		}
	}
	if _, err := Kasoku().Read(Job{}, []byte(`{"window":1,"requests":0}`)); err == nil || !strings.Contains(err.Error(), "made no request") {
		t.Errorf("a run without requests: %v", err)
	}
	if _, err := K6().Read(Job{File: "testdata/none"}, nil); err == nil {
		t.Error("k6 without its file is read")
	}
}

func TestArgs(t *testing.T) {
	job := Job{URL: "http://127.0.0.1:1/x", Users: 32, Duration: 3 * time.Second, File: "/tmp/f"}
	rate := job
	rate.Rate = 5000
	post, secured := job, job
	post.Post, post.PostFile, post.Script = `{"a":1}`, "/tmp/b", "/tmp/s"
	secured.URL, secured.HTTP2 = "https://127.0.0.1:1/x", true
	checked := job
	checked.Check = &Check{Status: 200, Size: 1024, Contains: "a b"}
	for _, tt := range []struct {
		tool *Tool
		job  Job
		want string
	}{
		{Wrk(), job, "wrk|-t|1|-c|32|-d|3s|--latency|http://127.0.0.1:1/x"},
		{Wrk2(), rate, "wrk2|-t|1|-c|32|-d|3s|--latency|-R|5000|http://127.0.0.1:1/x"},
		{AB(), job, "ab|-q|-k|-c|32|-t|3|-n|3000000|http://127.0.0.1:1/x"},
		{Wrk(), post, "wrk|-t|1|-c|32|-d|3s|--latency|-s|/tmp/s|http://127.0.0.1:1/x"},
		{AB(), post, "ab|-q|-k|-c|32|-t|3|-n|3000000|-p|/tmp/b|-T|application/json|http://127.0.0.1:1/x"},
		{H2load(), rate, "h2load|-t|1|-c|32|-D|3|--h1|--rps=156.25|http://127.0.0.1:1/x"},
		{H2load(), post, "h2load|-t|1|-c|32|-D|3|--h1|-d|/tmp/b|-H|content-type: application/json|http://127.0.0.1:1/x"},
		{H2load(), secured, "h2load|-t|1|-c|32|-D|3|https://127.0.0.1:1/x"},
		{Bombardier(), post, `bombardier|-c|32|-d|3s|-l|-o|json|-p|r|-m|POST|-b|{"a":1}|-H|Content-Type: application/json|http://127.0.0.1:1/x`},
		{Bombardier(), secured, "bombardier|-c|32|-d|3s|-l|-o|json|-p|r|-k|https://127.0.0.1:1/x"},
		{Oha(), post, `oha|--no-tui|--output-format|json|-z|3000ms|-c|32|-m|POST|-d|{"a":1}|-T|application/json|http://127.0.0.1:1/x`},
		{Oha(), secured, "oha|--no-tui|--output-format|json|-z|3000ms|-c|32|--insecure|--http2|https://127.0.0.1:1/x"},
		{Kasoku(), post, `kasoku|load|http://127.0.0.1:1/x|-c|32|-d|3s|--warmup|0s|--json|--quiet|--body|{"a":1}|--type|application/json`},
		{Kasoku(), secured, "kasoku|load|https://127.0.0.1:1/x|-c|32|-d|3s|--warmup|0s|--json|--quiet|--engine|http2"},
		{Hey(), rate, "hey|-z|3s|-c|32|-q|156.25|http://127.0.0.1:1/x"},
		{Vegeta(), job, "vegeta|attack|-duration=3s|-output=/tmp/f|-rate=0|-workers=32|-max-workers=32"},
		{Vegeta(), rate, "vegeta|attack|-duration=3s|-output=/tmp/f|-rate=5000"},
		{Bombardier(), rate, "bombardier|-c|32|-d|3s|-l|-o|json|-p|r|-r|5000|http://127.0.0.1:1/x"},
		{Oha(), rate, "oha|--no-tui|--output-format|json|-z|3000ms|-c|32|-q|5000|--latency-correction|http://127.0.0.1:1/x"},
		{Kasoku(), checked, "kasoku|load|http://127.0.0.1:1/x|-c|32|-d|3s|--warmup|0s|--json|--quiet|--expect-status|200|--expect-size|1024|--expect-contains|a b"},
		{Kasoku(), rate, "kasoku|load|http://127.0.0.1:1/x|-c|32|-d|3s|--warmup|0s|--json|--quiet|--rate|5000"},
	} {
		tt.tool.path = tt.tool.Name
		if got := strings.Join(tt.tool.Args(tt.job), "|"); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
	if got := Wrk().Script(post); !strings.Contains(got, `wrk.body = [==[{"a":1}]==]`) || Wrk().Script(job) != "" || AB().Script(post) != "" {
		t.Errorf("wrk's script is %q", got)
	}
	if got := Vegeta().Stdin(job); got != "GET http://127.0.0.1:1/x\n" {
		t.Errorf("vegeta reads %q", got)
	}
	k6 := K6()
	if args := k6.Args(rate); !slices.Contains(args, "RATE=5000") || !slices.Contains(args, "DURATION=3000ms") || !strings.Contains(k6.Stdin(rate), "http.get") {
		t.Errorf("k6 gets %q", args)
	}
	if Wrk().Digest(job) != nil || len(Vegeta().Digest(job)) == 0 {
		t.Error("only vegeta has a command that digests its file")
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oha"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if oha := Oha(); !oha.Find("/nowhere") || oha.path != filepath.Join(dir, "oha") {
		t.Errorf("oha in PATH is found at %q", oha.path)
	}
	if Wrk().Find(dir) {
		t.Error("wrk is found where there is none")
	}
	tools := Tools(filepath.Join(dir, "oha"))
	if !tools[0].Find() || Tools(dir + "/kasoku")[0].Find() {
		t.Error("Kasoku's program must be the one named, and exist")
	}
}
