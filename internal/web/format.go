package web

import (
	"html/template"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// text makes what came from a target or an operator fit to be shown: values
// that look like secrets are masked, control characters visible.
func text(s string) string { return ui.Clean(change.Redact(s)) }

// together keeps a number and its unit on one line.
func together(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }

// mostLine is how much of a statement is shown where it has one line, columns.
const mostLine = 300

func oneLine(s string) string {
	return ui.Truncate(strings.Join(strings.Fields(text(s)), " "), mostLine)
}

func plural(n int, one, many string) string { return ui.Plural(n, one, many) }

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04 MST")
}

// tone of an outcome's word: good, bad or soft.
func tone(o experiment.Outcome) string {
	switch o {
	case experiment.Improved:
		return "good"
	case experiment.Regressed, experiment.Broke, experiment.Failed, experiment.Tampered:
		return "bad"
	case experiment.NoDifference, experiment.Inconclusive: // soft
	}
	return "soft"
}

// diffLine is one line of a diff with its class: add, del, hunk or none.
type diffLine struct{ Class, Text string }

// mostDiff lines of one diff are shown; `kasoku show` has the whole.
const mostDiff = 600

func diffLines(s string) []diffLine {
	var out []diffLine
	s = strings.TrimRight(text(s), "\n")
	isDiff := strings.Contains(s, "@@")
	for i, l := range strings.Split(s, "\n") {
		if i == mostDiff {
			return append(out, diffLine{"hunk", "… more lines: kasoku show"})
		}
		class := ""
		switch {
		case !isDiff:
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"), strings.HasPrefix(l, "@@"):
			class = "hunk"
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		}
		out = append(out, diffLine{class, l})
	}
	return out
}

// ownSizes are attributes that the pages' policy would not let through (no
// inline style); app.css says the same.
var ownSizes = strings.NewReplacer(` style="max-width:880px"`, "", ` style="max-width:350px"`, "", ` style="max-width:100%;height:auto"`, "")

// bare takes inline styles out of a picture of the report.
func bare(p template.HTML) template.HTML {
	s := ownSizes.Replace(string(p))
	for {
		from := strings.Index(s, "<style>")
		to := strings.Index(s, "</style>")
		if from < 0 || to < from {
			return template.HTML(s) //nolint:gosec // the report escapes every text
		}
		s = s[:from] + s[to+len("</style>"):]
	}
}

var funcs = template.FuncMap{
	"t": text, "line": oneLine, "day": day, "plural": plural, "tone": tone, "lines": diffLines, "bare": bare,
	"count": ui.Count, "factor": ui.Factor, "bound": ui.Bound, "workOn": report.WorkOn, "workShare": report.WorkShare,
	"points":    func(v float64, unit string) string { return together(ui.Count(v) + " " + unit) },
	"percent":   func(v float64) string { return together(ui.Percent(v)) },
	"share":     func(v float64) string { return together(ui.Share(v)) },
	"seconds":   func(v float64) string { return together(ui.Seconds(v)) },
	"bytes":     func(n int64) string { return together(ui.Bytes(n)) },
	"duration":  func(d time.Duration) string { return together(ui.Duration(d)) },
	"effect":    func(v experiment.Verdict) string { return strings.ReplaceAll(report.Effect(v), " %", "\u00a0%") },
	"shifts":    report.Shifts,
	"unplanned": report.Unplanned,
	"still":     func(caveat string) bool { return caveat == report.StillRunning },
	"change": func(before, after float64) string {
		if before <= 0 || after <= 0 {
			return "–"
		}
		return together(ui.Percent(after/before - 1))
	},
	// sides are rows with a value before and, if there is an after, one after.
	"stepOf": func(v *sessionView, s report.Step) stepView { return stepView{s, v} },
	"sides":  func(rows any, after any) map[string]any { return map[string]any{"Rows": rows, "After": after} },
}
