package foreign

import (
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

const siege3 = `** SIEGE 3.0.1
** Preparing 20 concurrent users for battle.
The server is now under siege...
Lifting the server siege...      done.

Transactions:                436 hits
Availability:              98.20 %
Elapsed time:              50.00 secs
Data transferred:           2.00 MB
Response time:              2.14 secs
Transaction rate:           8.72 trans/sec
Throughput:                 0.03 MB/sec
Concurrency:               15.77
Successful transactions:     430
Failed transactions:           8
Longest transaction:        3.06
Shortest transaction:       0.51
`

const h2loadNew = `starting benchmark...
spawning thread #0: 2 total client(s). 10 total requests
spawning thread #1: 3 total client(s). 10 total requests

finished in 2.00s, 9.00 req/s, 1.00KB/s
requests: 20 total, 20 started, 20 done, 17 succeeded, 3 failed, 1 errored, 1 timeout
status codes: 17 2xx, 0 3xx, 1 4xx, 0 5xx
traffic: 2.00KB (2048) total, 1.00KB (1000) headers (space savings 0.00%), 500B (500) data
                     min         max      median         p95         p99        mean         sd        +/- sd
request     :      1.00ms      90.0ms     10.00ms     50.00ms     80.00ms     12.00ms     5.00ms    80.00%
connect     :      1.00ms      1.00ms      1.00ms      1.00ms      1.00ms      1.00ms     1.00ms    80.00%
`

const locustOld = ` Name                                                          # reqs      # fails     Avg     Min     Max  |  Median   req/s
--------------------------------------------------------------------------------------------------------------------------------------------
 GET /                                                            100     5(5.00%)      20       3      90  |      18   10.00
--------------------------------------------------------------------------------------------------------------------------------------------
 Total                                                            100     5(5.00%)      20       3      90  |      18   10.00
`

const jmeterRun = `Creating summariser <summary>
Created the tree successfully using shop.jmx
Starting standalone test @ 2024 May 1 10:00:00 CEST (1714550400000)
Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port 4445
summary +   1000 in 00:00:10 =  100.0/s Avg:     9 Min:     1 Max:   300 Err:     0 (0.00%) Active: 5 Started: 5 Finished: 0
summary +   2000 in 00:00:20 =  100.0/s Avg:    15 Min:     1 Max:   345 Err:    30 (1.50%) Active: 0 Started: 5 Finished: 5
summary =   3000 in 00:00:30 =  100.0/s Avg:    13 Min:     1 Max:   345 Err:    30 (1.00%)
Tidying up ...    @ 2024 May 1 10:00:30 CEST (1714550430000)
... end of run
`

const jtlRows = `1714550400000,10,"Home, page",200,OK,Users 1-1,text,true,,500,120,1,4,http://a/,9,0,1
1714550400500,30,Home,500,Internal Server Error,Users 1-2,text,false,"Test failed: ""x""",300,120,1,4,http://a/,29,0,1
1714550401000,20,Home,200,OK,Users 1-1,text,true,,500,120,1,4,http://a/,19,0,1
1714550401960,40,Home,200,OK,Users 1-1,text,true,,500,120,1,4,http://a/,39,0,1
`

const gatling3 = `Simulation shop.Visit started...
================================================================================
2024-05-01 10:00:05                                           5s elapsed
---- Requests ------------------------------------------------------------------
> Global                                                   (OK=990    KO=10    )
================================================================================
---- Global Information --------------------------------------------------------
> request count                                       2000 (OK=1980   KO=20    )
> min response time                                      1 (OK=1      KO=3     )
> max response time                                   5014 (OK=284    KO=5014  )
> mean response time                                    23 (OK=22     KO=44    )
> std deviation                                         44 (OK=44     KO=2     )
> response time 50th percentile                          2 (OK=2      KO=9     )
> response time 75th percentile                         18 (OK=18     KO=9     )
> response time 95th percentile                        123 (OK=123    KO=9     )
> response time 99th percentile                        200 (OK=200    KO=9     )
> mean requests/sec                                    100 (OK=99     KO=1     )
---- Response Time Distribution ------------------------------------------------
> t < 800 ms                                          1980 ( 99%)
> failed                                                20 (  1%)
---- Errors --------------------------------------------------------------------
> status.find.in(200), found 503                           20 (100.0%)
================================================================================
`

const gatling311 = `Simulation shop.Visit started...
================================================================================
---- Global Information ----------------------------------------------------------|---Total---|-----OK----|----KO----
> request count                                                                    |     2,000 |     1,980 |        20
> min response time (ms)                                                           |         1 |         1 |         3
> max response time (ms)                                                           |     5,014 |       284 |     5,014
> mean response time (ms)                                                          |        23 |        22 |        44
> response time 50th percentile (ms)                                               |         2 |         2 |         9
> response time 95th percentile (ms)                                               |       123 |       123 |         9
> response time 99th percentile (ms)                                               |       200 |       200 |         9
> mean throughput (rps)                                                            |       100 |        99 |         1
`

const artillery2 = `Test run id: abc
--------------------------------------
Metrics for period to: 10:00:10(+0000) (width: 9.9s)
--------------------------------------

http.codes.200: ................................................................ 900
http.request_rate: ............................................................. 90/sec
http.response_time:
  min: ......................................................................... 1
  p99: ......................................................................... 9

All VUs finished. Total time: 1 minute, 4 seconds

--------------------------------
Summary report @ 10:01:04(+0000)
--------------------------------

errors.ETIMEDOUT: .............................................................. 5
errors.ECONNREFUSED: ........................................................... 2
http.codes.200: ................................................................ 6000
http.codes.500: ................................................................ 400
http.downloaded_bytes: ......................................................... 0
http.request_rate: ............................................................. 97/sec
http.requests: ................................................................. 6407
http.response_time:
  min: ......................................................................... 0
  max: ......................................................................... 77
  mean: ........................................................................ 1.5
  median: ...................................................................... 1
  p95: ......................................................................... 2.5
  p99: ......................................................................... 7
http.response_time.2xx:
  max: ......................................................................... 3
http.responses: ................................................................ 6400
vusers.completed: .............................................................. 3000
vusers.created: ................................................................ 3007
`

const artillery1 = `All virtual users finished
Summary report @ 10:00:00(+0000) 2020-05-01
  Scenarios launched:  300
  Scenarios completed: 298
  Requests completed:  300
  Mean response/sec: 20.5
  Response time (msec):
    min: 1
    max: 90
    median: 12
    p95: 30
    p99: 60
  Codes:
    200: 290
    404: 10
  Errors:
    ECONNRESET: 4
`

const k6Full = `
  █ THRESHOLDS

    http_req_duration
    ✓ 'p(95)<1500' p(95)=30ms

  █ TOTAL RESULTS

    checks_total.......: 40      4/s
    checks_succeeded...: 90.00%  36 out of 40
    checks_failed......: 10.00%  4 out of 40

    ✗ status is 200
      ↳  90% — ✓ 36 / ✗ 4

    HTTP
    http_req_duration..............: avg=12ms min=1ms med=10ms max=90ms p(90)=20ms p(95)=30ms
      { expected_response:true }...: avg=1ms  min=1ms med=1ms  max=9ms  p(90)=2ms  p(95)=3ms
    http_req_failed................: 2.50%  1 out of 40
    http_reqs......................: 40     4/s

    EXECUTION
    vus_max........................: 3      min=3          max=3

  █ GROUP: login

    HTTP
    http_req_duration..............: avg=99ms min=1ms med=99ms max=99ms p(90)=99ms p(95)=99ms
    http_req_failed................: 0.00%  0 out of 8
    http_reqs......................: 8      0.8/s
`

// TestOtherTools: what each tool's output comes to. Captures have a file,
// what is written after the documentation stands above.
func TestOtherTools(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, file, text string
		exit             int
		engine           string
		score            float64
		requests         int64
		succeeded        int64
		mismatches       int64
		timeouts, errors int64
		workload         int
		latency          load.Percentiles
		sample           string
	}{
		// Groups come after the whole and have the same lines.
		{name: "k6 1.x, full", text: k6Full, engine: "k6", score: 3.6, requests: 40, succeeded: 36, mismatches: 4, workload: 3, latency: load.Percentiles{Mean: 12 * ms, P50: 10 * ms, P90: 20 * ms, P95: 30 * ms, Max: 90 * ms}, sample: "status is 200"},
		{name: "siege 4, JSON", file: "siege.json", engine: "siege", score: 13020 / 1.83, requests: 13020, succeeded: 13020, workload: 4, latency: load.Percentiles{Max: 20 * ms}},
		{name: "siege 4, only errors", file: "siege-errors.json", engine: "siege", requests: 100, mismatches: 100, workload: 2, latency: load.Percentiles{Max: 10 * ms}, sample: "100 transactions that failed"},
		{name: "siege 3", text: siege3, engine: "siege", score: 8.6, requests: 444, succeeded: 430, mismatches: 14, workload: 16, latency: load.Percentiles{Mean: 2140 * ms, Max: 3060 * ms}, sample: "14 transactions that failed"},
		{name: "siege 4.1.7 in milliseconds", text: strings.NewReplacer("2.14 secs", "2140.00 ms", "3.06", "3060.00 ms").Replace(siege3), engine: "siege", score: 8.6, requests: 444, succeeded: 430, mismatches: 14, workload: 16, latency: load.Percentiles{Mean: 2140 * ms, Max: 3060 * ms}, sample: "14 transactions that failed"},
		{name: "h2load", file: "h2load.txt", engine: "h2load", score: 35385.7, requests: 2000, succeeded: 2000, workload: 4, latency: load.Percentiles{Mean: 563 * time.Microsecond, Max: 16460 * time.Microsecond}},
		{name: "h2load, only errors", file: "h2load-errors.txt", engine: "h2load", requests: 34316, mismatches: 34316, workload: 4, latency: load.Percentiles{Mean: 137 * time.Microsecond, Max: 13080 * time.Microsecond}, sample: "34316 5xx"},
		{name: "h2load with percentiles", text: h2loadNew, engine: "h2load", score: 8.5, requests: 18, succeeded: 17, mismatches: 1, timeouts: 1, errors: 1, workload: 5,
			latency: load.Percentiles{Mean: 12 * ms, P50: 10 * ms, P95: 50 * ms, P99: 80 * ms, Max: 90 * ms}, sample: "1 4xx"},
		{name: "autocannon", file: "autocannon.txt", engine: "autocannon", score: 23752, requests: 47504, succeeded: 47504, workload: 4, latency: load.Percentiles{Mean: 20 * time.Microsecond, Max: 22 * ms}},
		{name: "autocannon, only errors", file: "autocannon-errors.txt", engine: "autocannon", requests: 43230, mismatches: 43230, workload: 4, latency: load.Percentiles{Mean: 40 * time.Microsecond, P99: ms, Max: 46 * ms}, sample: "43230 answers"},
		{name: "autocannon, slow", file: "autocannon-slow.txt", engine: "autocannon", score: 1, requests: 3, succeeded: 3, timeouts: 8, workload: 4, latency: load.Percentiles{Mean: 956 * ms, P50: 937 * ms, P90: 997 * ms, P99: 997 * ms, Max: 997 * ms}, sample: "8 time-outs"},
		{name: "autocannon, refused", file: "autocannon-refused.txt", engine: "autocannon", errors: 25000, workload: 2, sample: "25000 errors"},
		{name: "autocannon, JSON", file: "autocannon.json", engine: "autocannon", score: 41280 / 2.02, requests: 41280, succeeded: 41280, workload: 4, latency: load.Percentiles{Mean: 30 * time.Microsecond, P99: ms, Max: 22 * ms}},
		// Exit status 1 only says that requests failed.
		{name: "locust", file: "locust.txt", exit: 1, engine: "locust", score: 221.90 * 457 / 625, requests: 625, succeeded: 457, mismatches: 168, workload: 1, latency: load.Percentiles{Mean: 4 * ms, P50: 3 * ms, P90: 10 * ms, P95: 14 * ms, P99: 39 * ms, Max: 163 * ms}, sample: "GET /503: HTTPError"},
		{name: "locust, CSV", file: "locust.csv", exit: 1, engine: "locust", score: 279.32112 * 629 / 837, requests: 837, succeeded: 629, mismatches: 208, workload: 1,
			latency: load.Percentiles{Mean: 3106696, P50: 2 * ms, P90: 6 * ms, P95: 9 * ms, P99: 16 * ms, Max: 29946742}, sample: "208 requests failed"},
		{name: "locust, JSON", file: "locust.json", exit: 1, engine: "locust", score: 474 / 2.6585, requests: 647, succeeded: 474, mismatches: 173, workload: 1,
			latency: load.Percentiles{Mean: 3858462, P50: 2 * ms, P90: 7 * ms, P95: 11 * ms, P99: 28 * ms, Max: 60889162}, sample: "173 requests failed"},
		{name: "locust 0.14", text: locustOld, engine: "locust", score: 9.5, requests: 100, succeeded: 95, mismatches: 5, latency: load.Percentiles{Mean: 20 * ms, P50: 18 * ms, Max: 90 * ms}, sample: "5 requests failed"},
		{name: "locust, Ctrl-C", text: locustOld + "KeyboardInterrupt\n2024-05-01T00:00:00Z\n", engine: "locust", requests: 100, succeeded: 95, mismatches: 5, latency: load.Percentiles{Mean: 20 * ms, P50: 18 * ms, Max: 90 * ms}, sample: "ended before its time"},
		{name: "jmeter's summariser", text: jmeterRun, engine: "jmeter", score: 99, requests: 3000, succeeded: 2970, mismatches: 30, workload: 1, latency: load.Percentiles{Mean: 13 * ms, Max: 345 * ms}, sample: "30 samples failed"},
		{name: "jmeter with a decimal comma", text: strings.ReplaceAll(jmeterRun, "100.0/s", "100,0/s"), engine: "jmeter", score: 99, requests: 3000, succeeded: 2970, mismatches: 30, workload: 1, latency: load.Percentiles{Mean: 13 * ms, Max: 345 * ms}, sample: "30 samples failed"},
		{name: "jmeter, ended", text: strings.Split(jmeterRun, "Tidying")[0], engine: "jmeter", requests: 3000, succeeded: 2970, mismatches: 30, workload: 1, latency: load.Percentiles{Mean: 13 * ms, Max: 345 * ms}, sample: "ended before its time"},
		{name: "jmeter's lines", text: strings.Join(jmeterColumns, ",") + "\n" + jtlRows, engine: "jmeter", score: 1.5, requests: 4, succeeded: 3, mismatches: 1, workload: 4, latency: load.Percentiles{Mean: 25 * ms, P50: 20 * ms, P90: 40 * ms, P95: 40 * ms, P99: 40 * ms, Max: 40 * ms}, sample: "Home: 500 Internal"},
		{name: "jmeter's lines without header", text: jtlRows, engine: "jmeter", score: 1.5, requests: 4, succeeded: 3, mismatches: 1, workload: 4, latency: load.Percentiles{Mean: 25 * ms, P50: 20 * ms, P90: 40 * ms, P95: 40 * ms, P99: 40 * ms, Max: 40 * ms}, sample: "Home: 500 Internal"},
		{name: "jmeter's dashboard", text: `{"Home": {"sampleCount": 3, "throughput": 9.0}, "Total": {"transaction": "Total", "sampleCount": 200, "errorCount": 20, "meanResTime": 13.5, "medianResTime": 10.0, "maxResTime": 593.0, "pct1ResTime": 92.0, "pct2ResTime": 99.0, "pct3ResTime": 181.0, "throughput": 50.0}}`,
			engine: "jmeter", score: 45, requests: 200, succeeded: 180, mismatches: 20, workload: 1, latency: load.Percentiles{Mean: 13500 * time.Microsecond, P50: 10 * ms, P90: 92 * ms, P95: 99 * ms, P99: 181 * ms, Max: 593 * ms}, sample: "20 samples failed"},
		{name: "gatling 3.2", text: gatling3, engine: "gatling", score: 99, requests: 2000, succeeded: 1980, mismatches: 20, workload: 2, latency: load.Percentiles{Mean: 23 * ms, P50: 2 * ms, P95: 123 * ms, P99: 200 * ms, Max: 5014 * ms}, sample: "found 503"},
		{name: "gatling 3.11", text: gatling311, engine: "gatling", score: 99, requests: 2000, succeeded: 1980, mismatches: 20, workload: 2, latency: load.Percentiles{Mean: 23 * ms, P50: 2 * ms, P95: 123 * ms, P99: 200 * ms, Max: 5014 * ms}, sample: "20 requests failed"},
		{name: "gatling, JSON", text: `{"type": "GROUP", "name": "All Requests", "stats": {"name": "All Requests", "numberOfRequests": {"total": 40, "ok": 30, "ko": 10}, "maxResponseTime": {"total": 90, "ok": 80, "ko": 90}, "meanResponseTime": {"total": 12}, "percentiles1": {"total": 10}, "percentiles3": {"total": 50}, "percentiles4": {"total": 80}, "meanNumberOfRequestsPerSecond": {"total": 4.0, "ok": 3.0, "ko": 1.0}}, "contents": {}}`,
			engine: "gatling", score: 3, requests: 40, succeeded: 30, mismatches: 10, latency: load.Percentiles{Mean: 12 * ms, P50: 10 * ms, P95: 50 * ms, P99: 80 * ms, Max: 90 * ms}, sample: "10 requests failed"},
		{name: "artillery 2", text: artillery2, engine: "artillery", score: 93.75, requests: 6400, succeeded: 6000, mismatches: 400, timeouts: 5, errors: 2, latency: load.Percentiles{Mean: 1500 * time.Microsecond, P50: ms, P95: 2500 * time.Microsecond, P99: 7 * ms, Max: 77 * ms}, sample: "status 500"},
		{name: "artillery 1", text: artillery1, engine: "artillery", score: 20.5 * 290 / 300, requests: 300, succeeded: 290, mismatches: 10, errors: 4, latency: load.Percentiles{P50: 12 * ms, P95: 30 * ms, P99: 60 * ms, Max: 90 * ms}, sample: "status 404"},
		{name: "artillery 2, JSON", text: `{"aggregate": {"counters": {"vusers.created": 50, "http.requests": 103, "http.codes.200": 90, "http.codes.404": 10, "http.responses": 100, "errors.ETIMEDOUT": 3}, "rates": {"http.request_rate": 9}, "firstMetricAt": 1714550400000, "lastMetricAt": 1714550410000, "summaries": {"http.response_time": {"min": 1, "max": 70, "mean": 8.5, "median": 7, "p50": 7, "p90": 20, "p95": 30.5, "p99": 60}}}, "intermediate": []}`,
			engine: "artillery", score: 9, requests: 100, succeeded: 90, mismatches: 10, timeouts: 3, latency: load.Percentiles{Mean: 8500 * time.Microsecond, P50: 7 * ms, P90: 20 * ms, P95: 30500 * time.Microsecond, P99: 60 * ms, Max: 70 * ms}, sample: "ETIMEDOUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []byte(c.text)
			if c.file != "" {
				text = fixture(t, c.file)
			}
			res, err := judged(t, Command{}, text, nil, c.exit)
			if err != nil {
				t.Fatal(err)
			}
			if res.Engine != c.engine || math.Abs(res.Score-c.score) > 1e-3*math.Max(1, c.score) {
				t.Errorf("engine %s, score %v; want %s, %v", res.Engine, res.Score, c.engine, c.score)
			}
			got := []int64{res.Requests, res.Succeeded, res.Mismatches, res.Timeouts, res.Errors}
			want := []int64{c.requests, c.succeeded, c.mismatches, c.timeouts, c.errors}
			for i, name := range []string{"requests", "succeeded", "mismatches", "timeouts", "errors"} {
				if got[i] != want[i] && !(name == "mismatches" && got[i] == max(want[i], 1) && c.score == 0) {
					t.Errorf("%s %d, want %d", name, got[i], want[i])
				}
			}
			if c.workload > 0 && res.Workload != c.workload {
				t.Errorf("workload %d, want %d", res.Workload, c.workload)
			}
			if d := res.Latency; d != c.latency {
				t.Errorf("latency %+v\nwant    %+v", d, c.latency)
			}
			switch {
			case c.sample == "" && len(res.Samples) > 0:
				t.Errorf("samples %+v", res.Samples)
			case c.sample != "" && (len(res.Samples) == 0 || !strings.Contains(res.Samples[0].Got, c.sample)):
				t.Errorf("first sample %+v, want one with %q", res.Samples, c.sample)
			}
		})
	}
}

