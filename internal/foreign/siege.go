package foreign

import (
	"cmp"
	"fmt"

	"kasoku/internal/lazyregexp"
)

// siege 3 and 4 (src/main.c, display). Up to 4.1.1 times are in seconds, later
// in milliseconds; with -j, and by default since 4.0.5 where the output is no
// terminal, the same is JSON without units.
type siegeJSON struct {
	Transactions *float64 `json:"transactions"`
	Availability *float64 `json:"availability"`
	Elapsed      float64  `json:"elapsed_time"`
	Megabytes    float64  `json:"data_transferred"`
	Response     float64  `json:"response_time"`
	Rate         float64  `json:"transaction_rate"`
	Concurrency  float64  `json:"concurrency"`
	Succeeded    float64  `json:"successful_transactions"`
	Failed       float64  `json:"failed_transactions"`
	Longest      float64  `json:"longest_transaction"`
}

var (
	siegeHits        = lazyregexp.New(`(?m)^Transactions:\s+(\d+) hits`)
	siegeElapsed     = lazyregexp.New(`(?m)^Elapsed time:\s+([0-9.]+ \w+)`)
	siegeResponse    = lazyregexp.New(`(?m)^Response time:\s+([0-9.]+ \w+)`)
	siegeRate        = lazyregexp.New(`(?m)^Transaction rate:\s+([0-9.]+) trans/sec`)
	siegeData        = lazyregexp.New(`(?m)^Data transferred:\s+([0-9.]+) MB`)
	siegeConcurrency = lazyregexp.New(`(?m)^Concurrency:\s+([0-9.]+)`)
	siegeSucceeded   = lazyregexp.New(`(?m)^Successful transactions:\s*(\d+)`)
	siegeFailed      = lazyregexp.New(`(?m)^Failed transactions:\s*(\d+)`)
	siegeLongest     = lazyregexp.New(`(?m)^Longest transaction:\s*([0-9.]+)(?: (\w+))?`)
	siegeBegin       = lazyregexp.New(`(?m)^The server is now under siege`)
)

func (o *output) siege() *siegeJSON {
	return decode(o, func(j *siegeJSON) bool { return j.Transactions != nil && j.Availability != nil })
}

func isSiege(o *output) bool {
	return o.siege() != nil || siegeHits.MatchString(o.text) || siegeBegin.MatchString(o.text)
}

func readSiege(o *output) (*report, error) {
	j := o.siege()
	if j == nil {
		hits, ok := lastNumber(siegeHits, o.text)
		if !ok {
			return nil, errNoSummary
		}
		j = &siegeJSON{Transactions: &hits, Elapsed: lastDuration(siegeElapsed, o.text).Seconds(), Response: lastDuration(siegeResponse, o.text).Seconds()}
		for re, to := range map[*lazyregexp.Regexp]*float64{siegeRate: &j.Rate, siegeData: &j.Megabytes, siegeConcurrency: &j.Concurrency,
			siegeSucceeded: &j.Succeeded, siegeFailed: &j.Failed} {
			*to, _ = lastNumber(re, o.text)
		}
		if m := last(siegeLongest, o.text); m != nil {
			d, _ := parseDuration(m[1] + " " + cmp.Or(m[2], "secs"))
			j.Longest = d.Seconds()
		}
	} else if j.milliseconds() {
		j.Response, j.Longest = j.Response/1000, j.Longest/1000
	}
	r := &report{counted: true, duration: seconds(j.Elapsed), succeeded: min(count(j.Succeeded), count(*j.Transactions)), mismatches: count(j.Failed),
		workload: int(count(j.Concurrency)), bytes: count(j.Megabytes * (1 << 20))}
	r.requests = count(*j.Transactions) + r.mismatches
	r.mismatches = max(r.mismatches, r.requests-r.succeeded) // a status of 400 and above is a hit, but neither failed nor successful
	r.latency.Mean, r.latency.Max = seconds(j.Response), seconds(j.Longest)
	if r.mismatches > 0 {
		// It does not tell a wrong status from no answer.
		r.complain("mismatch", fmt.Sprintf("%d transactions that failed or had a status of 400 and above", r.mismatches))
	}
	if r.duration > 0 {
		r.perSecond = float64(r.requests) / r.duration.Seconds()
	}
	r.rate()
	return r, nil
}

// milliseconds reports whether times are in milliseconds: by Little's law,
// concurrency = rate · response time.
func (j *siegeJSON) milliseconds() bool {
	return j.Concurrency > 0 && j.Rate*j.Response > 20*j.Concurrency
}
