package foreign

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

// wrkText is a run of wrk with its latencies.
const wrkText = `Running 30s test @ http://127.0.0.1:8080/
  2 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20m    10.00s     1.05h    90.00%
    Req/Sec     1.00      0.50     2.00     70.00%
  Latency Distribution
     50%  999.00ms
     90%    1.10m 
     99%    1.02h 
  40 requests in 30.02s, 4.00KB read
Requests/sec:      1.33
Transfer/sec:     136.44B
`

func TestWrkForms(t *testing.T) {
	slow := load.Percentiles{Mean: 72 * time.Second, P50: 999 * time.Millisecond, P90: 66 * time.Second, P99: 3672 * time.Second, Max: 3780 * time.Second}
	for _, c := range []struct {
		name, text string
		score      float64
		latency    load.Percentiles
		failed     string
	}{
		{"minutes and hours", wrkText, 1.33, slow, ""},
		{"a script's own summary after it", wrkText + "done: 99% 7ms\n  50%    1.00us\nRequests/sec: 9999\n  7 requests in 1s, none\n", 1.33, slow, ""},
		{"a run to warm up before it", strings.NewReplacer("30s", "5s", "1.33", "99.99", "30.02s", "5.01s").Replace(wrkText) + wrkText, 1.33, slow, ""},
		{"wrk2 with --u_latency", strings.Replace(wrkText, "  40 requests", "\n  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%    1.00us\n 90.000%    2.00us\n  40 requests", 1), 1.33, slow, ""},
		{"ended by Ctrl-C", strings.Replace(wrkText, "40 requests in 30.02s", "40 requests in 11.02s", 1), 0, slow, "ended after 11.02s of 30s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := judged(t, Command{}, []byte(c.text), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if res.Score != c.score || res.Latency != c.latency || !strings.Contains(res.ScoreText, c.failed) {
				t.Errorf("score %v (%s), latency %+v", res.Score, res.ScoreText, res.Latency)
			}
		})
	}
}
