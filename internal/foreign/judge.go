package foreign

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kasoku/internal/load"
)

// judge reads the output into res, or says why the benchmark could not run.
func (r *Runner) judge(o *output, res *load.Result) error {
	f := formatOf(r.command.Format, r.score != nil, o)
	if f == nil {
		if r.score == nil {
			if o.exit != 0 {
				return fmt.Errorf("%s ended with %d and no result that is known; %s", r.name(), o.exit, o.tail())
			}
			return fmt.Errorf("%s: the output has no format that is known (%s); write load.command.score: %s; %s",
				r.name(), r.known(), o.suggest(), o.tail())
		}
		f = formatOf(Custom, true, o)
	}
	rep, err := f.read(o)
	if err != nil && r.score == nil {
		return fmt.Errorf("%s ended with %d: cannot read its output as that of %s: %w; %s", r.name(), o.exit, f.name, err, o.tail())
	}
	if err != nil {
		rep = &report{}
	}
	if err := r.override(o, rep); err != nil {
		return fmt.Errorf("%s ended with %d: %w; %s", r.name(), o.exit, err, o.tail())
	}
	if !rep.scored && rep.failed == "" {
		return fmt.Errorf("%s ended with %d: it tells no score; write load.command.score; %s", r.name(), o.exit, o.tail())
	}
	if o.exit != 0 && rep.failed == "" && !rep.wholeRun {
		rep.failed = fmt.Sprintf("it ended with %d", o.exit)
	}
	res.Engine, res.Scenario = f.name, r.command.Argv[0]
	res.ScoreText = rep.scoreText(f.name, r.score)
	rep.into(res, o)
	return nil
}

func (r *Runner) known() string {
	text := ""
	for _, name := range Formats() {
		if name != Custom {
			text += name + ", "
		}
	}
	return text[:len(text)-2]
}

// override puts what kasoku.yaml says before what the format found. A value
// that is missing in a run that failed is no error: the run says enough.
func (r *Runner) override(o *output, rep *report) error {
	if r.failIf != nil {
		if m := r.failIf.FindString(o.text); r.failIf.MatchString(o.text) {
			rep.failed = fmt.Sprintf("load.command.fail_if matched %q", shorten(m, 200))
		}
	}
	failed := rep.failed != ""
	if r.score != nil {
		n, err := r.score.number(o)
		if err != nil && !failed {
			return fmt.Errorf("no score: load.command.score: %w", err)
		}
		rep.score, rep.scored = n, err == nil
	}
	if r.requests != nil {
		n, err := r.requests.number(o)
		if err != nil && !failed {
			return fmt.Errorf("load.command.requests: %w", err)
		}
		rep.requests, rep.counted, rep.perSecond = count(n), true, 0
		rep.succeeded = max(rep.requests-rep.mismatches, 0)
	}
	if r.errors != nil {
		n, err := r.errors.number(o)
		if err != nil && !failed {
			return fmt.Errorf("load.command.errors: %w", err)
		}
		rep.errors, rep.mismatches, rep.timeouts = count(n), 0, 0
		if rep.counted {
			rep.succeeded = max(rep.requests-rep.errors, 0)
		}
		if rep.errors > 0 && len(rep.messages) == 0 {
			rep.complain("error", fmt.Sprintf("%s gives %d", r.errors.text, rep.errors))
		}
	}
	return r.overrideLatency(o, rep, failed)
}

func (r *Runner) overrideLatency(o *output, rep *report, failed bool) error {
	if len(r.latency) == 0 {
		return nil
	}
	unit := time.Millisecond
	if u := r.command.Latency.Unit; u != "" {
		unit = units[u]
	}
	l := &rep.latency
	to := map[string]*time.Duration{"mean": &l.Mean, "p50": &l.P50, "p90": &l.P90, "p95": &l.P95, "p99": &l.P99, "max": &l.Max}
	for _, name := range slices.Sorted(maps.Keys(r.latency)) {
		d, err := r.latency[name].duration(o, unit)
		if err != nil && !failed {
			return fmt.Errorf("load.command.latency.%s: %w", name, err)
		}
		*to[name] = d
	}
	return nil
}

// scoreText says in one line what the score is.
func (rep *report) scoreText(name string, given *finder) string {
	text := "right answers per second, as " + name + " tells"
	switch {
	case rep.failed != "":
		return "0, because " + rep.failed
	case given != nil:
		text = "as the benchmark tells: " + given.text
	case !rep.rated:
		text = "points, as the benchmark tells"
	}
	if !rep.counted {
		text += "; it tells no requests, so they are taken from the access log, and without one a point counts as one"
	}
	return text
}

// into fills a Result. Window stays the wall-clock time over which the
// collectors watched; a rate that the tool tells is taken over as told.
func (rep *report) into(res *load.Result, o *output) {
	if rep.failed != "" {
		// The benchmark says that the service is wrong; how fast it is wrong
		// does not matter.
		rep.score = 0
		rep.mismatches = max(rep.mismatches, 1)
		if !rep.counted {
			rep.requests = rep.mismatches
		}
	} else if !rep.counted {
		// Without a count, a point stands for a request: what diagnosis says
		// "per request" is then per point.
		rep.succeeded = max(count(rep.score), 0)
		rep.requests = rep.succeeded + rep.mismatches
	}
	res.Score, res.Uncounted = rep.score, !rep.counted
	res.Requests, res.Succeeded = max(rep.requests, rep.succeeded+rep.mismatches), rep.succeeded
	res.Mismatches, res.Timeouts, res.Errors = rep.mismatches, rep.timeouts, rep.errors
	res.Latency, res.BytesIn, res.Workload = rep.latency, rep.bytes, rep.workload
	res.RequestsPerSecond = rep.perSecond
	span := rep.duration
	if span == 0 {
		span = res.Window
	}
	if rep.perSecond == 0 && span > 0 {
		res.RequestsPerSecond = float64(res.Requests) / span.Seconds()
	}
	if res.Requests > 0 {
		res.Goodput = res.RequestsPerSecond * float64(res.Succeeded) / float64(res.Requests)
	}
	if res.Workload == 0 {
		// Little's law: requests under way = rate · latency.
		res.Workload = int(count(res.RequestsPerSecond * rep.latency.Mean.Seconds()))
	}
	rep.samples(res, o)
}

// samples keeps what the benchmark complained about.
func (rep *report) samples(res *load.Result, o *output) {
	add := func(kind, text string, body string) {
		if len(res.Samples) < load.MaxSamples {
			res.Samples = append(res.Samples, load.Mismatch{Kind: kind, At: res.Started.Add(res.Window), Session: res.Engine,
				Step: "load.command", Request: res.Scenario, Expected: "a run without complaint", Got: text, Body: body})
		}
	}
	if rep.failed != "" {
		body := o.text
		if n := len(body) - maxMessage; n > 0 {
			body = shorten(body[n:], maxMessage)
		}
		add("mismatch", rep.failed, body)
	}
	for _, m := range rep.messages {
		add(m.kind, m.text, "")
	}
}
