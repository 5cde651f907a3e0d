package foreign

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// jmeterTotal is the entry "Total" of the dashboard's statistics.json. Times
// are in milliseconds; pct1 to pct3 are 90, 95 and 99 by default
// (aggregate_rpt_pct1 and so on).
type jmeterTotal struct {
	Samples    *int64   `json:"sampleCount"`
	Errors     int64    `json:"errorCount"`
	Mean       float64  `json:"meanResTime"`
	Median     float64  `json:"medianResTime"`
	Max        float64  `json:"maxResTime"`
	P90        float64  `json:"pct1ResTime"`
	P95        float64  `json:"pct2ResTime"`
	P99        float64  `json:"pct3ResTime"`
	Throughput *float64 `json:"throughput"` // per second
	KBytes     float64  `json:"receivedKBytesPerSec"`
}

// Lines of the summariser (SummariserRunningSample.format): "=" is all of the
// run, "+" a part of it. Some languages write a decimal comma.
var (
	jmeterSum   = lazyregexp.New(`(?m)^.*\S *= +(\d+) in +([0-9:.,]+s?) = +([0-9.,]+)/s Avg: +(\d+) Min: +(\d+) Max: +(\d+) Err: +(\d+) \(`)
	jmeterBegin = lazyregexp.New(`(?m)^Starting (?:standalone|the) test @|^Creating summariser <`)
	jmeterEnd   = lazyregexp.New(`(?m)end of run|^Tidying up`)
	jmeterHead  = lazyregexp.New(`(?m)^(?:\S+,)?timeStamp,elapsed,.*$`)
	jmeterRow   = lazyregexp.New(`(?m)^\d{13},\d+,[^,\n]*,[^,\n]*,.*,(?:true|false),`)
)

// jmeterColumns of a .jtl without header (jmeter.properties,
// jmeter.save.saveservice.*, defaults of 5.x).
var jmeterColumns = strings.Split("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect", ",")

func (o *output) jmeter() *jmeterTotal {
	type document struct {
		Total *jmeterTotal `json:"Total"`
	}
	if d := decode(o, func(d *document) bool { return d.Total != nil && d.Total.Samples != nil && d.Total.Throughput != nil }); d != nil {
		return d.Total
	}
	return nil
}

func isJMeter(o *output) bool {
	return o.jmeter() != nil || jmeterSum.MatchString(o.text) || jmeterBegin.MatchString(o.text) || jmeterHead.MatchString(o.text) || jmeterRow.MatchString(o.text) ||
		jmeterReport.MatchString(o.text) || jmeterXML.MatchString(o.text)
}

func readJMeter(o *output) (*report, error) {
	r := &report{counted: true}
	switch j := o.jmeter(); {
	case j != nil:
		r.requests, r.mismatches, r.perSecond = max(*j.Samples, 0), max(j.Errors, 0), *j.Throughput
		for name, ms := range map[string]float64{"mean": j.Mean, "median": j.Median, "max": j.Max, "p90": j.P90, "p95": j.P95, "p99": j.P99} {
			r.named(name, scale(ms, time.Millisecond))
		}
		if r.perSecond > 0 {
			r.duration = seconds(float64(r.requests) / r.perSecond)
			r.bytes = count(j.KBytes * 1024 * r.duration.Seconds())
		}
	case jmeterReport.MatchString(o.text):
		if err := r.jmeterTable(o.text); err != nil {
			return nil, err
		}
	case jmeterXML.MatchString(o.text):
		if err := r.jmeterXMLLines(o.text); err != nil {
			return nil, err
		}
	case jmeterHead.MatchString(o.text) || jmeterRow.MatchString(o.text):
		if err := r.jmeterLines(o.text); err != nil {
			return nil, err
		}
	default:
		if err := r.jmeterText(o.text); err != nil {
			return nil, err
		}
	}
	r.succeeded = max(r.requests-r.mismatches, 0)
	if r.mismatches > 0 && len(r.messages) == 0 {
		// JMeter does not tell a wrong answer from none in its sums.
		r.complain("mismatch", fmt.Sprintf("%d samples failed", r.mismatches))
	}
	r.rate()
	return r, nil
}

func (r *report) jmeterText(text string) error {
	m := last(jmeterSum, text)
	if m == nil {
		return errNoSummary
	}
	n := map[int]float64{}
	for _, i := range []int{1, 4, 6, 7} {
		n[i], _ = parseNumber(m[i])
	}
	r.requests, r.mismatches = count(n[1]), count(n[7])
	r.latency.Mean, r.latency.Max = scale(n[4], time.Millisecond), scale(n[6], time.Millisecond)
	r.perSecond, _ = parseNumber(decimalPoint(m[3]))
	r.duration = clock(m[2])
	if jmeterBegin.MatchString(text) && !jmeterEnd.MatchString(text) {
		r.failed = `it was ended before its time: "end of run" is missing`
	}
	return nil
}

// decimalPoint writes 1,5 as 1.5.
func decimalPoint(s string) string {
	if !strings.Contains(s, ".") && strings.Count(s, ",") == 1 {
		return strings.Replace(s, ",", ".", 1)
	}
	return s
}

// clock reads 00:01:30 and 12.5s.
func clock(s string) time.Duration {
	total := 0.0
	for part := range strings.SplitSeq(strings.TrimSuffix(decimalPoint(s), "s"), ":") {
		n, _ := parseNumber(part)
		total = total*60 + n
	}
	return seconds(total)
}

// errLongResults: of a longer output the middle is not kept.
var errLongResults = errors.New("its lines of results are longer than what is kept of an output; print the summariser's lines or the dashboard's statistics.json")

// jmeterLines reads a .jtl in CSV.
func (r *report) jmeterLines(text string) error {
	if len(text) >= 2*keep {
		return errLongResults
	}
	columns := jmeterColumns
	body := text
	if at := jmeterHead.FindStringIndex(text); at != nil {
		body = text[at[0]:]
	} else if at := jmeterRow.FindStringIndex(text); at != nil {
		body = text[at[0]:]
	}
	in := csv.NewReader(strings.NewReader(body))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	var s samples
	for {
		row, err := in.Read()
		if err != nil {
			break
		}
		if slices.Contains(row, "timeStamp") {
			columns = row
			continue
		}
		field := func(name string) string {
			if i := slices.Index(columns, name); i >= 0 && i < len(row) {
				return row[i]
			}
			return ""
		}
		at, err1 := parseNumber(field("timeStamp"))
		took, err2 := parseNumber(field("elapsed"))
		if err1 != nil || err2 != nil || took < 0 {
			continue
		}
		r.sample(&s, at, took, strings.EqualFold(field("success"), "false"), strings.TrimSpace(field("label")+": "+field("responseCode")+" "+field("responseMessage")))
		n, _ := parseNumber(field("bytes"))
		r.bytes += count(n)
		n, _ = parseNumber(field("allThreads"))
		r.workload = max(r.workload, int(count(n)))
	}
	return r.summed(&s)
}