// TestCutOutputs: what ended before its summary is an error that says so, not
// a number.
func TestCutOutputs(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"siege", strings.Split(siege3, "Transactions")[0], "as that of siege: the summary is missing"},
		{"h2load", strings.Split(h2loadNew, "finished")[0], "as that of h2load: the summary is missing"},
		{"autocannon", "Running 2s test @ http://127.0.0.1/\n4 connections\n\n", "as that of autocannon: the summary is missing"},
		{"locust", "[2024-05-01 10:00:00,000] host/INFO/locust.main: Starting Locust 2.20.0\n", "as that of locust: the summary is missing"},
		{"jmeter", strings.Split(jmeterRun, "summary")[0], "as that of jmeter: the summary is missing"},
		{"gatling", strings.Split(gatling3, "---- Global Info")[0], "as that of gatling: the summary is missing"},
		{"artillery", strings.Split(artillery2, "Summary report")[0], `"Summary report @" does not occur`},
		{"jmeter's lines without their middle", strings.Repeat(jtlRows, 400), "longer than what is kept"},
		{"a histogram of vegeta", "Value(ms)       Percentile      TotalCount      1/(1-Percentile)\n0.1 0.0 1 1.0\n", "no format that is known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := judged(t, Command{}, []byte(c.text), nil, 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q; %+v", err, c.want, res)
			}
		})
	}
}
