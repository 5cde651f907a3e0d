package foreign

import (
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// hey (requester/print.go) and oha (src/printer.rs), whose text is modelled on
// hey's. hey prints "10%% in", oha "10.00% in"; oha chooses the unit of a
// duration.
var (
	heyTotal     = lazyregexp.New(`(?m)^ *Total:\s+([0-9.]+ [a-zµμ]+)`)
	heySlowest   = lazyregexp.New(`(?m)^ *Slowest:\s+([0-9.]+ [a-zµμ]+)`)
	heyAverage   = lazyregexp.New(`(?m)^ *Average:\s+([0-9.]+ [a-zµμ]+)`)
	heyRate      = lazyregexp.New(`(?m)^ *Requests/sec:\s+([0-9.]+)`)
	heyPercent   = lazyregexp.New(`(?m)^ *([0-9.]+)%%? in ([0-9.]+ [a-zµμ]+)`)
	heyStatus    = lazyregexp.New(`(?m)^ *\[(\d{3})\]\s+(\d+) responses`)
	heyErrors    = lazyregexp.New(`(?ms)^ *Error distribution:\n(.*)`)
	heyError     = lazyregexp.New(`(?m)^ *\[(\d+)\]\s+(\S.*)$`)
	ohaSuccess   = lazyregexp.New(`(?m)^ *Success rate:\s+([0-9.]+)`)
	heyBytes     = lazyregexp.New(`(?m)^ *Total data:\s+(\d+) bytes`)
	heySummary   = lazyregexp.New(`(?m)^ *Summary:`)
	ohaDeadline  = "aborted due to deadline" // under way at the end: no error
	ohaOtherName = lazyregexp.New(`(?m)^ *Size/sec:`)
)

func isHey(o *output) bool {
	return heySummary.MatchString(o.text) && heyTotal.MatchString(o.text) && heyRate.MatchString(o.text)
}

func isOhaText(o *output) bool {
	return isHey(o) && (ohaSuccess.MatchString(o.text) || ohaOtherName.MatchString(o.text))
}

func readHey(o *output) (*report, error) {
	if !isHey(o) {
		return nil, errNoSummary
	}
	r := &report{counted: true, bytes: lastCount(heyBytes, o.text)}
	r.duration = lastDuration(heyTotal, o.text)
	r.latency.Mean, r.latency.Max = lastDuration(heyAverage, o.text), lastDuration(heySlowest, o.text)
	for _, m := range heyPercent.FindAllStringSubmatch(o.text, -1) {
		p, _ := parseNumber(m[1])
		if d, ok := parseDuration(m[2]); ok {
			setPercentile(&r.latency, p, d)
		}
	}
	for _, m := range heyStatus.FindAllStringSubmatch(o.text, -1) {
		n, _ := parseNumber(m[2])
		r.status(m[1], count(n))
	}
	if m := heyErrors.FindStringSubmatch(o.text); m != nil {
		for _, e := range heyError.FindAllStringSubmatch(m[1], -1) {
			n, _ := parseNumber(e[1])
			r.broken(e[2], count(n))
		}
	}
	// The tool's own rate also counts requests without an answer.
	if r.duration > 0 {
		r.perSecond = float64(r.requests) / r.duration.Seconds()
	}
	r.rate()
	return r, nil
}

// status counts answers with this status; 400 and above are wrong.
func (r *report) status(code string, n int64) {
	r.requests += n
	if code >= "400" {
		r.mismatches += n
		r.complain("mismatch", "status "+code)
		return
	}
	r.succeeded += n
}

// broken counts requests without an answer.
func (r *report) broken(text string, n int64) {
	if n == 0 || strings.Contains(text, ohaDeadline) {
		return
	}
	kind := kindOf(text)
	if kind == "timeout" {
		r.timeouts += n
	} else {
		r.errors += n
	}
	r.complain(kind, text)
}

// seconds is a number of seconds as a duration.
func seconds(n float64) time.Duration { return scale(n, time.Second) }
