package foreign

import (
	"fmt"
	"testing"
	"time"

	"kasoku/internal/load"
)

// The summary of --new-machine-readable-summary; which of a rate's two counts is which
// differs between the releases, so that its share is read.
func TestK6Summary(t *testing.T) {
	const (
		text = `{
  "version": "1.0.0",
  "metadata": {"k6Version": "1.5.0"},
  "config": {"execution": "local", "script": "shop.js", "duration": 20},
  "results": {"passed": %s, "metrics": [
    {"name": "http_reqs", "type": "counter", "contains": "default", "values": {"count": 4000, "rate": 200}},
    {"name": "http_req_duration", "type": "trend", "contains": "time", "values": {"avg": 12, "min": 1, "med": 10, "max": 90, "p(90)": 20, "p(95)": 30, "p(99)": 60, "count": 4000}},
    {"name": "http_req_failed", "type": "rate", "contains": "default", "values": {"rate": 0.01, %s}},
    {"name": "vus_max", "type": "gauge", "contains": "default", "values": {"value": 10, "min": 10, "max": 10}}],
    "checks": {"metrics": %s}}}`
		total, failed = `{"name": "checks_total", "values": {"count": 8000, "rate": 400}}`, `{"name": "checks_failed", "values": {"rate": 0.02, "passes": 160, "fails": 7840}}`
	)
	const ms = time.Millisecond
	for _, c := range []struct {
		passed, failed, checks string
		mismatches             int64
	}{
		{"true", `"passes": 40, "fails": 3960`, `{}`, 40},
		{"true", `"passes": 3960, "fails": 40`, `[]`, 40},
		{"true", `"matches": 40, "total": 4000`, fmt.Sprintf(`{"checksTotal": %s, "checksFailed": %s}`, total, failed), 160},
		{"false", `"passes": 40, "fails": 3960`, fmt.Sprintf(`[%s, %s]`, total, failed), 160},
	} {
		res, err := judged(t, Command{}, fmt.Appendf(nil, text, c.passed, c.failed, c.checks), nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		latency := load.Percentiles{Mean: 12 * ms, P50: 10 * ms, P90: 20 * ms, P95: 30 * ms, P99: 60 * ms, Max: 90 * ms}
		if res.Engine != "k6" || res.Requests != 4000 || res.Mismatches != c.mismatches || res.Workload != 10 || res.Latency != latency || res.RequestsPerSecond != 200 {
			t.Errorf("%s: %+v", c.failed, res)
		}
		if crossed := c.passed == "false"; crossed != (res.Score == 0) {
			t.Errorf("passed %s: score %v", c.passed, res.Score)
		}
	}
}
