package foreign

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

// Results of single requests, and tables of sums, as JMeter and Gatling save them.
func TestSavedResults(t *testing.T) {
	const ms = time.Millisecond
	xml := `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<testResults version="1.2">` + "\n"
	gatling3 := "RUN\tsim.Basic\tbasic\t1740909600000\t \t3.9.5\nUSER\tbasic\tSTART\t1740909600000\n"
	gatling2 := "RUN\tsim.Basic\t\tbasic\t1740909600000\t \t2.0\n"
	for i := range 10 {
		at, took := 1740909600000+int64(i)*200, (i+1)*20
		right, status, message := "true", "OK", " "
		if i == 9 {
			right, status, message = "false", "KO", "status.find.is(200), but actually found 503"
		}
		xml += fmt.Sprintf("<httpSample t=%q it=\"0\" lt=\"3\" ct=\"1\" ts=%q s=%q lb=\"page\" rc=\"503\" rm=\"odd\" tn=\"g 1-1\" dt=\"text\" by=\"512\" ng=\"4\" na=\"4\">\n  <httpSample t=\"1\" ts=%q s=\"true\" lb=\"image\"/>\n</httpSample>\n", fmt.Sprint(took), fmt.Sprint(at), right, fmt.Sprint(at))
		gatling3 += fmt.Sprintf("REQUEST\t\tpage\t%d\t%d\t%s\t%s\n", at, at+int64(took), status, message)
		gatling2 += fmt.Sprintf("REQUEST\tbasic\t7\t\tpage\t%d\t%d\t%s\t%s\n", at, at+int64(took), status, message)
	}
	xml += "</testResults>\n"
	latency := load.Percentiles{Mean: 110 * ms, P50: 100 * ms, P90: 180 * ms, P95: 200 * ms, P99: 200 * ms, Max: 200 * ms}
	table := load.Percentiles{Mean: 110 * ms, P50: 100 * ms, P90: 180 * ms, P95: 190 * ms, P99: 200 * ms, Max: 200 * ms}
	for name, c := range map[string]struct {
		text, engine string
		score        float64
		latency      load.Percentiles
	}{
		"JMeter, XML":                {xml, "jmeter", 4.5, latency},
		"JMeter, Aggregate Report":   {"Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec,Sent KB/sec\npage,10,110,100,180,190,200,20,200,10.000%,5.00000,1,1\nTOTAL,10,110,100,180,190,200,20,200,10.000%,5.00000,1,1\n", "jmeter", 4.5, table},
		"JMeter, names of resources": {"sampler_label,aggregate_report_count,average,aggregate_report_median,aggregate_report_90%_line,aggregate_report_95%_line,aggregate_report_99%_line,aggregate_report_min,aggregate_report_max,aggregate_report_error%,aggregate_report_rate,aggregate_report_bandwidth\nTOTAL,10,110,100,180,190,200,20,200,10.00%,5.0,1\n", "jmeter", 4.5, table},
		"JMeter, Summary Report":     {"Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,Received KB/sec,Sent KB/sec,Avg. Bytes\nTOTAL,10,110,20,200,3.0,10.000%,300.0/min,1,1,5\n", "jmeter", 4.5, load.Percentiles{Mean: 110 * ms, Max: 200 * ms}},
		"Gatling 3":                  {gatling3, "gatling", 4.5, latency},
		"Gatling 2":                  {gatling2, "gatling", 4.5, latency},
	} {
		res, err := judged(t, Command{}, []byte(c.text), nil, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if res.Engine != c.engine || res.Requests != 10 || res.Succeeded != 9 || res.Latency != c.latency || res.Score < c.score-0.01 || res.Score > c.score+0.01 {
			t.Errorf("%s: %s, %d of %d right, score %.3f, %+v", name, res.Engine, res.Succeeded, res.Requests, res.Score, res.Latency)
		}
	}
	long := gatling3 + strings.Repeat(gatling3[strings.Index(gatling3, "REQUEST"):], 400)
	if _, err := judged(t, Command{}, []byte(long), nil, 0); err == nil || !strings.Contains(err.Error(), "global_stats.json") {
		t.Errorf("a log that is not kept as a whole: %v", err)
	}
}
