package report

import (
	"fmt"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// metricNames are what an experiment compares, and how a value is written.
var metricNames = map[string]struct {
	name string
	text func(float64) string
}{
	"score":            {"score", ui.Count},
	"p50":              {"latency p50", ui.Seconds},
	"p99":              {"latency p99", ui.Seconds},
	"cpu_per_request":  {"CPU per request", ui.Seconds},
	"memory_available": {"memory available", func(v float64) string { return ui.Bytes(int64(v)) }},
	"failures":         {"wrong or failed requests", ui.Share},
}

// Shifts says what else changed, one line for each thing whose interval excludes that
// nothing did.
func Shifts(v experiment.Verdict) []string {
	var out []string
	for _, s := range v.Shifts {
		if !s.Notable() {
			continue
		}
		m, ok := metricNames[s.Metric]
		if !ok {
			m.name, m.text = s.Metric, ui.Number
		}
		out = append(out, fmt.Sprintf("%s %s → %s, %s (%s … %s)", m.name, m.text(s.Baseline), m.text(s.Candidate), ui.Percent(s.Effect), ui.Percent(s.Low), ui.Percent(s.High)))
	}
	return out
}

// switching says what it took to put the sides in place; "" if nothing did.
func switching(v experiment.Verdict) string {
	if v.Switches == 0 {
		return ""
	}
	by := ""
	if v.SwitchedBy != "" && v.SwitchedBy != "none" {
		by = ", by " + v.SwitchedBy
	}
	return fmt.Sprintf("; %s of it for %s%s", v.Switching.Round(100*time.Millisecond), plural(v.Switches, "switch", "switches"), by)
}

// warmupText says how long the warm-up took and whether the service was warm;
// "" if it is not known.
func warmupText(l *load.Result) string {
	if l.WarmupTook <= 0 {
		return ""
	}
	text := fmt.Sprintf("warm-up %s of at most %s", ui.Duration(l.WarmupTook.Round(10*time.Millisecond)), ui.Duration(l.Warmup))
	switch {
	case l.Unsteady != "":
		return text + ", NOT steady: " + l.Unsteady
	case l.Steady:
		return text + ", then steady"
	}
	return text + "; not judged whether steady, or too uneven to tell"
}
