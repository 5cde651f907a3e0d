package foreign

import (
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
	"kasoku/internal/load"
)

// report is what a format read out of an output. Counts are of the whole run
// of the benchmark.
type report struct {
	score  float64
	scored bool
	rated  bool // the score is right answers per second

	requests, succeeded          int64
	mismatches, timeouts, errors int64
	counted                      bool // requests are told

	perSecond float64       // requests per second as the tool tells; 0: not told
	duration  time.Duration // of its measured part; 0: not told
	latency   load.Percentiles
	workload  int // connections or users; 0: not told
	bytes     int64

	// failed says why the benchmark itself judged the service wrong; "" if it
	// did not.
	failed string
	// wholeRun: the exit status only says that requests failed, which are
	// counted.
	wholeRun bool
	messages []message
}

// message is one thing that the benchmark complained about.
type message struct {
	kind string // mismatch, error, timeout, as in load.Mismatch
	text string
}

// complain keeps a message, within load.MaxSamples.
func (r *report) complain(kind, text string) {
	text = strings.TrimSpace(text)
	if text != "" && len(r.messages) < load.MaxSamples {
		r.messages = append(r.messages, message{kind, shorten(text, maxMessage)})
	}
}

// maxMessage bytes of one message: as much as load keeps of a body.
const maxMessage = 4 << 10

// rate makes right answers per second the score of a tool that has none.
func (r *report) rate() {
	switch {
	case r.requests <= 0 || r.succeeded <= 0:
		r.score = 0 // nothing was right
	case r.perSecond > 0:
		r.score = r.perSecond * float64(r.succeeded) / float64(r.requests)
	case r.duration > 0:
		r.score = float64(r.succeeded) / r.duration.Seconds()
	default:
		return
	}
	r.scored, r.rated = true, true
}

// kindOf tells a time-out from other errors by the words the tools use.
func kindOf(text string) string {
	t := strings.ToLower(text)
	for _, w := range []string{"timeout", "timed out", "timedout", "deadline exceeded", "タイムアウト"} {
		if strings.Contains(t, w) {
			return "timeout"
		}
	}
	return "error"
}

// last returns the groups of the pattern's last match, nil if there is none.
func last(re *lazyregexp.Regexp, text string) []string {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// lastNumber is the first group of the last match as a number.
func lastNumber(re *lazyregexp.Regexp, text string) (float64, bool) {
	m := last(re, text)
	if m == nil {
		return 0, false
	}
	n, err := parseNumber(m[1])
	return n, err == nil
}

// lastCount is lastNumber as a count; 0 if there is none.
func lastCount(re *lazyregexp.Regexp, text string) int64 {
	n, _ := lastNumber(re, text)
	return count(n)
}

// lastDuration is the first group of the last match as a duration.
func lastDuration(re *lazyregexp.Regexp, text string) time.Duration {
	m := last(re, text)
	if m == nil {
		return 0
	}
	d, _ := parseDuration(m[1])
	return d
}

// setPercentile sets the percentile p, in percent, if a Result has it.
func setPercentile(l *load.Percentiles, p float64, d time.Duration) {
	switch p {
	case 50:
		l.P50 = d
	case 90:
		l.P90 = d
	case 95:
		l.P95 = d
	case 99:
		l.P99 = d
	case 100:
		l.Max = d
	}
}
