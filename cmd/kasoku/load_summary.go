package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

const (
	// maxRoutes and maxWrong shown; --json has the rest. With them the summary
	// stays below 25 lines.
	maxRoutes = 4
	maxWrong  = 3
)

// summary collects lines "name  text".
type summary struct{ strings.Builder }

func (s *summary) line(name, format string, args ...any) {
	fmt.Fprintf(s, "%-11s %s\n", name, ui.Clean(fmt.Sprintf(format, args...)))
}

// loadSummary prints what people paste.
func loadSummary(w io.Writer, l *loading, res *load.Result) error {
	var s summary
	s.line("target", "%s", l.request)
	s.line("load", "%s", loadText(l, res))
	s.line("window", "%s after %s of warm-up%s, seed %d", ui.Duration(res.Window), ui.Duration(res.WarmupTook), steadyText(res), res.Seed)
	if l.simple != nil {
		s.line("checked", "%s", l.simple.Checked())
	} else {
		s.line("checked", "what the scenario expects of every answer")
	}
	outside := ""
	if res.Unmeasured > 0 {
		outside = fmt.Sprintf(" (%s of them outside the window)", count(res.Unmeasured))
	}
	s.line("requests", "%s: %s right, %s wrong%s, %s errors, %s time-outs", count(res.Requests+res.Errors+res.Timeouts), count(res.Succeeded),
		count(res.Mismatches), outside, count(res.Errors), count(res.Timeouts))
	s.line("per second", "%s requests, %s", ui.Count(res.RequestsPerSecond), ui.Bytes(int64(float64(res.BytesIn)/max(res.Window.Seconds(), 1e-9))))
	if res.Open != nil {
		o := res.Open
		s.line("planned", "%s (%s/s), begun %s, dropped %s; at most %d at once", count(o.Planned), ui.Count(o.PlannedPerSecond),
			count(o.Begun), count(o.Dropped), o.MaxUsers)
	}
	s.line("generator", "%s", generatorText(res))
	s.WriteString("\n")
	if err := latencyTable(&s, res); err != nil {
		return err
	}
	if len(res.Routes) > 1 {
		s.WriteString("\n")
		if err := routeTable(&s, res.Routes); err != nil {
			return err
		}
	}
	for i, text := range wrongAnswers(res.Samples) {
		if i == 0 {
			s.WriteString("\n")
		}
		s.WriteString(text)
	}
	if res.Unsteady != "" {
		s.line("note", "%s", res.Unsteady)
	}
	if res.Saturated != "" {
		s.line("NO EVIDENCE", "%s", res.Saturated)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// wrongAnswers are the first lines about failures that differ.
func wrongAnswers(samples []load.Mismatch) []string {
	var out []string
	for _, m := range samples {
		var s summary
		s.line(m.Kind, "%s: expected %s, got %s", brief(m.Request), brief(m.Expected), brief(m.Got))
		if len(out) < maxWrong && !slices.Contains(out, s.String()) {
			out = append(out, s.String())
		}
	}
	return out
}

// steadyText says whether the service was warm, as far as it was judged.
func steadyText(res *load.Result) string {
	switch {
	case res.Steady:
		return " (steady)"
	case res.Unsteady != "":
		return " (NOT steady)"
	}
	return ""
}

func count(n int64) string { return ui.Count(float64(n)) }

// brief is a text for one line.
func brief(text string) string { return ui.Truncate(strings.Join(strings.Fields(text), " "), 100) }

// loadText says engine and model.
func loadText(l *loading, res *load.Result) string {
	text := fmt.Sprintf("%d connections, closed model", res.Workload)
	if res.Open != nil {
		text = fmt.Sprintf("open model, at most %d connections", res.Workload)
		if a := l.opts.Arrivals; a != nil && a.Random {
			text += ", Poisson arrivals"
		}
	}
	if l.simple != nil && l.simple.Close {
		text += ", each for one request"
	}
	if res.Engine != "" {
		text += ", engine " + res.Engine
	}
	return text
}

func generatorText(res *load.Result) string {
	done := res.Requests + res.Errors + res.Timeouts
	if done == 0 || res.GeneratorCPU <= 0 {
		return ui.Duration(res.GeneratorCPU) + " of CPU time"
	}
	n := runtime.NumCPU()
	processors := "processors"
	if n == 1 {
		processors = "processor"
	}
	return fmt.Sprintf("%s of CPU time per request, %s of the machine's %d %s", ui.Duration(res.GeneratorCPU/time.Duration(done)),
		ui.Share(res.GeneratorCPU.Seconds()/(res.Window.Seconds()*float64(n))), n, processors)
}

func latencyTable(w io.Writer, res *load.Result) error {
	rows := [][]string{latencyRow("latency", res.Latency)}
	if res.Open != nil {
		rows = [][]string{latencyRow("latency from the planned time", res.Latency), latencyRow("latency from the send (uncorrected)", res.Open.Uncorrected),
			latencyRow("lateness of the generator", res.Open.Lateness)}
	}
	return ui.Table(w, []string{"", "mean", "p50", "p90", "p95", "p99", "max"}, rows)
}

func latencyRow(name string, p load.Percentiles) []string {
	row := []string{name}
	for _, d := range []time.Duration{p.Mean, p.P50, p.P90, p.P95, p.P99, p.Max} {
		row = append(row, ui.Duration(d))
	}
	return row
}

func routeTable(w io.Writer, routes []load.RouteResult) error {
	var rows [][]string
	for _, r := range routes[:min(len(routes), maxRoutes)] {
		rows = append(rows, []string{ui.Truncate(r.Route, 40), count(r.Requests), count(r.Failed), ui.Duration(r.Latency.Mean), ui.Duration(r.Latency.P50), ui.Duration(r.Latency.P99)})
	}
	head := "route"
	if n := len(routes) - maxRoutes; n > 0 {
		head = fmt.Sprintf("route (and %d more)", n)
	}
	return ui.Table(w, []string{head, "requests", "failed", "mean", "p50", "p99"}, rows)
}

// probeLine tells one probe of the search.
func probeLine(p load.Probe) string {
	what := "met"
	switch {
	case p.Kind == load.ProbeEstimate:
		return fmt.Sprintf("%-8s  closed model: %s requests/s", p.Kind, ui.Count(p.RequestsPerSecond))
	case p.Saturated != "":
		what = "the generator was the limit"
	case !p.Met:
		what = p.Broke
	}
	return fmt.Sprintf("%-8s  %s/s: p50 %s, p99 %s, failed %s; %s", p.Kind, rateText(p.Rate), ui.Duration(p.Latency.P50), ui.Duration(p.Latency.P99), count(p.Failed), what)
}

// rateText keeps a rate's three digits.
func rateText(rate float64) string { return ui.Count(rate) }

// maxRateSummary prints what the search found.
func maxRateSummary(w io.Writer, l *loading, m load.MaxRate) error {
	var s summary
	s.line("target", "%s", l.request)
	s.line("objective", "%s", m.Objective)
	if l.simple != nil {
		s.line("checked", "%s", l.simple.Checked())
	}
	switch p, ok := m.Highest(); {
	case !ok:
		s.line("highest", "none of the rates tried met the objective")
	case m.Confirmed:
		s.line("highest", "%s per second, confirmed by a window of %s: p50 %s, p99 %s", rateText(m.PerSecond), ui.Duration(p.Window), ui.Duration(p.Latency.P50), ui.Duration(p.Latency.P99))
	default:
		s.line("highest", "%s per second, not confirmed by a longer window", rateText(m.PerSecond))
	}
	if m.Broke != "" {
		s.line("above", "at %s per second %s", rateText(m.Above), m.Broke)
	}
	if m.Limited != "" {
		s.line("LIMITED", "the target may do more: %s", m.Limited)
	}
	s.WriteString("\n")
	var rows [][]string
	for _, p := range m.Probes {
		met := map[bool]string{true: "yes", false: "no"}[p.Met]
		rate := rateText(p.Rate)
		switch {
		case p.Kind == load.ProbeEstimate:
			met, rate = "–", "–"
		case p.Saturated != "":
			met = "generator"
		}
		rows = append(rows, []string{string(p.Kind), rate, ui.Count(p.RequestsPerSecond), ui.Duration(p.Latency.P50), ui.Duration(p.Latency.P99), ui.Duration(p.Latency.Max), count(p.Failed), count(p.Dropped), met})
	}
	if err := ui.Table(&s, []string{"probe", "rate", "requests/s", "p50", "p99", "max", "failed", "dropped", "met"}, rows); err != nil {
		return err
	}
	_, err := io.WriteString(w, s.String())
	return err
}
