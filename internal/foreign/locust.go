package foreign

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// locustExit is the status of a run in which requests failed
// (--exit-code-on-error, 1 by default): the run itself is whole.
const locustExit = 1

// locustJSON is one entry of locust --json (locust/stats.py, StatsEntry.
// serialize). Times are in milliseconds, moments in seconds since 1970.
type locustJSON struct {
	Name     string           `json:"name"`
	Requests *int64           `json:"num_requests"`
	Failures *int64           `json:"num_failures"`
	Total    float64          `json:"total_response_time"`
	Max      float64          `json:"max_response_time"`
	Begin    float64          `json:"start_time"`
	End      float64          `json:"last_request_timestamp"`
	Bytes    int64            `json:"total_content_length"`
	Times    map[string]int64 `json:"response_times"`
}

// The console's tables (locust/stats.py, print_stats and
// print_percentile_stats) and the first line of --csv's _stats.csv. Up to 0.14
// the sum is called Total.
var (
	locustRow     = lazyregexp.New(`(?m)^\s*(?:Aggregated|Total)\s+(\d+)\s+(\d+)\([0-9.]+%\)\s*\|?\s*(\d+)\s+(\d+)\s+(\d+)\s*\|?\s*(\d+)\s*\|?\s*([0-9.]+)`)
	locustHead    = lazyregexp.New(`(?m)^(?:Type +)?Name +(50%.*)$`)
	locustPercent = lazyregexp.New(`(?m)^\s*(?:Aggregated|Total)((?:\s+\d+){6,})\s*$`)
	locustBegin   = lazyregexp.New(`(?m)locust\.main: Starting Locust|^ ?(?:Type +)?Name +# reqs +# fails`)
	locustCSV     = lazyregexp.New(`(?m)^"?(?:Type|Method)"?,"?Name"?,"?(?:Request Count|# requests)"?,.*$`)
	locustError   = lazyregexp.New(`(?m)^(\d+) +(\S+ .*?: .+?) *$`)
	locustEnded   = lazyregexp.New(`(?m)KeyboardInterrupt|Got SIGTERM|^Aborted!`)
)

func (o *output) locust() []*locustJSON {
	var out []*locustJSON
	for _, doc := range o.documents {
		j := new(locustJSON)
		if json.Unmarshal(doc, j) == nil && j.Requests != nil && j.Failures != nil && j.Times != nil {
			out = append(out, j)
		}
	}
	return out
}

func isLocust(o *output) bool {
	return locustBegin.MatchString(o.text) || locustCSV.MatchString(o.text) || len(o.locust()) > 0
}

func readLocust(o *output) (*report, error) {
	r := &report{counted: true}
	if o.exit == locustExit {
		r.wholeRun = true
	}
	switch list := o.locust(); {
	case len(list) > 0:
		r.locustData(list)
	case locustCSV.MatchString(o.text):
		if err := r.locustFile(o.text); err != nil {
			return nil, err
		}
	default:
		if err := r.locustText(o.text); err != nil {
			return nil, err
		}
	}
	r.succeeded = max(r.requests-r.mismatches, 0)
	if r.mismatches > 0 && len(r.messages) == 0 {
		r.complain("mismatch", fmt.Sprintf("%d requests failed", r.mismatches))
	}
	if m := locustEnded.FindString(o.text); m != "" {
		r.failed = "it was ended before its time: " + m
	}
	r.rate()
	return r, nil
}

func (r *report) locustData(list []*locustJSON) {
	times := map[float64]int64{}
	var total, begin, end float64
	for _, j := range list {
		r.requests += max(*j.Requests, 0)
		r.mismatches += max(*j.Failures, 0)
		r.bytes += max(j.Bytes, 0)
		total += j.Total
		r.latency.Max = max(r.latency.Max, scale(j.Max, time.Millisecond))
		if begin == 0 || j.Begin < begin {
			begin = j.Begin
		}
		end = max(end, j.End)
		for text, n := range j.Times {
			if ms, err := parseNumber(text); err == nil && n > 0 {
				times[ms] += n
			}
		}
	}
	r.duration = seconds(end - begin)
	if r.requests > 0 {
		r.latency.Mean = scale(total/float64(r.requests), time.Millisecond)
	}
	r.distribution(times, time.Millisecond)
}

// locustFile reads the row of the sum in _stats.csv.
func (r *report) locustFile(text string) error {
	at := locustCSV.FindAllStringIndex(text, -1)
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
		if len(row) < 3 || row[1] != "Aggregated" && row[1] != "Total" {
			continue
		}
		for i := range min(len(head), len(row)) {
			n, err := parseNumber(row[i])
			if err != nil {
				continue // N/A
			}
			r.locustColumn(strings.ToLower(head[i]), n)
		}
		return nil
	}
}

func (r *report) locustColumn(name string, n float64) {
	ms := scale(n, time.Millisecond)
	switch name {
	case "request count", "# requests":
		r.requests = count(n)
	case "failure count", "# failures":
		r.mismatches = count(n)
	case "average response time":
		r.latency.Mean = ms
	case "median response time":
		r.latency.P50 = ms
	case "max response time":
		r.latency.Max = ms
	case "requests/s":
		r.perSecond = n
	default:
		if p, err := parseNumber(strings.TrimSuffix(name, "%")); err == nil && p < 100 && strings.HasSuffix(name, "%") {
			setPercentile(&r.latency, p, ms)
		}
	}
}

func (r *report) locustText(text string) error {
	m := last(locustRow, text)
	if m == nil {
		return errNoSummary
	}
	for i, name := range []string{"# requests", "# failures", "average response time", "", "max response time", "median response time", "requests/s"} {
		n, _ := parseNumber(m[i+1])
		r.locustColumn(name, n)
	}
	head, values := last(locustHead, text), last(locustPercent, text)
	if head != nil && values != nil {
		names, row := strings.Fields(head[1]), strings.Fields(values[1])
		for i := range min(len(names), len(row)) {
			if n, err := parseNumber(row[i]); err == nil {
				r.locustColumn(names[i], n)
			}
		}
	}
	if _, list, ok := strings.Cut(text, "Error report"); ok {
		for _, e := range locustError.FindAllStringSubmatch(list, -1) {
			r.complain("mismatch", e[2])
		}
	}
	return nil
}
