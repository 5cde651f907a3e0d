package foreign

import (
	"strings"
	"testing"
	"time"
)

// Outputs in forms that people posted of versions that are not captured here, with
// other numbers.
func TestReportedOutputs(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, out          string
		score              float64
		succeeded, wrong   int64
		p50, p99, mean, mx time.Duration
		refused            string
	}{
		{name: "hey with fewer requests than percentiles", out: `
Summary:
  Total:	2.0000 secs
  Slowest:	0.8000 secs
  Fastest:	0.7000 secs
  Average:	0.7500 secs
  Requests/sec:	5.0000

Response time histogram:
  0.700 [1]	|■■■■
  0.800 [9]	|■■■■■■■■


Latency distribution:
  10% in 0.7100 secs
  25% in 0.7200 secs
  50% in 0.7600 secs
  75% in 0.7800 secs
  90% in 0.8000 secs
  0% in 0.0000 secs
  0% in 0.0000 secs

Details (average, fastest, slowest):
  DNS+dialup:	0.0231 secs, 0.7000 secs, 0.8000 secs

Status code distribution:
  [200]	10 responses
`, score: 5, succeeded: 10, p50: 760 * ms, mean: 750 * ms, mx: 800 * ms},
		{name: "oha before 0.6, with failures", out: `Summary:
  Success rate:	1.0000
  Total:	30.0000 secs
  Slowest:	3.9000 secs
  Fastest:	0.1350 secs
  Average:	0.8213 secs
  Requests/sec:	20.0000

  Total data:	8.20 MiB

Response time histogram:
  0.135 [1]   |
  3.900 [599] |■■■

Latency distribution:
  10% in 0.1545 secs
  50% in 0.1735 secs
  90% in 2.7663 secs
  95% in 3.1871 secs
  99% in 3.5202 secs

Details (average, fastest, slowest):
  DNS+dialup:	0.1125 secs, 0.0893 secs, 0.1767 secs

Status code distribution:
  [429] 450 responses
  [200] 150 responses
`, score: 5, succeeded: 150, wrong: 450, p50: 173500 * time.Microsecond, p99: 3520200 * time.Microsecond, mean: 821300 * time.Microsecond, mx: 3900 * ms},
		{name: "oha with percentages and 99.99 %", out: `Summary:
  Success rate:	100.00%
  Total:	5.0000 secs
  Slowest:	0.0026 secs
  Fastest:	0.0005 secs
  Average:	0.0010 secs
  Requests/sec:	10000.0000

Response time histogram:
  0.001 [1]     |

Response time distribution:
  10.00% in 0.0009 secs
  50.00% in 0.0010 secs
  95.00% in 0.0012 secs
  99.00% in 0.0013 secs
  99.90% in 0.0015 secs
  99.99% in 0.0022 secs

Details (average, fastest, slowest):
  DNS+dialup:	0.0000 secs, 0.0000 secs, 0.0010 secs

Status code distribution:
  [200] 50000 responses
`, score: 10000, succeeded: 50000, p50: ms, p99: 1300 * time.Microsecond, mean: ms, mx: 2600 * time.Microsecond},
		{name: "vegeta before the throughput", out: `Requests      [total, rate]            200, 20.00
Duration      [total, attack, wait]    11.5s, 10s, 1.5s
Latencies     [mean, 50, 95, 99, max]  646.318364ms, 451.048775ms, 1.697808872s, 2.128540278s, 2.641028633s
Bytes In      [total, mean]            84733, 423.67
Bytes Out     [total, mean]            0, 0.00
Success       [ratio]                  93.50%
Status Codes  [code:count]             403:13  200:187
Error Set:
403 Forbidden
`, score: 187 / 11.5, succeeded: 187, wrong: 13, p50: 451048775, p99: 2128540278, mean: 646318364, mx: 2641028633},
		{name: "artillery 2 where most had no answer", out: `All VUs finished. Total time: 4 minutes, 30 seconds

--------------------------------
Summary report @ 21:20:11(+0200)
--------------------------------

errors.ETIMEDOUT: .............................................................. 8100
http.codes.404: ................................................................ 270
http.codes.200: ................................................................ 540
http.request_rate: ............................................................. 33/sec
http.requests: ................................................................. 8910
http.response_time:
  min: ......................................................................... 58
  max: ......................................................................... 6688
  median: ...................................................................... 127.8
  p95: ......................................................................... 1002.4
  p99: ......................................................................... 2671
http.responses: ................................................................ 810
vusers.completed: .............................................................. 810
vusers.created: ................................................................ 8910
vusers.failed: ................................................................. 8100
`, score: 2, succeeded: 540, wrong: 270, p50: 127800 * time.Microsecond, p99: 2671 * ms, mx: 6688 * ms},
		{name: "bombardier with a table of the answers with 2xx alone", out: `Bombarding http://192.0.2.1:80 for 5s using 8 connection(s)
Statistics        Avg      Stdev        Max
  Reqs/sec      2000.00     500.00    2500.00
  Latency        4.00ms    32.00ms      1.50s
  Latency Distribution (Total)
     50%     3.00ms
     99%    11.00ms
  Latency Distribution (2xx)
     50%      1.00s
     99%      1.20s
  HTTP codes:
    1xx - 0, 2xx - 10, 3xx - 0, 4xx - 0, 5xx - 9990
    others - 0
  Throughput:   456.62KB/s
`, score: 2, succeeded: 10, wrong: 9990, p50: 3 * ms, p99: 11 * ms, mean: 4 * ms, mx: 1500 * ms},
		{name: "siege where hits had a status of 400 and above", out: `Lifting the server siege...
Transactions:                    100 hits
Availability:                 100.00 %
Elapsed time:                  10.00 secs
Data transferred:               0.01 MB
Response time:                  0.02 secs
Transaction rate:              10.00 trans/sec
Throughput:                     0.02 MB/sec
Concurrency:                    0.20
Successful transactions:          60
Failed transactions:               0
Longest transaction:            0.08
Shortest transaction:           0.00
`, score: 6, succeeded: 60, wrong: 40, mean: 20 * ms, mx: 80 * ms},
		{name: "drill", out: `Concurrency 10
Iterations 3
Base URL http://192.0.2.1

Fetch users               Total requests            60
Fetch users               Successful requests       60
Fetch users               Failed requests           0
Fetch users               Median time per request   14ms
Fetch users               Sample standard deviation 3ms

Time taken for tests      5.0 seconds
Total requests            1000
Successful requests       900
Failed requests           100
Requests per second       200.00 [#/sec]
Median time per request   15ms
Average time per request  18ms
Sample standard deviation 6ms
99.0'th percentile        71ms
99.9'th percentile        99ms
`, score: 180, succeeded: 900, wrong: 100, p50: 15 * ms, p99: 71 * ms, mean: 18 * ms},
		{name: "drill with nanoseconds", out: "Total requests            10\nSuccessful requests       10\nFailed requests           0\nRequests per second       2.00 [#/sec]\nMedian time per request   1500000ns\nAverage time per request  1600000ns\nSample standard deviation 5ns\n",
			score: 2, succeeded: 10, p50: 1500 * time.Microsecond, mean: 1600 * time.Microsecond},
		{name: "autocannon without a number of samples", out: `Running 10s test @ http://localhost:3000
10 connections

┌─────────┬──────┬──────┬───────┬───────┬─────────┬────────┬──────────┐
│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%   │ Avg     │ Stdev  │ Max      │
├─────────┼──────┼──────┼───────┼───────┼─────────┼────────┼──────────┤
│ Latency │ 2 ms │ 4 ms │ 9 ms  │ 12 ms │ 4.50 ms │ 2.1 ms │ 61.00 ms │
└─────────┴──────┴──────┴───────┴───────┴─────────┴────────┴──────────┘
┌───────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┐
│ Stat      │ 1%     │ 2.5%   │ 50%    │ 97.5%  │ Avg    │ Stdev  │ Min    │
├───────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┤
│ Req/Sec   │ 1500   │ 1500   │ 2210   │ 2400   │ 2200.5 │ 240.1  │ 1500   │
├───────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┤
│ Bytes/Sec │ 1.5 MB │ 1.5 MB │ 2.2 MB │ 2.4 MB │ 2.2 MB │ 240 kB │ 1.5 MB │
└───────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┘

Req/Bytes counts sampled once per second.

22k requests in 10.04s, 22 MB read
`, score: 2200.5, succeeded: 22005, p50: 4 * ms, p99: 12 * ms, mean: 4500 * time.Microsecond, mx: 61 * ms},
		{name: "autocannon before 3", out: "Running 10s test @ http://localhost:3000\n10 connections\n\nStat         Avg     Stdev  Max     \nLatency (ms) 242.5   351.36 1296.5  \nReq/Sec      12      0.45   20      \nBytes/Sec    1.57 kB 701 B  3.19 kB \n\n120 requests in 10s, 15.8 kB read\n",
			score: 12, succeeded: 120, mean: 242500 * time.Microsecond, mx: 1296500 * time.Microsecond},
		{name: "… where no answer was right", out: "Running 10s test @ http://localhost:3000\n10 connections\n\nStat         Avg     Stdev     Max\nLatency (ms) NaN     NaN       0\nReq/Sec      2100.6  898.21    2257\nBytes/Sec    2.28 MB 101.58 kB 2.49 MB\n\n0 2xx responses, 21006 non 2xx responses\n21k requests in 10s, 22.81 MB read\n",
			score: 0, wrong: 21006},
	} {
		res, err := judged(t, Command{}, []byte(c.out), nil, 0)
		if err != nil {
			if c.refused == "" || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		l := res.Latency
		if near(res.Score, c.score) && res.Succeeded == c.succeeded && res.Mismatches == c.wrong && l.P50 == c.p50 && l.P99 == c.p99 && l.Mean == c.mean && l.Max == c.mx {
			continue
		}
		t.Errorf("%s: score %g, %d right, %d wrong, %+v", c.name, res.Score, res.Succeeded, res.Mismatches, l)
	}
}

func near(a, b float64) bool { return a >= b*0.99 && a <= b*1.01 }
