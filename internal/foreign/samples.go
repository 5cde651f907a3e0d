package foreign

import (
	"encoding/csv"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// samples are single requests of a run: when they began, in milliseconds since
// 1970, and how many milliseconds they took.
type samples struct {
	times             map[float64]int64
	begin, end, total float64
}

// sample counts one.
func (r *report) sample(s *samples, at, took float64, failed bool, what string) {
	if s.times == nil {
		s.times = map[float64]int64{}
	}
	if r.requests == 0 || at < s.begin {
		s.begin = at
	}
	s.end, s.total = max(s.end, at+took), s.total+took
	s.times[took]++
	r.requests++
	r.latency.Max = max(r.latency.Max, scale(took, time.Millisecond))
	if failed {
		r.mismatches++
		r.complain("mismatch", what)
	}
}

// summed sets what all of them say together.
func (r *report) summed(s *samples) error {
	if r.requests == 0 {
		return errNoSummary
	}
	r.latency.Mean = scale(s.total/float64(r.requests), time.Millisecond)
	r.duration = scale(s.end-s.begin, time.Millisecond)
	r.distribution(s.times, time.Millisecond)
	return nil
}

// A .jtl in XML (JMeter manual, "Listeners", "Sample attributes"): t is the time
// and ts the begin in milliseconds, s whether it was right, na the threads.
var (
	jmeterXML       = lazyregexp.New(`<testResults\b`)
	jmeterXMLSample = lazyregexp.New(`(?m)^(\s*)<(?:httpSample|sample)\b([^>]*)>`)
	xmlAttribute    = lazyregexp.New(`(\w+)="([^"]*)"`)
)

// jmeterXMLLines reads them. Samples within samples are parts of these.
func (r *report) jmeterXMLLines(text string) error {
	if len(text) >= 2*keep {
		return errLongResults
	}
	var s samples
	outer := -1
	for _, m := range jmeterXMLSample.FindAllStringSubmatch(text, -1) {
		indent := len(strings.TrimLeft(m[1], "\n"))
		if outer < 0 {
			outer = indent
		}
		if indent > outer {
			continue
		}
		of := map[string]string{}
		for _, a := range xmlAttribute.FindAllStringSubmatch(m[2], -1) {
			of[a[1]] = a[2]
		}
		at, err1 := parseNumber(of["ts"])
		took, err2 := parseNumber(of["t"])
		if err1 != nil || err2 != nil || took < 0 {
			continue
		}
		r.sample(&s, at, took, strings.EqualFold(of["s"], "false"), strings.TrimSpace(of["lb"]+": "+of["rc"]+" "+of["rm"]))
		n, _ := parseNumber(of["by"])
		r.bytes += count(n)
		n, _ = parseNumber(of["na"])
		r.workload = max(r.workload, int(count(n)))
	}
	return r.summed(&s)
}

// jmeterReport is the first line of a saved Aggregate Report or Summary Report;
// jmeter's command for it, JMeterPluginsCMD, has other names.
var jmeterReport = lazyregexp.New(`(?m)^"?(?:Label|sampler_label)"?,"?(?:# Samples|aggregate_report_count)"?,.*$`)

// jmeterTable reads the row TOTAL. Times are milliseconds; the throughput is per
// second, unless a unit stands behind it.
func (r *report) jmeterTable(text string) error {
	at := jmeterReport.FindAllStringIndex(text, -1)
	in := csv.NewReader(strings.NewReader(text[at[len(at)-1][0]:]))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	head, err := in.Read()
	if err != nil {
		return errNoSummary
	}
	for {
		row, err := in.Read()
		if err != nil {
			return errNoSummary
		}
		if row[0] != "TOTAL" {
			continue
		}
		wrong := 0.0
		for i := range min(len(head), len(row)) {
			wrong += r.jmeterColumn(head[i], row[i])
		}
		r.mismatches = count(wrong * float64(r.requests))
		if r.perSecond > 0 {
			r.duration = seconds(float64(r.requests) / r.perSecond)
		}
		return nil
	}
}

// jmeterColumn sets one; failed is the share of "Error %", else 0.
func (r *report) jmeterColumn(name, text string) (failed float64) {
	perMinute := 1.0
	value := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text), "%"), "/sec")
	for unit, n := range map[string]float64{"/min": 60, "/hour": 3600} {
		if rest, ok := strings.CutSuffix(value, unit); ok {
			value, perMinute = rest, n
		}
	}
	n, err := parseNumber(decimalPoint(value))
	if err != nil {
		return 0
	}
	name = strings.ToLower(strings.NewReplacer("aggregate_report_", "", "_", " ").Replace(name))
	ms := scale(n, time.Millisecond)
	switch name {
	case "# samples", "count":
		r.requests = count(n)
	case "average":
		r.latency.Mean = ms
	case "median":
		r.latency.P50 = ms
	case "max":
		r.latency.Max = ms
	case "error %", "error%":
		if !strings.Contains(text, "%") && n <= 1 { // a share
			return n
		}
		return n / 100
	case "throughput", "rate":
		r.perSecond = n / perMinute
	default:
		if p, ok := strings.CutSuffix(name, "% line"); ok {
			if percent, err := parseNumber(p); err == nil {
				setPercentile(&r.latency, percent, ms)
			}
		}
	}
	return 0
}

// gatlingRow is a request in simulation.log, until 3.9 a text with tabs: begin and
// end in milliseconds, and OK or KO. What stands before differs by version.
var gatlingRow = lazyregexp.New(`(?m)^REQUEST\t(.*)\t(\d{13})\t(\d{13})\t(OK|KO)(?:\t(.*))?$`)

func (r *report) gatlingLines(text string) error {
	if len(text) >= 2*keep {
		return errLongSimulation
	}
	var s samples
	for _, m := range gatlingRow.FindAllStringSubmatch(text, -1) {
		begin, err1 := parseNumber(m[2])
		end, err2 := parseNumber(m[3])
		if err1 != nil || err2 != nil || end < begin {
			continue
		}
		name := m[1][strings.LastIndexByte(m[1], '\t')+1:]
		r.sample(&s, begin, end-begin, m[4] == "KO", strings.TrimSpace(name+": "+m[5]))
	}
	return r.summed(&s)
}
